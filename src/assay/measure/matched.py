"""Match ranked results with judged answers, a million at a time, and say what each rank earned."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import accumulate, chain
from math import inf
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError, nearest
from assay.measure.line_spans import UNITS, Entry, Span, Unit
from assay.values import NamedSpan

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Functions = Callable[[str], Sequence[NamedSpan]]
"""A path to each function in it."""
Parts = Callable[[int, int, int], Sequence[int]]
"""A place, first and last line to the numbers of what is there."""

MODULE = "<module>"
"""The name of what no function holds."""
_LAST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Ranges:
    """One row a range; the rows of a query stand together, in order."""

    query: Ints
    place: Ints
    """The number of its file, or of its function."""
    start: Ints
    end: Ints
    weights: Floats
    """(rows, any) what belongs to each row: lines and tokens of a result, the grade of an entry."""

    def take(self, rows: Ints | NDArray[np.bool_]) -> Ranges:
        """Return some of the rows."""
        return Ranges(self.query[rows], self.place[rows], self.start[rows], self.end[rows], self.weights[rows])

    def whole(self, places: Ints) -> Ranges:
        """Return the rows with each range widened to the whole of a place."""
        return Ranges(self.query, places, np.zeros_like(self.start), np.full_like(self.end, _LAST), self.weights)

    def split(self, parts: Parts, *, paid_once: bool) -> Ranges:
        """Return a row for each part of each range; all have its weights, or the first has and the others nothing."""
        columns = (self.place.tolist(), self.start.tolist(), self.end.tolist())
        found = list(map(parts, *columns))
        lengths = _lengths(found)
        rows = self.take(np.repeat(np.arange(len(found)), lengths))
        if paid_once:
            rows.weights[_ranks(lengths) > 0] = 0
        return rows.whole(_column(chain.from_iterable(found), len(rows.query)))

    def unrepeated(self) -> Ranges:
        """Return the first of equal rows of a query."""
        return self.take(_firsts(self.query, self.place, self.start, self.end))

    def condensed(self) -> Ranges:
        """Return the first row of each place of a query; what led up to a row is added to its weights."""
        first = _firsts(self.query, self.place)
        kept = self.take(first)
        serves: Ints = np.cumsum(first) - first
        counts = np.append(kept.query, -1)[serves] == self.query
        for column, weights in enumerate(self.weights.T):
            kept.weights[:, column] = np.bincount(serves[counts], weights[counts], len(kept.query))
        return kept


class Numbers:
    """Paths and functions as numbers, the same for results and for entries."""

    def __init__(self) -> None:
        self._paths: defaultdict[str, int] = defaultdict()
        self._paths.default_factory = self._paths.__len__

    def ranges(self, lists: Sequence[Sequence[Span]], weights: Callable[[Ranges, Sequence[Span]], Floats]) -> Ranges:
        """Return the spans of each query as rows, with what `weights` makes of them."""
        spans = list(chain.from_iterable(lists))
        query = np.repeat(np.arange(len(lists)), _lengths(lists))
        place = _column(map(self._paths.__getitem__, map(attrgetter("path"), spans)), len(spans))
        start = _column(map(attrgetter("start"), spans), len(spans))
        end = _column(map(attrgetter("end"), spans), len(spans))
        bare = Ranges(query, place, start, np.where(start > 0, end, _LAST), np.zeros((len(spans), 0)))
        return replace(bare, weights=weights(bare, spans))

    def functions(self, functions: Functions) -> Parts:
        """Return what numbers the functions that a range overlaps, in line order; in none it is in its module."""
        paths = tuple(self._paths)
        units: defaultdict[tuple[int, int, int, str], int] = defaultdict()
        units.default_factory = units.__len__

        @cache
        def functions_in(place: int) -> tuple[list[NamedSpan], list[int], list[int]]:
            known = sorted(functions(paths[place]))
            return known, [first for first, _, _ in known], list(accumulate((last for _, last, _ in known), max))

        @cache
        def met(place: int, start: int, end: int) -> Sequence[int]:
            known, starts, reach = functions_in(place)
            near = known[bisect_left(reach, start) : bisect_right(starts, end)]
            touched = [one for one in near if start <= one[1]]
            return [units[place, first, last, name] for first, last, name in touched or [NamedSpan(0, 0, MODULE)]]

        return met


def joined(results: Ranges, entries: Ranges) -> tuple[Ints, Ints]:
    """Return the rows of results and of entries that overlap, by result and, for each, in the order of the entries."""
    places = 1 + max(results.place.max(initial=0), entries.place.max(initial=0))
    sought = results.query * places + results.place
    known = entries.query * places + entries.place
    order = np.argsort(known, kind="stable")
    low = np.searchsorted(known[order], sought, "left")
    counts = np.searchsorted(known[order], sought, "right") - low
    result = np.repeat(np.arange(len(sought)), counts)
    entry = order[np.repeat(low, counts) + _ranks(counts)]
    touch = (results.start[result] <= entries.end[entry]) & (entries.start[entry] <= results.end[result])
    return result[touch], entry[touch]


def ranks(query: Ints, queries: int) -> Ints:
    """Return the place of each row among its query's, from 0."""
    return _ranks(np.bincount(query, minlength=queries))


