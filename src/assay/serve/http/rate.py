"""How often one address may ask: a bucket each that fills at a rate and holds two seconds of it."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

_BURST_S = 2.0
_MOST_KNOWN = 4096
"""Addresses that are remembered; one that is forgotten starts with a full bucket."""


@dataclass(slots=True)
class Rate:
    """So many requests a second from one address; 0 is any number."""

    per_s: float = 0.0
    clock: Callable[[], float] = time.monotonic
    _held: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)
    """Of an address, how many requests it has left and when that was so."""

    def wait_s(self, address: str) -> float:
        """Count a request, and return 0; or how long to wait, where there have been too many."""
        if not self.per_s:
            return 0.0
        most, now = max(1.0, self.per_s * _BURST_S), self.clock()
        left, then = self._held.pop(address, (most, now))
        left = min(most, left + (now - then) * self.per_s)
        taken = left >= 1.0
        self._held[address] = (left - taken, now)
        if len(self._held) > _MOST_KNOWN:
            self._held.popitem(last=False)
        return 0.0 if taken else (1.0 - left) / self.per_s
