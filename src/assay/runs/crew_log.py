"""What happens to a crew to lines for whoever waits: who came, who is refused and why, who was lost."""

from __future__ import annotations

from collections.abc import Callable

from assay.errors import counted
from assay.protocols import Say

_SOON_S, _EVERY_S = 1.0, 5.0
_SILENT_S = 10.0
"""So long nobody is missed."""


class CrewLog:
    """Counts, and a line where they changed, now and then."""

    def __init__(self, say: Say, clock: Callable[[], float]) -> None:
        self._say, self._clock = say, clock
        self._due: float | None = None
        self._said = ""
        self._has_waited = False
        self._machines, self._workers = 0, 0
        self.joined = self.lost = self.again = 0
        """Workers that came and that died; items that ran again."""
        self.refused: list[str] = []
        """Machines that are not used, and why."""

    def join(self) -> None:
        """Note that a worker came."""
        self.joined += 1

    def refuse(self, machine: str, why: str) -> None:
        """Say once that a machine is not used."""
        if not any(line.startswith(f"{machine}: ") for line in self.refused):
            self.refused.append(f"{machine}: {why}")
            self._say(f"not used: machine {machine}: {why}")

    def lose(self, machine: str, items: int, why: str) -> None:
        """Say that a worker died."""
        self.lost += 1
        self.again += items
        what = f", {items:,} of its items run again" if items else ""
        self._say(f"lost a worker on machine {machine}{what}{why and f' ({why})'}")

    def wait(self, alone_s: float, patience_s: float) -> None:
        """Say once that nobody works."""
        if alone_s > min(_SILENT_S, patience_s / 2) and not self._has_waited:
            self._has_waited = True
            self._say(f"no machine of the cluster works yet or any more: waiting up to {patience_s:.0f} s (--patience)")

    def tell(self, machines: int, workers: int) -> None:
        """Say how many work where that has changed."""
        self._machines, self._workers = machines, workers
        self._has_waited = self._has_waited and not workers
        if not workers or str(self) == self._said:
            return
        if self._due is None:
            self._due = self._clock() + _SOON_S
        if self._clock() >= self._due:
            self._due = self._clock() + _EVERY_S
            self._tell()

    def close(self) -> None:
        """Say who worked, where that was not said, and what ran again."""
        if self.joined and (self.again or str(self) != self._said):
            self._tell(f"; {self.again:,} items ran again" if self.again else "")

    def _tell(self, more: str = "") -> None:
        self._said = str(self)
        self._say(self._said + more)

    def __str__(self) -> str:
        return f"{counted(self._machines, 'machine')}, {counted(self._workers, 'worker')}, {self.lost:,} lost"
