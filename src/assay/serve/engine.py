"""Keep the indexes of served roots open and up to date while any number of threads ask: one root, or all of them.

One thread writes; readers have a snapshot and wait for the writer a little, in case it is quick, and then no longer.
Where several processes answer, one keeper writes. It looks at all files while questions come in, in at most a tenth of
the time, and now and then when none do, so that the first question after a quiet night is not answered from the
evening before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from threading import Event, Lock, Thread

from assay.corpus.walked_files import as_utf8
from assay.errors import AssayError, InputError, StorageError, nearest, printable
from assay.operations.commits import History
from assay.operations.indexes import AnyIndex, index_of
from assay.operations.many_roots import kept_repositories, repository_name
from assay.operations.workspace import JointSearch, Workspace, joint_searches, last_workspace, open_workspace
from assay.protocols import Say
from assay.search.folder_index import IndexReport
from assay.serve.served_roots import RootSource, ServedRoots
from assay.settings import Settings
from assay.store.snapshot import Snapshot
from assay.values import Problem

KEPT_FRESH_S = 0.1
"""So often an index is looked for that another process keeps: all that answer are to say the same."""
LONGEST_PAUSE_S = 60.0
"""Between two looks at all files, however long they take, and though nobody asks."""
_AGAIN_S = 0.05
"""Between two looks whether another process has made an index."""


class StillIndexing(AssayError):
    """There is no clone or index yet, and one is being made."""


@dataclass(frozen=True, slots=True)
class Waits:
    """How long things may take, in seconds."""

    fresh_s: float = 1.0
    """A root whose files were looked at so recently is not looked at again."""
    refresh_s: float = 0.5
    """How long answers wait for changed files to be indexed, from when that began, before they come from before."""
    first_s: float = 45.0
    """How long an answer waits for a clone, and for an index where there is none."""
    clone_s: float = 300.0
    """A clone that was fetched so recently is not fetched again."""
    fraction: float = 0.1
    """Of the time, at most, that goes into looking at the files of all served roots."""

    def pause_s(self, took_s: float) -> float:
        """Return how long to wait between two looks at all files, of which the last one took so long."""
        return max(self.fresh_s, min(took_s / self.fraction, LONGEST_PAUSE_S))


def as_kept(settings: Settings) -> Settings:
    """Return the settings with which an index is read that another process keeps up to date."""
    return replace(settings, index=replace(settings.index, refresh=False))


@dataclass(frozen=True, slots=True)
class WorkspaceView:
    """A workspace as it is right now."""

    workspace: Workspace
    report: IndexReport
    """What the index holds, from when the files were last looked at."""
    version: str
    """Another one whenever something else is searched, and the same in every process that searches the same."""
    stale: bool = False
    """Changed files are still being indexed; the next answer may know more."""


class Engine:
    """One root, its index open; any number of threads may ask."""

    def __init__(self, root: Path, settings: Settings, waits: Waits, *, kept: bool = False) -> None:
        """Take a root and its settings; one that is `kept` is indexed by another process, and only read here."""
        self.root, self.settings = root, settings
        self._reads = as_kept(settings) if kept else settings
        self._kept = kept
        self._waits = replace(waits, fresh_s=KEPT_FRESH_S) if kept else waits
        self._lock = Lock()
        self._view: WorkspaceView | None = None
        self._writing: Future[WorkspaceView] | None = None
        self._checked = -float("inf")
        self._verified = kept  # by who writes it
        self._began = 0.0
        self._progress = (0, 0)

    @cached_property
    def history(self) -> History:
        """The commits of the root's repository, not indexed before somebody asks."""
        return History(self.root, self.settings)

    @property
    def name(self) -> str:
        """The root as text, whatever bytes its name is made of."""
        return as_utf8(str(self.root))

    @property
    def checked_s(self) -> float | None:
        """How long ago the files were looked at; None where they never were."""
        return time.monotonic() - self._checked if self._checked > 0 else None

    @property
    def index(self) -> AnyIndex:
        """Return the index as it compares with the files, opened or not."""
        held = self._view
        return held.workspace.index if held and not self._kept else index_of(self.root, self.settings)

    @property
    def last_view(self) -> WorkspaceView | None:
        """What was there when the files were last looked at, without looking; None where they never were."""
        return self._view

    @property
    def making(self) -> tuple[int, int] | None:
        """How many files of how many are in a first index that is being made; None when none is."""
        return self._progress if self._view is None and self._writing is not None else None

    def view(self) -> WorkspaceView:
        """Return the index, up to date where that is quick; raise `StillIndexing` where there is none yet."""
        with self._lock:
            if self._view is not None and self._view.workspace.index.torn():
                self._view = None
            if self._view is None and self._writing is None and (last := last_workspace(self.root, self._reads)):
                self._view = _view_of(last, last.report)  # as it is, so that nobody waits for what changed
            held, writing = self._view, self._writing
            if writing is None and (held is None or time.monotonic() - self._checked >= self._waits.fresh_s):
                writing = self._begin(held)
        if writing is None:
            assert held is not None
            return held
        left_s = max(0.0, self._began + self._waits.refresh_s - time.monotonic())  # in all, not each one anew
        try:
            return writing.result(self._waits.first_s if held is None else left_s)
        except TimeoutError:
            if held is not None:
                return replace(held, stale=True)
            done, total = self._progress
            far = f", {done:,} of {total:,} files" if total else ""
            raise StillIndexing(f"the index of '{self.root.name}' is being made{far}; ask again in a minute") from None

    def _begin(self, held: WorkspaceView | None) -> Future[WorkspaceView]:
        writing: Future[WorkspaceView] = Future()
        self._writing, self._began = writing, time.monotonic()
        Thread(target=self._write, args=(held, writing), name=f"index {self.root.name}", daemon=True).start()
        return writing

    def _write(self, held: WorkspaceView | None, writing: Future[WorkspaceView]) -> None:
        started = time.monotonic()
        try:
            made = self._refreshed(held)
        except BaseException as error:  # noqa: BLE001  it is raised where it was asked
            with self._lock:
                self._writing = None
            writing.set_exception(error)
            return
        with self._lock:
            self._view, self._checked, self._writing = made, started, None
        writing.set_result(made)
        with suppress(StorageError):  # out of reach just now: the next one verifies
            if not self._verified and made.workspace.index.check():  # after the answer, for it reads every byte
                self._checked = -float("inf")  # the next question has the index rebuilt
            self._verified = True

    def _refreshed(self, held: WorkspaceView | None) -> WorkspaceView:
        """Return what is there now; while nothing changed the same workspace, which knows words and filters by then."""
        if held is None:
            workspace = self._first()
            return _view_of(workspace, workspace.report)
        workspace, report = held.workspace.refresh(self._count)
        report = replace(report, rebuilt_because=report.rebuilt_because or held.report.rebuilt_because)
        return replace(held, report=report) if workspace is held.workspace else _view_of(workspace, report)

    def _first(self) -> Workspace:
        """Return the root with its first index: made here, or waited for where another process makes it."""
        if not self._kept:
            return open_workspace(self.root, self.settings, progress=self._count)
        ends = time.monotonic() + self._waits.first_s
        while (workspace := last_workspace(self.root, self._reads)) is None:
            if time.monotonic() >= ends:
                raise StillIndexing(f"the index of '{self.root.name}' is being made; ask again in a minute")
            time.sleep(_AGAIN_S)
        return workspace

    def _count(self, _stage: str, done: int, total: int) -> None:
        self._progress = (done, total)


