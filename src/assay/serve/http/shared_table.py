"""Memory that all processes of a server share: what each counts, and the pace of whoever asks.

It is a file without a name. Each part writes numbers into a slot of its own, which needs no lock; a reader adds the
slots up. The rest is cells that any part may change, each under a lock that the system takes back from a dead holder.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

SLOTS = 64
"""Parts that may run at once, with those that are being replaced: `--workers` has its bound from here."""
NUMBERS = 2048
"""Numbers in each slot."""
SETS, CELLS = 1024, 4
"""Cells to remember people and addresses in, and how many of them are under one lock."""
CELL = 3
"""Numbers in a cell."""
_BYTES = 8


class SharedTable:
    """Numbers in memory that other processes see."""

    def __init__(self, descriptor: int | None = None) -> None:
        """Make a table, or take the one that a descriptor leads to."""
        size = (SLOTS * NUMBERS + SETS * CELLS * CELL) * _BYTES
        self.slots = SLOTS
        self.descriptor = _unnamed_file(size) if descriptor is None else descriptor
        self._numbers = memoryview(mmap.mmap(self.descriptor, size)).cast("d")

    def slot(self, number: int) -> memoryview[float]:
        """Return the numbers of one part."""
        return self._numbers[number * NUMBERS : (number + 1) * NUMBERS]

    @contextmanager
    def cells(self, key: int) -> Iterator[memoryview[float]]:
        """Give the cells in which a key may lie, to nobody else meanwhile."""
        start = SLOTS * NUMBERS + key % SETS * CELLS * CELL
        fcntl.lockf(self.descriptor, fcntl.LOCK_EX, 1, start)
        try:
            yield self._numbers[start : start + CELLS * CELL]
        finally:
            fcntl.lockf(self.descriptor, fcntl.LOCK_UN, 1, start)


def _unnamed_file(size: int) -> int:
    descriptor = os.memfd_create("assay") if hasattr(os, "memfd_create") else _removed_file()
    os.ftruncate(descriptor, size)
    return descriptor


def _removed_file() -> int:
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
