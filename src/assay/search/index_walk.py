"""List the files that the index of a root is about."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.corpus.walk import walk
from assay.corpus.walked_files import Walk


@dataclass(frozen=True, slots=True)
class WalkListing:
    """What a walk found, and when it began."""

    walk: Walk
    at_ns: int


def listed(
    root: Path, location: Path, *, known: Sequence[str] = (), rules: str = "", open_ignored: bool = False
) -> WalkListing:
    """List the files of a root but for those of its index; see `walk`."""
    at_ns = time.time_ns()
    return WalkListing(_outside(walk(root, known=known, rules=rules, open_ignored=open_ignored), root, location), at_ns)


def _outside(found: Walk, root: Path, location: Path) -> Walk:
    """Leave an index that lies in its own root out of the walk: it would change whenever it is written."""
    root, location = root.resolve(), location.resolve()
    if not location.is_relative_to(root):
        return found
    inside = f"{location.relative_to(root).as_posix()}/"
    files = tuple(file for file in found.files if not file.path.startswith(inside))
    skipped = tuple(each for each in found.skipped if not each.path.startswith(inside))
    folders = tuple(folder for folder in found.folders if not folder.startswith(inside))
    return replace(found, files=files, skipped=skipped, folders=folders)
