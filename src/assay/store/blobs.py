"""Keep bytes by name in one place: all that an index needs of where it lies, and the folder that does it.

What is put under a name stays as it is, but for the manifest, which is replaced only by a writer that knows what it
replaces. So two writers who know nothing of one another leave what one of them wrote, and the other one knows. In a
folder there is one writer at a time, who holds the lock of the index: comparing and replacing are two steps.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

from assay.errors import StorageError
from assay.io.files import refuse_special, replacing, sync


@dataclass(frozen=True, slots=True)
class TaggedBytes:
    """Some bytes, and the tag that they have as long as nobody replaces them."""

    data: bytes
    tag: str


@dataclass(frozen=True, slots=True)
class BlobEntry:
    """What a listing says of one name."""

    name: str
    size: int
    age_s: float
    """Since it was last put, by the clock of the place."""


class Overtaken(StorageError):
    """Another writer was first: what was to be replaced is not there any more."""


class Blobs(Protocol):
    """One place; a name has no slash."""

    def get(self, name: str, known: TaggedBytes | None = None) -> TaggedBytes | None:
        """Return what is there, `known` itself if that is still so; None where nothing is."""

    def get_range(self, name: str, start: int, stop: int) -> bytes:
        """Return some bytes, fewer at the end; raise FileNotFoundError where nothing is."""

    def put(self, name: str, file: Path) -> None:
        """Keep a file's bytes under a name, all of them or none."""

    def put_if(self, name: str, data: bytes, replaces: TaggedBytes | None) -> TaggedBytes:
        """Replace exactly that, or nothing where nothing may be there; raise Overtaken where something else is."""

    def list(self) -> Sequence[BlobEntry]:
        """Return what is there."""

    def delete(self, names: Iterable[str]) -> None:
        """Remove some names, whether they are there or not."""


class LocalBlobs:
    """The files of one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, name: str, known: TaggedBytes | None = None) -> TaggedBytes | None:
        """Return what is there, `known` itself if that is still so; None where nothing is."""
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
        return known if known is not None and known.data == data else _tagged(data)

    def get_range(self, name: str, start: int, stop: int) -> bytes:
        """Return some bytes, fewer at the end; raise FileNotFoundError where nothing is."""
        with (self.folder / name).open("rb") as file:
            file.seek(start)
            return file.read(stop - start)

    def put(self, name: str, file: Path) -> None:
        """Keep a file's bytes under a name; one that lies there already is brought to the disk."""
        if file != self.folder / name:
            with replacing(self.folder / name) as beside:
                shutil.copyfile(file, beside)
            return
        sync(self.folder / name)

    def put_if(self, name: str, data: bytes, replaces: TaggedBytes | None) -> TaggedBytes:
        """Replace exactly that, at once and for good; raise Overtaken where something else is."""
        found = self.get(name)
        if (found and found.tag) != (replaces and replaces.tag):
            raise Overtaken(f"{self.folder / name} was replaced by another writer")
        with replacing(self.folder / name) as beside:
            beside.write_bytes(data)
        return _tagged(data)

    def list(self) -> Sequence[BlobEntry]:
        """Return what is there."""
        now = time.time()
        with os.scandir(self.folder) as entries:
            files = [(entry.name, entry.stat()) for entry in entries if entry.is_file(follow_symlinks=False)]
        return [BlobEntry(name, about.st_size, now - about.st_mtime) for name, about in files]

    def delete(self, names: Iterable[str]) -> None:
        """Remove some names, whether they are there or not."""
        for name in names:
            (self.folder / name).unlink(missing_ok=True)


def unreadable(folder: Path, error: OSError) -> StorageError:
    """Return what is to be said when the system refuses to read an index."""
    return StorageError(f"cannot read the index in {folder}: {error.strerror}; give another place with --index")


def _tagged(data: bytes) -> TaggedBytes:
    return TaggedBytes(data, blake2b(data, digest_size=16).hexdigest())
