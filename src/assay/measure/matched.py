"""Ranked results and judged answers in, what each rank earned out: all that a measure needs to know.

The units are four readings of one run. *line* is strict: each entry is answered once, by the first result that
overlaps it, and a result answers at most one entry, the best open one, so that neither long nor many chunks score
above 1. *line published* is what octocode's benchmark/score.py does: a result earns the best grade it overlaps, also of
an entry that is answered already, and repeats keep their ranks, so that nDCG can exceed 1; semble's script has the same
ranks. *file* ranks files by their first result; *function* ranks the functions that results overlap. With whole
documents, file is classic retrieval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError, nearest
from assay.measure.line_spans import UNITS, Entry, Span, Unit
from assay.measure.ranges import Floats, Functions, Ints, Numbers, Ranges, joined, ranks

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
