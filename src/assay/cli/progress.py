"""Report the progress of a long step on standard error: a bar on a terminal, elsewhere a line every ten seconds.

Both appear only when the work takes a while, or when a stage of unknown size begins, as a first index does. They are
also written while nothing is reported (a model that loads, segments that are merged): by a timer of the system, for a
thread of its own would keep the work from forking.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

import click

from assay.errors import lasting, printable, rate_text
from assay.io.requests_in_flight import say_at_once
from assay.io.terminal import draw, say

if TYPE_CHECKING:
    from assay.judge.campaign import Tally
    from assay.protocols import Progress
    from assay.values import Problem

_PATIENCE_S = 0.4
_REDRAW_S = 0.1
_LOOK_S = 0.5
"""Seconds between two drawings of a bar without reports."""
_WIDTH = 24
FIRST_LINE_S = 3.0
"""Seconds before the first line: shorter work is not reported."""
LINE_S = 10.0
_REPORTS, _PART, _SURE_S = 3, 0.1, 30.0
"""What an estimate needs: a number of reports, and a fraction of the whole or some time."""
MAX_LISTED_PROBLEMS = 10
"""Problems of a campaign that are listed without -v; the others are counted."""


@contextmanager
def progress() -> Iterator[Progress]:
    """Return a function for progress: a bar on a terminal, else lines on standard error."""
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        bar = _Bar()
        try:
            with _timer(bar.look, _LOOK_S):
                yield bar
        finally:
            bar.close()
        return
    stage = StageLine()
    with lines_of(lambda: str(stage)) as lines:

        def report(name: str, done: int, total: int) -> None:
            stage(name, done, total)
            lines.look()

        yield report


def print_line(line: str) -> None:
    """Write a line of a training to standard error."""
    click.echo(printable(line), err=True)


@contextmanager
def lines_of(line: Callable[[], str]) -> Iterator[Lines]:
    """Print a line regularly for as long as the block lasts, even without reports."""
    lines = Lines(line, say_at_once)
    with _timer(lines.look, 1.0):
        yield lines


class Lines:
    """When a line is due: the first after a short time, then one every ten seconds."""

    def __init__(
        self, line: Callable[[], str], write: Callable[[str], object], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._line, self._write, self._clock = line, write, clock
        self._due = clock() + FIRST_LINE_S

    def look(self) -> None:
        """Print a line if one is due."""
        if (now := self._clock()) >= self._due:
            self._due = now + LINE_S
            self._write(self._line())


def time_left(reports: int, done: int, total: int, seconds: float) -> float | None:
    """Return how many seconds the rest takes at the rate so far, or None if the rate is not known yet.

    Work comes in batches, and before the first one much is loaded: a rate needs three reports, and a tenth of the whole
    or half a minute.
    """
    if reports < _REPORTS or not done or (done < total * _PART and seconds < _SURE_S):
        return None
    return (total - done) * seconds / done


class StageLine:
    """A stage with its progress, its rate, and the time that is left."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._began, self._before = clock, clock(), 0
        self._stage, self._done, self._total, self._reports = "", 0, 0, 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Update the progress; the rate is that of this stage since its first report."""
        if stage != self._stage:
            self._stage, self._began, self._before, self._reports = stage, self._clock(), done, -1
        self._done, self._total, self._reports = done, total, self._reports + 1

    def __str__(self) -> str:
        seconds = self._clock() - self._began
        if not self._stage:
            return f"working, {lasting(seconds)}"
        if not self._total:
            return f"{self._stage}, {lasting(seconds)}"
        done = self._done - self._before
        left_s = time_left(self._reports, done, self._total - self._before, seconds)
        at = f", {lasting(seconds)}"
        if left_s is not None:
            at = f", {rate_text(done / max(seconds, 1e-9))}" + (f", {lasting(left_s)} left" if left_s else "")
        return f"{self._stage}: {self._done:,} of {self._total:,}{at}"

    def bar(self) -> str:
        """Return the same after a bar, if the total is known."""
        full = "━" * (_WIDTH * self._done // self._total) if self._total else ""
        return f"{full:╌<{_WIDTH}} {self}" if self._total else str(self)


@contextmanager
def _timer(look: Callable[[], None], every_s: float) -> Iterator[None]:
    """Call a function regularly if the alarm is unused; child processes inherit no timer."""
    free = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    if not free:
        yield
        return
    signal.signal(signal.SIGALRM, lambda *_: look())
    signal.setitimer(signal.ITIMER_REAL, every_s, every_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


class _Bar:
    """A line that is redrawn regularly, once the work has taken longer than people like to wait for."""

    def __init__(self) -> None:
        self._stage = StageLine()
        self._due = time.monotonic() + _PATIENCE_S
        self._is_shown = False

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Update the progress; a stage without a total has just begun and will take a while, so it is shown at once."""
        self._stage(stage, done, total)
        if not total or (self._is_shown and done >= total):
            self._due = 0.0
        self.look()

    def look(self) -> None:
        """Draw the line if it is due; the timer may interrupt this very method."""
        if (now := time.monotonic()) >= self._due:
            self._due, self._is_shown = now + _REDRAW_S, True
            draw(self._stage.bar())

    def close(self) -> None:
        if self._is_shown:
            draw("")


class ProgressReporter:
    """Reports the progress of a campaign: its problems by name, at least the first ones, and its state regularly."""

    def __init__(self, first: str, *, every: bool = True) -> None:
        self._first, self._every = first, every
        self._line: Callable[[], str] | None = None
        self.problems: list[str] = []

    @contextmanager
    def lines(self) -> Iterator[Self]:
        """Print a line regularly for as long as the block lasts."""
        with lines_of(lambda: self._line() if self._line else self._first):
            yield self

    def on_start(self, total: int) -> None:
        """Set the number of pairs."""
        self._first = f"judging {total:,} pairs: no verdict yet"

    def on_verdict(self, tally: Tally) -> None:
        """Update the progress."""
        self._line = tally.line

    def on_problem(self, problem: Problem) -> None:
        """Print what cannot be judged; after a limit, only count it."""
        self.problems.append(str(problem))
        if self._every or len(self.problems) <= MAX_LISTED_PROBLEMS:
            say(self.problems[-1])

    def close(self) -> None:
        """Print how many problems were only counted."""
        if not self._every and len(self.problems) > MAX_LISTED_PROBLEMS:
            say(f"{len(self.problems) - MAX_LISTED_PROBLEMS:,} more problems; -v names them")
