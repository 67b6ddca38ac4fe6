"""Write and read the one file that says what an index is made of.

It is swapped whole, so that readers see all of a change or none.

It holds a checksum, and what is read has to be what would be written, byte by byte.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from assay.errors import DamagedIndex

FORMAT = 4
"""Raised when anything stored changes its meaning; an index of another format is rebuilt."""

MANIFEST = "manifest.json"
PART_NAME = re.compile(r"[0-9a-f]{32}\.(?:segment|catalog)")
"""The name of a file of an index: no other is read, written or removed."""

_SHARED = ("origin", "sizes")  # written only where several machines share an index


class NewerIndex(DamagedIndex):
    """The index is of a format that a later version of Assay writes."""


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
    origin: str = ""
    """Which repository it is, where several machines share an index."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Bytes of each file, where several machines share an index: what a copy has to have."""

    @property
    def files(self) -> frozenset[str]:
        """Names of the files that this version is made of."""
        return frozenset((*self.segments, self.catalog))


def parse_manifest(data: bytes) -> Manifest:
    """Read a version from what was written; raise DamagedIndex for anything else."""
    try:
        manifest = _parsed(json.loads(data))
    except ValueError as error:
        raise DamagedIndex(f"{MANIFEST} is not JSON: {error}") from error
    except (AttributeError, KeyError, TypeError) as error:
        raise DamagedIndex(f"{MANIFEST} lacks what belongs there: {error}") from error
    if manifest_bytes(manifest) != data:
        raise DamagedIndex(f"{MANIFEST} is not as it was written")
    return manifest


def manifest_bytes(manifest: Manifest) -> bytes:
    """Return what is written of a version."""
    data = {"format": FORMAT, **asdict(manifest)}
    data = {name: value for name, value in data.items() if value or name not in _SHARED}
    return json.dumps({**data, "checksum": zlib.crc32(json.dumps(data).encode())}, indent=1).encode()


def _parsed(data: dict[str, Any]) -> Manifest:
    found = data.pop("format")
    if isinstance(found, int) and found > FORMAT:
        raise NewerIndex(f"the index is of format {found}, newer than {FORMAT}, the newest that this assay knows")
    if found != FORMAT:
        raise DamagedIndex(f"the index is of format {found}, and this assay reads {FORMAT}")
    data.pop("checksum")
    identity = Identity(**data.pop("identity"))
    manifest = Manifest(**{**data, "segments": tuple(data["segments"])}, identity=identity)
    for name in (*manifest.files, *manifest.sizes):
        if not PART_NAME.fullmatch(name):
            raise DamagedIndex(f"{MANIFEST} names '{name}', which is not the name of a file of an index")
    return manifest
