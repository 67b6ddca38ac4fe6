"""Cosines with one vector in, their mean and standard deviation over a corpus out, also where few of them are known.

Those of a segment with inverted lists follow from the sums that are stored with the lists, less what is dead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.protocols import Vectors
from assay.store.inverted_lists import sums_of
from assay.store.quantised import restored
from assay.store.segment import Mask, Segment

_STEPS = 1 << 20
"""Steps of a cosine where many are added up: the squares of eight million fit 63 bits."""


@dataclass(frozen=True, slots=True)
class VectorSums:
    """What is known of some vectors together."""

    count: int
    total: NDArray[np.float64]
    """(dimension) their sum."""
    moments: NDArray[np.float64]
    """(dimension, dimension) the sum of each one's outer product with itself."""

    def nearness(self, vector: Vectors, known: Vectors) -> tuple[float, float]:
        """Return mean and standard deviation of a vector's cosines with all of them and of those known besides."""
        others = known.astype(np.float64)
        count = max(self.count + len(others), 1)
        mean = (float(self.total @ vector) + float(others.sum())) / count
        squares = (float(vector @ self.moments @ vector) + float(others @ others)) / count
        return mean, max(squares - mean * mean, 0.0) ** 0.5


def sums_with_lists(parts: Sequence[tuple[Segment, Mask | None]]) -> VectorSums | None:
    """Sum up the living chunks of the segments that have lists; None where none has."""
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
