"""Where the index of a folder lies when nobody says: in the user's cache, one for each root."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import platformdirs

_LONGEST = 40


def default_location(root: Path) -> Path:
    """Return a folder named after the root, so that people know it, and its hash, so that it is the root's alone."""
    whole = str(root.resolve())
    digest = hashlib.blake2b(whole.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    name = re.sub(r"[^\w.-]+", "-", root.resolve().name, flags=re.ASCII)[:_LONGEST] or "root"
    return Path(platformdirs.user_cache_dir("assay")) / f"{name}-{digest}"
