"""What a long step has done, to a bar on standard error; on a terminal only, and only when it takes a while."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Drawn
    from rich.progress import TaskID

    from assay.protocols import Progress

_PATIENCE_S = 0.4
_REDRAW_S = 0.1


@contextmanager
def progress() -> Iterator[Progress | None]:
    """Give what to report to, or None where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = _Bar()
    try:
        yield bar
    finally:
        bar.close()


class _Bar:
    """A bar that appears once the work has taken longer than a person likes to wait unsaid.

    It is drawn from where it is called, for a thread of its own would keep the work from forking.
    """

    def __init__(self) -> None:
        self._drawn = time.monotonic()
        self._wait_s = _PATIENCE_S
        self._shown: Drawn | None = None
        self._stages: dict[str, TaskID] = {}

    def __call__(self, stage: str, done: int, total: int) -> None:
        early = time.monotonic() - self._drawn < self._wait_s
        if early and (self._shown is None or done < total):
            return
        self._drawn, self._wait_s = time.monotonic(), _REDRAW_S
        if self._shown is None:
            self._shown = _opened()
        if stage not in self._stages:
            self._stages[stage] = self._shown.add_task(stage, total=total)
        self._shown.update(self._stages[stage], completed=done, total=total, refresh=True)

    def close(self) -> None:
        if self._shown is not None:
            self._shown.stop()


def _opened() -> Drawn:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    shown = Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
    shown.start()
    return shown
