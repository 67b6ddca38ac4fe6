"""Many lists of table rows in two arrays, so that any batch of them is taken without a loop."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class TokenBags:
    """Lists of rows, one a text."""

    def __init__(self, lists: Sequence[Sequence[int]]) -> None:
        self.lengths: Ints = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
        self.flat: Ints = np.fromiter(chain.from_iterable(lists), dtype=np.int64, count=int(self.lengths.sum()))
        self._starts = np.cumsum(self.lengths) - self.lengths

    def __len__(self) -> int:
        return len(self.lengths)

    def take(self, chosen: Ints) -> tuple[Ints, Ints]:
        """Return the rows of the chosen texts, one after the other, and the number of the text that each is of."""
        lengths = self.lengths[chosen]
        owners = np.repeat(np.arange(len(chosen)), lengths)
        starts_here = np.cumsum(lengths) - lengths
        return self.flat[np.arange(len(owners)) + (self._starts[chosen] - starts_here)[owners]], owners


Taken = tuple[Ints, Ints]
"""Rows, and the number of the text that each is of."""


def without_shared(taken: Taken, others: Taken, hidden: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which rows stay when the texts to hide lose what the other text of the same number has, too."""
    width = int(max(taken[0].max(initial=0), others[0].max(initial=0))) + 1
    shared = np.isin(taken[1] * width + taken[0], others[1] * width + others[0])
    return ~(shared & hidden[taken[1]])