def _view_of(workspace: Workspace, report: IndexReport) -> WorkspaceView:
    """Return the view of a workspace, whose snapshot is fixed now: its index may be refreshed at any time."""
    return WorkspaceView(workspace, report, workspace.snapshot.state)


_LATE = "it is still being indexed; ask again in a minute"
_MOST_KNOWN = 8
"""Choices of roots whose joint corpus is kept."""


@dataclass(frozen=True, slots=True)
class _Sweep:
    """One look at all roots."""

    opened: Event = field(default_factory=Event)
    """All that was there is open, as it was last indexed."""
    done: Event = field(default_factory=Event)
    """All is up to date."""


@dataclass(frozen=True, slots=True)
class RootsView:
    """Some served roots as they are right now."""

    searches: tuple[JointSearch, ...]
    problems: tuple[Problem, ...]
    truncated: bool
    """Whether roots are still being indexed for the first time."""
    version: str
    """Another one whenever something else is searched, and the same in every process that searches the same."""

    def snapshots(self) -> dict[str, Snapshot]:
        """Return what each root holds, by the name that its hits have."""
        return {member.name: member.snapshot for each in self.searches for member in each.members}


class AllRoots:
    """The served roots; any number of threads may ask."""

    def __init__(self, source: RootSource, waits: Waits, *, kept: bool = False) -> None:
        """Take what says which roots there are; where another process keeps their indexes, they are only read here."""
        self._source, self._kept = source, kept
        self._waits = replace(waits, fresh_s=KEPT_FRESH_S) if kept else waits
        self._lock = Lock()
        self._open: dict[Path, Workspace] = {}
        self._failed: dict[Path, str] = {}
        self._seen: dict[Path, str] = {}
        """Which generation is open, of roots that another process keeps up to date."""
        self._looked_at: ServedRoots | None = None
        self._views: dict[tuple[str, ...], RootsView] = {}
        self._sweep: _Sweep | None = None
        self._swept, self._took = -float("inf"), 0.0
        self._progress = (0, 0)

    def view(self, globs: Sequence[str] = ()) -> RootsView:
        """Return the roots that globs keep, or all; raise `StillIndexing` where none of them has an index yet."""
        served = self._source.current()
        chosen = self._chosen(served, globs)
        sweep = self._begin_sweep(served)
        if sweep:
            with self._lock:
                known = any(root in self._open for root in chosen)
                quick = self._took < self._waits.refresh_s and served.settings.keys() != served.generations.keys()
            if not known:
                sweep.opened.wait(self._waits.first_s)
                known = any(root in self._open for root in chosen)
            sweep.done.wait(self._waits.first_s if not known else self._waits.refresh_s if quick else 0.0)
        view = self._view(served, tuple(globs), chosen)
        if not view.searches and view.truncated:
            done, total = (0, len(served.coming)) if served.coming else self._progress
            raise StillIndexing(f"the served folders are being indexed, {done} of {total}; ask again in a minute")
        if not view.searches:
            raise InputError(f"no served folder can be searched: {'; '.join(map(str, view.problems[:3]))}")
        return view

    def _chosen(self, served: ServedRoots, globs: Sequence[str]) -> list[Path]:
        """Return the roots that globs keep, with those that belong here and are not there."""
        every = [*served.settings, *served.missing, *served.coming]
        if every and not globs:
            return every
        if not every:
            raise StillIndexing("the list of repositories is being read; ask again in a minute")
        kept = set(kept_repositories(list(map(str, every)), globs))
        chosen = [root for root in every if str(root) in kept]
        if not chosen:
            names = sorted(repository_name(str(root)) for root in every)
            some = f"{len(names)} are served, such as {', '.join(names[:3])}"
            near = nearest(globs[0], names) if len(names) <= 10 else some
            raise InputError(f"no served folder is called '{', '.join(globs)}'; {near}")
        return chosen

    def _view(self, served: ServedRoots, globs: tuple[str, ...], chosen: Sequence[Path]) -> RootsView:
        with self._lock:
            torn = [root for root, each in self._open.items() if each.index.torn()]
            for root in torn:
                del self._open[root]
                self._looked_at, self._swept = None, -float("inf")
            members = [self._open[root] for root in chosen if root in self._open]
            failed = {root: Problem(_name(root), why) for root, why in self._failed.items()} | {**served.missing}
            problems = tuple(failed[root] for root in chosen if root in failed)
            late = [root for root in chosen if root not in self._open and root not in failed]
            problems += tuple(served.coming.get(root, Problem(_name(root), _LATE)) for root in late)
            known = self._views.get(globs)
            held = {id(member) for each in known.searches for member in each.members} if known else set()
            if known and known.problems == problems and held == set(map(id, members)):
                return known
        states = repr(sorted((each.name, each.snapshot.state) for each in members))
        view = RootsView(tuple(joint_searches(members)), problems, bool(late), states)
        with self._lock:
            if len(self._views) >= _MOST_KNOWN:
                self._views.clear()
            self._views[globs] = view
        return view

    def _begin_sweep(self, served: ServedRoots) -> _Sweep | None:
        """Have the files looked at, unless that was done lately; return what says that it is done."""
        with self._lock:
            pause = self._waits.pause_s(self._took)
            others = served.settings.keys() == served.generations.keys()  # who keeps these says when they are new
            lacking = not others or len(self._open) < len(served.settings)
            due = served is not self._looked_at or (lacking and time.monotonic() - self._swept >= pause)
            if self._sweep is None and due:
                self._sweep = _Sweep()
                self._looked_at = served
                Thread(target=self._look, args=(self._sweep, served), name="all roots", daemon=True).start()
            return self._sweep

    def _look(self, sweep: _Sweep, served: ServedRoots) -> None:
        """Open what is there, so that it is searched at once, then bring one root after the other up to date."""
        started = time.monotonic()
        try:
            self._forget(served)
            for root in served.settings:
                if root not in self._open:
                    self._keep(root, partial(last_workspace, root, self._settings(served, root)))
            sweep.opened.set()
            for number, root in enumerate(served.settings):
                self._progress = (number, len(served.settings))
                generation = served.generations.get(root)
                if generation is None or self._seen.get(root) != generation or root not in self._open:
                    self._keep(root, partial(self._fresh, served, root))
                    self._seen[root] = generation or ""
        finally:
            with self._lock:
                self._sweep, self._swept, self._took = None, time.monotonic(), time.monotonic() - started
            sweep.opened.set()
            sweep.done.set()

    def _forget(self, served: ServedRoots) -> None:
        """Close what is served no longer, and what is served with other settings."""
        with self._lock:
            for root in [*self._open]:
                if root not in served.settings or self._open[root].settings != self._settings(served, root):
                    del self._open[root]
            self._failed = {root: why for root, why in self._failed.items() if root in served.settings}

    def _settings(self, served: ServedRoots, root: Path) -> Settings:
        """Return the settings of a root; an index that another process keeps is read as it is."""
        settings = served.settings[root]
        return as_kept(settings) if self._kept or root in served.generations else settings

    def _fresh(self, served: ServedRoots, root: Path) -> Workspace | None:
        """Return a root with its index up to date; None where another process makes it."""
        held, settings = self._open.get(root), self._settings(served, root)
        if held is None and (self._kept or root in served.generations):
            return last_workspace(root, settings)
        return held.refresh()[0] if held else open_workspace(root, settings)

    def _keep(self, root: Path, opened: Callable[[], Workspace | None]) -> None:
        """Keep a root that was opened, if there is something to open, or why it cannot be."""
        try:
            workspace = opened()
        except (AssayError, OSError) as error:
            with self._lock:
                self._open.pop(root, None)
                self._failed[root] = str(error)
            return
        with self._lock:
            self._failed.pop(root, None)
            if workspace is not None:
                self._open[root] = workspace if workspace.name else replace(workspace, name=_name(root))


