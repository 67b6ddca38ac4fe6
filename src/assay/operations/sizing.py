"""Fit hits into a budget of tokens, in whole lines and whole functions.

In full, a unit that is too long for one chunk is put together again where the budget allows; otherwise each hit has its
telling lines, or its name alone. What does not fit is left for the next page rather than cut, unless it is the first.
Costs are those of the form that is written, JSON or text, by the estimate of `assay search --budget`, which errs on the
high side.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, fields, replace
from itertools import accumulate
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from assay.corpus.blocks import lines_of
from assay.errors import InputError
from assay.operations.hits import FoundUnit, record, unit_text
from assay.operations.requests import Detail
from assay.search.display import cut, telling
from assay.search.reference_table import numbers_in
from assay.store.snapshot import Snapshot
from assay.terms import tokens
from assay.values import Chunk, Hit, NamedSpan, Query

_T = TypeVar("_T")
OVERHEAD = 130
"""Tokens of an answer without its entries: names of fields, place, cursor."""
TELLING = (4,)
"""Lines of a hit that are shown if not all are."""
MATCHING = 6
"""The same for lines that contain what the query quotes."""
_MAX_LINE_CHARS = 200
"""Characters of such a line that are shown."""
MAX_UNIT_LINES = 400
"""Lines of a unit that is reassembled."""
_FILE_CACHE_SIZE = 4096  # files of an index whose functions are remembered
_PIECES = frozenset(("function", "method", "constructor", "test"))


def text_cost(unit: FoundUnit) -> int:
    """Return the tokens of a unit as text, with the separator before the next."""
    return tokens(unit_text(unit)) + 1


def cost(entry: Any) -> int:
    """Return the tokens of a record, with the separator before the next."""
    held = {each.name: getattr(entry, each.name) for each in fields(entry)}
    written = json.dumps(held, ensure_ascii=False, default=asdict)
    numbers = len(getattr(entry, "why", ()))
    return tokens(written) + written.count("\\") + written.count('":') + numbers + 1  # JSON makes short tokens


def fitting(entries: Sequence[_T], budget: int, cost_of: Callable[[_T], int] = cost) -> list[_T]:
    """Return as many entries as a budget holds, from the first."""
    spent = accumulate(map(cost_of, entries))
    return [entry for entry, total in zip(entries, spent, strict=True) if total <= budget]


def most_fitting(most: int, budget: int, cost_of: Callable[[int], int]) -> int:
    """Return how many of `most` a budget holds, given the cost of each number."""
    return bisect_right(range(1, most + 1), budget, key=cost_of)


@dataclass(frozen=True, slots=True)
class Size:
    """How much to show of hits."""

    budget: int
    query_terms: AbstractSet[str] = frozenset()
    """The terms to show if only a part of a hit is shown."""
    explain: bool = False
    aside: int = 0
    """Tokens of what is answered beside the hits, whose length depends on the question."""
    detail: Detail = "full"
    queries: Sequence[Query] = ()
    """Queries whose quoted texts and expressions are shown first."""
    cost: Callable[[FoundUnit], int] = cost
    lines: Sequence[int] = TELLING
    """Numbers of lines for each hit, in order; further hits have the last number."""

    def complete(self, hit: Hit) -> FoundUnit:
        """Return the record of a hit that is all of its unit."""
        return record(hit, explain=self.explain)

    def part(self, hit: Hit) -> FoundUnit:
        """Return the record of a hit that is a part of its unit."""
        return replace(record(hit, explain=self.explain), complete=False)

    def brief(self, hit: Hit, unit: Chunk, place: int = 0) -> FoundUnit:
        """Return the unit of a hit with the best lines of the hit, or with its name and the lines that match."""
        matching = sorted({line for query in self.queries for line in _matching(unit, query)})
        shown = self.complete(replace(hit, chunk=unit))
        if self.detail == "names":
            return replace(shown, text="", lines=matching)
        most = self.lines[min(place, len(self.lines) - 1)]
        every = telling(unit, self.query_terms, matching, max(most, MATCHING) if matching else most, hit.line)
        text = "".join(f"{_shortened(line)}\n" for _, line in every)
        return replace(shown, text=text, lines=[number for number, _ in every])


def _shortened(line: str) -> str:
    return line if len(line) <= _MAX_LINE_CHARS else f"{line[:_MAX_LINE_CHARS]}…"


def _matching(chunk: Chunk, query: Query) -> list[int]:
    if not query.reads_text:
        return []
    from assay.search.text_matches import lines_matching

    return lines_matching(chunk, query)


def one_of_each_unit(hits: Sequence[Hit], snapshots: Mapping[str, Snapshot]) -> list[Hit]:
    """Return hits without those that are other pieces of the unit of a better one."""
    of_file = Counter((hit.chunk.root, hit.chunk.path) for hit in hits)
    units = defaultdict[tuple[str, str], list[tuple[int, int]]](list)
    kept = []
    for hit in hits:
        chunk, file = hit.chunk, (hit.chunk.root, hit.chunk.path)
        if not any(first <= chunk.start_line and chunk.end_line <= last for first, last in units[file]):
            kept.append(hit)
            if of_file[file] > 1:
                units[file].append(lines_of_unit(chunk, snapshots[chunk.root]))
    return kept


def sized(hits: Sequence[Hit], size: Size, snapshots: Mapping[str, Snapshot]) -> tuple[list[FoundUnit], int]:
    """Return the records that a budget holds, and the number of hits that they represent.

    The snapshots, by root, are where the pieces of long units are.
    """
    left, shown = size.budget - OVERHEAD - size.aside, list[FoundUnit]()
    for count, hit in enumerate(hits):
        fitting = sized_hit(hit, left, size, snapshots[hit.chunk.root], count)
        if fitting is None and not shown:
            fitting = _first_lines(hit, left, size)
        if fitting is None:
            return shown, count
        left -= size.cost(fitting)
        shown.append(fitting)
    return shown, len(hits)


def sized_hit(hit: Hit, budget: int, size: Size, snapshot: Snapshot, place: int = 0) -> FoundUnit | None:
    """Return a hit's whole unit if it fits, else the hit itself if it fits; in brief, only its best lines."""
    unit = whole(hit.chunk, snapshot)
    if size.detail != "full":
        brief = size.brief(hit, unit, place)
        return brief if size.cost(brief) <= budget else None
    complete = size.complete(replace(hit, chunk=unit))
    if size.cost(complete) <= budget or unit is hit.chunk:
        return complete if size.cost(complete) <= budget else None
    part = size.part(hit)
    return part if size.cost(part) <= budget else None