def _ranks(lengths: Ints) -> Ints:
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def _firsts(*columns: Ints) -> NDArray[np.bool_]:
    """Say of each row whether no earlier one is equal to it."""
    order = np.lexsort(columns[::-1])
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.logical_or.reduce([np.diff(column[order]) != 0 for column in columns])
    first = np.zeros(len(order), dtype=bool)
    first[order[new]] = True
    return first


def _column(values: Iterator[int], rows: int) -> Ints:
    return np.fromiter(values, np.int64, rows)


def _lengths(lists: Sequence[Sequence[object]]) -> Ints:
    return _column(map(len, lists), len(lists))


Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Matched:
    """What each rank of each query earned: arrays (queries, ranks), padded with 0."""

    queries: tuple[str, ...]
    filled: Ints
    """(queries,) how many ranks hold a result."""
    gains: Ints
    """The grade each result earns."""
    found: Ints
    """How many right answers are first found by each result."""
    covered: Ints
    """Of how many right answers each result shows the last lines that no earlier one showed."""
    judged: Bools
    """Whether somebody judged the result, right or wrong."""
    wrong: Bools
    """Whether the result is the first to meet an answer that was judged wrong, and meets no right one."""
    lines: Floats
    """How many lines a reader reads of each result, nan for a whole file."""
    tokens: Floats | None
    """What each result costs, None when nobody said."""
    ideal: Ints
    """(queries, any) the grades of the right answers, best first."""
    irrelevant: Ints
    """(queries,) how many answers were judged wrong."""

    @property
    def right(self) -> Ints:
        """Return how many right answers each query has."""
        right: Ints = np.count_nonzero(self.ideal, axis=1)
        return right


def match(
    run: Mapping[str, Sequence[Span]],
    truth: Mapping[str, Sequence[Entry]],
    unit: Unit,
    *,
    cost: Callable[[Span], int] | None = None,
    units: Functions | None = None,
) -> Matched:
    """Hold ranked results against judged answers, for each query of the truth; one without results earns nothing.

    `cost` prices a result in tokens. `units` gives the functions of a file, for the unit of that name. Of two answers
    that fall into one file or function the better grade counts.
    """
    if unit not in UNITS:
        raise InputError(f"unknown unit '{unit}'; {nearest(unit, UNITS)}")
    if unit == "function" and units is None:
        raise InputError("the unit 'function' needs the functions of each file: match(…, units=…)")
    numbers = Numbers()
    results = numbers.ranges([run.get(query, ()) for query in truth], partial(_prices, cost))
    # Best first, so that the best answer is met first and stands for its file or function; of equals the narrowest, so
    # that a wide one is left for what meets nothing else, and the order somebody wrote them down in decides nothing.
    answers = [_places(sorted(entries, key=_worth), unit) for entries in truth.values()]
    weights = np.array([about for each in answers for _, *about in each], dtype=float).reshape(-1, 2)
    entries = numbers.ranges([[span for span, *_ in each] for each in answers], lambda *_: weights)
    if unit != "line published":
        results = results.unrepeated()
    if unit == "file":
        results, entries = results.whole(results.place).condensed(), entries.whole(entries.place).unrepeated()
    elif units and unit == "function":
        parts = numbers.functions(units)
        results = results.split(parts, paid_once=True).condensed()
        entries = entries.split(parts, paid_once=False).unrepeated()
    return _match_ranges(tuple(truth), results, entries, published=unit == "line published", priced=cost is not None)


def _worth(entry: Entry) -> tuple[int, float, str, int]:
    span = entry.span
    return -entry.grade, span.end - span.start if span.start else inf, span.path, span.start


