"""Numbers of chunks in, the same numbers in the order of their files' paths out, whichever segments hold them.

An index that was updated has its chunks in other segments, hence under other numbers, than a fresh one. Whatever is cut
off among equals or told apart by its place goes by this order, so that both answer alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


class ChunkOrder:
    """The order of the chunks of several segments."""

    def __init__(self, files: Sequence[NDArray[np.uint32]], places: Sequence[NDArray[np.uint32]]) -> None:
        """Take the file of each chunk and the place of each file among all, both by segment.

        Chunks of a file stand in one segment as the file was cut. Without places, numbers are in order as they are.
        """
        self._files = files if places else ()
        self._places = places
        self._bases = np.array([0, *accumulate(map(len, files))], dtype=np.int64)

    def ordered(self, numbers: Numbers) -> Numbers:
        """Return numbers in order."""
        numbers = np.sort(numbers)
        if not self._files:
            return numbers
        borders = np.searchsorted(numbers, self._bases).tolist()
        pieces = [
            numbers[start:end] - base for start, end, base in zip(borders, borders[1:], self._bases, strict=False)
        ]
        ranks = [place[file[piece]] for place, file, piece in zip(self._places, self._files, pieces, strict=True)]
        by_path: Numbers = numbers[np.argsort(np.concatenate(ranks), kind="stable")]
        return by_path

    def strongest(self, scores: NDArray[np.float32], numbers: Numbers, k: int) -> Numbers:
        """Return the `k` of some numbers with the highest scores, in order; of equal ones at the end the first."""
        if len(numbers) > k > 0:
            own = scores[numbers]
            least = np.partition(own, -k)[-k]
            above, equal = numbers[own > least], numbers[own == least]
            if len(above) + len(equal) > k:
                equal = self.ordered(equal)[: k - len(above)]
            numbers = np.concatenate((above, equal))
        return self.ordered(numbers)

    def ranked(self, scores: NDArray[np.float32], numbers: Numbers, k: int) -> Numbers:
        """Return the `k` of some numbers with the highest scores, best first, equal ones in order."""
        best = self.strongest(scores, numbers, k)
        by_score: Numbers = best[np.argsort(-scores[best], kind="stable")][:k]
        return by_score
