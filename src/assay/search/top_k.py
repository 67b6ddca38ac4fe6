"""One score a chunk in, the numbers of the best out: what every searcher over a whole corpus ends with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.search.filters import Mask
from assay.search.lexical import Array


def best(scores: Array, allowed: Mask | None, k: int) -> NDArray[np.intp]:
    """Return the numbers of the `k` highest scores above 0, best first, equal ones by number."""
    found = np.flatnonzero(scores > 0.0 if allowed is None else (scores > 0.0) & allowed)
    if len(found) > k > 0:
        least = np.partition(scores[found], -k)[-k]
        found = found[scores[found] >= least]
    return found[np.lexsort((found, -scores[found]))][:k]
