"""Bags of paths to how alike programs are: each program against those that stand for the pool, in blocks.

Two bags are as alike as the share of paths that they have in common (Jaccard). Beside it stand the two halves of that:
how common a program's own paths are, and how much it has of what is common. Memory is bounded: a pool of any size is
compared with at most `MOST` of its programs.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.rank.consensus.paths import PathBags

Floats = NDArray[np.float32]
Chosen = NDArray[np.bool_]
MOST: Final = 400
"""Programs that stand for a pool."""
_BLOCK: Final = 256


def likeness(bags: PathBags, columns: Chosen, against: NDArray[np.intp]) -> Floats:
    """Return the Jaccard likeness of each program to each of these, over some of the paths."""
    used = columns[bags.paths]
    rows, paths = bags.rows[used], bags.paths[used]
    sizes = np.bincount(rows, minlength=bags.programs).astype(np.float32)
    standing = np.zeros(bags.programs, bool)
    standing[against] = True
    there = np.zeros(bags.width, bool)
    there[paths[standing[rows]]] = True
    kept = there[paths]
    rows, paths, width = rows[kept], (np.cumsum(there) - 1)[paths[kept]], int(there.sum())
    starts = np.searchsorted(rows, np.arange(bags.programs + 1))
    chosen = np.zeros((len(against), width), np.float32)
    for at, program in enumerate(against):
        chosen[at, paths[starts[program] : starts[program + 1]]] = 1
    found = np.empty((bags.programs, len(against)), np.float32)
    for low in range(0, bags.programs, _BLOCK):
        high = min(low + _BLOCK, bags.programs)
        block = np.zeros((high - low, width), np.float32)
        part = slice(starts[low], starts[high])
        block[rows[part] - low, paths[part]] = 1
        common = block @ chosen.T
        either = sizes[low:high, None] + sizes[None, against] - common
        found[low:high] = common / np.maximum(either, 1)
    return found
