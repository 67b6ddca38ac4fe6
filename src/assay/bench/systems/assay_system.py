"""Assay itself, with any settings: each section of them is a table of options."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.bench.system import GENERAL, SystemCorpus, build_seconds, folder_of
from assay.errors import InputError
from assay.operations.indexes import NO_DESCRIPTIONS, index_key
from assay.operations.past_commits import past_until
from assay.operations.workspace import Workspace, open_workspace
from assay.protocols import Searcher
from assay.settings import load
from assay.values import Hit, Query

_CHUNKS_PER_DOCUMENT = 4
"""How many more chunks are asked for where documents are wanted, since a document may have several."""


class AssaySystem:
    """The product, its index below the option `location`, where settings that need the same index share it."""

    def __init__(self, nothing: str = "") -> None:
        if nothing:
            raise InputError(f"the system 'assay' takes settings and no '{nothing}': give it options, by section")
        self._workspace: Workspace | None = None
        self.built_s: float | None = None
        """What making the index took, whoever of those that share it made it."""

    def prepare(self, corpus: SystemCorpus, options: Mapping[str, Any]) -> Searcher:
        """Bring the index up to date and return the searcher that the settings describe."""
        started = time.perf_counter()
        given = {key: value for key, value in options.items() if key not in GENERAL}
        settings = load(options={"index.describe": NO_DESCRIPTIONS, **given})  # whatever the user's cache has
        location = str(options.get("location", ""))
        folder = folder_of(location, "index", index_key(settings), settings.index.location) if location else None
        if folder is not None:
            settings = replace(settings, index=replace(settings.index, location=str(folder)))
        self._workspace = open_workspace(corpus.root, settings)
        if settings.index.describe != NO_DESCRIPTIONS:
            from assay.operations.describe_index import take_descriptions

            (self._workspace,) = take_descriptions([self._workspace])
        searcher = self._workspace.corpus_search
        if corpus.history:
            searcher = replace(searcher, past=past_until(corpus.history, corpus.commit, settings))
        if folder is not None:
            made = bool(self._workspace.report.changed or self._workspace.report.rebuilt_because)
            self.built_s = build_seconds(folder, time.perf_counter() - started, made=made)
        return Documents(searcher) if corpus.documents else searcher

    def index_bytes(self) -> int | None:
        """Return what the index takes up."""
        return None if self._workspace is None else self._workspace.index.size_bytes()


@dataclass(frozen=True, slots=True)
class Documents:
    """Whole files for a corpus of documents: each stands where its best chunk stood."""

    searcher: Searcher

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return at most `k` files a query; code and prose are not told apart where all files are documents."""
        asked = [replace(query, mode="all") for query in queries]
        return [_files(hits, k) for hits in self.searcher.search(asked, k * _CHUNKS_PER_DOCUMENT)]


def _files(hits: Sequence[Hit], k: int) -> list[Hit]:
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.chunk.path, replace(hit, chunk=replace(hit.chunk, start_line=0, end_line=0)))
    return list(first.values())[:k]
