"""Hold what a walk found: files, what was left out and why, and a hash over the rules that decided it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

_ESCAPED = re.compile(rb"\\x(5c|[89a-f][0-9a-f])")


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file as `stat` saw it; the path is relative to the root, with `/`, and always valid UTF-8.

    Bytes of a name that are none are written in hexadecimal after a backslash and an x, and so is a backslash that
    stands before an x; `from_utf8` finds the file again.
    """

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    """When content or name was last changed by the system's clock, which no program can set back."""
    inode: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or folder that was left out."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Walk:
    """The files in order of their paths, what was left out, and a hash over all ignore rules met."""

    files: tuple[FileEntry, ...]
    skipped: tuple[Skipped, ...]
    rules: str
    folders: tuple[str, ...] = ()
    """The folders that were entered, each with a `/` at its end, but the root is empty; as the system names them."""


def entry_of(path: str, stat: os.stat_result) -> FileEntry:
    """Return a file as `stat` saw it."""
    return FileEntry(path, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)


def as_utf8(path: str) -> str:
    """Write a path of the file system as valid UTF-8, no two paths alike."""
    path = path.replace("\\x", "\\x5cx")
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "backslashreplace")


def from_utf8(root: Path, path: str) -> Path:
    """Return the file of a path as `as_utf8` wrote it, whose name may hold bytes that are no UTF-8."""
    if "\\x" not in path:
        return root / path
    data = _ESCAPED.sub(lambda found: bytes((int(found[1], 16),)), path.encode())
    return root / os.fsdecode(data)
