"""Decide what has to be read again: what an index is built by, and how files differ from its catalog."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from assay import __version__
from assay.corpus.walked_files import FileEntry, Walk
from assay.protocols import Encoder
from assay.settings import IndexSettings
from assay.store.catalog import NO_DIGEST, STAT, Catalog, FileRecord, Identity

if TYPE_CHECKING:
    from assay.corpus.blocks import Sizes
    from assay.encode.view import Reads

_INDEX = IndexSettings()


@dataclass(frozen=True, slots=True)
class Build:
    """How an index is built."""

    chunk_lines: int = _INDEX.chunk_lines
    section_lines: int = _INDEX.section_lines
    quantisation: str = _INDEX.quantisation
    reads: Reads = "auto"
    encoding: str = _INDEX.encoding
    """The encoding of files that are not UTF-8 and do not name one."""
    open_ignored: bool = field(default=_INDEX.open_ignored, compare=False)
    """Whether `.assayignore` may bring in what git ignores; the rules of the walk remember it."""
    batch_bytes: int = field(default=2_000_000, compare=False)
    """Text that each process holds at a time; the stored index does not depend on it."""

    @property
    def sizes(self) -> Sizes:
        """Return how long chunks may be."""
        from assay.corpus.blocks import Sizes  # what reads an index needs none

        return Sizes(self.chunk_lines, self.section_lines)

    def changes(self) -> list[str]:
        """Return what differs from the defaults, as a part of an index's identity."""
        usual = Build()
        mine = ((each.name, getattr(self, each.name)) for each in fields(self) if each.compare)
        return [f"{name} {value}" for name, value in mine if value != getattr(usual, name)]


def identity(encoder: Encoder, build: Build) -> Identity:
    """Return the identity of an index: all that its chunks and vectors depend on."""
    return Identity(encoder.name, encoder.dimension, ", ".join((f"assay {__version__}", *build.changes())))


def mismatch(made_by: Identity, expected: Identity) -> str:
    """Return why an index of another identity cannot be built upon; empty if the identity is the same."""
    made, needed = (f"{each.encoder} ({each.dimension} dimensions), {each.settings}" for each in (made_by, expected))
    return "" if made_by == expected else f"it was built with {made}, not with {needed}"


UNSURE_NS = 2_000_000_000  # the coarsest clock of a common file system

_TIMES = ("mtime_ns", "ctime_ns")

_stat = attrgetter(*STAT)


class SiftedWalk(NamedTuple):
    """The files of a walk, sorted: those as recorded, and those that may have changed."""

    same: tuple[FileRecord, ...]
    to_read: tuple[FileEntry, ...]
    records: dict[str, FileRecord]
    """The records of the files to read, by path."""


def unchanged(walk: Walk, catalog: Catalog, checked_ns: int) -> bool:
    """Return whether nothing changed, at the cost of comparing columns."""
    settled_ns = checked_ns - UNSURE_NS
    if len(walk.files) != len(catalog) or any(catalog.stat(at).max(initial=0) >= settled_ns for at in _TIMES):
        return False
    return [file.path for file in walk.files] == catalog.paths and all(
        np.array_equal(np.fromiter(map(attrgetter(name), walk.files), column.dtype, len(column)), column)
        for name, column in ((name, catalog.stat(name)) for name in STAT)
    )


def sift(walk: Walk, recorded: Mapping[str, FileRecord], checked_ns: int) -> SiftedWalk:
    """Sort a walk's files into those that are as recorded and those to read."""
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
    return SiftedWalk(tuple(same), tuple(read), known)


@dataclass(frozen=True, slots=True)
class Differences:
    """Files with text that were added, changed or removed."""

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
    old, new = _digests(before), _digests(after)
    changed = (path for path in old.keys() & new.keys() if old[path] != new[path])
    return Differences(*(tuple(sorted(each)) for each in (new.keys() - old.keys(), changed, old.keys() - new.keys())))


def _digests(records: Mapping[str, FileRecord]) -> dict[str, bytes]:
    return {path: record.digest for path, record in records.items() if record.digest != NO_DIGEST}
