"""Compute the cosines of a vector with the chunks near it; far parts of large segments are not read.

Small segments are read whole. Of those with inverted lists, the lists whose centroids are nearest to the vector are
read, in whatever segment they lie, until they hold enough chunks that a filter keeps; where a filter keeps few, all of
these are compared and no list is read. A cosine is exact or unknown, never that of a quantized vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.protocols import Vectors
from assay.store.segment import Mask, Segment
from assay.store.vectors import InvertedLists, products, restored, sums_of

Parts = Sequence[tuple[int, Segment]]
"""Segments, each with the number of its first chunk."""
Rows = NDArray[np.int64]

UNKNOWN = np.float32(np.nan)
_MIN_READ_CHUNKS = 16_384
_READ_FRACTION = 1 / 16
"""Chunks that are read of those that may be found, at least so many and this fraction."""
_COMPARED = 512
_MAX_FOUND_FRACTION = 0.5


def near_cosines(parts: Parts, size: int, vector: Vectors, allowed: Sequence[Mask | None]) -> Vectors:
    """Return the cosine of one vector with each chunk, shape `(size)`; NaN for a chunk far from it.

    Each mask of `allowed` is of chunks that are searched together, and gets near ones of its own.
    """
    cosines = np.empty(size, dtype=np.float32)
    for base, segment in parts:
        here = cosines[base : base + len(segment)]
        here[:] = UNKNOWN if segment.lists else products(vector[None, :], segment.vectors)[0]
    large = [(base, segment) for base, segment in parts if segment.lists]
    for mask in allowed if large else ():
        near = _near([_Listed.of(base, segment, mask) for base, segment in large], vector)
        cosines[near] = cosines_with(large, vector, near)
    return cosines


def cosines_with(parts: Parts, vector: Vectors, numbers: Rows) -> Vectors:
    """Return the exact cosines of a vector with some chunks."""
    cosines = np.empty(len(numbers), dtype=np.float32)
    for base, segment in parts:
        here = (numbers >= base) & (numbers < base + len(segment))
        if here.any():
            cosines[here] = products(vector[None, :], restored(segment.vectors_of(numbers[here] - base)))[0]
    return cosines


@dataclass(frozen=True, slots=True)
class _Listed:
    """A segment with inverted lists, and which of its chunks may be found."""

    base: int
    lists: InvertedLists
    mask: Mask | None

    @classmethod
    def of(cls, base: int, segment: Segment, mask: Mask | None) -> _Listed:
        """Take a segment with its part of a mask over all chunks."""
        assert segment.lists is not None
        return cls(base, segment.lists, None if mask is None else mask[base : base + len(segment)])

    @property
    def findable(self) -> int:
        """Count the chunks that may be found."""
        return len(self.lists.chunks) if self.mask is None else int(np.count_nonzero(self.mask))

    @property
    def every(self) -> Rows:
        """Return the numbers of all of them."""
        return self.base + (np.arange(self.findable) if self.mask is None else np.flatnonzero(self.mask))

    @property
    def in_lists(self) -> NDArray[np.float64]:
        """Count them in each list; where most chunks may be found, as if these were spread evenly."""
        sizes = np.diff(self.lists.starts).astype(np.float64)
        if self.mask is None or self.findable > len(self.mask) * _MAX_FOUND_FRACTION:
            return sizes * (self.findable / max(len(self.lists.chunks), 1))
        kept = np.concatenate(([0.0], np.cumsum(self.mask[self.lists.chunks])))
        return np.diff(kept[self.lists.starts])

    def estimated(self, vector: Vectors, lists: NDArray[np.intp]) -> tuple[Rows, Vectors]:
        """Return those in some lists, and about how near they are to a vector."""
        chunks, cosines = self.lists.estimates(lists, vector)
        if self.mask is not None:
            found = np.flatnonzero(self.mask[chunks])
            chunks, cosines = chunks[found], cosines[found]
        return chunks + np.int64(self.base), cosines


def _near(parts: Sequence[_Listed], vector: Vectors) -> Rows:
    """Return the chunks to compare: all that may be found if these are few, or else the best by their codes."""
    findable = sum(part.findable for part in parts)
    if findable <= _MIN_READ_CHUNKS:
        return np.concatenate([np.zeros(0, dtype=np.int64), *(part.every for part in parts)])
    chosen = _nearest_lists(parts, vector, max(_MIN_READ_CHUNKS, int(findable * _READ_FRACTION)))
    estimates = [part.estimated(vector, lists) for part, lists in zip(parts, chosen, strict=True)]
    numbers, cosines = (np.concatenate(column) for column in zip(*estimates, strict=True))
    if len(numbers) > _COMPARED:
        numbers = numbers[np.argpartition(-cosines, _COMPARED)[:_COMPARED]]
    return np.sort(numbers)


def _nearest_lists(parts: Sequence[_Listed], vector: Vectors, enough: int) -> list[NDArray[np.intp]]:
    """Return which lists of each segment to read: the nearest to a vector that hold enough chunks together."""
    closeness = np.concatenate([part.lists.centroids @ vector for part in parts])
    holding = np.concatenate([part.in_lists for part in parts])
    order = np.argsort(-closeness, kind="stable")
    order = order[holding[order] > 0]
    read = np.sort(order[: int(np.searchsorted(np.cumsum(holding[order]), enough)) + 1])
    firsts = np.cumsum([0, *(len(part.lists.centroids) for part in parts)])
    own = np.split(read, np.searchsorted(read, firsts[1:-1]))
    return [numbers - first for numbers, first in zip(own, firsts[:-1], strict=True)]


_STEPS = 1 << 20
"""Steps of a cosine where many are added up: the squares of eight million fit 63 bits."""


@dataclass(frozen=True, slots=True)
class VectorSums:
    """Count, sum and second moments of some vectors."""

    count: int
    total: NDArray[np.float64]
    """(dimension) their sum."""
    moments: NDArray[np.float64]
    """(dimension, dimension) the sum of each one's outer product with itself."""

    def cosine_statistics(self, vector: Vectors, cosines: Vectors) -> tuple[float, float]:
        """Return mean and standard deviation of a vector's cosines with these vectors, and of further cosines."""
        others = cosines.astype(np.float64)
        count = max(self.count + len(others), 1)
        mean = (float(self.total @ vector) + float(others.sum())) / count
        squares = (float(vector @ self.moments @ vector) + float(others @ others)) / count
        return mean, max(squares - mean * mean, 0.0) ** 0.5


def sums_with_lists(parts: Sequence[tuple[Segment, Mask | None]]) -> VectorSums | None:
    """Sum up the living chunks of the segments with lists; None if no segment has lists."""
    found = None
    for segment, live in parts:
        if lists := segment.lists:
            dead = np.zeros(0, dtype=np.int64) if live is None else np.flatnonzero(~live)
            total, moments = sums_of(restored(segment.vectors_of(dead)))
            before = found or VectorSums(0, np.zeros_like(total), np.zeros_like(moments))
            count = before.count + len(segment) - len(dead)
            total, moments = lists.total - total, lists.moments - moments
            found = VectorSums(count, before.total + total, before.moments + moments)
    return found


def mean_and_deviation(cosines: Vectors) -> tuple[float, float]:
    """Return both of some cosines, the same whatever their order."""
    count = max(len(cosines), 1)
    steps = np.rint(cosines * np.float32(_STEPS)).astype(np.int64)  # whole numbers add up alike in any order
    total, squares = int(steps.sum()), int(steps @ steps)
    return total / count / _STEPS, (count * squares - total * total) ** 0.5 / count / _STEPS
