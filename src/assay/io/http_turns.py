"""What a service said of too many requests to when the next one may start, for all threads that ask it.

One thread that is told to wait makes all of them wait: the others would be refused, too, and each refusal uses up one
of a request's tries. Behind the wait requests start one after the other, at a gap that doubles with each refusal and
shrinks with each answer, so that the pace ends up near what the service allows. Refusals of requests that were under
way together count once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_LEAST_S, _MOST_S = 0.02, 5.0
_RECOVERY = 0.95
"""Of the gap that is left after an answer."""


class Turns:
    """Who may start when; shared by the threads of one client."""

    def __init__(self, now: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep) -> None:
        self._now, self._sleep = now, sleep
        self._lock = threading.Lock()
        self._from = self._slowed_at = float("-inf")
        self._gap_s = 0.0

    @property
    def is_free(self) -> bool:
        """Whether a request would start at once."""
        with self._lock:
            return self._now() >= self._from

    def wait(self) -> float:
        """Wait until a request may start, and return when that was."""
        while True:
            with self._lock:
                now = self._now()
                if now >= self._from:
                    self._from = now + self._gap_s
                    return now
                pause_s = self._from - now
            self._sleep(pause_s)

    def slow_down(self, started: float, wait_s: float | None) -> None:
        """Hear that a request was one too many, and how long the service wants to be left alone; 0 is not at all."""
        if wait_s == 0:
            return
        with self._lock:
            now = self._now()
            self._from = max(self._from, now + (wait_s or 0.0))
            if started >= self._slowed_at:
                self._gap_s = min(max(2 * self._gap_s, _LEAST_S), _MOST_S)
                self._slowed_at = now

    def speed_up(self) -> None:
        """Hear that a request was answered."""
        if self._gap_s:
            with self._lock:
                self._gap_s = self._gap_s * _RECOVERY if self._gap_s > _LEAST_S / 2 else 0.0
