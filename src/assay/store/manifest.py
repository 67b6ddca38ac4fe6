"""The one file that says what an index is made of; swapped whole, so that readers see all of a change or none."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from assay.errors import DamagedIndex, StorageError
from assay.store.arrays import sync

FORMAT = 1
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
        data = json.loads((folder / MANIFEST).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StorageError(f"cannot read the index in {folder}: {error.strerror}") from error
    except ValueError as error:
        raise DamagedIndex(f"{MANIFEST} is not JSON: {error}") from error
    try:
        if data.pop("format") != FORMAT:
            raise DamagedIndex(f"the index is of another format than {FORMAT}")
        identity = Identity(**data.pop("identity"))
        return Manifest(**{**data, "segments": tuple(data["segments"])}, identity=identity)
    except (AttributeError, KeyError, TypeError) as error:
        raise DamagedIndex(f"{MANIFEST} lacks what belongs there: {error}") from error


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Make a version the current one, at once and for good."""
    temporary = folder / f"{MANIFEST}.new"
    with temporary.open("wb") as file:
        file.write(json.dumps({"format": FORMAT, **asdict(manifest)}, indent=1).encode())
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(folder / MANIFEST)
    sync(folder)
