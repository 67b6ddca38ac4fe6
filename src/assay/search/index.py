"""A folder of files in, an index that is equal to a fresh one out, for the price of what changed.

The stored form (`assay.store.folder`) knows segments; `index_update` knows what they should hold. This module
decides when there is anything to do, and says what was found.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from assay.corpus.files import Skipped, Walk
from assay.errors import DamagedIndex, StorageError
from assay.protocols import Encoder, Progress
from assay.search.index_changes import Build, Counts, counted, identity, told, unchanged
from assay.store.change import Change
from assay.store.folder import Folder, Version
from assay.store.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Report:
    """What an index holds, what its refresh changed, and what it leaves out."""

    files: int
    """Files with text in the index, copies of the same text included."""
    chunks: int
    skipped: tuple[Skipped, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    """What is to be known about how a file was cut, by its path."""
    counts: Counts = Counts()  # noqa: RUF009  frozen
    rebuilt_because: str = ""
    """Why nothing of the former index was kept, or empty."""
    seconds: float = 0.0


class Index:
    """The index of one root."""

    def __init__(self, root: Path, location: Path, encoder: Encoder, build: Build = Build()) -> None:  # noqa: B008  frozen
        self.root = root
        self.encoder = encoder
        self.build = build
        self.folder = Folder(location)
        self.identity = identity(encoder, build)
        self._version: Version | None = None
        self._snapshot: Snapshot | None = None

    @property
    def location(self) -> str:
        """Where it lies."""
        return str(self.folder.location)

    def size_bytes(self) -> int:
        """Return what it takes up on disk."""
        return sum(file.stat().st_size for file in self.folder.location.iterdir())

    def corpus(self) -> Snapshot:
        """Return what a searcher gets its candidates from."""
        return self.snapshot()

    def refresh(self, progress: Progress | None = None) -> Report:
        """Bring the index up to date with the files; wait while another process does, then use what it made."""
        started = time.perf_counter()
        last, why = self._usable()
        checked_ns, found = time.time_ns(), self._walk(last)
        counts = Counts()
        if last is None or not unchanged(found, last.catalog, last.manifest.checked_ns):
            with self.folder.writing():
                current, why = self._usable()
                if _name(current) != _name(last):  # another writer was first
                    last, checked_ns, found = current, time.time_ns(), self._walk(current)
                counts = self._update(last, found, checked_ns, progress)
            last, _ = self._usable()
        if last is None:
            raise StorageError(f"the index in {self.folder.location} was removed while it was written; try again")
        self._use(last)
        report = replace(_report(last, found), counts=counts, rebuilt_because=why)
        return replace(report, seconds=time.perf_counter() - started)

    def snapshot(self) -> Snapshot:
        """Return what is searched: the last good version, whoever wrote it."""
        if self._snapshot is None or self._version is None or self.folder.catalog() != _name(self._version):
            version = self.folder.open()
            if version is None:
                raise StorageError(f"no index in {self.folder.location}: make it first")
            return self._use(version)
        return self._snapshot

    def status(self) -> Report | None:
        """Say what the index holds without looking at the files; None where there is none."""
        version = self.folder.open()
        return None if version is None else _report(version, None)

    def _update(self, last: Version | None, found: Walk, checked_ns: int, progress: Progress | None) -> Counts:
        """Write the next version; the caller is the one writer."""
        from assay.search.index_update import Update  # and the parser's tables: only where something changed

        before = {record.path: record for record in last.catalog.records()} if last else {}
        trusted_ns = last.manifest.checked_ns if last and last.manifest.rules == found.rules else 0
        update = Update(self.root, self.encoder, self.build, self.folder.new_path, progress)
        dead = update.run(found, before, trusted_ns)
        records = update.records
        self.folder.save(last, Change(self.identity, found.rules, checked_ns, records.values(), dead, update.fresh))
        return counted(before, records)

    def _walk(self, last: Version | None) -> Walk:
        from assay.corpus.walk import walk  # and the patterns of ignore files: not for an index taken as it is

        known, rules = (last.catalog.paths, last.manifest.rules) if last else ((), "")
        return outside(walk(self.root, known=known, rules=rules), self.root, self.folder.location)

    def _usable(self) -> tuple[Version | None, str]:
        """Return the current version if it can be built upon, and else why it cannot (empty: there is none)."""
        try:
            version = self.folder.open()
        except DamagedIndex as damage:
            return None, str(damage)
        if version is None or version.manifest.identity == self.identity:
            return version, ""
        return None, f"it was made with {told(version.manifest.identity)}, and this is {told(self.identity)}"

    def _use(self, version: Version) -> Snapshot:
        """Return what a version holds: the snapshot in use while only what is recorded of files differs."""
        if self._snapshot is None or self._version is None or _held(version) != _held(self._version):
            self._snapshot = version.snapshot()
        self._version = version
        return self._snapshot


def outside(found: Walk, root: Path, location: Path) -> Walk:
    """Leave an index that lies in its own root out of the walk: it would change whenever it is written."""
    root, location = root.resolve(), location.resolve()
    if not location.is_relative_to(root):
        return found
    inside = f"{location.relative_to(root).as_posix()}/"
    files = tuple(file for file in found.files if not file.path.startswith(inside))
    return replace(found, files=files, skipped=tuple(s for s in found.skipped if not s.path.startswith(inside)))


def _name(version: Version | None) -> str:
    return version.manifest.catalog if version else ""


def _held(version: Version) -> list[tuple[str, bytes]]:
    return [(part.name, part.dead.tobytes()) for part in version.parts]


def _report(version: Version, found: Walk | None) -> Report:
    skipped = tuple(Skipped(path, reason) for path, reason in version.catalog.said("skipped"))
    return Report(
        files=version.catalog.texts,
        chunks=version.catalog.chunks,
        skipped=(*(found.skipped if found else ()), *skipped),
        notes=dict(version.catalog.said("note")),
    )
