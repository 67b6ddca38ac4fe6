"""How often one person or address may ask: a bucket each that fills at a rate and holds two seconds of it.

The buckets lie in the table that all processes of a server share, so that a limit is one of the server.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b

from assay.serve.http.shared_table import CELL, CELLS, SharedTable

_BURST_S = 2.0
_DIGEST_BYTES = 6
"""What a number of the table can hold exactly."""


@dataclass(slots=True)
class Rate:
    """So many requests a second from one person or address; 0 is any number. Who is forgotten has a full bucket."""

    per_s: float = 0.0
    clock: Callable[[], float] = time.monotonic
    table: SharedTable = field(default_factory=SharedTable)

    def wait_s(self, who: str) -> float:
        """Count a request, and return 0; or how long to wait, where there have been too many."""
        if not self.per_s:
            return 0.0
        key = int.from_bytes(blake2b(who.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()) + 1
        most, now = max(1.0, self.per_s * _BURST_S), self.clock()
        with self.table.cells(key) as cells:
            starts = range(0, CELLS * CELL, CELL)
            place = next((at for at in starts if cells[at] == key), None)
            left, then = (most, now) if place is None else (cells[place + 1], cells[place + 2])
            if place is None:
                place = min(starts, key=lambda at: (cells[at] > 0, cells[at + 2]))  # a free one, or the oldest
            left = min(most, left + (now - then) * self.per_s)
            taken = left >= 1.0
            cells[place], cells[place + 1], cells[place + 2] = key, left - taken, now
        return 0.0 if taken else (1.0 - left) / self.per_s
