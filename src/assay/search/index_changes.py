"""A walk and the last catalog in, what has to be read again out.

Files whose size and time of change are as recorded are not read. As in git, that is not trusted for a file that
changed just before it was recorded: a second change in the same tick of the clock would not show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import numpy as np

from assay import __version__
from assay.corpus.blocks import Sizes
from assay.corpus.files import FileEntry, Walk
from assay.encode.view import Reads
from assay.protocols import Encoder
from assay.settings import IndexSettings
from assay.store.catalog import NO_DIGEST, Catalog, Record
from assay.store.manifest import Identity

UNSURE_NS = 2_000_000_000  # the coarsest clock of a common file system

"""Called with a stage, how much of it is done, and how much there is."""


_INDEX = IndexSettings()


@dataclass(frozen=True, slots=True)
class Build:
    """How an index is built."""

    chunk_lines: int = _INDEX.chunk_lines
    section_lines: int = _INDEX.section_lines
    overlap_lines: int = _INDEX.overlap_lines
    quantisation: str = _INDEX.quantisation
    reads: Reads = "auto"
    batch_bytes: int = field(default=8_000_000, compare=False)
    """Text that each process holds at once; nothing that is stored depends on it."""

    @property
    def sizes(self) -> Sizes:
        """Return how long chunks may be."""
        return Sizes(self.chunk_lines, self.section_lines, self.overlap_lines)

    def changes(self) -> list[str]:
        """Return what differs from the defaults: part of an index's identity, where nothing stands for the usual."""
        usual = Build()
        mine = ((each.name, getattr(self, each.name)) for each in fields(self) if each.compare)
        return [f"{name} {value}" for name, value in mine if value != getattr(usual, name)]


def identity(encoder: Encoder, build: Build) -> Identity:
    """Return what chunks and vectors depend on."""
    return Identity(encoder.name, encoder.dimension, ", ".join((f"assay {__version__}", *build.changes())))


def told(identity: Identity) -> str:
    """Return an identity as a message names it."""
    return f"{identity.encoder} ({identity.dimension} dimensions), {identity.settings}"


@dataclass(frozen=True, slots=True)
class Counts:
    """What an update did, in files with text."""

    added: int = 0
    changed: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class Changes:
    """What of a walk stands as recorded, and what may have changed."""

    same: tuple[Record, ...]
    read: tuple[FileEntry, ...]
    known: dict[str, Record]
    """The record of each path to read that has one."""


def unchanged(walk: Walk, catalog: Catalog, checked_ns: int) -> bool:
    """Say, for the price of comparing three columns, whether nothing changed."""
    if len(walk.files) != len(catalog) or int(catalog.mtimes_ns.max(initial=0)) >= checked_ns - UNSURE_NS:
        return False
    return (
        [file.path for file in walk.files] == catalog.paths
        and np.array_equal(np.array([file.size for file in walk.files], dtype=np.int64), catalog.sizes)
        and np.array_equal(np.array([file.mtime_ns for file in walk.files], dtype=np.int64), catalog.mtimes_ns)
    )


def changes(walk: Walk, recorded: Mapping[str, Record], checked_ns: int) -> Changes:
    """Sort a walk's files into those that stand as recorded and those to read."""
    same, read, known = [], [], {}
    for file in walk.files:
        record = recorded.get(file.path)
        if record is None:
            read.append(file)
        elif (record.size, record.mtime_ns) == (file.size, file.mtime_ns) and file.mtime_ns < checked_ns - UNSURE_NS:
            same.append(record)
        else:
            read.append(file)
            known[file.path] = record
    return Changes(tuple(same), tuple(read), known)


@dataclass(frozen=True, slots=True)
class Differences:
    """Files with text whose text an index does not hold as it is now."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.added) + len(self.changed) + len(self.removed)


def differences(before: Mapping[str, Record], after: Mapping[str, Record]) -> Differences:
    """Compare the files with text, before and after."""
    old = {path: record.digest for path, record in before.items() if record.digest != NO_DIGEST}
    new = {path: record.digest for path, record in after.items() if record.digest != NO_DIGEST}
    both = old.keys() & new.keys()
    changed = (path for path in both if old[path] != new[path])
    return Differences(tuple(sorted(new.keys() - both)), tuple(sorted(changed)), tuple(sorted(old.keys() - both)))


def counted(before: Mapping[str, Record], after: Mapping[str, Record]) -> Counts:
    """Count what differs before and after."""
    found = differences(before, after)
    return Counts(len(found.added), len(found.changed), len(found.removed))
