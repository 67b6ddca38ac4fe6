"""Bytes in, two checksums a block out, and a block refused that is not as it was written, when it is first read.

A block is a table of 64-bit words. One checksum adds up the rows, the other takes the columns together by exclusive or,
and each row and column counts by an odd number of its own. Any change of one word shows in both; of two wrong bytes in
a block, two in a hundred million make up for one another in both. Numpy reads 50 MB so in 5 ms, `zlib.crc32` in 17:
what a search reads can be verified by every process.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.errors import DamagedIndex

_BITS = 15
BLOCK = 1 << _BITS
SUM_BYTES = 16
"""What the checksums of a block take."""
_ROWS, _COLUMNS = 16, 256
_HALF = np.uint64(32)
_FACTORS = np.arange(1, _ROWS + _COLUMNS + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) | np.uint64(1)
_ROW, _COLUMN = _FACTORS[:_ROWS], _FACTORS[_ROWS:]
_AT_ONCE = 32  # blocks: what the cache of a core holds, so that the second look need not read memory again

Bytes = NDArray[np.uint8]
Sums = NDArray[np.uint64]


def checksums(data: Bytes) -> Sums:
    """Return the checksums of some bytes, shape `(blocks, 2)`; the last block is filled up with zeros."""
    found = np.empty((-(-len(data) >> _BITS), 2), dtype=np.uint64)
    whole = len(data) >> _BITS
    for at in range(0, whole, _AT_ONCE):
        end = min(at + _AT_ONCE, whole)
        _sum(data[at << _BITS : end << _BITS], found[at:end])
    if whole < len(found):
        last = np.zeros(BLOCK, dtype=np.uint8)
        last[: len(data) - (whole << _BITS)] = data[whole << _BITS :]
        _sum(last, found[whole:])
    return found


def _sum(blocks: Bytes, out: Sums) -> None:
    words = blocks.view(np.uint64).reshape(-1, _ROWS, _COLUMNS)
    rows, columns = np.add.reduce(words, axis=2), np.bitwise_xor.reduce(words, axis=1)
    for part, factors, sums in ((rows, _ROW, out[:, 0]), (columns, _COLUMN, out[:, 1])):
        mixed = part ^ part >> _HALF  # the high bits count in the low ones, too: multiplied they would be pushed out
        np.einsum("bi,i->b", mixed, factors, out=sums)


class VerifiedBlocks:
    """Bytes with the checksums of their blocks, and which blocks are verified."""

    def __init__(self, name: str, data: Bytes, sums: Sums) -> None:
        self._name, self._data, self._sums = name, data, sums
        self._open = bytearray(b"\1") * len(sums)

    def verify(self, start: int, stop: int) -> None:
        """Read the blocks that hold these bytes and were not read yet; raise DamagedIndex for the first wrong one."""
        last = -(-stop >> _BITS)
        first = self._open.find(1, start >> _BITS, last)
        if first < 0 or start >= stop:
            return
        end = self._open.rfind(1, first, last) + 1
        wrong = checksums(self._data[first << _BITS : end << _BITS]) != self._sums[first:end]
        if wrong.any():
            block = first + int(wrong.any(axis=1).argmax())
            raise DamagedIndex(f"{self._name} is corrupt in block {block} (of {BLOCK >> 10} KiB)")
        self._open[first:end] = bytes(end - first)

    def verify_each(self, starts: NDArray[np.int64], length: int) -> None:
        """Do the same for many pieces of one length."""
        wanted = np.concatenate((starts, starts + (length - 1))) >> _BITS
        for block in np.unique(wanted[np.frombuffer(self._open, np.uint8)[wanted] != 0]).tolist():
            self.verify(block << _BITS, block + 1 << _BITS)
