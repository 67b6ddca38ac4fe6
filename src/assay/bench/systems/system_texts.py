"""What Assay's own baselines search: the documents of a corpus, or the chunks that its files are cut into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assay.bench.system_corpus import SystemCorpus
from assay.corpus.chunk import parse
from assay.corpus.walk import walk
from assay.corpus.walked_files import read
from assay.search.filters import filter_mask
from assay.store.snapshot import Snapshot
from assay.types import Chunk, Query


def chunks_of(corpus: SystemCorpus) -> tuple[Chunk, ...]:
    """Return each document as one chunk without lines, else the chunks that an index of the folder holds."""
    if corpus.documents:
        return tuple(map(_without_lines, corpus.documents))
    texts = ((file.path, read(corpus.root, file)) for file in walk(corpus.root).files)
    return tuple(chunk for path, text in texts if isinstance(text, str) for chunk in parse(path, text).chunks)


def _without_lines(document: Chunk) -> Chunk:
    """Return a document as a file has it; nearly none has lines, and a million copies take memory."""
    if not document.start_line and not document.end_line:
        return document
    return replace(document, start_line=0, end_line=0)


class ChunkFilters:
    """Which chunks a query may find, by the rules of the product's own filters."""

    def __init__(self, corpus: SystemCorpus, chunks: Sequence[Chunk], snapshot: Snapshot | None = None) -> None:
        self._documents = bool(corpus.documents)
        self._chunks = chunks
        self._snapshot = snapshot if snapshot is not None or self._documents else _filter_snapshot(chunks)

    def allowed(self, query: Query) -> NDArray[np.bool_] | None:
        """Return a mask of the chunks, None when all may be found; documents are neither code nor prose."""
        if self._documents:
            query = replace(query, mode="all")
        if query.mode == "all" and not (query.languages or query.paths or query.kinds):
            return None
        self._snapshot = self._snapshot or _filter_snapshot(self._chunks)
        return filter_mask(self._snapshot, query)


def _filter_snapshot(chunks: Sequence[Chunk]) -> Snapshot:
    """Hold what filters look at: path, language and kind."""
    bare = [replace(chunk, text="", doc="", signature="", symbol="", parent="") for chunk in chunks]
    return Snapshot.of(bare, np.zeros((len(bare), 1), dtype=np.float32))