def _places(entries: Sequence[Entry], unit: Unit) -> list[tuple[Span, int, int]]:
    """Return where answers are and their grades; behind each the places that `also` names, numbered from 1."""
    if unit != "line published":
        return [(entry.span, entry.grade, 0) for entry in entries]
    found = [(entry, at, path) for entry in entries for at, path in enumerate((entry.span.path, *entry.also))]
    return [(replace(entry.span, path=path), entry.grade, at) for entry, at, path in found]


def _prices(cost: Callable[[Span], int] | None, ranges: Ranges, spans: Sequence[Span]) -> Floats:
    lines = np.where(ranges.start > 0, ranges.end - ranges.start + 1.0, np.nan)
    return np.stack([lines, np.zeros(len(spans)) if cost is None else np.fromiter(map(cost, spans), float)], axis=1)


def _match_ranges(
    queries: tuple[str, ...], results: Ranges, entries: Ranges, *, published: bool, priced: bool
) -> Matched:
    result, entry = joined(results, entries)
    grades, back = entries.weights.astype(np.int64).T
    entry = entry - back[entry]  # a further place of an answer stands for it
    counts = back == 0
    gains, found = np.zeros((2, len(results.query)), dtype=np.int64)
    good = grades[entry] > 0
    if published:
        np.maximum.at(gains, result, grades[entry])
        _, first = np.unique(entry[good], return_index=True)
        np.add.at(found, result[good][first], 1)
    else:
        once, answered = _once(result[good], entry[good])
        gains[once], found[once] = grades[answered], 1
    judged, right, wrong = np.zeros((3, len(gains)), dtype=bool)
    judged[result] = True
    right[result[good]] = True
    bad = ~good & ~right[result]
    wrong[_once(result[bad], entry[bad])[0]] = True
    table = _Table(results.query, len(queries))
    return Matched(
        queries=queries,
        filled=np.bincount(results.query, minlength=len(queries)),
        gains=table.of(gains),
        found=table.of(found),
        covered=table.of(_covered(results, entries, result[good], entry[good])),
        judged=table.of(judged),
        wrong=table.of(wrong),
        lines=table.of(results.weights[:, 0]),
        tokens=table.of(results.weights[:, 1]) if priced else None,
        ideal=_Table(entries.query[counts & (grades > 0)], len(queries)).of(grades[counts & (grades > 0)]),
        irrelevant=np.bincount(entries.query[counts & (grades <= 0)], minlength=len(queries)),
    )


def _once(results: Ints, entries: Ints) -> tuple[Ints, Ints]:
    """Return pairs in which no result and no entry comes twice, the earliest pairs first."""
    taken: dict[int, int] = {}
    closed: set[int] = set()
    for result, entry in zip(results.tolist(), entries.tolist(), strict=True):
        if result not in taken and entry not in closed:
            taken[result] = entry
            closed.add(entry)
    return np.array(list(taken), dtype=np.int64), np.array(list(taken.values()), dtype=np.int64)


def _covered(results: Ranges, entries: Ranges, result: Ints, entry: Ints) -> Ints:
    """Count the answers that each result is the last to be covered by; an answer without lines has none to wait for."""
    covered = np.zeros(len(results.query), dtype=np.int64)
    open_lines: dict[int, list[tuple[int, int]] | None] = {}
    for one, answer in zip(result.tolist(), entry.tolist(), strict=True):
        asked = (int(entries.start[answer]), int(entries.end[answer]))
        lines = open_lines.setdefault(answer, [asked] if asked[0] else [])
        if lines is not None:
            lines = _without(lines, int(results.start[one]), int(results.end[one]))
            covered[one] += not lines
            open_lines[answer] = lines or None
    return covered


def _without(lines: Sequence[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """Return some ranges without the lines of another."""
    pieces = [piece for first, last in lines for piece in ((first, min(last, start - 1)), (max(first, end + 1), last))]
    return [(first, last) for first, last in pieces if first <= last]


class _Table:
    """Where the rows of each query go in an array (queries, ranks)."""

    def __init__(self, query: Ints, queries: int) -> None:
        self._cells = (query, ranks(query, queries))
        self._shape = (queries, int(self._cells[1].max(initial=-1)) + 1)

    def of(self, column: NDArray[np.generic]) -> NDArray[Any]:
        table = np.zeros(self._shape, dtype=column.dtype)
        table[self._cells] = column
        return table
