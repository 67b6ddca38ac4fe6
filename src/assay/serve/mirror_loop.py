"""Keep mirrors and indexes of a list of repositories up to date, in a loop or in a process beside a server.

One process does this for a list: it fetches a few at once, indexes one at a time, and writes down what there is to
search. A repository that cannot be had costs its own turn, and is tried again after a pause that doubles; the rest go
on, in the order in which they are due. A list that changed is read again; one that cannot be used leaves the list
before in force, after a new start, too: then those of its repositories are kept up to date whose lines can be used.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Lock, Thread

from assay.corpus.git import FetchLimits
from assay.corpus.remotes import FETCH
from assay.errors import AssayError, InputError, counted, printable
from assay.io import leash
from assay.io.files import alone
from assay.io.processes import end_patiently
from assay.operations.indexes import index_of
from assay.operations.repository_list import ListedRepository, by_root, read_repositories, usable_lines
from assay.protocols import Say, Stop
from assay.serve.served_roots import ListState, MirrorState, StateFile, stamp_of
from assay.settings import Settings

EVERY_S = 600.0
"""How often a repository is looked at whose line does not say."""
_TICK_S = 0.5
_SHOWN_COMMIT = 10


@dataclass(frozen=True, slots=True)
class MirrorPace:
    """How often things are done, in seconds."""

    every_s: float = EVERY_S
    folder_s: float = 10.0
    """The same for a folder, which costs no request; longer where listing its files takes long."""
    again_s: float = 30.0
    """After what went wrong; twice as long after each further time."""
    longest_s: float = 3600.0
    """Between two tries, however often it went wrong."""
    least_s: float = 10.0
    """Between two fetches of one repository, whoever wants them."""
    fetch_s: float = FETCH.seconds
    at_once: int = 4
    """Repositories that are fetched at once."""


SettingsOf = Callable[[ListedRepository], Settings]


class MirrorLoop:
    """Keeps the repositories of one list up to date until it is told to stop."""

    def __init__(
        self, file: Path, mirrors: Path, settings_of: SettingsOf, say: Say, pace: MirrorPace = MirrorPace()
    ) -> None:
        """Take a list, the folder of its mirrors, what gives settings to a line, and whom to tell of what happens."""
        self.file, self.mirrors, self.pace = file, mirrors, pace
        self.store = StateFile(mirrors, file)
        self._settings_of, self._say = settings_of, say
        self._listed: Mapping[str, ListedRepository] = {}
        self._states: dict[str, MirrorState] = {}
        self._busy: dict[str, Future[MirrorState]] = {}
        self._again: set[str] = set()
        self._read_stamp: object = None
        self._problem = ""
        self._verified: set[str] = set()
        self._indexing = Lock()
        self._stop: Stop | None = None

    def run(self, stop: Stop) -> None:
        """Work until `stop` is set; an update that has begun is finished, a fetch is not waited for."""
        self.store.make_folder()
        self._stop = stop
        while not stop.is_set():
            try:
                with alone(self.store.lock, patience_s=_TICK_S):
                    self._keep(stop)
            except BlockingIOError:  # another process does; should it end, this one goes on
                continue

    def _keep(self, stop: Stop) -> None:
        with ThreadPoolExecutor(self.pace.at_once, "mirror") as pool:
            while not stop.is_set():
                changed = self._read_list()
                for root in self.store.take_wanted(self._listed):
                    self._hurry(root)
                self._begin(pool)
                if self._collect() or changed:
                    self._write()
            pool.shutdown(wait=True, cancel_futures=True)

    def _check_stop(self) -> None:
        if self._stop is not None and self._stop.is_set():
            raise InputError("stopped")

    def once(self) -> ListState:
        """Bring every repository up to date once, and return what came of it."""
        self.store.make_folder()
        with alone(self.store.lock), ThreadPoolExecutor(self.pace.at_once, "mirror") as pool:
            self._read_list()
            if self._problem:
                raise InputError(self._problem)
            self._states = {root: replace(state, due=0.0) for root, state in self._states.items()}
            begun = time.time()  # what fails is due again later, and tried no second time
            self._begin(pool, begun)
            while self._busy:
                self._collect()
                self._begin(pool, begun)
            return self._write()

    def _read_list(self) -> bool:
        """Read the list where it changed; return whether anything did."""
        stamp = stamp_of(self.file)
        if stamp == self._read_stamp:
            return False
        self._read_stamp = stamp
        try:
            listed = by_root(read_repositories(self.file, self.mirrors), self.mirrors)
        except AssayError as error:
            self._problem = str(error)
            self._say(f"the list of repositories stays as it was: {error}")
            if not self._states:
                self._go_on()
            return True
        self._problem = ""
        self._take({str(root): each for root, each in listed.items()})
        return True

    def _go_on(self) -> None:
        """Begin with the last list that could be used: all that it held is served, what still has a line is fetched."""
        before = {state.root: state for state in self.store.read().mirrors}
        with suppress(AssayError):
            usable, _ = usable_lines(self.file, self.mirrors)
            listed = {str(root): each for root, each in by_root(usable, self.mirrors).items()}
            self._take({root: each for root, each in listed.items() if root in before})
        self._states = {root: self._states.get(root, state) for root, state in before.items()}

    def _take(self, listed: Mapping[str, ListedRepository]) -> None:
        """Go on with another list: what is new in it is due at once, what is the same stays as it is."""
        before = self._states or {state.root: state for state in self.store.read().mirrors}
        gone = sorted(self._listed.keys() - listed.keys())
        for root in gone:
            self._say(f"{self._listed[root].place}: no longer in the list")
        self._states = {root: self._state_of(root, each, before.get(root)) for root, each in listed.items()}
        self._listed = listed

    def _state_of(self, root: str, listed: ListedRepository, before: MirrorState | None) -> MirrorState:
        """Return what is known of a line, from before where it says the same; at once due where anything is new."""
        every_s = listed.every_s or (self.pace.every_s if listed.url else 0.0)
        new = MirrorState(root, listed.place, listed.branch, listed.changes, every_s=every_s)
        if before is None or _line(before) != _line(new):
            return new
        was = self._listed.get(root)
        is_same = replace(was, line=listed.line) == listed if was else not before.failures
        if is_same and before.every_s == every_s:
            return before
        if root in self._busy:  # as its line was before
            self._again.add(root)
        return replace(before, every_s=every_s, failures=0, due=0.0)

    def _hurry(self, root: str) -> None:
        """Have a repository looked at now, or as soon as it may be."""
        if root in self._busy:  # what it fetches may be from before
            self._again.add(root)
        state = self._states[root]
        soonest = state.checked + self.pace.least_s
        self._states[root] = replace(state, due=min(state.due, max(time.time(), soonest)))

    def _begin(self, pool: ThreadPoolExecutor, now: float | None = None) -> None:
        """Begin with what is due, as far as there is room; those that have no index yet first."""
        now = time.time() if now is None else now
        idle = [self._states[root] for root in self._listed if root not in self._busy]
        due = [state for state in idle if state.due <= now]
        due.sort(key=lambda state: (bool(state.generation), state.failures, state.due))
        for state in due[: self.pace.at_once - len(self._busy)]:
            self._busy[state.root] = pool.submit(self._update, self._listed[state.root], state)

    def _collect(self) -> bool:
        """Wait a moment for what was begun, and take what is done."""
        if not self._busy:
            time.sleep(_TICK_S)
            return False
        done, _ = wait(self._busy.values(), _TICK_S, FIRST_COMPLETED)
        for root in [root for root, future in self._busy.items() if future in done]:
            state = self._busy.pop(root).result()
            before = self._states.get(root)
            if before is None or _line(state) != _line(before):  # the list says otherwise by now
                continue
            self._tell(before, state)
            self._states[root] = replace(state, every_s=before.every_s)
            if root in self._again:
                self._hurry(root)
        self._again &= self._busy.keys()
        return bool(done)

    def _update(self, listed: ListedRepository, state: MirrorState) -> MirrorState:
        """Bring one repository up to date; what goes wrong with it is a problem of it alone."""
        started = time.monotonic()
        try:
            mirror = listed.mirror(self.mirrors)
            commit = mirror.update(FetchLimits(self.pace.fetch_s, self._check_stop)) if mirror else ""
            fetched_s = time.monotonic() - started
            generation = self._index_mirror(listed, state, commit)
        except Exception as error:  # noqa: BLE001  the loop goes on whatever one repository does
            problem = str(error) if isinstance(error, AssayError | OSError) else f"{type(error).__name__}: {error}"
            failures = state.failures + 1
            pause_s = min(self.pace.again_s * 2 ** min(failures - 1, 20), self.pace.longest_s)
            return replace(state, problem=printable(problem), failures=failures, due=time.time() + pause_s)
        usual_s = max(self.pace.folder_s, 10 * (time.monotonic() - started - fetched_s))
        due = time.time() + (listed.every_s or (self.pace.every_s if listed.url else usual_s))
        state = replace(state, generation=generation, commit=commit, checked=time.time(), due=due)
        return replace(state, problem="", failures=0)

    def _index_mirror(self, listed: ListedRepository, state: MirrorState, commit: str) -> str:
        """Bring the index of a repository up to date, and return what names its version."""
        root = Path(state.root)
        if not root.is_dir():
            raise InputError(f"no such folder: '{root}'")
        with self._indexing:
            index = index_of(root, self._settings_of(listed))
            if state.root not in self._verified:
                index.check()
                self._verified.add(state.root)
            elif commit and commit == state.commit and index.generation() == state.generation:
                return state.generation
            index.refresh()
            return index.generation()

    def _tell(self, before: MirrorState, after: MirrorState) -> None:
        """Say what is news: another version, or another trouble than before."""
        if after.problem and after.problem != before.problem:
            self._say(f"{after.place}: {after.problem}; next try in {after.due - time.time():.0f} s")
        elif not after.problem and (before.problem or after.generation != before.generation):
            commit = f" at {after.commit[:_SHOWN_COMMIT]}" if after.commit else ""
            self._say(f"{after.place}: indexed{commit}")

    def _write(self) -> ListState:
        state = ListState(tuple(self._states.values()), self._problem, time.time())
        self.store.write(state)
        return state


def summary_of(state: ListState) -> str:
    """Return how many repositories are there and how many are not, in words."""
    bad = sum(bool(each.problem) for each in state.mirrors)
    return counted(len(state.mirrors), "repository") + (f", {bad} with problems" if bad else "")


def _line(state: MirrorState) -> tuple[str, str, tuple[str, ...]]:
    return state.place, state.branch, state.changes


_AGAIN_S = (1.0, 5.0, 30.0, 60.0)
"""Pauses before it is started again, so many times in a row."""
_LASTS_S = 300.0
"""After so long its end is not in a row with the one before."""
_ENDING_S = 2.0


class MirrorProcess:
    """The process, from `start` to `stop`."""

    def __init__(self, command: Sequence[str], say: Say) -> None:
        self._command = [sys.executable, "-I", "-S", leash.__file__, *command]
        self._say = say
        self._stop = Event()
        self._thread = Thread(target=self._run, name="mirrors", daemon=True)

    def start(self) -> None:
        """Start the process, and see to it from now on."""
        self._thread.start()

    def stop(self) -> None:
        """End it; what it writes is whole at any moment."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        failures = 0
        while not self._stop.is_set():
            process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=sys.stderr, process_group=0)
            lasted = self._watch(process)
            if self._stop.is_set():
                return
            failures = 0 if lasted else failures + 1
            pause_s = _AGAIN_S[min(failures, len(_AGAIN_S) - 1)]
            self._say(f"what fetches repositories ended with {process.returncode}; it starts again in {pause_s:g} s")
            self._stop.wait(pause_s)

    def _watch(self, process: subprocess.Popen[bytes]) -> bool:
        """Wait for its end, or for that of the server; return whether it had lasted for a while."""
        seconds = 0.0
        try:
            while process.poll() is None and not self._stop.wait(0.5):
                seconds += 0.5
        finally:
            end_patiently(process, _ENDING_S, waits=False)
            process.wait()
        return seconds >= _LASTS_S
