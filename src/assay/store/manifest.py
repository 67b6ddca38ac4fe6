"""The one file that says what an index is made of; swapped whole, so that readers see all of a change or none.

It holds a checksum, and what is read has to be what would be written, byte by byte.
"""

from __future__ import annotations

import json
import os
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from assay.errors import DamagedIndex, StorageError
from assay.io.files import sync

FORMAT = 3
"""Raised when anything stored changes its meaning; an index of another format is rebuilt."""

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Identity:
    """What chunks and vectors depend on; an index made under another identity is rebuilt."""

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

    @property
    def files(self) -> frozenset[str]:
        """Names of the files that this version is made of."""
        return frozenset((*self.segments, self.catalog))


def read_manifest(folder: Path) -> Manifest | None:
    """Return the current version, or None where no index is; raise DamagedIndex for what cannot be read."""
    try:
        data = (folder / MANIFEST).read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        if folder.is_file():
            raise StorageError(
                f"{folder} is a file, and an index is a folder: give another place with --index"
            ) from error
        return None
    except OSError as error:
        raise unreadable(folder, error) from error
    try:
        manifest = _parsed(json.loads(data))
    except ValueError as error:
        raise DamagedIndex(f"{MANIFEST} is not JSON: {error}") from error
    except (AttributeError, KeyError, TypeError) as error:
        raise DamagedIndex(f"{MANIFEST} lacks what belongs there: {error}") from error
    if _written(manifest) != data:
        raise DamagedIndex(f"{MANIFEST} is not as it was written")
    return manifest


def unreadable(folder: Path, error: OSError) -> StorageError:
    """Return what is to be said when the system refuses to read an index."""
    return StorageError(f"cannot read the index in {folder}: {error.strerror}; give another place with --index")


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Make a version the current one, at once and for good."""
    temporary = folder / f"{MANIFEST}.new"
    with temporary.open("wb") as file:
        file.write(_written(manifest))
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(folder / MANIFEST)
    sync(folder)


def _written(manifest: Manifest) -> bytes:
    data = {"format": FORMAT, **asdict(manifest)}
    return json.dumps({**data, "checksum": zlib.crc32(json.dumps(data).encode())}, indent=1).encode()


def _parsed(data: dict[str, Any]) -> Manifest:
    found = data.pop("format")
    if isinstance(found, int) and found > FORMAT:
        raise DamagedIndex(f"the index is of format {found}, newer than {FORMAT}, the newest that this assay knows")
    if found != FORMAT:
        raise DamagedIndex(f"the index is of format {found}, and this assay reads {FORMAT}")
    data.pop("checksum")
    identity = Identity(**data.pop("identity"))
    return Manifest(**{**data, "segments": tuple(data["segments"])}, identity=identity)
