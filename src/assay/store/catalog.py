"""What an index knows of each file: how `stat` saw it, what its text hashes to, how it was cut or why it was not.

Columns, so that two hundred thousand records load as fast as they are read from disk and compare at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.store.arrays import Arrays

DIGEST_BYTES = 16
NO_DIGEST = bytes(DIGEST_BYTES)
STAT = ("size", "mtime_ns", "ctime_ns", "inode")
"""What is recorded of a file as `stat` saw it: the same again is taken for the same file."""


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One file; the path is relative to the root."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    digest: bytes = NO_DIGEST
    """Of the text; zeros when there is none."""
    chunks: int = 0
    skipped: str = ""
    """Why it is not in the index under this path, or empty."""
    note: str = ""
    """What its reader should know about how it was cut, or empty."""

    @property
    def indexed(self) -> bool:
        """Say whether its text is in a segment, under this path."""
        return self.digest != NO_DIGEST and not self.skipped


class Catalog:
    """Records in order of their paths, as columns."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays

    @classmethod
    def of(cls, records: Iterable[FileRecord]) -> Catalog:
        """Sort records by path and turn them into columns."""
        rows = sorted(records, key=lambda record: record.path)
        skipped, notes = _Numbers(), _Numbers()
        columns: Arrays = {
            "size": np.array([row.size for row in rows], dtype=np.int64),
            "mtime_ns": np.array([row.mtime_ns for row in rows], dtype=np.int64),
            "ctime_ns": np.array([row.ctime_ns for row in rows], dtype=np.int64),
            "inode": np.array([row.inode for row in rows], dtype=np.uint64),
            "digest": _bytes(b"".join(row.digest for row in rows)).reshape(len(rows), DIGEST_BYTES),
            "chunks": np.array([row.chunks for row in rows], dtype=np.uint32),
            "skipped": np.array([skipped[row.skipped] for row in rows], dtype=np.uint32),
            "note": np.array([notes[row.note] for row in rows], dtype=np.uint32),
            "paths": _join([row.path for row in rows]),
        }
        return cls({**columns, "skipped_texts": _join(skipped), "note_texts": _join(notes)})

    def __len__(self) -> int:
        return len(self.arrays["size"])

    @cached_property
    def paths(self) -> list[str]:
        """Return every path, sorted."""
        return _split(self.arrays["paths"], len(self))

    def stat(self, name: str) -> NDArray[Any]:
        """Return one column of `STAT`."""
        return self.arrays[name]

    @property
    def chunks(self) -> int:
        """Count the chunks of all files."""
        return int(self.arrays["chunks"].sum())

    @property
    def texts(self) -> int:
        """Count the files with text."""
        return int(self.arrays["digest"].any(axis=1).sum())

    def texts_of(self, column: str) -> Iterator[tuple[str, str]]:
        """Yield the path and text of the records that have one in `skipped` or `note`."""
        numbers = self.arrays[column]
        texts = _split(self.arrays[f"{column}_texts"], int(numbers.max(initial=0)) + 1)
        silent = texts.index("") if "" in texts else -1
        for at in np.flatnonzero(numbers != silent):
            yield self.paths[at], texts[numbers[at]]

    def records(self) -> list[FileRecord]:
        """Return every record."""
        columns = self.arrays
        skipped = dict(self.texts_of("skipped"))
        notes = dict(self.texts_of("note"))
        digests = columns["digest"].tobytes()
        stats = zip(*(columns[name].tolist() for name in STAT), strict=True)
        return [
            FileRecord(
                path,
                size,
                mtime_ns,
                ctime_ns,
                inode,
                digests[at * DIGEST_BYTES : (at + 1) * DIGEST_BYTES],
                chunks,
                skipped.get(path, ""),
                notes.get(path, ""),
            )
            for at, (path, chunks, (size, mtime_ns, ctime_ns, inode)) in enumerate(
                zip(self.paths, columns["chunks"].tolist(), stats, strict=True)
            )
        ]


class _Numbers(dict[str, int]):
    """Texts numbered in the order of their first use."""

    def __missing__(self, text: str) -> int:
        self[text] = number = len(self)
        return number


def _bytes(data: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(data, dtype=np.uint8)


def _join(texts: Iterable[str]) -> NDArray[np.uint8]:
    """Pack texts that hold no NUL, as paths cannot."""
    return _bytes("\0".join(texts).encode("utf-8", "surrogatepass"))


def _split(packed: NDArray[np.uint8], count: int) -> list[str]:
    return packed.tobytes().decode("utf-8", "surrogatepass").split("\0") if count else []
