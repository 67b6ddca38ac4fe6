"""The process that tests programs, seen from the fork server: given one job after the other while it stays the same.

A fork costs more than most tests do. So the process that has read some tests is kept for the next job that has the same
ones, unless it says that they could have changed it, grew, was ended, or left something running beside it.
"""

from __future__ import annotations

import select
import socket
from dataclasses import dataclass, field
from typing import Any

from assay.cage import frames

_LARGEST_MB = 256
"""What a judge may have used and still be kept: all that it holds counts as its next job's memory."""


@dataclass(slots=True)
class JudgeProcess:
    """A judge that was forked."""

    pid: int
    control: socket.socket
    key: object
    """Equal for jobs that it can judge."""
    cpu_s: float = 0.0
    """Processor time of all its jobs so far."""
    _last: dict[str, Any] = field(default_factory=dict)

    @property
    def stays(self) -> bool:
        """Whether it can judge another job; its last one has ended."""
        return bool(self._last.get("stays")) and self._last["peak_mb"] < _LARGEST_MB

    def is_for(self, key: object) -> bool:
        """Say whether it lives and has read these tests."""
        poll = select.poll()
        poll.register(self.control, 0)
        return self.key == key and not poll.poll(0)

    def begin(self, channel: socket.socket, verdict: int) -> None:
        """Give it the next program, at the other end of a channel, and the file for its verdict."""
        self._last = {}
        frames.send(self.control, {}, [channel.fileno(), verdict])

    def collect(self) -> float:
        """Return how much processor time the job took it, which has ended, or the judge with it."""
        try:
            told, _ = frames.receive(self.control)
        except OSError:
            told = None
        self._last = told or {}
        spent: float = self._last.get("cpu_s", 0.0)
        self.cpu_s += spent
        return spent
