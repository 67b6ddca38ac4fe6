"""Bring indexes up to date, each when it is due: the only writer behind `assay watch`, servers and mirrors.

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
"""Seconds that a look waits for another process that writes the same index."""
_STUCK_S = 15.0
"""Seconds to wait for another process until it ends, or, if it keeps the index, until it is taken to hang."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How long to wait between looks at a root, in seconds."""

    least_s: float = 1.0
    """From the beginning of one look to the next, however often clients ask."""
    idle_s: float = 60.0
    """From one look to the next if no client asks."""
    fraction: float = 0.1
    """The largest fraction of the time for looking at one root."""
    most_s: float = 60.0
    """The longest pause after long looks."""
    again_s: float = 5.0
    """The pause after a failure; it doubles with each further one."""
    longest_s: float = 5.0
    """The longest pause between two tries, however often they failed."""
    settles_s: float = math.inf
    """The pause after a look that found changes, if that is shorter."""

    def pause_s(self, took_s: float) -> float:
        """Return how long to wait if clients ask again, after looks that took so long."""
        return max(self.least_s - took_s, min(took_s / self.fraction, self.most_s))

    def idle_pause_s(self, took_s: float) -> float:
        """Return how long to wait if no client asks."""
        return max(self.idle_s, self.pause_s(took_s))

    def retry_s(self, failures: int) -> float:
        """Return how long to wait after a number of failures in a row."""
        return min(self.again_s * 2.0 ** min(failures - 1, 20), self.longest_s)


def trouble_of(error: BaseException) -> str:
    """Return one line on what went wrong."""
    return printable(str(error) if isinstance(error, AssayError | OSError) else f"{type(error).__name__}: {error}")


def say_trouble(say: Say, name: object, trouble: str, before: str, what_next: str = "trying again") -> None:
    """Report what goes wrong with a root, unless that was reported before."""
    if trouble != before:
        say(f"{name}: {trouble}; {what_next}")


def verify_once(index: AnyIndex, verified: set[str]) -> None:
    """Read every byte of an index that was not verified yet: the next refresh must not build on damage."""
    if index.location not in verified:
        with suppress(StorageError):  # out of reach just now: the next look verifies it
            index.check()
            verified.add(index.location)


class Upkeep(Generic[T]):
    """Work that is repeated: by a writer in its turn, or in a thread when a client asks."""

    def __init__(self, name: object, update: Callable[[], T], pace: Pace = Pace()) -> None:
        """Keep a name, the work of one look, and the pace of its repetition."""
        self.name, self.pace, self._update = name, pace, update
        self.last: T | None = None
        """The result of the last successful look."""
        self.looked_at = -math.inf
        """When that look began."""
        self.took_s = 0.0
        self.error: BaseException | None = None
        """The error of the last look."""
        self.failures = 0
        """How many looks failed in a row."""
        self.due = self.soonest = 0.0
        """When the next look is due in any case, and when if clients ask."""
        self._lock = Lock()
        self._run: Future[T] | None = None
        self._began = 0.0

    @property
    def trouble(self) -> str:
        """Return one line on what went wrong with the last look, or an empty text."""
        return trouble_of(self.error) if self.error else ""

    @property
    def is_running(self) -> bool:
        """Return whether a look is running in a thread."""
        return self._run is not None and not self._run.done()

    @property
    def is_due(self) -> bool:
        """Return whether a look would begin if a client asked; after a failed one it always would."""
        return not self.is_running and (self.failures > 0 or time.monotonic() >= self.soonest)

    def look_now(self) -> None:
        """Make a look due as soon as possible: something changed."""
        self.due = self.soonest = 0.0

    def look_soon(self) -> None:
        """Make a look due after the usual pause: a client asks."""
        self.due = min(self.due, self.soonest)

    def look(self) -> T:
        """Run the look, and plan the next one."""
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
        """Start a look in a thread if it is due, or `at_once`; return the running look, or None.

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
    """The index of one root, updated by a writer."""

    def __init__(self, root: Path, open_index: Callable[[], AnyIndex], pace: Pace, *, replaces: bool = True) -> None:
        """Keep a root, and a function that opens its index, which is not called before the first look.

        Unless a look `replaces`, it refuses to rebuild an index that other machines read, too.
        """
        super().__init__(root, self._refresh, pace)
        self.root, self._open, self._replaces = root, open_index, replaces
        self._index: AnyIndex | None = None
        self._verified = set[str]()
        self._busy_since = math.inf

    def look(self) -> IndexReport:
        """Update the index; if another process writes it for longer than a moment, try again soon."""
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
"""Waits for a moment, and requests looks at roots if there is a reason."""


def on_questions(asked_at: Callable[[], float]) -> Trigger:
    """Return a trigger that requests looks at all roots while clients ask, by the time of the last question.

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
    """Keeps the indexes of some roots up to date, one after the other, until it is stopped."""

    def __init__(
        self,
        roots: Sequence[WrittenRoot],
        say: Say,
        *,
        on_news: Callable[[Path, IndexReport], object] = lambda _root, _report: None,
        on_round: Callable[[], object] = lambda: None,
    ) -> None:
        """Keep roots, and a function that reports problems.

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
        """Update every index that is due."""
        due = [each for each in self.roots if time.monotonic() >= each.due]
        for each in due:
            if not stop.is_set():
                self._update(each)
        if due or not self.roots:
            self._on_round()

    def _update(self, each: WrittenRoot) -> None:
        """Update one index, and report what is new; an error is reported once."""
        before, is_first = each.trouble, each.last is None or each.failures > 0
        try:
            report = each.look()
        except Exception:  # noqa: BLE001  the next look may find nothing that trips it
            say_trouble(self._say, each.root, each.trouble, before)
            return
        if is_first or report.changed or report.rebuilt_because:
            each.due = min(each.due, time.monotonic() + each.pace.settles_s)
            self._on_news(each.root, report)