def _name(root: Path) -> str:
    return as_utf8(str(root))


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
            self._rest(before, self._waits.pause_s(time.monotonic() - started))

    def sweep(self) -> None:
        """Look at the files of every folder once, and bring its index up to date."""
        for root, settings in self._roots().items():
            if not settings.index.refresh:
                continue  # it is read as it is
            try:
                self._open[root] = self._fresh(root, settings)
                self._trouble.pop(root, None)
            except (AssayError, OSError) as error:
                self._open.pop(root, None)
                if self._trouble.get(root) != str(error):
                    self._say(f"{root}: {printable(str(error))}; trying again")
                self._trouble[root] = str(error)

    def _fresh(self, root: Path, settings: Settings) -> Workspace:
        """Return a folder with its index up to date; every byte of one that was there before is verified first."""
        held = self._open.get(root)
        if held is not None and not held.index.torn():
            return held.refresh()[0]
        if (last := last_workspace(root, settings)) is not None:
            last.index.check()  # a version that is damaged is not built upon
            return last.refresh()[0]
        return open_workspace(root, settings)

    def _rest(self, before: float, pause_s: float) -> None:
        """Wait for so long, and then until somebody asks, or for a minute."""
        started = time.monotonic()
        while (passed := time.monotonic() - started) < pause_s or (
            self._questions() == before and passed < LONGEST_PAUSE_S
        ):
            time.sleep(_TICK_S)
