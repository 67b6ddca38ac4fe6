"""One score a chunk in, the numbers of the best out: what every searcher over a whole corpus ends with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.search.filters import Mask
from assay.search.lexical import Array
from assay.store.snapshot import ChunkOrder


def best(scores: Array, allowed: Mask | None, k: int, order: ChunkOrder) -> NDArray[np.int64]:
    """Return the numbers of the `k` highest scores above 0, best first, equal ones in the order of the corpus."""
    found = np.flatnonzero(scores > 0.0 if allowed is None else (scores > 0.0) & allowed)
    return order.ranked(scores, found, k)
