"""Record the contents of an index: its manifest, and a record of each file.

The manifest is swapped whole, so that readers see all of a change or none; it holds a checksum, and what is read has to
be what would be written, byte by byte. Files are columns, so that two hundred thousand records load as fast as they are
read from disk and compare at once.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from assay.errors import DamagedIndex, StorageError
from assay.io.digest import hex_digest
from assay.io.files import refuse_special, replacing, sync
from assay.store.arrays import Arrays, Numbering, read_arrays, write_arrays
from assay.store.index_location import MANIFEST

DIGEST_BYTES = 16
NO_DIGEST = bytes(DIGEST_BYTES)
STAT = {"size": np.int64, "mtime_ns": np.int64, "ctime_ns": np.int64, "inode": np.uint64}
"""What is recorded of a file as `stat` saw it: the same again is taken for the same file."""


NOTES_BETWEEN = "; "
"""What stands between several notes of a file."""


@dataclass(frozen=True, slots=True)
class FileRecord:
    """Record of one file; the path is relative to the root."""

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
        """Say whether a segment has the text of the file, under this path."""
        return self.digest != NO_DIGEST and not self.skipped


class Catalog:
    """Records in order of their paths, as columns."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays

    @classmethod
    def of(cls, records: Iterable[FileRecord]) -> Catalog:
        """Sort records by path and turn them into columns."""
        rows = sorted(records, key=lambda record: record.path)
        skipped, notes = Numbering(), Numbering()
        columns: Arrays = {name: np.array(list(map(attrgetter(name), rows)), dtype=kind) for name, kind in STAT.items()}
        columns |= {
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
        each = (digests[at : at + DIGEST_BYTES] for at in range(0, len(digests), DIGEST_BYTES))
        stats = (columns[name].tolist() for name in STAT)
        texts = (skipped.get(path, "") for path in self.paths), (notes.get(path, "") for path in self.paths)
        return list(map(FileRecord, self.paths, *stats, each, columns["chunks"].tolist(), *texts))


def _bytes(data: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(data, dtype=np.uint8)


def _join(texts: Iterable[str]) -> NDArray[np.uint8]:
    """Pack texts that hold no NUL, as paths cannot."""
    return _bytes("\0".join(texts).encode("utf-8", "surrogatepass"))


def _split(packed: NDArray[np.uint8], count: int) -> list[str]:
    return packed.tobytes().decode("utf-8", "surrogatepass").split("\0") if count else []


FORMAT = 5
"""Raised when anything stored changes its meaning; an index of another format is rebuilt."""

UNFINISHED = "unfinished.json"
"""The manifest of what is done of a first index, numbered 0: no reader opens it, the next writer goes on from it."""
PART_NAME = re.compile(r"[0-9a-f]{32}\.(?:segment|catalog)")
"""The name of a file of an index: no other is read, written or removed."""

_OPTIONAL = ("origin", "sizes", "root", "unfinished")  # written only where they say something


class NewerIndex(DamagedIndex):
    """The index is of a format that a later version of Assay writes."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Settings that chunks and vectors depend on; an index of another identity is rebuilt."""

    encoder: str
    dimension: int
    settings: str
    """A hash over the settings of cutting and encoding."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """One version of an index."""

    version: int
    identity: Identity
    rules: str
    """The walk's hash of all ignore rules."""
    checked_ns: int
    """Every file whose time of change lies well before this is as recorded."""
    segments: tuple[str, ...]
    catalog: str
    origin: str = ""
    """Which repository it is, where several machines share an index."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Bytes of each file, where several machines share an index: what a copy has to have."""
    root: str = ""
    """The folder that was indexed, where the index lies in the user's cache; `assay index --prune` looks for it."""
    unfinished: int = 0
    """Of what is kept of an update that has not ended: how many of the last segments it wrote."""

    @property
    def files(self) -> frozenset[str]:
        """Names of the files of this version."""
        return frozenset((*self.segments, self.catalog))

    @property
    def data(self) -> bytes:
        """Return the manifest as bytes of JSON, with a checksum."""
        data = {"format": FORMAT, **asdict(self)}
        data = {name: value for name, value in data.items() if value or name not in _OPTIONAL}
        return json.dumps({**data, "checksum": zlib.crc32(json.dumps(data).encode())}, indent=1).encode()

    @classmethod
    def parse(cls, data: bytes) -> Manifest:
        """Parse the bytes of a manifest; raise DamagedIndex if they are corrupt."""
        try:
            manifest = _parsed(json.loads(data))
        except ValueError as error:
            raise DamagedIndex(f"{MANIFEST} is not JSON: {error}") from error
        except (AttributeError, KeyError, TypeError) as error:
            raise DamagedIndex(f"{MANIFEST} lacks a field or has one of the wrong type: {error}") from error
        if manifest.data != data:
            raise DamagedIndex(f"{MANIFEST} is not as it was written")
        return manifest


def _parsed(data: dict[str, Any]) -> Manifest:
    found = data.pop("format")
    if isinstance(found, int) and found > FORMAT:
        raise NewerIndex(f"the index is of format {found}, newer than {FORMAT}, the newest that this Assay can read")
    if found != FORMAT:
        raise DamagedIndex(f"the index is of format {found}, and this Assay reads {FORMAT}")
    data.pop("checksum")
    identity = Identity(**data.pop("identity"))
    manifest = Manifest(**{**data, "segments": tuple(data["segments"])}, identity=identity)
    for name in (*manifest.files, *manifest.sizes):
        if not PART_NAME.fullmatch(name):
            raise DamagedIndex(f"{MANIFEST} names '{name}', which is not a file name of an index")
    return manifest


SEEN_SUFFIX = ".seen"
_CHECKED, _RULES = "checked_ns", "rules"


def seen_file(folder: Path, root: Path, catalog: str) -> Path:
    """Return the file for the states of a root's files under one catalog."""
    digest = hex_digest(str(root), 8)
    return folder / f"{digest}.{catalog}{SEEN_SUFFIX}"


def keep_seen(file: Path, catalog: Catalog, checked_ns: int, rules: str) -> None:
    """Store the states of the files, in place of those under any other catalog."""
    about = {_CHECKED: np.array([checked_ns]), _RULES: np.frombuffer(rules.encode(), np.uint8)}
    part = file.with_name(f"{file.name}.{os.urandom(4).hex()}.part")
    try:
        write_arrays(part, {**catalog.arrays, **about})
        for old in file.parent.glob(f"{file.name.partition('.')[0]}.*{SEEN_SUFFIX}"):
            old.unlink(missing_ok=True)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


class SeenFiles(NamedTuple):
    """The states of a root's files as this machine saw them, when, and under which walk rules."""

    catalog: Catalog
    checked_ns: int
    rules: str


def read_seen(file: Path) -> SeenFiles | None:
    """Return the stored file states of this machine; None if there are none."""
    with suppress(OSError, DamagedIndex, KeyError):
        arrays = read_arrays(file)
        checked_ns, rules = int(arrays.pop(_CHECKED)[0]), arrays.pop(_RULES).tobytes().decode()
        return SeenFiles(Catalog(arrays), checked_ns, rules)
    return None


@dataclass(frozen=True, slots=True)
class TaggedBytes:
    """A blob's bytes, with a tag that changes when they are replaced."""

    data: bytes
    tag: str


@dataclass(frozen=True, slots=True)
class BlobEntry:
    """One entry of a listing."""

    name: str
    size: int
    age_s: float
    """Since it was last put, by the clock of the place."""


class Overtaken(StorageError):
    """Another writer was first: the blob to replace has changed."""


class Blobs(Protocol):
    """Blobs in one place; a name has no slash."""

    def get(self, name: str, cached: TaggedBytes | None = None) -> TaggedBytes | None:
        """Return the bytes of a name, or `cached` itself if it is unchanged; None if there are none."""

    def get_range(self, name: str, start: int, stop: int) -> bytes:
        """Return some bytes, fewer at the end; raise FileNotFoundError where nothing is."""

    def put(self, name: str, file: Path) -> None:
        """Keep a file's bytes under a name, all of them or none."""

    def put_if(self, name: str, data: bytes, replaces: TaggedBytes | None) -> TaggedBytes:
        """Replace exactly these bytes, or create the blob for None; raise Overtaken if it has changed."""

    def list(self) -> Sequence[BlobEntry]:
        """List all entries."""

    def delete(self, names: Iterable[str]) -> None:
        """Remove some names, whether they are there or not."""


class LocalBlobs:
    """The files of one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, name: str, cached: TaggedBytes | None = None) -> TaggedBytes | None:
        """Return the bytes of a name, or `cached` itself if it is unchanged; None if there are none."""
        try:
            refuse_special(self.folder / name)
            data = (self.folder / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError) as error:
            if self.folder.is_file():
                raise StorageError(
                    f"{self.folder} is a file, and an index is a folder: give another place with --index"
                ) from error
            return None
        except OSError as error:
            raise unreadable(self.folder, error) from error
        return cached if cached is not None and cached.data == data else _tagged(data)

    def get_range(self, name: str, start: int, stop: int) -> bytes:
        """Return some bytes, fewer at the end; raise FileNotFoundError where nothing is."""
        with (self.folder / name).open("rb") as file:
            file.seek(start)
            return file.read(stop - start)

    def put(self, name: str, file: Path) -> None:
        """Keep a file's bytes under a name; a file already there is flushed to the disk."""
        if file != self.folder / name:
            with replacing(self.folder / name) as beside:
                shutil.copyfile(file, beside)
            return
        sync(self.folder / name)

    def put_if(self, name: str, data: bytes, replaces: TaggedBytes | None) -> TaggedBytes:
        """Replace exactly these bytes, atomically and durably; raise Overtaken if they have changed."""
        found = self.get(name)
        if (found and found.tag) != (replaces and replaces.tag):
            raise Overtaken(f"{self.folder / name} was replaced by another writer")
        with replacing(self.folder / name) as beside:
            beside.write_bytes(data)
        return _tagged(data)

    def list(self) -> Sequence[BlobEntry]:
        """List all entries."""
        now = time.time()
        with os.scandir(self.folder) as entries:
            files = [(entry.name, entry.stat()) for entry in entries if entry.is_file(follow_symlinks=False)]
        return [BlobEntry(name, about.st_size, now - about.st_mtime) for name, about in files]

    def delete(self, names: Iterable[str]) -> None:
        """Remove some names, whether they are there or not."""
        for name in names:
            (self.folder / name).unlink(missing_ok=True)


def unreadable(folder: Path, error: OSError) -> StorageError:
    """Return the error for an index that the system refuses to read."""
    return StorageError(f"cannot read the index in {folder}: {error.strerror}; give another place with --index")


def _tagged(data: bytes) -> TaggedBytes:
    return TaggedBytes(data, hex_digest(data))
