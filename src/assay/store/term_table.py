"""The terms of many segments in, which of them hold a term, and where, out: one table, not a search in each.

Every term becomes a number of 64 bits, and all numbers are sorted once, so that a term is found in one search however
many segments there are. The numbers are made by numpy, many terms at once, whenever the segments are opened: nothing is
stored that would have to be kept up to date. Two terms of one number are told apart by their letters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from assay.store.strings import Strings

Hashes = NDArray[np.uint64]

_BASE = 0x9E3779B97F4A7C15  # odd, so that it has an inverse among the numbers of 64 bits
_INVERSE = pow(_BASE, -1, 1 << 64)
_AT_ONCE = 1 << 15  # letters: what the cache of a core holds of all that is computed


class TermTable:
    """Where the terms of some columns stand, each column sorted and without copies."""

    def __init__(self, columns: Sequence[Strings]) -> None:
        self._columns = columns
        self._starts = np.array([0, *accumulate(map(len, columns))], dtype=np.int64)
        every = np.concatenate([term_hashes(column) for column in columns])
        order = np.argsort(every)
        self._hashes, self._places = every[order], order.astype(np.uint32)

    def holders(self, term: str) -> Iterator[tuple[int, int]]:
        """Yield the columns that hold a term, ascending, each with its position there."""
        wanted = Strings.of([term])
        letters = wanted.bytes_at(0)
        (number,) = term_hashes(wanted)
        first, end = np.searchsorted(self._hashes, number), np.searchsorted(self._hashes, number, side="right")
        places = np.sort(self._places[first:end]).astype(np.int64)
        columns = np.searchsorted(self._starts, places, side="right") - 1
        for column, at in zip(columns.tolist(), (places - self._starts[columns]).tolist(), strict=True):
            if self._columns[column].bytes_at(at) == letters:
                yield column, at


def term_hashes(terms: Strings) -> Hashes:
    """Return a number for each term: its letters as the digits of one, in a large base."""
    ends = terms.offsets
    blob, found = terms.whole, np.empty(len(terms), dtype=np.uint64)
    first = 0
    while first < len(terms):
        end = max(first + 1, int(np.searchsorted(ends, ends[first] + _AT_ONCE, side="right")) - 1)
        borders = ends[first : end + 1] - ends[first]
        found[first:end] = _block_hashes(blob[ends[first] : ends[end]], borders)
        first = end
    return found


def _block_hashes(letters: NDArray[np.uint8], borders: NDArray[np.int64]) -> Hashes:
    """Return the numbers of terms that lie end to end: differences of one running sum, moved to where each begins."""
    powers, inverses = _powers(max(_AT_ONCE, len(letters)))
    sums = np.zeros(len(letters) + 1, dtype=np.uint64)
    np.cumsum((letters + np.uint64(1)) * powers[: len(letters)], out=sums[1:])
    moved: Hashes = (sums[borders[1:]] - sums[borders[:-1]]) * inverses[borders[:-1]]
    return moved


@lru_cache(maxsize=2)
def _powers(count: int) -> tuple[Hashes, Hashes]:
    """Return the powers of the base and of its inverse, from the zeroth on."""
    return _powers_of(_BASE, count), _powers_of(_INVERSE, count)


def _powers_of(base: int, count: int) -> Hashes:
    powers = np.full(count, base, dtype=np.uint64)
    powers[0] = 1
    return np.cumprod(powers)
