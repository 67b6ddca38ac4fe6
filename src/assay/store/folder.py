"""Keep an index in a folder: segments and a catalog of files, read by memory map, changed by swapping the manifest.

Readers never wait and never see half a change: they map what a manifest names, and a map outlives the
removal of its file. There is one writer at a time. Whatever a manifest does not name was left by a
writer that died, and the next writer removes it.

A first index keeps what it has done in a manifest of its own, which no reader opens. The same is how an index begins
with the files of another one: hard links to them, for they are never changed.

Where several machines share an index, it lies in a bucket, and the folder holds copies of what is there. Their writers
know nothing of one another: a manifest replaces exactly the one that its writer read, or nothing.
"""

from __future__ import annotations

import errno
import os
import re
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from assay.errors import DamagedIndex, StorageError, UnwritableIndex
from assay.io.files import alone, claim_folder, is_held, write
from assay.store.arrays import check_arrays, read_arrays, write_arrays
from assay.store.catalog import (
    PART_NAME,
    UNFINISHED,
    Blobs,
    Catalog,
    FileRecord,
    Identity,
    LocalBlobs,
    Manifest,
    NewerIndex,
    TaggedBytes,
    unreadable,
)
from assay.store.index_location import MANIFEST
from assay.store.segment import Part, read_segment
from assay.store.snapshot import Snapshot

if TYPE_CHECKING:
    from assay.store.copies import SharedPlace  # and what fetches copies: only for an index in a bucket

LOCK, WATCHER_LOCK = "lock", "kept"
_MARK, _IGNORE_ALL = ".gitignore", "*\n"
_READS = 50  # a manifest may be replaced while its files are opened, but not each time
_TRIES = 5
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR)


_TEMPORARY = re.compile(r"\.(?:manifest|unfinished|[0-9a-f]{32})\.[0-9a-f]{12}\.new\.(?:json|segment|catalog)")


@dataclass(frozen=True, slots=True)
class Version:
    """One version of an index, opened."""

    manifest: Manifest
    catalog: Catalog
    parts: tuple[Part, ...]

    @property
    def described(self) -> int:
        """Count the chunks with a description."""
        return sum(part.described for part in self.parts)

    def snapshot(self) -> Snapshot:
        """Return the snapshot that searches read."""
        parts = [(part.segment, part.live) for part in self.parts]
        held = blake2b(digest_size=16)
        for part in self.parts:
            held.update(part.name.encode() + b"\0" + part.dead.tobytes() + b"\0")
        places = [part.places for part in self.parts]
        return Snapshot(parts, places, state=held.hexdigest())


