"""Where the index of a folder lies when nobody says: in the user's cache, one for each root."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import platformdirs

from assay.errors import InputError

LANCE = "lance:"
"""What stands before the path or URI of an index in Lance."""

_LONGEST = 40


def located(location: str, folder: Path) -> str:
    """Return where an index lies that was named in a folder; a URI says so by itself."""
    kind = LANCE if location.startswith(LANCE) else ""
    place = location.removeprefix(LANCE)
    if kind and not place:
        raise InputError(f"'{location}' names no place: give {LANCE}PATH, or {LANCE}s3://BUCKET/PATH")
    return location if kind and "://" in place else kind + str(folder / Path(place).expanduser())


def default_location(root: Path) -> Path:
    """Return a folder named after the root, so that people know it, and its hash, so that it is the root's alone."""
    whole = str(root.resolve())
    digest = hashlib.blake2b(whole.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    name = re.sub(r"[^\w.-]+", "-", root.resolve().name, flags=re.ASCII)[:_LONGEST] or "root"
    return Path(platformdirs.user_cache_dir("assay")) / f"{name}-{digest}"
