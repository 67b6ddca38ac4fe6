"""A file to the right of being its one writer, which the system itself takes back when the holder dies."""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.errors import InputError, StorageError

_AGAIN_S = 0.01


@contextmanager
def alone(file: Path, *, busy: str = "", patience_s: float | None = None, is_folder: bool = False) -> Iterator[None]:
    """Hold the lock of a file, or of a folder that is there; where another holds it, wait, or refuse with `busy`.

    With a patience, wait no longer than that and then raise BlockingIOError.
    """
    try:
        flags = os.O_RDONLY if is_folder else os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
        descriptor = os.open(file, flags | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StorageError(f"cannot write {file}: {error.strerror}") from error
    try:
        if not is_folder and not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise StorageError(f"{file} is not a regular file: remove it")
        try:
            _lock(descriptor, 0.0 if busy else patience_s)
        except BlockingIOError:
            if busy:
                raise InputError(busy) from None
            raise
        yield
    finally:
        os.close(descriptor)


def is_held(file: Path) -> bool:
    """Say whether somebody holds the lock of a file."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _lock(descriptor: int, patience_s: float | None) -> None:
    if patience_s is None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return
    ends = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= ends:
                raise
            time.sleep(_AGAIN_S)
        else:
            return
