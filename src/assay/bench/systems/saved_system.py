"""Answers that were given before: a TREC run, or a file of answers that `assay bench` left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.bench import answer_runs
from assay.bench.system_corpus import SystemCorpus
from assay.bench.systems.system_options import checked
from assay.errors import AssayError, InputError
from assay.measure.line_spans import Span
from assay.protocols import Searcher
from assay.types import Chunk, Hit, Query

_TOLD = 20
"""Rows that are no use are told one by one up to here."""


class SavedSystem:
    """A run by its file; queries are found by their id."""

    def __init__(self, file: str = "") -> None:
        self._file = Path(file).expanduser()
        if not file or not self._file.is_file():
            raise InputError(f"there is no run '{file}'; wanted run:FILE, a TREC run or answers of assay bench")
        self.problems: tuple[str, ...] = ()
        """The rows that are no use."""

    def prepare(self, corpus: SystemCorpus, options: Mapping[str, Any]) -> Searcher:
        """Read the file."""
        checked("run", options, {})
        held, problems = answer_runs.read_any(self._file)
        more = (f"{len(problems) - _TOLD:,} more rows are no use",) if len(problems) > _TOLD else ()
        self.problems = (*map(str, problems[:_TOLD]), *more)
        if not held:
            raise InputError(f"the run {self._file} holds no answer")
        return _Saved(held, {document.id: document.path for document in corpus.documents}, self._file)

    def index_bytes(self) -> int | None:
        """Return nothing: a run has no index."""
        return None


class _Saved:
    def __init__(self, held: answer_runs.Ranked, paths: Mapping[str, str], file: Path) -> None:
        self._held, self._paths, self._file = held, paths, file

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return what was answered then; a query that the run does not have is an error and no empty answer."""
        return [self._answer(query, k) for query in queries]

    def _answer(self, query: Query, k: int) -> list[Hit]:
        if query.id not in self._held:
            raise AssayError(f"the run {self._file.name} has no query '{query.id}'")
        return [self._hit(span, score) for span, score in self._held[query.id][:k]]

    def _hit(self, span: Span, score: float) -> Hit:
        path = self._paths.get(span.path, span.path)
        return Hit(Chunk(str(span), "", path=path, start_line=span.start, end_line=span.end), score)
