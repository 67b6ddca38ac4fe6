"""Score every chunk that shares a word with a query by BM25 over fields, in one pass over the postings.

BM25F as Robertson and Zaragoza define it (2009, section 3.5): a term's counts are weighted by field and divided
by the field's length against a typical one, and only their sum saturates. Typical lengths are constants and not
averages of the corpus, so that a chunk's score does not move when others come and go.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.store.snapshot import Snapshot

Array = NDArray[np.float32]

_LARGE = 50_000
_COMMON = 0.1
"""Fraction of a large corpus' chunks; a term that more hold is no reason to look at one."""


@dataclass(frozen=True, slots=True)
class FieldWeights:
    """How much a word counts by the field it stands in, in the order of `store.fields.FIELDS`."""

    weight: tuple[float, ...] = (3.0, 1.0, 2.0, 2.0, 1.0)
    typical_length: tuple[float, ...] = (2.0, 2.0, 5.0, 15.0, 60.0)
    b: tuple[float, ...] = (0.4, 0.2, 0.2, 0.5, 0.5)
    k1: float = 1.2


@dataclass(frozen=True, slots=True)
class TermMatch:
    """One term in the corpus."""

    idf: float
    chunks: NDArray[np.int64]
    """(df) ascending."""
    counts: NDArray[np.uint8]
    """(df, fields)."""
    term: str = ""
    """Empty for a part of what holds a term."""


def match(snapshot: Snapshot, terms: Sequence[str]) -> list[TermMatch]:
    """Look terms up; one that no chunk holds has an empty match and the highest idf."""
    living, found = len(snapshot), snapshot.postings_of(terms)
    return [
        TermMatch(idf(living, len(chunks)), chunks, counts, term)
        for term, (chunks, counts) in zip(terms, found, strict=True)
    ]


def idf(chunks: int, holding: int) -> float:
    """Return Robertson's inverse document frequency, never negative."""
    return math.log(1.0 + (chunks - holding + 0.5) / (holding + 0.5))


def saturated(counts: NDArray[np.uint8], lengths: NDArray[np.uint16], weights: FieldWeights) -> Array:
    """Return the BM25F factor of a term in each chunk, in [0, 1); both arguments have shape `(chunks, fields)`.

    Field by field: numpy takes many times as long over rows of five.
    """
    total = np.zeros(len(counts), dtype=np.float32)
    for field, (weight, typical, b) in enumerate(zip(weights.weight, weights.typical_length, weights.b, strict=True)):
        norm = lengths[:, field] * np.float32(b)
        norm /= np.float32(typical)
        norm += np.float32(1.0) - np.float32(b)
        np.divide(np.float32(weight), norm, out=norm)
        norm *= counts[:, field]
        total += norm
    factor: Array = total / (total + np.float32(weights.k1))
    return factor


def bm25(snapshot: Snapshot, matches: Sequence[TermMatch], weights: FieldWeights) -> Array:
    """Return the score of every chunk, shape `(size,)`; 0 where no term stands.

    In a large corpus a chunk that holds none but common terms has 0, too: it is not worth what reading it would cost.
    """
    scores = np.zeros(snapshot.size, dtype=np.float32)
    telling, common = _telling(snapshot, [found for found in matches if len(found.chunks)])
    for found in telling:
        scores[found.chunks] += _contributions(snapshot, found, weights)
    for found in common:
        there = np.flatnonzero(scores[found.chunks])
        few = TermMatch(found.idf, found.chunks[there], found.counts[there])
        scores[few.chunks] += _contributions(snapshot, few, weights)
    return scores


def _telling(snapshot: Snapshot, matches: Sequence[TermMatch]) -> tuple[list[TermMatch], list[TermMatch]]:
    """Return which terms make candidates, and those that too many chunks of a large corpus hold; never only these."""
    most = snapshot.size * _COMMON if snapshot.size >= _LARGE else snapshot.size
    telling = [found for found in matches if len(found.chunks) <= most]
    common = [found for found in matches if len(found.chunks) > most]
    if common and not telling:
        telling.append(common.pop(min(range(len(common)), key=lambda at: len(common[at].chunks))))
    return telling, common


def _contributions(snapshot: Snapshot, found: TermMatch, weights: FieldWeights) -> Array:
    """Return what a term adds to the score of each chunk that holds it; many questions have it in common."""
    if not found.term:
        return _compute_scores(snapshot, found, weights)
    return snapshot.term_scores.get((found.term, weights), lambda: _compute_scores(snapshot, found, weights))


def _compute_scores(snapshot: Snapshot, found: TermMatch, weights: FieldWeights) -> Array:
    factor = saturated(found.counts, snapshot.lengths.take(found.chunks, axis=0), weights)
    return np.float32(found.idf) * factor