class IndexFolder:
    """An index in a folder, with the operations of its readers and its writer."""

    def __init__(
        self,
        location: Path,
        shared: SharedPlace | None = None,
        *,
        root: str = "",
        relatives: Callable[[], Iterable[IndexFolder]] = tuple,
    ) -> None:
        """Take the folder; of an index that is shared, it holds the copies.

        `root` is noted in each version; a first one may begin with the files of one of the `relatives`.
        """
        self.location = location
        self.root, self._relatives = root, relatives
        self.shared = shared
        self.blobs: Blobs = shared.blobs if shared else LocalBlobs(location)
        self._last_manifest: tuple[float, TaggedBytes | None] = (-float("inf"), None)
        self._base: TaggedBytes | None = None

    @property
    def name(self) -> str:
        """Return its location, as `--index` takes it."""
        return self.shared.name if self.shared else str(self.location)

    @property
    def verified(self) -> str:
        """Say in a phrase what `check` reads."""
        if self.shared:
            return "every byte of the copies on this machine was read, and of the bucket the sizes"
        return "every byte was read"

    def manifest(self) -> Manifest | None:
        """Return the manifest of the current version; None if there is no index."""
        blob = self._latest()
        if blob is None:
            return None
        try:
            manifest = Manifest.parse(blob.data)
        except NewerIndex as newer:
            if not self.shared:
                raise
            wanted = "use a later assay, or another prefix; nothing was changed"
            raise StorageError(f"{self.name}: {newer}; {wanted}") from newer
        if self.shared:
            self.shared.refuse_another(manifest)
        return manifest

    def catalog(self) -> str:
        """Return the name of the current version's catalog, which no other version has; empty without an index."""
        manifest = self.manifest()
        return manifest.catalog if manifest else ""

    def open(self) -> Version | None:
        """Open the current version; return None if there is no index, raise DamagedIndex if it cannot be read."""
        gone: str | None = None
        for _ in range(_READS):
            manifest = self.manifest()
            if manifest is None:
                return None
            try:
                return self._open(manifest)
            except FileNotFoundError as error:
                if gone == manifest.catalog:  # twice the same version: it is not being replaced, it is torn
                    raise DamagedIndex(f"{Path(str(error.filename)).name} is missing") from error
                gone = manifest.catalog
                self._forget()
            except OSError as error:
                raise unreadable(self.location, error) from error
        raise StorageError(f"the index in {self.name} changes faster than it can be read; try again")

    def check(self) -> None:
        """Read every byte of the current version; raise DamagedIndex when one is not as written."""
        while (version := self.open()) is not None:
            try:
                self._check(version.manifest)
            except FileNotFoundError:  # replaced meanwhile, or `open` says that it is torn
                self._forget()
                continue
            return

    @contextmanager
    def writing(self, patience_s: float | None = None) -> Iterator[None]:
        """Hold the lock of the one writer of this machine; delete what dead writers and a failed one leave behind.

        Where another process writes for longer than the patience, raise BlockingIOError; without one, wait.
        """
        with self._explained():
            self._claim()
            with alone(self.location / LOCK, patience_s=patience_s):
                self._hide()
                self._forget()
                base = self._base = self._latest()
                if not self.shared:
                    self._clear()
                try:
                    yield
                finally:
                    if not self.shared:
                        self._clear()
                    elif self._base is not base:  # each listing of a bucket is a request
                        self._clear(base)

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Hold the lock of the one process that keeps this index up to date, so that others do not write."""
        with self._explained():
            self._claim()
            self._hide()
        busy = f"another assay watch keeps the index in {self.location} up to date"
        with alone(self.location / WATCHER_LOCK, busy=busy):
            yield

    def is_kept(self) -> bool:
        """Say whether a process keeps this index up to date."""
        return is_held(self.location / WATCHER_LOCK)

    def is_being_written(self) -> bool:
        """Say whether a process of this machine writes to it now."""
        return is_held(self.location / LOCK)

    def new_path(self) -> Path:
        """Return a path for a new segment, which counts once `commit` names it."""
        return self.location / f"{uuid.uuid4().hex}.segment"

    def save(  # noqa: PLR0913  what differs from the last version
        self,
        last: Version | None,
        identity: Identity,
        rules: str,
        checked_ns: int,
        records: Collection[FileRecord],
        *,
        dead: Collection[str],
        fresh: Sequence[Path],
    ) -> None:
        """Drop dead chunks, merge segments if there are too many, and make the result current.

        `records` are of every file, changed or not; `dead` are paths whose chunks, as the last version has them, are no
        more; `fresh` are new segments, written together.
        """
        from assay.store.merge import joined  # only where something changed

        unfinished = last.manifest.unfinished if last else 0
        parts = joined(self._parts(last, dead, fresh), unfinished + len(fresh), self.new_path)
        before = last.manifest if last and last.manifest.version else None
        version, names = before.version + 1 if before else 1, tuple(part.name for part in parts)
        manifest = Manifest(version, identity, rules, checked_ns, names, _new_catalog(), root=self.root)
        self.commit(manifest, Catalog.of(records), parts, last=before)
        (self.location / UNFINISHED).unlink(missing_ok=True)

    def keep_unfinished(
        self,
        last: Version | None,
        provenance: tuple[Identity, str, int],
        records: Collection[FileRecord],
        dead: Collection[str],
        fresh: Sequence[Path],
    ) -> None:
        """Store the finished part of a first version, so that the next writer can continue.

        `provenance` is the identity, the rules and the time of the version; the rest is as in `save`.
        """
        parts = self._parts(last, dead, fresh)
        names, written = tuple(part.name for part in parts), len(fresh) + (last.manifest.unfinished if last else 0)
        manifest = Manifest(0, *provenance, names, _new_catalog(), root=self.root, unfinished=written)
        self._write_catalog(manifest, Catalog.of(records), parts)
        before = self._unfinished()
        write(self.location / UNFINISHED, manifest.data, durable=False)
        if before:
            (self.location / before.catalog).unlink(missing_ok=True)

    def begun(self, identity: Identity) -> Version | None:
        """Return what a first version can start from: an interrupted writer's work, or else a relative's files.

        None where there is neither. What comes of a relative is trusted for no file that was not read.
        """
        begun = self._begun(identity)
        if begun is None and any(self._links(other, identity) for other in self._relatives()):
            begun = self._begun(identity)
        return begun

    def _begun(self, identity: Identity) -> Version | None:
        with suppress(DamagedIndex, FileNotFoundError):
            manifest = self._unfinished()
            return self._map(manifest) if manifest and manifest.identity == identity else None
        return None

    def _links(self, other: IndexFolder, identity: Identity) -> bool:
        """Link to the files of another index, unless one is damaged; say whether it worked."""
        for _ in range(_TRIES):
            try:
                return self._begin_with(other, identity)
            except FileNotFoundError:  # it is of a version that was just replaced
                continue
            except (StorageError, OSError):
                break
        return False

    def _begin_with(self, other: IndexFolder, identity: Identity) -> bool:
        manifest = other.manifest()
        if manifest is None or manifest.identity != identity:
            return False
        for name in manifest.files:
            with suppress(FileExistsError):
                os.link(other.location / name, self.location / name)
            check_arrays(self.location / name)
        begun = replace(manifest, version=0, checked_ns=0, root=self.root)
        write(self.location / UNFINISHED, begun.data, durable=False)
        return True

    def indexed_root(self) -> str:
        """Return the folder that was indexed here; empty if it was not recorded."""
        with suppress(StorageError):
            manifest = self.manifest() or self._unfinished()
            return manifest.root if manifest else ""
        return ""

    def remove(self) -> int:
        """Remove this index; return how many bytes that frees, without those that other indexes share.

        Where another process writes it, raise BlockingIOError.
        """
        freed = 0
        with alone(self.location / LOCK, patience_s=0.0):
            for file in filter(lambda file: _is_ours(file.name), self.location.iterdir()):
                about = file.lstat()
                freed += about.st_size if about.st_nlink == 1 else 0
                file.unlink()
        with suppress(OSError):  # a file in it is not of an index
            self.location.rmdir()
        return freed

    def _unfinished(self) -> Manifest | None:
        with suppress(DamagedIndex):
            blob = None if self.shared else self.blobs.get(UNFINISHED)
            return Manifest.parse(blob.data) if blob else None
        return None

    def _parts(self, last: Version | None, dead: Collection[str], fresh: Sequence[Path]) -> list[Part]:
        kept = [part.without(dead) for part in last.parts] if last else []
        return kept + [Part(path.name, read_segment(path)) for path in fresh]

    def commit(self, manifest: Manifest, catalog: Catalog, parts: Sequence[Part], *, last: Manifest | None) -> None:
        """Make the next version current; its segments are written already."""
        self._write_catalog(manifest, catalog, parts)
        for name in sorted(manifest.files - (last.files if last else frozenset())):
            self.blobs.put(name, self.location / name)
        written = self._base = self.blobs.put_if(MANIFEST, self._signed(manifest, last).data, self._base)
        self._last_manifest = (time.monotonic(), written)

    def _write_catalog(self, manifest: Manifest, catalog: Catalog, parts: Sequence[Part]) -> None:
        place = {path: number for number, path in enumerate(catalog.paths)}
        arrays = dict(catalog.arrays)
        for number, part in enumerate(parts):
            paths = part.segment.paths.all()
            arrays[f"dead.{number}"] = part.dead
            arrays[f"places.{number}"] = np.array([place.get(path, 0) for path in paths], dtype=np.uint32)
        write_arrays(self.location / manifest.catalog, arrays)

    def _signed(self, manifest: Manifest, last: Manifest | None) -> Manifest:
        """Return a manifest with what readers of a shared index need: its origin and the sizes of its files."""
        if not self.shared:
            return manifest
        known = last.sizes if last else {}
        sizes = {name: known.get(name) or (self.location / name).stat().st_size for name in sorted(manifest.files)}
        return replace(manifest, origin=self.shared.origin or (last.origin if last else ""), sizes=sizes)

    def _latest(self) -> TaggedBytes | None:
        """Return the current manifest; of a shared index, one that is at most `fresh_s` old."""
        asked_s, blob = self._last_manifest
        if not self.shared or time.monotonic() - asked_s >= self.shared.fresh_s:
            blob = self.blobs.get(MANIFEST, blob)
            self._last_manifest = (time.monotonic(), blob)
        return blob

    def _forget(self) -> None:
        """Read the manifest again next time."""
        self._last_manifest = (-float("inf"), self._last_manifest[1])

    def _check(self, manifest: Manifest) -> None:
        """Read every file; a corrupt copy is fetched again before the bucket is checked."""
        if not self.shared:
            for name in sorted(manifest.files):
                check_arrays(self.location / name)
            return
        self._mend(manifest)
        there = {entry.name: entry.size for entry in self.blobs.list()}
        for name, size in manifest.sizes.items():
            if (found := there.get(name)) != size:
                what = "is missing" if found is None else f"has {found} bytes, {size} were written"
                raise DamagedIndex(f"{name} {what}")

    def _mend(self, manifest: Manifest) -> None:
        """Fetch corrupt copies again."""
        assert self.shared is not None
        for name in sorted(manifest.files):
            try:
                check_arrays(self.location / name)
            except DamagedIndex:
                self.shared.copies.drop(name)
        self.shared.copies.bring(self.blobs, manifest.sizes)

    def _open(self, manifest: Manifest) -> Version:
        if not self.shared:
            return self._map(manifest)
        self.shared.copies.bring(self.blobs, manifest.sizes)
        try:
            return self._map(manifest)
        except DamagedIndex:
            self._mend(manifest)
            return self._map(manifest)

    def _map(self, manifest: Manifest) -> Version:
        arrays = read_arrays(self.location / manifest.catalog)
        try:
            parts = tuple(
                Part(name, read_segment(self.location / name), arrays[f"dead.{number}"], arrays[f"places.{number}"])
                for number, name in enumerate(manifest.segments)
            )
        except KeyError as missing:
            raise DamagedIndex(f"{manifest.catalog} lacks the column {missing}") from missing
        return Version(manifest, Catalog(arrays), parts)

    def _claim(self) -> None:
        """Create the folder; refuse one that contains something other than an index."""
        if self.shared:
            self.location.mkdir(0o700, parents=True, exist_ok=True)
            return
        with suppress(DamagedIndex):  # what is left of a damaged one is known by its names alone
            if not self.location.is_symlink() and self.manifest():
                return
        claim_folder(self.location, _is_ours, "an index of Assay", "--index")

    def _hide(self) -> None:
        """Keep the folder out of git and out of every walk, should it lie inside a repository."""
        with suppress(FileExistsError), (self.location / _MARK).open("x", encoding="ascii") as mark:
            mark.write(_IGNORE_ALL)

    def _clear(self, before: TaggedBytes | None = None) -> None:
        """Remove the files of earlier versions; a version that cannot be read names nothing.

        In a bucket that is done if it may be, and only with what no reader can need any more: somebody may be about to
        fetch the version before.
        """
        with suppress(StorageError if self.shared else DamagedIndex):
            manifest = self.manifest()
            keep = set(manifest.files) if manifest else set()
            with suppress(DamagedIndex):
                keep |= Manifest.parse(before.data).files if before else set()
            keep |= unfinished.files if (unfinished := self._unfinished()) else set()
            old_s = self.shared.unnamed_s if self.shared else -float("inf")
            gone = [each.name for each in self.blobs.list() if _is_part(each.name) and each.age_s >= old_s]
            if left := [name for name in gone if name not in keep]:
                self.blobs.delete(left)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn an error of the system into one that names the index and the next step."""
        try:
            yield
        except BlockingIOError:
            raise
        except (OSError, StorageError) as error:
            cause = error.__cause__ if isinstance(error, StorageError) else error
            if not isinstance(cause, OSError) or (cause is not error and cause.filename != str(self.location / LOCK)):
                raise
            if cause.errno in _NO_ROOM:
                advice = "free some, or give another place with --index"
                raise StorageError(f"no room left for the index in {self.location}: {advice}") from error
            refusal = UnwritableIndex if cause.errno in _READ_ONLY else StorageError
            what = f"cannot write the index in {self.location}: {cause.strerror or cause}"
            raise refusal(f"{what}; give another place with --index") from error


def _new_catalog() -> str:
    return f"{uuid.uuid4().hex}.catalog"


def _is_part(name: str) -> bool:
    """Say whether only an index gives files such a name."""
    return bool(PART_NAME.fullmatch(name) or _TEMPORARY.fullmatch(name))


def _is_ours(name: str) -> bool:
    return name in {LOCK, WATCHER_LOCK, MANIFEST, UNFINISHED, _MARK} or _is_part(name)
