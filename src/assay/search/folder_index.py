"""Keep the index of a folder equal to a fresh one for the price of what changed, or read one from a bucket.

The stored form (`assay.store.folder`) knows segments; `index_changes` knows what they should hold. This module
decides when there is anything to do, and says what was found.

What others keep up to date in a bucket is searched without a checkout; each refresh asks whether there is a newer one.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from assay.corpus.walk import walk
from assay.corpus.walked_files import Skipped, Walk
from assay.errors import DamagedIndex, InputError, StorageError
from assay.protocols import Encoder, Progress
from assay.search.index_changes import Build, Differences, differences, identity, mismatch, unchanged
from assay.store.catalog import FORMAT, Catalog, FileRecord, Identity, Overtaken, keep_seen, read_seen, seen_file
from assay.store.folder import IndexFolder, Version
from assay.store.snapshot import Snapshot

if TYPE_CHECKING:
    from assay.search.index_build import Describe


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an index holds and leaves out, and what its refresh did."""

    files: int
    """Files with text in the index, copies of the same text included."""
    chunks: int
    described: int = 0
    """Chunks with a description."""
    skipped: tuple[Skipped, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    """Notes on how files were decoded and cut, by their paths."""
    changed: Differences = Differences()  # noqa: RUF009  frozen
    """What its refresh brought up to date."""
    rebuilt_because: str = ""
    """Why nothing of the former index was reused, or empty."""
    seconds: float = 0.0
    busy: bool = False
    """Whether another process was still writing when the wait was over: this is the version before."""
    unwritten: str = ""
    """Why changed files are not in it: nothing can be written, and this is the version before. Or empty."""
    folders: tuple[str, ...] = ()
    """The folders below the root that were walked, as `Walk` has them."""

    @property
    def stale(self) -> bool:
        """Return whether files changed that are not in it."""
        return self.busy or bool(self.unwritten)


@dataclass(frozen=True, slots=True)
class Freshness:
    """The freshness of an index."""

    report: IndexReport
    stale: Differences
    """What the next refresh would change."""
    updated_s: float
    """When it was last written, in seconds since 1970."""
    encoder: str
    """What it was built with, whatever the settings are now."""
    form: str
    """The format it is stored in, with its version."""
    rebuild_because: str = ""
    """Why the next refresh would rebuild it, or empty."""
    is_compared: bool = True
    """Whether files were looked at; those of a read-only index need not be here."""


_KEEPER_S = 30.0
_RETRY_AFTER_S = 0.02
_TRIES = 3
_AT_ONCE = 5_000  # chunks whose texts are held


class FolderIndex:
    """The index of one root; `describe` adds known descriptions to its chunks."""

    def __init__(
        self,
        root: Path,
        location: Path | IndexFolder,
        encoder: Encoder,
        build: Build = Build(),  # noqa: B008  frozen
        describe: Describe = list,
    ) -> None:
        self.root = root
        self.encoder = encoder
        self.build = build
        self._describe = describe
        self.folder = location if isinstance(location, IndexFolder) else IndexFolder(location)
        self.identity = identity(encoder, build)
        self._version: Version | None = None
        self._snapshot: Snapshot | None = None
        self._damaged: tuple[str, str] = ("", "")
        """The version that was found damaged, and the damage."""
        self._mapped: dict[Path, tuple[int, int] | None] = {}
        self._keeping = False

    @property
    def location(self) -> str:
        """Where it lies."""
        return self.folder.name

    @property
    def verified(self) -> str:
        """Return what `check` reads."""
        return self.folder.verified

    @property
    def form(self) -> str:
        """Return the format it is stored in, with its version."""
        return f"{'bucket' if self.folder.shared else 'folder'} {FORMAT}"

    def size_bytes(self) -> int:
        """Return what it takes up where it lies."""
        if self.folder.shared:
            manifest = self.folder.manifest()
            return sum(manifest.sizes.values()) if manifest else 0
        return sum(file.stat().st_size for file in self.folder.location.iterdir())

    def refresh(
        self, progress: Progress | None = None, *, patience_s: float | None = None, replaces: bool = True
    ) -> IndexReport:
        """Bring the index up to date with the files; wait while another process does, then use what it made.

        With a patience, take what there is when another process is still at it after that, and say so. Where a process
        keeps the index up to date, leave writing to it for as long, or for half a minute. Unless it `replaces`, refuse
        to rebuild an index that other machines read, too.
        """
        started = time.perf_counter()
        last, why = self._usable()
        if why and self.folder.shared and not replaces:
            advice = f"assay index PATH --index {self.location} rebuilds it for all who read it"
            raise StorageError(f"{self.location} cannot be brought up to date: {why}; {advice}")
        changed, busy = Differences(), False
        if progress and last is None:
            progress("listing files", 0, 0)
        listed = self._list(last)
        behind = last is None or not unchanged(listed.walk, last.catalog, last.manifest.checked_ns)
        if last is not None and behind and not self._keeping and self.folder.is_kept():
            last, listed, behind = self._left_to_keeper(last, listed, patience_s)
            busy = behind and patience_s is not None
        if behind and not busy:
            try:
                changed, why, listed = self._write_first(last, listed, progress, patience_s if last else None)
            except BlockingIOError:
                busy = True
            last, _ = self._usable()
        if last is None:
            raise StorageError(f"the index in {self.location} was removed while it was written; try again")
        self._use(last)
        seconds = time.perf_counter() - started
        return replace(_report(last, listed.walk), changed=changed, rebuilt_because=why, busy=busy, seconds=seconds)

    def is_being_written(self) -> bool:
        """Return whether a process of this machine writes to it now."""
        return self.folder.is_being_written()

    def describe(self, progress: Progress | None = None, *, patience_s: float | None = None) -> IndexReport:
        """Index the files again whose units have other descriptions now; return what the index holds then.

        Where another process writes for longer than the patience, raise BlockingIOError; without one, wait.
        """
        with self.folder.writing(patience_s):
            last, _ = self._usable()
            if last is not None and (again := _to_describe(last.snapshot(), self._describe)):
                self._update(last, self._list(last), progress, again=again)
                last, _ = self._usable()
        if last is None:
            raise StorageError(f"the index in {self.location} was removed while it was described; try again")
        self._use(last)
        return _report(last, None)

    def check(self) -> str:
        """Read every byte; return the damage, or an empty text. A damaged version will not be built upon."""
        try:
            self.folder.check()
        except DamagedIndex as damage:
            try:
                self._damaged = (self.folder.catalog(), str(damage))
            except DamagedIndex:  # so plainly that nobody can take it for whole
                self._damaged = ("", "")
            return str(damage)
        return ""

    def torn(self) -> bool:
        """Return whether a file in use was written to or cut off, so that its check is no longer valid."""
        return any(_stat(path) not in (before, None) for path, before in self._mapped.items())

    def generation(self) -> str:
        """Return a unique name of the version that was written last; empty without an index."""
        return self.folder.catalog()

    def snapshot(self) -> Snapshot:
        """Return the last good version, which is searched, whichever process wrote it."""
        if self._snapshot is None or self._version is None or self.folder.catalog() != _name(self._version):
            version = self.folder.open()
            if version is None:
                raise StorageError(f"no index in {self.location}: build it first")
            return self._use(version)
        return self._snapshot

    def status(self) -> IndexReport | None:
        """Report what the index holds without looking at the files; None if there is none."""
        version = self.folder.open()
        return None if version is None else _report(version, None)

    def last(self) -> IndexReport | None:
        """Open what a refresh would build upon, and report what it holds; None if there is nothing."""
        version, _ = self._usable()
        if version is None:
            return None
        self._use(version)
        return _report(version, None)

    def standing(self) -> Freshness | None:
        """Report how fresh the index is, without changing it; None if there is none."""
        version = self.folder.open()
        if version is None:
            return None
        from assay.search.index_build import stale

        version = self._as_seen_here(version)
        manifest, found = version.manifest, self._list(version).walk
        differing = Differences()
        if not unchanged(found, version.catalog, manifest.checked_ns):
            differing = stale(self.root, found, _records(version), manifest.checked_ns, self.build.encoding)
        return Freshness(
            report=_report(version, found),
            stale=differing,
            updated_s=manifest.checked_ns / 1e9,
            encoder=manifest.identity.encoder,
            form=self.form,
            rebuild_because=mismatch(manifest.identity, self.identity),
        )

    def keeping(self) -> AbstractContextManager[None]:
        """Return a context in which this index is the one that writes: others that find it stale wait for it."""
        self._keeping = True
        return self.folder.keeping()

    def _write_first(
        self, last: Version | None, listed: WalkListing, progress: Progress | None, patience_s: float | None
    ) -> _Written:
        """Write the next version; start over if a writer on another machine was first."""
        for _ in range(_TRIES):
            with suppress(Overtaken), self.folder.writing(patience_s):
                return self._written(last, listed, progress)
        raise StorageError(f"other machines write {self.location} all the time; try again")

    def _written(self, last: Version | None, listed: WalkListing, progress: Progress | None) -> _Written:
        current, why = self._usable()
        if _name(current) != _name(last):  # another writer was first
            listed = self._list(current)
        try:
            changed = self._update(current or self.folder.begun(self.identity), listed, progress)
            return _Written(changed, why, listed)
        except DamagedIndex as damage:  # seen only now, as parts of it were to be joined
            return _Written(self._update(None, listed, progress), str(damage), listed)

    def _left_to_keeper(
        self, last: Version, listed: WalkListing, patience_s: float | None
    ) -> tuple[Version, WalkListing, bool]:
        """Wait for who keeps the index; return what is there then, and whether it still lags behind the files."""
        ends = time.monotonic() + (_KEEPER_S if patience_s is None else patience_s)
        while (behind := self._behind(last, listed.walk)) and time.monotonic() < ends and self.folder.is_kept():
            while self.folder.catalog() == _name(last) and time.monotonic() < ends and self.folder.is_kept():
                time.sleep(_RETRY_AFTER_S)
            version, _ = self._usable()
            if version is None:
                break
            last, listed = version, self._list(version)
        return last, listed, behind

    def _behind(self, version: Version, walked: Walk) -> bool:
        """Return whether files changed since; those that changed just before it was written have to be read."""
        from assay.search.index_build import is_stale

        checked_ns = version.manifest.checked_ns
        if unchanged(walked, version.catalog, checked_ns):
            return False
        return is_stale(self.root, walked, _records(version), checked_ns, self.build.encoding)

    def _update(
        self, last: Version | None, listed: WalkListing, progress: Progress | None, *, again: Collection[str] = ()
    ) -> Differences:
        """Write the next version, of which some unchanged files are new; the caller is the one writer."""
        from assay.search.index_build import Update  # and the parser's tables: only where something changed

        found, before = listed.walk, _records(last) if last else {}
        trusted_ns = last.manifest.checked_ns if last and last.manifest.rules == found.rules else 0
        keep = None
        if not (self.folder.shared or (last and last.manifest.version)):
            checked_ns = last.manifest.checked_ns if last else listed.at_ns
            keep = partial(self.folder.keep_unfinished, last, (self.identity, found.rules, checked_ns))
        update = Update(self.root, self.encoder, self.build, self.folder.new_path, progress, self._describe, keep)
        dead = update.run(found, before, trusted_ns, again=again)
        records = update.records
        if self.folder.shared and last and not (dead or update.fresh or again) and _is_same(before, records):
            catalog = Catalog.of(records.values())  # only when and where differs, which is this machine's own
            keep_seen(self._seen_file(last), catalog, listed.at_ns, found.rules)
            return Differences()
        if progress and keep:
            progress("writing the index", len(records), 0)
        made = self.identity, found.rules, listed.at_ns, records.values()
        self.folder.save(last, *made, dead=dead, fresh=update.fresh)
        return differences(before, records)

    def _list(self, last: Version | None) -> WalkListing:
        """List the files of the root, without those of the index."""
        at_ns = time.time_ns()
        known, rules = (last.catalog.paths, last.manifest.rules) if last else ((), "")
        found = walk(self.root, known_paths=known, rules=rules, open_ignored=self.build.open_ignored)
        return WalkListing(_outside(found, self.root, self.folder.location), at_ns)

    def _usable(self) -> tuple[Version | None, str]:
        """Return the current version if it can be built upon, and else why it cannot (empty: there is none)."""
        try:
            version = self.folder.open()
        except DamagedIndex as damage:
            return None, str(damage)
        if version is not None and self._damaged[1] and _name(version) == self._damaged[0]:
            return None, self._damaged[1]
        why = mismatch(version.manifest.identity, self.identity) if version else ""
        return (None if why or version is None else self._as_seen_here(version)), why

    def _as_seen_here(self, version: Version) -> Version:
        """Return a version with what this machine saw of the files, where its writer saw something else."""
        seen = read_seen(self._seen_file(version)) if self.folder.shared else None
        if seen is None:
            return version
        catalog, checked_ns, rules = seen
        return replace(version, catalog=catalog, manifest=replace(version.manifest, checked_ns=checked_ns, rules=rules))

    def _seen_file(self, version: Version) -> Path:
        return seen_file(self.folder.location, self.root, version.manifest.catalog)

    def _use(self, version: Version) -> Snapshot:
        """Return the snapshot of a version: the one in use if only the records of files differ."""
        if self._snapshot is None or self._version is None or _part_states(version) != _part_states(self._version):
            self._snapshot = version.snapshot()
            self._mapped = {path: _stat(path) for path in (self.folder.location / part.name for part in version.parts)}
        self._version = version
        return self._snapshot


def _to_describe(snapshot: Snapshot, describe: Describe) -> set[str]:
    """Return the paths of chunks whose description has changed."""
    chunks, paths = iter(snapshot.living()), set[str]()
    while some := list(islice(chunks, _AT_ONCE)):
        now = describe([replace(chunk, description="") for chunk in some])
        paths.update(new.path for new, old in zip(now, some, strict=True) if new.description != old.description)
    return paths


def _stat(path: Path) -> tuple[int, int] | None:
    """Return a file's size and time of change, or None if it is gone; what is mapped of it stays then."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def _is_same(before: Mapping[str, FileRecord], after: Mapping[str, FileRecord]) -> bool:
    """Return whether two indexes record the same of the same files, whenever and wherever they were read."""
    return before.keys() == after.keys() and all(
        (old.digest, old.chunks, old.skipped, old.note) == (new.digest, new.chunks, new.skipped, new.note)
        for old, new in ((record, after[path]) for path, record in before.items())
    )


def _records(version: Version) -> dict[str, FileRecord]:
    return {record.path: record for record in version.catalog.records()}


def _name(version: Version | None) -> str:
    return version.manifest.catalog if version else ""


def _part_states(version: Version) -> list[tuple[str, bytes]]:
    return [(part.name, part.dead.tobytes()) for part in version.parts]


def _report(version: Version, walked: Walk | None) -> IndexReport:
    skipped = tuple(Skipped(path, reason) for path, reason in version.catalog.texts_of("skipped"))
    return IndexReport(
        files=version.catalog.texts,
        chunks=version.catalog.chunks,
        described=version.described,
        skipped=(*(walked.skipped if walked else ()), *skipped),
        notes=dict(version.catalog.texts_of("note")),
        folders=walked.folders if walked else (),
    )


class PublishedIndex(FolderIndex):
    """The index of one root that is only read; the files of the root need not be here."""

    _last_report: tuple[str, IndexReport] | None = None
    """The catalog of a version, and the report on that version."""

    def refresh(
        self,
        progress: Progress | None = None,  # noqa: ARG002  as of an index that is written
        *,
        patience_s: float | None = None,  # noqa: ARG002  the same
        replaces: bool = True,  # noqa: ARG002  the same
    ) -> IndexReport:
        """Open the version that was written last, and report what it holds."""
        started = time.perf_counter()
        self.snapshot()
        report = self.status()
        assert report is not None  # it is searched
        return replace(report, seconds=time.perf_counter() - started)

    def snapshot(self) -> Snapshot:
        """Return the version that was written last, if this encoder built it."""
        manifest = self.folder.manifest()
        if manifest is None:
            raise InputError(f"there is no index in {self.location}: assay index PATH --index {self.location} makes it")
        if not self._is_by_this_encoder(manifest.identity):
            made = f"{manifest.identity.encoder} ({manifest.identity.dimension} dimensions)"
            raise InputError(f"{self.location} was built with {made}, not with {self.encoder.name}: give --encoder")
        return super().snapshot()

    def status(self) -> IndexReport | None:
        """Report what it holds; None if there is none."""
        catalog = self.folder.catalog()
        if self._last_report is None or self._last_report[0] != catalog:
            report = super().status()
            self._last_report = None if report is None else (catalog, report)
        return self._last_report and self._last_report[1]

    def last(self) -> IndexReport | None:
        """Report what it holds; None if there is none that this encoder built and that can be read."""
        try:
            manifest = self.folder.manifest()
            return self.status() if manifest and self._is_by_this_encoder(manifest.identity) else None
        except DamagedIndex:  # or of an older form: who writes it makes another one
            return None

    def standing(self) -> Freshness | None:
        """Report what it holds and how old it is; there are no files here to compare it with."""
        manifest, report = self.folder.manifest(), self.status()
        if manifest is None or report is None:
            return None
        updated_s, made_by = manifest.checked_ns / 1e9, manifest.identity.encoder
        return Freshness(report, Differences(), updated_s, made_by, self.form, is_compared=False)

    def describe(self, progress: Progress | None = None, *, patience_s: float | None = None) -> IndexReport:  # noqa: ARG002
        """Refuse: descriptions are of files, which are not here."""
        raise self._read_only_error("describe it")

    def keeping(self) -> AbstractContextManager[None]:
        """Refuse: nothing here could change it."""
        raise self._read_only_error("keep it up to date")

    def _is_by_this_encoder(self, made_by: Identity) -> bool:
        return (made_by.encoder, made_by.dimension) == (self.encoder.name, self.encoder.dimension)

    def _read_only_error(self, action: str) -> InputError:
        where = "where its files are, and without index.refresh=false"
        return InputError(f"{self.location} is read-only here: {action} {where}")


class WalkListing(NamedTuple):
    """The result of a walk, and when it began."""

    walk: Walk
    at_ns: int


class _Written(NamedTuple):
    """What a writer did: what changed, why none of the last version was kept, and the files that it wrote down."""

    changed: Differences
    why: str
    listed: WalkListing


def _outside(walked: Walk, root: Path, location: Path) -> Walk:
    """Remove an index that lies in its own root from the walk: it would change whenever it is written."""
    root, location = root.resolve(), location.resolve()
    if not location.is_relative_to(root):
        return walked
    inside = f"{location.relative_to(root).as_posix()}/"
    files = tuple(file for file in walked.files if not file.path.startswith(inside))
    skipped = tuple(each for each in walked.skipped if not each.path.startswith(inside))
    folders = tuple(folder for folder in walked.folders if not folder.startswith(inside))
    return replace(walked, files=files, skipped=skipped, folders=folders)
