"""A query that asks nothing by meaning in, the chunks that its filters keep out: `kind:class file:src`, or blank lines.

They come in the order in which somebody reads a repository: the program, its documentation, then tests and asides.
"""

from __future__ import annotations

import numpy as np

from assay.search.filters import filter_mask
from assay.search.text_matches import TextMatch, reading_order
from assay.store.snapshot import Snapshot
from assay.types import Hit, Query


def listing(snapshot: Snapshot, query: Query, k: int) -> list[Hit]:
    """Return the first `k` chunks that a query keeps; each is what was asked for, and has the score 1."""
    allowed = filter_mask(snapshot, query)
    numbers = np.arange(snapshot.size) if allowed is None else np.flatnonzero(allowed)
    lines = snapshot.rows("lines", numbers)[:, 0].tolist()
    places = (
        (TextMatch(snapshot.path(number), line, 0), number)
        for number, line in zip(numbers.tolist(), lines, strict=True)
    )
    first = sorted(places, key=lambda place: (reading_order(place[0]), place[1]))[:k]
    return [Hit(snapshot.chunk(number), 1.0) for _, number in first]
