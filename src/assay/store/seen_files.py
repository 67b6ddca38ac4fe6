"""How this machine saw the files of an index that another one wrote: sizes, times and inodes in, the same out later.

Where several machines share an index, its catalog holds what its writer saw. A checkout with the same texts has other
times; what it saw is kept beside the copies, so that its files are not read again and again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

import numpy as np

from assay.errors import DamagedIndex
from assay.store.arrays import read_arrays, write_arrays
from assay.store.catalog import Catalog

SEEN = ".seen"
_CHECKED, _RULES = "checked_ns", "rules"


def seen_file(folder: Path, root: Path, catalog: str) -> Path:
    """Return where it is kept what a root's files were like under one catalog."""
    digest = blake2b(str(root).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    return folder / f"{digest}.{catalog}{SEEN}"


def keep_seen(file: Path, catalog: Catalog, checked_ns: int, rules: str) -> None:
    """Keep what was seen, in place of what was under any other catalog."""
    about = {_CHECKED: np.array([checked_ns]), _RULES: np.frombuffer(rules.encode(), np.uint8)}
    part = file.with_name(f"{file.name}.{os.urandom(4).hex()}.part")
    try:
        write_arrays(part, {**catalog.arrays, **about})
        for old in file.parent.glob(f"{file.name.partition('.')[0]}.*{SEEN}"):
            old.unlink(missing_ok=True)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def read_seen(file: Path) -> tuple[Catalog, int, str] | None:
    """Return what was seen, when, and under which rules; None where nothing was."""
    with suppress(OSError, DamagedIndex, KeyError):
        arrays = read_arrays(file)
        checked_ns, rules = int(arrays.pop(_CHECKED)[0]), arrays.pop(_RULES).tobytes().decode()
        return Catalog(arrays), checked_ns, rules
    return None
