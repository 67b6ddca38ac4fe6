"""Lists of spans in, columns of whole numbers out, so that a million results are matched by arrays.

A file, a document and a function are numbered names that are either met or not: a range of such a row reaches over
everything. A result that shows nothing new leaves the ranking, and its price goes to the next one that does.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, chain
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from assay.measure.line_spans import Span

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Functions = Callable[[str], Sequence[tuple[int, int, str]]]
"""A path to the first and last line and the name of each function in it."""
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
        def held(place: int) -> tuple[list[tuple[int, int, str]], list[int], list[int]]:
            known = sorted(functions(paths[place]))
            return known, [first for first, _, _ in known], list(accumulate((last for _, last, _ in known), max))

        @cache
        def met(place: int, start: int, end: int) -> Sequence[int]:
            known, starts, reach = held(place)
            near = known[bisect_left(reach, start) : bisect_right(starts, end)]
            touched = [one for one in near if start <= one[1]]
            return [units[place, first, last, name] for first, last, name in touched or [(0, 0, MODULE)]]

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
