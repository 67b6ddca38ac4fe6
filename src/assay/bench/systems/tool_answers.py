"""What another tool printed in, hits below the corpus' root out: paths mapped, near matches merged, misfits told.

A path that names no file of the corpus is left out of the answer and told in `note`, so that a tool that searched
something else does not pass for one that found nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from assay.bench.system_corpus import SystemCorpus
from assay.bench.systems.tool_outputs import FORMS, Keys, PrintedResult, one_line, parse
from assay.corpus.walked_files import from_utf8
from assay.errors import AssayError, InputError, nearest
from assay.types import Chunk, Hit, Query

OPTIONS: Mapping[str, Any] = {
    "format": "auto",
    "results": "",
    "path": "",
    "start": "",
    "end": "",
    "score": "",
    "first_line": 1,
    "merge": 0,
    "order": "printed",
    "empty": "error",
}
"""What every tool may be told about its output."""

_CHOICES = {"format": FORMS, "order": ("printed", "score", "count"), "empty": ("error", "nothing")}
_TOLD = 3
_LAST_LINE = 10**9
"""No file has more: what counts on is no line."""

Ask = Callable[[Query, int], str | list[PrintedResult]]
"""A query and how many results are wanted, to what was printed, or to results; no results is nothing found."""


@dataclass(slots=True)
class Answers:
    """A searcher over a tool that prints."""

    ask: Ask
    corpus: SystemCorpus
    options: Mapping[str, Any]
    cwd: Path
    note: str = ""
    """What was wrong with the last answer, though it may have results."""
    _relative: Callable[[str], str] = field(init=False)

    def __post_init__(self) -> None:
        """Refuse choices that do not exist."""
        for key, known in _CHOICES.items():
            if self.options[key] not in known:
                raise InputError(
                    f"option {key} = '{self.options[key]}' is unknown; {nearest(self.options[key], known)}"
                )
        self._relative = cache(self._mapped)

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Ask the tool once a query."""
        return [self._answer(query, k) for query in queries]

    def _answer(self, query: Query, k: int) -> list[Hit]:
        self.note = ""
        printed = self._counted(self._results(self.ask(query, k)))
        placed = [replace(one, path=self._relative(one.path)) for one in printed]
        inside = [one for one in placed if one.path and _has_lines(one)]
        if len(inside) < len(printed):
            self.note = _misfits(printed, placed)
        ranked = ordered(inside, self.options["merge"], self.options["order"])[:k]
        return [_hit(one, rank) for rank, one in enumerate(ranked, 1)]

    def _results(self, printed: str | list[PrintedResult]) -> list[PrintedResult]:
        """Return what was printed as results; silence is nothing found only where the options say so."""
        if not isinstance(printed, str):
            return printed
        if printed.strip():
            keys = Keys(*(self.options[key] for key in ("results", "path", "start", "end", "score")))
            return parse(printed, self.options["format"], keys)
        if self.options["empty"] == "error":
            raise AssayError("it answered with nothing at all; if that is how it finds nothing, say empty = 'nothing'")
        return []

    def _counted(self, printed: Sequence[PrintedResult]) -> list[PrintedResult]:
        """Return results whose lines count from 1."""
        more = 1 - self.options["first_line"]
        if not more:
            return list(printed)
        return [replace(one, start=one.start + more, end=one.end + more) for one in printed]

    def _mapped(self, path: str) -> str:
        """Return a printed path relative to the root, empty where it names no file below it."""
        printed = Path(path.removeprefix("file://"))
        root = self.corpus.root
        tried = [root / printed, self.cwd / printed]
        if not printed.is_absolute() and printed.parts[:1] == (root.name,):
            tried.append(root.joinpath(*printed.parts[1:]))
        with suppress(OSError, ValueError):  # no file can be called that: a NUL, half a letter, a megabyte
            return next(filter(None, (self._below(each) for each in tried)), "")
        return ""

    def _below(self, each: Path) -> str:
        """Return a path relative to the root, as it is spelt or as its links lead, empty where it is no file there."""
        root = self.corpus.root
        for whole, top in ((os.path.normpath(each), root), (os.path.realpath(each), os.path.realpath(root))):
            relative = os.path.relpath(whole, top)
            if not relative.startswith("..") and from_utf8(Path(top), relative).is_file():
                return relative
        return ""


def _has_lines(one: PrintedResult) -> bool:
    """Say whether a result's lines could be those of a file; none at all are the whole file."""
    return one.start >= 0 and max(one.start, one.end) <= _LAST_LINE


def _misfits(printed: Sequence[PrintedResult], placed: Sequence[PrintedResult]) -> str:
    """Say which results are left out: those that name no file, else those that name no lines."""
    for what, wrong in (
        ("file of the corpus", [not at.path for at in placed]),
        ("line", [not _has_lines(at) for at in placed]),
    ):
        named = dict.fromkeys(one_line(one.path) for one, is_wrong in zip(printed, wrong, strict=True) if is_wrong)
        if named:
            return f"{sum(wrong)} of {len(printed)} results name no {what}: {', '.join([*named][:_TOLD])}"
    return ""


def ordered(printed: Sequence[PrintedResult], merge: int, order: str) -> list[PrintedResult]:
    """Return results in rank order; with `merge`, those of a file within so many lines of one another are one range."""
    ranges: list[list[PrintedResult]] = [[one] for one in printed]
    if merge:
        ranges = []
        open_at: dict[str, list[PrintedResult]] = {}
        for one in sorted(printed, key=lambda one: (one.path, one.start)):
            near = open_at.get(one.path)
            if near and one.start - max(each.end for each in near) <= merge:
                near.append(one)
            else:
                open_at[one.path] = [one]
                ranges.append(open_at[one.path])
    place = {one: rank for rank, one in reversed(list(enumerate(printed)))}
    ranges.sort(key=lambda some: (-_worth(some, order), min(place[one] for one in some)))
    return [_joined(some, order) for some in ranges]


def _worth(some: Sequence[PrintedResult], order: str) -> float:
    if order == "count":
        return len(some)
    return max(one.score or 0.0 for one in some) if order == "score" else 0.0


def _joined(some: Sequence[PrintedResult], order: str) -> PrintedResult:
    score = (
        float(len(some))
        if order == "count"
        else max((one.score for one in some if one.score is not None), default=None)
    )
    return PrintedResult(some[0].path, some[0].start, max(one.end for one in some), score)


def _hit(one: PrintedResult, rank: int) -> Hit:
    where = f"{one.path}:{one.start}-{one.end}" if one.start > 0 else one.path
    chunk = Chunk(where, "", path=one.path, start_line=max(one.start, 0), end_line=max(one.end, one.start, 0))
    return Hit(chunk, 1.0 / rank if one.score is None else one.score)
