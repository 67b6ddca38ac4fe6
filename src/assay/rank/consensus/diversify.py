"""Scores of programs that look alike to scores that spread: what comes second should differ from what came first.

Maximal marginal relevance (Carbonell and Goldstein 1998): again and again the best program is taken whose score, less a
price for the likeness to what was taken before, is the highest. The first is the first without it, so pass@1 stays as
it is, and the scores returned fall in the order of taking. Programs with one form keep the order of their scores.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.rank.consensus.paths import PathBags
from assay.rank.consensus.similar import likeness

Numbers = NDArray[np.float64]
TAKEN: Final = 20
"""Programs that are taken one after the other; what is left pays for its likeness to all of them."""


def prices(scores: Numbers, held: PathBags, price: float) -> Numbers:
    """Return what to take off each score."""
    best = np.argsort(-scores, kind="stable")[: TAKEN * 10]
    alike = likeness(held, np.ones(held.width, bool), best).astype(np.float64)
    off = np.zeros(len(scores))
    waiting = np.ones(len(scores), bool)
    for _ in range(min(TAKEN, len(best))):
        left = np.where(waiting[best], (scores - off)[best], -np.inf)
        at = int(np.argmax(left))
        waiting[best[at]] = False
        off = np.where(waiting, np.maximum(off, price * alike[:, at]), off)
    return off
