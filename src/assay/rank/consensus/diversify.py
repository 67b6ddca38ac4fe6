"""Scores of programs that look alike to scores that spread: what comes second should differ from what came first.

Maximal marginal relevance (Carbonell and Goldstein 1998): again and again the best program is taken whose score, less a
price for the likeness to what was taken before, is the highest. The first is the first without it, so pass@1 stays as
it is, and the scores returned fall in the order of taking. Half of the price is for the likeness as it is, half for
where it stands between those of the pool: where all programs are near copies, what little tells them apart counts, too.
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

_LOW: Final = 0.1
"""The quantile of likenesses that counts as unlike."""
_NO_SPREAD: Final = 1e-6


def prices(scores: Numbers, held: PathBags, price: float) -> Numbers:
    """Return what to take off each score."""
    best = np.argsort(-scores, kind="stable")[: TAKEN * 10]
    alike = likeness(held, np.ones(held.width, bool), best).astype(np.float64)
    alike = (alike + _relative(alike, best)) / 2
    off = np.zeros(len(scores))
    waiting = np.ones(len(scores), bool)
    for _ in range(min(TAKEN, len(best))):
        left = np.where(waiting[best], (scores - off)[best], -np.inf)
        at = int(np.argmax(left))
        waiting[best[at]] = False
        off = np.where(waiting, np.maximum(off, price * alike[:, at]), off)
    return off


def _relative(alike: Numbers, best: NDArray[np.intp]) -> Numbers:
    """Return where each likeness stands from the low ones among the best (0) to the highest (1)."""
    among = alike[best][~np.eye(len(best), dtype=bool)]
    if not len(among):
        return alike
    low, high = np.quantile(among, _LOW), among.max()
    return np.clip((alike - low) / max(float(high - low), _NO_SPREAD), 0, 1)
