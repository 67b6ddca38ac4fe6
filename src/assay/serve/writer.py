"""Bring indexes up to date, each when that is due: the one writer behind `assay watch`, servers and mirrors.

A look lists all files of a root, compares them with the index and writes what changed, as any refresh does. Whatever
asks for looks (changes that the system reports, questions, fetches, or time that passed) only says when: what is
reported twice, late or never, ends in an index that is equal to a fresh one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Thread
from typing import Generic, TypeVar

from assay.errors import AssayError, StorageError, printable
from assay.operations.indexes import AnyIndex
from assay.protocols import Say, Stop
from assay.search.folder_index import IndexReport

T = TypeVar("T")
_TICK_S = 0.1
_PATIENCE_S = 0.5
"""How long a look waits for another process that writes the same index."""
_STUCK_S = 15.0
"""After so long another process is waited for until it ends, or, where it keeps the index, is taken to hang."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long to wait between looks at a root, in seconds."""

    least_s: float = 1.0
    """From the beginning of one look to the next, however often somebody asks."""
    idle_s: float = 60.0
    """From one look to the next though nobody asks."""
    fraction: float = 0.1
    """Of the time, at most, that goes into looking at one root."""
    most_s: float = 60.0
    """The longest pause that long looks lead to."""
    again_s: float = 5.0
    """After what went wrong; twice as long after each further time."""
    longest_s: float = 5.0
    """Between two tries, however often it went wrong."""
    settles_s: float = math.inf
    """After a look that found changes, if that is sooner."""

    def pause_s(self, took_s: float) -> float:
        """Return how long to wait where somebody asks again, after looks that took so long."""
        return max(self.least_s - took_s, min(took_s / self.fraction, self.most_s))

    def idle_pause_s(self, took_s: float) -> float:
        """Return how long to wait where nobody asks."""
        return max(self.idle_s, self.pause_s(took_s))

    def retry_s(self, failures: int) -> float:
        """Return how long to wait after so many failures in a row."""
        return min(self.again_s * 2.0 ** min(failures - 1, 20), self.longest_s)


def trouble_of(error: BaseException) -> str:
    """Return in one line what went wrong."""
    return printable(str(error) if isinstance(error, AssayError | OSError) else f"{type(error).__name__}: {error}")


def say_trouble(say: Say, name: object, trouble: str, before: str, what_next: str = "trying again") -> None:
    """Say what goes wrong with a root, unless it is what went wrong before."""
    if trouble != before:
        say(f"{name}: {trouble}; {what_next}")


def verify_once(index: AnyIndex, verified: set[str]) -> None:
    """Read every byte of an index that was not verified yet: the next refresh builds on nothing that is damaged."""
    if index.location not in verified:
        with suppress(StorageError):  # out of reach just now: the next look verifies it
            index.check()
            verified.add(index.location)


class Upkeep(Generic[T]):
    """Something that is looked at again and again: by a writer in its turn, or in a thread when somebody asks."""

    def __init__(self, name: object, update: Callable[[], T], pace: Pace = Pace()) -> None:
        """Take what a look does, and when it is repeated."""
        self.name, self.pace, self._update = name, pace, update
        self.last: T | None = None
        """What came of the last look that went well."""
        self.looked_at = -math.inf
        """When that look began."""
        self.took_s = 0.0
        self.error: BaseException | None = None
        """What went wrong with the last look."""
        self.failures = 0
        """How many looks in a row went wrong."""
        self.due = self.soonest = 0.0
        """When it is looked at in any case, and when if somebody asks."""
        self._lock = Lock()
        self._run: Future[T] | None = None
        self._began = 0.0

    @property
    def trouble(self) -> str:
        """Say in one line what went wrong with the last look, or nothing."""
        return trouble_of(self.error) if self.error else ""

    @property
    def is_running(self) -> bool:
        """Say whether a look goes on in a thread."""
        return self._run is not None and not self._run.done()

    @property
    def is_due(self) -> bool:
        """Say whether a look would begin if somebody asked; after one that went wrong it always would."""
        return not self.is_running and (self.failures > 0 or time.monotonic() >= self.soonest)

    def look_now(self) -> None:
        """Have it looked at as soon as can be: something changed."""
        self.due = self.soonest = 0.0

    def look_soon(self) -> None:
        """Have it looked at after the usual pause: somebody asks."""
        self.due = min(self.due, self.soonest)

    def look(self) -> T:
        """Look at it, and plan the next look."""
        self._began = began = time.monotonic()
        try:
            found = self._update()
        except BaseException as error:
            self.error, self.failures = error, self.failures + 1
            raise
        else:
            self.last, self.looked_at, self.error, self.failures = found, began, None, 0
            return found
        finally:
            ended, pace = time.monotonic(), self.pace
            self.took_s = ended - began
            self.soonest = ended + pace.pause_s(self.took_s)
            self.due = ended + (pace.retry_s(self.failures) if self.failures else pace.idle_pause_s(self.took_s))

    def ask(self, *, at_once: bool = False) -> Future[T] | None:
        """Have it looked at in a thread if it is time, or `at_once`; return the look that goes on, or None.

        All who ask meanwhile share a look.
        """
        with self._lock:
            run = self._run if self.is_running else None
            if run is None and (at_once or self.is_due):
                run = self._run = Future[T]()
                self._began = time.monotonic()
                Thread(target=self._finish, args=(run,), name=str(self.name), daemon=True).start()
            return run

    def left_s(self, patience_s: float) -> float:
        """Return what is left of a patience that all who wait for a look share."""
        return max(0.0, self._began + patience_s - time.monotonic())

    def _finish(self, run: Future[T]) -> None:
        try:
            run.set_result(self.look())
        except BaseException as error:  # noqa: BLE001  it is raised where it was asked
            run.set_exception(error)


