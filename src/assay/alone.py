"""A file to the right of being its one writer, which the system itself takes back when the holder dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.errors import InputError


@contextmanager
def alone(file: Path, *, busy: str = "") -> Iterator[None]:
    """Hold the lock of a file; where another holds it, wait, or raise InputError saying `busy` if that is given."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (fcntl.LOCK_NB if busy else 0))
        except BlockingIOError:
            raise InputError(busy) from None
        yield
    finally:
        os.close(descriptor)
