"""Ranked line ranges and graded line ranges in, one figure a query out.

Matching is overlap, as in octocode's benchmark. *Strict*, the default of everything here: each entry of the
ground truth is answered once, by the first hit that overlaps it, and one hit answers at most one entry, so
that neither long nor many chunks can score above 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of a file, 1-based and inclusive."""

    path: str
    start: int
    end: int

    def overlaps(self, other: Span) -> bool:
        """Say whether the two share a line."""
        return self.path == other.path and self.start <= other.end and other.start <= self.end


@dataclass(frozen=True, slots=True)
class Entry:
    """One right answer with its grade, 1 or more."""

    span: Span
    grade: int


def gains(found: Sequence[Span], truth: Sequence[Entry]) -> list[int]:
    """Return the grade each hit earns: the best entry it overlaps that no earlier hit took, else 0."""
    open_entries = sorted(truth, key=lambda entry: -entry.grade)
    earned = []
    for span in found:
        entry = next((entry for entry in open_entries if entry.span.overlaps(span)), None)
        if entry is not None:
            open_entries.remove(entry)
        earned.append(entry.grade if entry is not None else 0)
    return earned


def hit(earned: Sequence[int], k: int) -> float:
    """Return 1 when any of the first k hits earned something."""
    return float(any(earned[:k]))


def reciprocal_rank(earned: Sequence[int]) -> float:
    """Return one over the rank of the first hit that earned something, 0 when none did."""
    return next((1.0 / rank for rank, gain in enumerate(earned, 1) if gain), 0.0)


def ndcg(earned: Sequence[int], truth: Sequence[Entry], k: int) -> float:
    """Return the discounted gain of the first k hits over that of the best possible order (linear gain)."""
    ideal = _dcg(sorted((entry.grade for entry in truth), reverse=True)[:k])
    return _dcg(earned[:k]) / ideal if ideal else 0.0


def recall(earned: Sequence[int], truth: Sequence[Entry], k: int) -> float:
    """Return the share of entries answered within the first k hits."""
    return sum(gain > 0 for gain in earned[:k]) / len(truth) if truth else 0.0


def lines_in(found: Sequence[Span], k: int) -> int:
    """Return how many lines the first k hits make a reader read: long chunks flatter every other measure."""
    return sum(span.end - span.start + 1 for span in found[:k])


def _dcg(grades: Sequence[int]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))
