"""Where the index of a folder lies when nobody says: in the user's cache, one for each root."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import platformdirs

from assay.errors import InputError

_LANCE = "lance:"
_LONGEST = 40


def located(location: str, folder: Path) -> str:
    """Return where an index lies that was named in a folder."""
    if location.startswith(_LANCE):
        raise InputError(f"'{location}': there are no indexes in Lance any more; give a folder")
    return str(folder / Path(location).expanduser())


def default_location(root: Path) -> Path:
    """Return a folder named after the root, so that people know it, and its hash, so that it is the root's alone."""
    whole = str(root.resolve())
    digest = hashlib.blake2b(whole.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    name = re.sub(r"[^\w.-]+", "-", root.resolve().name, flags=re.ASCII)[:_LONGEST] or "root"
    return Path(platformdirs.user_cache_dir("assay")) / f"{name}-{digest}"