class WrittenRoot(Upkeep[IndexReport]):
    """The index of one root in the care of a writer."""

    def __init__(self, root: Path, open_index: Callable[[], AnyIndex], pace: Pace, *, replaces: bool = True) -> None:
        """Take a root, and what opens its index, which is not done before the first look.

        Unless a look `replaces`, it refuses to rebuild an index that other machines read, too.
        """
        super().__init__(root, self._refresh, pace)
        self.root, self._open, self._replaces = root, open_index, replaces
        self._index: AnyIndex | None = None
        self._verified = set[str]()
        self._busy_since = math.inf

    def look(self) -> IndexReport:
        """Look at it; where another process writes it for longer than a moment, that is tried again soon."""
        report = super().look()
        if report.busy:
            self.due = self.soonest = time.monotonic() + self.pace.least_s
        self._busy_since = min(self._busy_since, self._began) if report.busy else math.inf
        return report

    def _refresh(self) -> IndexReport:
        """List the files, and write what changed."""
        if self._index is None or self._index.torn():
            self._verified.clear()
            self._index = self._open()
        verify_once(self._index, self._verified)
        is_stuck = self._began > self._busy_since + _STUCK_S
        return self._index.refresh(patience_s=None if is_stuck else _PATIENCE_S, replaces=self._replaces)


Trigger = Callable[[Sequence[WrittenRoot], Stop], object]
"""Waits for a moment, and has roots looked at as far as there is a reason."""


def on_questions(asked_at: Callable[[], float]) -> Trigger:
    """Have all roots looked at while somebody asks, by when that was last.

    If nobody does, they are looked at now and then all the same: the first question after a quiet night is not answered
    from the evening before.
    """
    known = 0.0

    def wait(roots: Sequence[WrittenRoot], _stop: Stop) -> None:
        nonlocal known
        time.sleep(_TICK_S)
        if (last := asked_at()) != known:
            known = last
            for each in roots:
                each.look_soon()

    return wait


class Writer:
    """Keeps the indexes of some roots up to date, one after the other, until it is told to stop."""

    def __init__(
        self,
        roots: Sequence[WrittenRoot],
        say: Say,
        *,
        on_news: Callable[[Path, IndexReport], object] = lambda _root, _report: None,
        on_round: Callable[[], object] = lambda: None,
    ) -> None:
        """Take roots, and whom to tell of trouble.

        `on_news` is called after the first look at a root and each that changed something, `on_round` after each round
        of looks.
        """
        self.roots, self._say, self._on_news, self._on_round = roots, say, on_news, on_round

    def run(self, trigger: Trigger, stop: Stop) -> None:
        """Work until `stop` is set; an update that has begun is finished."""
        while not stop.is_set():
            self.look(stop)
            trigger(self.roots, stop)

    def look(self, stop: Stop) -> None:
        """Bring every index up to date that is due."""
        due = [each for each in self.roots if time.monotonic() >= each.due]
        for each in due:
            if not stop.is_set():
                self._update(each)
        if due or not self.roots:
            self._on_round()

    def _update(self, each: WrittenRoot) -> None:
        """Bring one index up to date, and say what is new; what goes wrong is said once."""
        before, is_first = each.trouble, each.last is None or each.failures > 0
        try:
            report = each.look()
        except Exception:  # noqa: BLE001  the next look may find nothing that trips it
            say_trouble(self._say, each.root, each.trouble, before)
            return
        if is_first or report.changed or report.rebuilt_because:
            each.due = min(each.due, time.monotonic() + each.pace.settles_s)
            self._on_news(each.root, report)
