"""Keep mirrors and indexes of a list of repositories up to date, in a loop or in a process beside a server.

One process does this for a list: it fetches a few at once, indexes one at a time, and writes down what there is to
search. A repository that cannot be had costs its own turn, and is tried again after a pause that doubles; the rest go
on, in the order in which they are due. A list that changed is read again; one that cannot be used leaves the list
before in force, after a new start, too: then those of its repositories are kept up to date whose lines can be used.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event, Lock, Thread

from assay.corpus.git import FetchLimits
from assay.corpus.remotes import FETCH
from assay.errors import AssayError, InputError
from assay.io import leash
from assay.io.files import alone
from assay.io.processes import end_patiently
from assay.operations.indexes import index_of
from assay.operations.repository_list import ListedRepository, read_repositories, usable_lines
from assay.protocols import Say, Stop
from assay.serve.served_roots import ListState, MirrorState, StateFile, stamp_of
from assay.serve.writer import Pace, say_trouble, trouble_of, verify_once
from assay.settings import Settings

EVERY_S = 600.0
"""How often a repository is checked if its line does not say."""
LIST_PACE = Pace(least_s=10.0, idle_s=10.0, most_s=math.inf, again_s=30.0, longest_s=3600.0)
"""How often a folder is checked, which costs no request; requests and retries are at most as frequent with a URL."""
_AT_ONCE = 4
"""Repositories that are fetched at a time."""
_TICK_S = 0.5
_COMMIT_DIGITS = 10

SettingsOf = Callable[[ListedRepository], Settings]


class MirrorLoop:
    """Keeps the repositories of one list up to date until it is stopped."""

    def __init__(  # noqa: PLR0913  what is kept, and how often
        self,
        file: Path,
        mirrors: Path,
        settings_of: SettingsOf,
        say: Say,
        *,
        every_s: float = EVERY_S,
        pace: Pace = LIST_PACE,
    ) -> None:
        """Keep a list, the folder of its mirrors, a function that returns settings of a line, and one that reports."""
        self.file, self.mirrors = file, mirrors
        self.store = StateFile(mirrors, file)
        self._settings_of, self._say, self._every_s, self._pace = settings_of, say, every_s, pace
        self._listed: Mapping[str, ListedRepository] = {}
        self._states: dict[str, MirrorState] = {}
        self._busy: dict[str, tuple[MirrorState, Future[MirrorState]]] = {}
        """What is being updated, with its state when that began: if its state is another now, it is due again."""
        self._read_stamp: object = None
        self._problem = ""
        self._verified: set[str] = set()
        self._indexing = Lock()

    def run(self, stop: Stop) -> None:
        """Work until `stop` is set; an update that has begun is finished, a fetch is abandoned."""
        self.store.make_folder()
        while not stop.is_set():
            with suppress(BlockingIOError), alone(self.store.lock, patience_s=_TICK_S):
                self._keep(stop)  # where another process does that, this one goes on should it end

    def _keep(self, stop: Stop) -> None:
        with ThreadPoolExecutor(_AT_ONCE, "mirror") as pool:
            while not stop.is_set():
                changed = self._read_list()
                for root in self.store.take_wanted(self._listed):
                    self._hurry(root)
                self._begin(pool, stop)
                if self._collect() or changed:
                    self.store.write(ListState(tuple(self._states.values()), self._problem, time.time()))
            pool.shutdown(wait=True, cancel_futures=True)

    def _read_list(self) -> bool:
        """Read the list if it changed, and return whether it did; an unusable list changes nothing."""
        if (stamp := stamp_of(self.file)) == self._read_stamp:
            return False
        self._read_stamp, self._problem = stamp, ""
        before = self._states or {state.root: state for state in self.store.read().mirrors}
        try:
            self._take(read_repositories(self.file, self.mirrors), before)
        except AssayError as error:
            self._problem = str(error)
            self._say(f"the list of repositories stays as it was: {error}")
            if not self._states:  # at a new start: what was served stays, and what still has a line is fetched
                with suppress(AssayError):
                    usable = usable_lines(self.file, self.mirrors)[0]
                    self._take([each for each in usable if str(each.root(self.mirrors)) in before], before)
                self._states = before | self._states
        return True

    def _take(self, lines: Sequence[ListedRepository], before: Mapping[str, MirrorState]) -> None:
        """Switch to another list: new lines are due at once, unchanged ones keep their state."""
        listed = {str(each.root(self.mirrors)): each for each in lines}
        for root in sorted(self._listed.keys() - listed.keys()):
            self._say(f"{self._listed[root].place}: no longer in the list")
        self._states = {root: self._state_of(root, each, before.get(root)) for root, each in listed.items()}
        self._listed = listed

    def _state_of(self, root: str, listed: ListedRepository, before: MirrorState | None) -> MirrorState:
        """Return the state of a line: the former one if the line is unchanged; due at once if anything is new."""
        every_s = listed.every_s or (self._every_s if listed.url else 0.0)
        new = MirrorState(root, listed.place, listed.branch, listed.changes, every_s=every_s)
        if before is None or _line(before) != _line(new):
            return new
        was = self._listed.get(root)
        is_same = replace(was, line=listed.line) == listed if was else not before.failures
        if is_same and before.every_s == every_s:
            return before
        return replace(before, every_s=every_s, failures=0, due=0.0)

    def _hurry(self, root: str) -> None:
        """Make a repository due now, or as soon as it may be."""
        state = self._states[root]
        soonest = state.checked + self._pace.least_s
        self._states[root] = replace(state, due=min(state.due, max(time.time(), soonest)))

    def _begin(self, pool: ThreadPoolExecutor, stop: Stop) -> None:
        """Start what is due, as far as there is room; repositories without an index first."""
        idle = [self._states[root] for root in self._listed if root not in self._busy]
        due = [state for state in idle if state.due <= time.time()]
        due.sort(key=lambda state: (bool(state.generation), state.failures, state.due))
        for state in due[: _AT_ONCE - len(self._busy)]:
            self._busy[state.root] = state, pool.submit(self._update, self._listed[state.root], state, stop)

    def _collect(self) -> bool:
        """Wait a moment for running updates, and collect those that are done."""
        if not self._busy:
            time.sleep(_TICK_S)
            return False
        done, _ = wait([future for _, future in self._busy.values()], _TICK_S, FIRST_COMPLETED)
        for root in [root for root, (_, future) in self._busy.items() if future in done]:
            begun, future = self._busy.pop(root)
            state, before = future.result(), self._states.get(root)
            if before is None or _line(state) != _line(before):  # the list says otherwise by now
                continue
            self._tell(before, state)
            self._states[root] = replace(state, every_s=before.every_s)
            if before is not begun:
                self._hurry(root)
        return bool(done)

    def _update(self, listed: ListedRepository, state: MirrorState, stop: Stop) -> MirrorState:
        """Update one repository; its errors do not affect the others."""
        try:
            mirror = listed.mirror(self.mirrors)
            commit = mirror.update(FetchLimits(FETCH.seconds, partial(_check_stop, stop))) if mirror else ""
            started = time.monotonic()
            generation = self._index_mirror(listed, state, commit)
        except Exception as error:  # noqa: BLE001  the loop goes on whatever one repository does
            failures = state.failures + 1
            due = time.time() + self._pace.retry_s(failures)
            return replace(state, problem=trouble_of(error), failures=failures, due=due)
        pause_s = state.every_s or self._pace.idle_pause_s(time.monotonic() - started)
        state = replace(state, generation=generation, commit=commit, checked=time.time(), due=time.time() + pause_s)
        return replace(state, problem="", failures=0)

    def _index_mirror(self, listed: ListedRepository, state: MirrorState, commit: str) -> str:
        """Update the index of a repository, and return the name of its version."""
        root = Path(state.root)
        if not root.is_dir():
            raise InputError(f"no such folder: '{root}'")
        with self._indexing:
            index = index_of(root, self._settings_of(listed))
            is_verified = index.location in self._verified
            verify_once(index, self._verified)
            is_same = commit and commit == state.commit and index.generation() == state.generation
            if not (is_verified and is_same):
                index.refresh()
            return index.generation()

    def _tell(self, before: MirrorState, after: MirrorState) -> None:
        """Report what is new: another version, or another problem than before."""
        if after.problem:
            next_try = f"next try in {after.due - time.time():.0f} s"
            say_trouble(self._say, after.place, after.problem, before.problem, next_try)
        elif before.problem or after.generation != before.generation:
            commit = f" at {after.commit[:_COMMIT_DIGITS]}" if after.commit else ""
            self._say(f"{after.place}: indexed{commit}")


def _check_stop(stop: Stop) -> None:
    if stop.is_set():
        raise InputError("stopped")


def _line(state: MirrorState) -> tuple[str, str, tuple[str, ...]]:
    return state.place, state.branch, state.changes


_RESTARTS = Pace(again_s=1.0, longest_s=60.0)
_LASTS_S = 300.0
"""After running so long, a process that ends does not count as another failure in a row."""
_ENDING_S = 2.0


@contextmanager
def process_beside(command: Sequence[str], say: Say) -> Iterator[None]:
    """Run a command in a process, restarting it when it ends; what it writes is complete at any moment."""
    stop = Event()
    thread = Thread(target=_run, args=(command, say, stop), name="mirrors", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _run(command: Sequence[str], say: Say, stop: Event) -> None:
    command, failures = [sys.executable, "-I", "-S", leash.__file__, *command], 0
    while not stop.is_set():
        started = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, process_group=0)
        try:
            while process.poll() is None and not stop.wait(_TICK_S):
                pass
        finally:
            end_patiently(process, _ENDING_S, waits=False)
            process.wait()
        if not stop.is_set():
            failures = 1 if time.monotonic() - started >= _LASTS_S else failures + 1
            pause_s = _RESTARTS.retry_s(failures)
            ended = f"the process that fetches repositories ended with status {process.returncode}"
            say(f"{ended}; it restarts in {pause_s:g} s")
            stop.wait(pause_s)
