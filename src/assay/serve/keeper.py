"""Served folders in, their indexes kept up to date for the processes that answer from them.

Only this process writes. It looks at all files while questions come in, in at most a tenth of the time, and now and
then when none do, so that the first question after a quiet night is not answered from the evening before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from assay.assemble.workspace import Workspace, last_workspace, open_workspace
from assay.errors import AssayError, printable
from assay.protocols import Say
from assay.serve.engine import Waits
from assay.settings import Settings

_IDLE_S = 60.0
"""Between two looks at all files while nobody asks."""
_TICK_S = 0.1


class Keeper:
    """The one writer of the indexes of some folders."""

    def __init__(
        self,
        roots: Callable[[], Mapping[Path, Settings]],
        questions: Callable[[], float],
        swept: Callable[[], object],
        say: Say,
        waits: Waits,
    ) -> None:
        """Take what is served at the moment, how many questions there were so far, and whom to tell of looks."""
        self._roots, self._questions, self._swept, self._say, self._waits = roots, questions, swept, say, waits
        self._open: dict[Path, Workspace] = {}
        self._trouble: dict[Path, str] = {}

    def run(self) -> None:
        """Work until the process is ended; what is written is whole at any moment."""
        while True:
            before, started = self._questions(), time.monotonic()
            self.sweep()
            self._swept()
            took_s = time.monotonic() - started
            self._rest(before, min(max(self._waits.fresh_s, took_s / self._waits.fraction), _IDLE_S))

    def sweep(self) -> None:
        """Look at the files of every folder once, and bring its index up to date."""
        for root, settings in self._roots().items():
            if not settings.index.refresh:
                continue  # it is read as it is
            try:
                self._open[root] = self._fresh(root, settings)
            except (AssayError, OSError) as error:
                self._open.pop(root, None)
                self._complain(root, str(error))
            else:
                self._complain(root, "")

    def _fresh(self, root: Path, settings: Settings) -> Workspace:
        """Return a folder with its index up to date; every byte of one that was there before is verified first."""
        held = self._open.get(root)
        if held is not None and not held.index.torn():
            return held.refresh()[0]
        if (last := last_workspace(root, settings)) is not None:
            last.index.check()  # a version that is damaged is not built upon
            return last.refresh()[0]
        return open_workspace(root, settings)

    def _complain(self, root: Path, trouble: str) -> None:
        if trouble and trouble != self._trouble.get(root):
            self._say(f"{root}: {printable(trouble)}; trying again")
        self._trouble[root] = trouble

    def _rest(self, before: float, pause_s: float) -> None:
        """Wait for so long, and then until somebody asks, or for a minute."""
        started = time.monotonic()
        while (passed := time.monotonic() - started) < pause_s or (self._questions() == before and passed < _IDLE_S):
            time.sleep(_TICK_S)
