"""A walk and the last catalog in, what has to be read again out.

As in git, a file is not read when size, times and inode are as recorded. Programs can set the time of modification
back, but not that of change. Neither is trusted for a file that changed just before it was recorded: a second change in
the same tick of the clock would not show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from assay.corpus.walked_files import FileEntry, Walk
from assay.store.catalog import NO_DIGEST, STAT, Catalog, FileRecord

UNSURE_NS = 2_000_000_000  # the coarsest clock of a common file system
_TIMES = ("mtime_ns", "ctime_ns")
_stat = attrgetter(*STAT)


@dataclass(frozen=True, slots=True)
class Sifted:
    """What of a walk stands as recorded, and what may have changed."""

    same: tuple[FileRecord, ...]
    read: tuple[FileEntry, ...]
    known: dict[str, FileRecord]
    """The record of each path to read that has one."""


def unchanged(walk: Walk, catalog: Catalog, checked_ns: int) -> bool:
    """Say, for the price of comparing columns, whether nothing changed."""
    settled_ns = checked_ns - UNSURE_NS
    if len(walk.files) != len(catalog) or any(catalog.stat(at).max(initial=0) >= settled_ns for at in _TIMES):
        return False
    return [file.path for file in walk.files] == catalog.paths and all(
        np.array_equal(np.fromiter(map(attrgetter(name), walk.files), column.dtype, len(column)), column)
        for name, column in ((name, catalog.stat(name)) for name in STAT)
    )


def sift(walk: Walk, recorded: Mapping[str, FileRecord], checked_ns: int) -> Sifted:
    """Sort a walk's files into those that stand as recorded and those to read."""
    same, read, known = [], [], {}
    settled_ns = checked_ns - UNSURE_NS
    for file in walk.files:
        record = recorded.get(file.path)
        if record is None:
            read.append(file)
        elif _stat(record) == _stat(file) and max(file.mtime_ns, file.ctime_ns) < settled_ns:
            same.append(record)
        else:
            read.append(file)
            known[file.path] = record
    return Sifted(tuple(same), tuple(read), known)


@dataclass(frozen=True, slots=True)
class Differences:
    """Files with text that are not as an index has them, or had them before it was brought up to date."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __len__(self) -> int:
        return sum(self.counts().values())

    def counts(self) -> dict[str, int]:
        """Return how many files were added, changed and removed."""
        return {"added": len(self.added), "changed": len(self.changed), "removed": len(self.removed)}


def differences(before: Mapping[str, FileRecord], after: Mapping[str, FileRecord]) -> Differences:
    """Compare the files with text, before and after."""
    old = {path: record.digest for path, record in before.items() if record.digest != NO_DIGEST}
    new = {path: record.digest for path, record in after.items() if record.digest != NO_DIGEST}
    both = old.keys() & new.keys()
    changed = (path for path in both if old[path] != new[path])
    return Differences(tuple(sorted(new.keys() - both)), tuple(sorted(changed)), tuple(sorted(old.keys() - both)))
