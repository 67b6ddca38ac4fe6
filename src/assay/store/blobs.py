"""Bytes by name in one place, a folder or a bucket: all that an index needs of where it lies.

What is put under a name stays as it is, but for the manifest, which is replaced only by who knows what it replaces. So
two writers who know nothing of one another leave what one of them wrote, and the other one knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from assay.errors import StorageError


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