def _first_lines(hit: Hit, budget: int, size: Size) -> FoundUnit:
    hit = replace(hit, chunk=replace(hit.chunk, signature=""), others=())
    best = cut(hit, size.query_terms, budget, lambda hit: size.cost(size.part(hit)))
    brief = size.brief(hit, hit.chunk)
    if best is None and size.cost(brief) <= budget:
        return replace(brief, complete=False)
    if best is None:
        raise InputError("the budget is too small for a line of the best hit; increase it")
    return size.part(best)


def whole(chunk: Chunk, snapshot: Snapshot) -> Chunk:
    """Return the function of which a chunk is a piece, or the chunk itself; inner functions are part of it."""
    first, last = lines_of_unit(chunk, snapshot)
    if (first, last) == (chunk.start_line, chunk.end_line):
        return chunk
    text = text_of_lines(snapshot, _file(snapshot, chunk.path).numbers, first, last)
    return replace(chunk, id=f"{chunk.path}:{first}-{last}", start_line=first, end_line=last, text=text)


def lines_of_unit(chunk: Chunk, snapshot: Snapshot) -> tuple[int, int]:
    """Return the first and the last line of the function of which a chunk is a piece, or of the chunk itself."""
    own = (chunk.start_line, chunk.end_line)
    if chunk.kind not in _PIECES or not chunk.symbol:
        return own
    file = _file(snapshot, chunk.path)
    named = (snapshot.chunk(number) for number in file.numbers_of(chunk.symbol))
    if sum(piece.parent == chunk.parent for piece in named) < 2:
        return own
    name = f"{chunk.parent}.{chunk.symbol}" if chunk.parent else chunk.symbol
    found = [each for each in file.functions(snapshot) if each.name == name]
    around = [each for each in found if each.first_line <= chunk.end_line and chunk.start_line <= each.last_line]
    first, last, _ = min(around, key=lambda each: (each.last_line - each.first_line, each), default=(*own, name))
    return (first, last) if chunk.end_line - chunk.start_line < last - first < MAX_UNIT_LINES else own


@dataclass(slots=True)
class _File:
    """A file of an index: the numbers of its chunks, their symbols, and its functions once they are needed."""

    path: str
    numbers: list[int]
    symbols: list[str]
    spans: list[NamedSpan] | None = None

    def numbers_of(self, symbol: str) -> list[int]:
        """Return the chunks of a symbol, or none if there is only one, which is not a piece."""
        if self.symbols.count(symbol) < 2:
            return []
        return [number for number, named in zip(self.numbers, self.symbols, strict=True) if named == symbol]

    def functions(self, snapshot: Snapshot) -> list[NamedSpan]:
        """Return the functions, parsed from the chunks once."""
        if self.spans is None:
            from assay.corpus.outline import functions  # and a parser: not where no unit was cut

            self.spans = functions(self.path, text_of_lines(snapshot, self.numbers, 1))
        return self.spans


_known: WeakKeyDictionary[Snapshot, dict[str, _File]] = WeakKeyDictionary()


def _file(snapshot: Snapshot, path: str) -> _File:
    known = _known.setdefault(snapshot, {})
    found = known.get(path)
    if found is None:
        if len(known) >= _FILE_CACHE_SIZE:
            known.clear()
        numbers = numbers_in(snapshot, path).tolist()
        found = known[path] = _File(path, numbers, list(map(snapshot.symbol, numbers)))
    return found


def text_of_lines(snapshot: Snapshot, numbers: Sequence[int], first: int, last: int | None = None) -> str:
    """Return lines of a file from its chunks; a line that no chunk has is empty."""
    spans = snapshot.rows("lines", np.array(numbers)).tolist()
    last = last or max(end for _, end in spans)
    lines: dict[int, str] = {}
    for number, (start, end) in zip(numbers, spans, strict=True):
        if start <= last and end >= first:
            lines.update(enumerate(lines_of(snapshot.chunk(number).text), start))
    return "".join(lines.get(number, "\n") for number in range(first, last + 1))
