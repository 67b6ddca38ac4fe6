"""What an update hands to a store: which files' chunks go, which segments come, and what is known of each file now."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.store.catalog import FileRecord
from assay.store.manifest import Identity, Manifest


@dataclass(frozen=True, slots=True)
class IndexChange:
    """The next version of an index, told by what differs from the last one."""

    identity: Identity
    rules: str
    checked_ns: int
    records: Collection[FileRecord]
    """Of every file, changed or not."""
    dead: Collection[str]
    """Paths whose chunks, as the last version has them, are no more."""
    fresh: Sequence[Path]
    """New segments, written together."""


def following(last: Manifest | None, change: IndexChange, segments: Iterable[str]) -> Manifest:
    """Describe the version after `last`, with a name of its own for its catalog."""
    version = last.version + 1 if last else 1
    catalog = f"{uuid.uuid4().hex}.catalog"
    return Manifest(version, change.identity, change.rules, change.checked_ns, tuple(segments), catalog)
