"""Where the index of a folder lies when nobody says: in the user's cache, one for each root."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import platformdirs

from assay.store.bucket_place import bucket_place, is_bucket

_LONGEST = 40


def located(location: str, folder: Path) -> str:
    """Return where an index lies that was named in a folder; a place in a bucket says so by itself."""
    if is_bucket(location):
        return str(bucket_place(location))
    return str(folder / Path(location).expanduser())


def holds_many(location: str) -> bool:
    """Say whether a place can hold the indexes of several roots, each under its own name."""
    return is_bucket(location) and not bucket_place(location).name


def default_location(root: Path) -> Path:
    """Return a folder named after the root, so that people know it, and its hash, so that it is the root's alone."""
    whole = str(root.resolve())
    digest = hashlib.blake2b(whole.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    name = re.sub(r"[^\w.-]+", "-", root.resolve().name, flags=re.ASCII)[:_LONGEST] or "root"
    return Path(platformdirs.user_cache_dir("assay")) / f"{name}-{digest}"


def history_location(root: Path) -> Path:
    """Return the folder of the index of a root's commits, beside that of its files."""
    place = default_location(root)
    return place.with_name(f"{place.name}.history")
