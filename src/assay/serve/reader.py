"""Read the indexes of served roots while any number of threads ask: one root, or all of them.

A reader maps the last version that was written and looks for another one when it is asked. It never writes: that is
done by a writer's thread or by another process, for which it waits a little, in case that is quick, and then no longer.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Lock

from assay.corpus.walked_files import as_utf8
from assay.errors import AssayError, InputError, nearest
from assay.operations.commits import History
from assay.operations.indexes import AnyIndex, index_of
from assay.operations.joint_search import joint_searches
from assay.operations.open_roots import kept_repositories, repository_name
from assay.operations.roots import RootsView, WorkspaceView
from assay.operations.workspace import Workspace, last_workspace, open_workspace
from assay.search.folder_index import IndexReport
from assay.serve.served_roots import RootSource, ServedRoots
from assay.serve.writer import Pace, Upkeep, verify_once
from assay.settings import Settings
from assay.values import Problem

WATCHED_FRESH_S = 0.1
"""So often an index is looked for that another process writes: all that answer are to say the same."""
_POLL_INTERVAL_S = 0.05
"""Between two looks whether an index is there."""
_RETRY_ADVICE = "ask again in a minute"


class StillIndexing(AssayError):
    """There is no clone or index yet, and one is being made."""


@dataclass(frozen=True, slots=True)
class Waits:
    """How long things may take, in seconds."""

    fresh_s: float = 1.0
    """The longest pause between two looks at the files of a root while somebody asks."""
    refresh_s: float = 0.5
    """How long answers wait for changed files to be indexed, from when that began, before they come from before."""
    first_s: float = 45.0
    """How long an answer waits for a clone, and for an index where there is none."""
    clone_s: float = 300.0
    """A clone that was fetched so recently is not fetched again."""
    fraction: float = 0.1
    """Of the time, at most, that goes into looking at the files of a root, but for `fresh_s`, or of all of them."""

    def pace(self, *, kept: bool, most_s: float = 60.0) -> Pace:
        """Return how often files are looked at, or an index that another process writes."""
        least_s = WATCHED_FRESH_S if kept else min(WATCHED_FRESH_S, self.fresh_s)
        return Pace(least_s=least_s, fraction=self.fraction, most_s=most_s)


class RootReader:
    """One root, its index open; any number of threads may ask."""

    def __init__(self, root: Path, settings: Settings, waits: Waits, *, kept: bool = False, called: str = "") -> None:
        """Take a root and its settings; the index of one that is `kept` is written by another process.

        `called` is what the root is called in hits, where they are of several roots.
        """
        self.root, self.settings, self.is_kept = root, settings, kept
        self._reads = replace(settings, index=replace(settings.index, refresh=False)) if kept else settings
        self._waits, self._called = waits, called
        self._lock = Lock()
        self.last_view: WorkspaceView | None = None
        """What was there when the files were last looked at; None where they never were."""
        self.is_new = True
        """Whether it was not tried yet to open the index."""
        self.upkeep = Upkeep(f"index {root.name}", self._update, waits.pace(kept=kept, most_s=waits.fresh_s))
        self._verified = set[str]()
        self._progress = (0, 0)
        self._written_since = math.inf
        """Since when a kept index is seen to be written to."""

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
        return time.monotonic() - self.upkeep.looked_at if self.upkeep.looked_at > 0 else None

    @property
    def index(self) -> AnyIndex:
        """Return the index as it compares with the files, opened or not."""
        held = self.last_view
        return held.workspace.index if held and not self.is_kept else index_of(self.root, self.settings)

    @property
    def making(self) -> tuple[int, int] | None:
        """How many files of how many are in a first index that is being made; None when none is."""
        return self._progress if self.last_view is None and self.upkeep.is_running else None

    @property
    def trouble(self) -> str:
        """Say why it cannot be brought up to date, or nothing; that there is no index yet is no trouble."""
        return "" if isinstance(self.upkeep.error, StillIndexing) else self.upkeep.trouble

    @property
    def workspace(self) -> Workspace | None:
        """What is open, unless it cannot be brought up to date."""
        return self.last_view.workspace if self.last_view and not self.trouble else None

    def view(self) -> WorkspaceView:
        """Return the index, up to date where that is quick; raise `StillIndexing` where there is none yet."""
        held = self.open_last()
        run = self.upkeep.ask(at_once=held is None)
        try:
            if run is None:
                assert held is not None
                view = self.last_view or held
            else:
                view = run.result(self._waits.first_s if held is None else self.upkeep.left_s(self._waits.refresh_s))
            is_behind = time.monotonic() > self._written_since + self._waits.refresh_s
            return replace(view, stale=True) if is_behind else view
        except TimeoutError:
            if held is not None:
                return replace(held, stale=True)
            raise self._still_indexing() from None

    def open_last(self) -> WorkspaceView | None:
        """Return what is open: at first the index as it was last written, so that nobody waits for what changed.

        An index that was written to while it was open is opened again.
        """
        with self._lock:
            if self.is_new or (self.last_view and self.last_view.workspace.index.torn()):
                self.last_view = None
                self._verified.clear()
                try:
                    last = last_workspace(self.root, self._reads)
                finally:
                    self.is_new = False
                self.last_view = self._view_of(last) if last else None
            return self.last_view

    def _update(self) -> WorkspaceView:
        """Bring the index up to date, or look for what another process wrote, and return what is there then.

        While nothing changed it is the same workspace, which knows words and filters by then.
        """
        held = self.open_last()
        made = self._refreshed(held) if held else self._view_of(self._first())
        with self._lock:
            self.last_view = made
        return made

    def _refreshed(self, held: WorkspaceView) -> WorkspaceView:
        if self._reads.index.refresh:
            verify_once(held.workspace.index, self._verified)
        elif not held.workspace.index.is_being_written():
            self._written_since = math.inf
        else:
            self._written_since = min(self._written_since, time.monotonic())
        workspace, report = held.workspace.refresh(self._count)
        report = replace(report, rebuilt_because=report.rebuilt_because or held.report.rebuilt_because)
        return replace(held, report=report) if workspace is held.workspace else self._view_of(workspace, report)

    def _first(self) -> Workspace:
        """Return the root with its first index: made here, or waited for where another process makes it."""
        if not self.is_kept:
            workspace = open_workspace(self.root, self.settings, progress=self._count)
            self._verified.add(workspace.index.location)
            return workspace
        ends = time.monotonic() + self._waits.first_s
        while (last := last_workspace(self.root, self._reads)) is None:
            if time.monotonic() >= ends:
                raise self._still_indexing()
            time.sleep(_POLL_INTERVAL_S)
        return last

    def _view_of(self, workspace: Workspace, report: IndexReport | None = None) -> WorkspaceView:
        """Return the view of a workspace, whose snapshot is fixed now: its index may be refreshed at any time."""
        if workspace.name != self._called:
            workspace = replace(workspace, name=self._called)
        return WorkspaceView(workspace, report or workspace.report, workspace.snapshot.state)

    def _count(self, _stage: str, done: int, total: int) -> None:
        self._progress = (done, total)

    def _still_indexing(self) -> StillIndexing:
        done, total = self._progress
        far = f", {done:,} of {total:,} files" if total else ""
        return StillIndexing(f"the index of '{self.root.name}' is being made{far}; {_RETRY_ADVICE}")


_LATE = f"it is still being indexed; {_RETRY_ADVICE}"
_VIEW_CACHE_SIZE = 8
"""Choices of roots whose joint corpus is kept."""


class RootsReader:
    """The served roots; any number of threads may ask."""

    def __init__(self, source: RootSource, waits: Waits, *, kept: bool = False) -> None:
        """Take what says which roots there are; where another process writes their indexes, they are only read."""
        self._source, self._waits, self._kept = source, waits, kept
        self._lock = Lock()
        self._readers: dict[Path, RootReader] = {}
        self._generations: dict[Path, str] = {}
        """Which is open, of roots that are listed."""
        self._served = ServedRoots({})
        self._looked_at: ServedRoots | None = None
        self._views: dict[tuple[str, ...], tuple[object, RootsView]] = {}
        self._upkeep = Upkeep("all roots", self._look, waits.pace(kept=kept))
        self._progress = (0, 0)

    def view(self, globs: Sequence[str] = ()) -> RootsView:
        """Return the roots that globs keep, or all; raise `StillIndexing` where none of them has an index yet."""
        served = self._source.current()
        chosen = _chosen(served, globs)
        self._wait(served, self._chosen_readers(served, chosen))
        view = self._view(served, tuple(globs), chosen)
        if not view.searches and view.truncated:
            done, total = (0, len(served.coming)) if served.coming else self._progress
            raise StillIndexing(f"the served folders are being indexed, {done} of {total}; {_RETRY_ADVICE}")
        if not view.searches:
            raise InputError(f"no served folder can be searched: {'; '.join(map(str, view.problems[:3]))}")
        return view

    def _chosen_readers(self, served: ServedRoots, chosen: Sequence[Path]) -> list[RootReader]:
        """Return what reads some of the served roots; what was written to while it was open is opened again."""
        with self._lock:
            if served is not self._served:
                self._readers = {root: self._reader(served, root) for root in served.settings}
                self._served = served
            readers = [self._readers[root] for root in chosen if root in self._readers]
        for each in readers:
            if not each.is_new:
                with suppress(AssayError, OSError):  # the next look finds that, too
                    each.open_last()
        return readers

    def _wait(self, served: ServedRoots, readers: Sequence[RootReader]) -> None:
        """Have the files looked at if it is time; wait until what is there is open, and for what changed if quick."""
        is_new, are_listed = served is not self._looked_at, served.settings.keys() == served.generations.keys()
        if not is_new and are_listed and all(each.workspace for each in self._readers.values()):
            return  # who writes them says when there is something new
        if (run := self._upkeep.ask(at_once=is_new)) is None:
            return
        is_quick, ends = self._upkeep.took_s < self._waits.refresh_s, time.monotonic() + self._waits.first_s
        if not any(each.workspace for each in readers):
            while any(each.is_new for each in readers) and not run.done() and time.monotonic() < ends:
                wait([run], _POLL_INTERVAL_S)
        if any(each.workspace for each in readers):
            wait([run], self._upkeep.left_s(self._waits.refresh_s) if is_quick and not are_listed else 0.0)
        else:
            wait([run], max(0.0, ends - time.monotonic()))

    def _view(self, served: ServedRoots, globs: tuple[str, ...], chosen: Sequence[Path]) -> RootsView:
        every = self._readers
        readers = {root: every[root] for root in chosen if root in every}
        there = {root: each.workspace for root, each in readers.items() if each.workspace}
        failed = {root: Problem(each.name, each.trouble) for root, each in readers.items() if each.trouble}
        failed |= served.missing
        late = [root for root in chosen if root not in there and root not in failed]
        problems = [failed[root] for root in chosen if root in failed]
        problems += [served.coming.get(root, Problem(as_utf8(str(root)), _LATE)) for root in late]
        members, key = [*there.values()], (problems, [*map(id, there.values())])
        with self._lock:
            before, known = self._views.get(globs, (None, None))
            if known and before == key:
                return known
        states = repr(sorted((each.name, each.snapshot.state) for each in members))
        view = RootsView(tuple(joint_searches(members)), tuple(problems), bool(late), states)
        with self._lock:
            if len(self._views) >= _VIEW_CACHE_SIZE:
                self._views.clear()
            self._views[globs] = key, view
        return view

    def _look(self) -> None:
        """Open what is there, so that it is searched at once, then bring one root after the other up to date."""
        with self._lock:
            served, readers = self._served, self._readers
        self._looked_at = served
        for each in readers.values():
            with suppress(AssayError, OSError):  # it is looked at below
                each.open_last()
        for number, (root, reader) in enumerate(readers.items()):
            self._progress = (number, len(readers))
            generation = served.generations.get(root)
            if generation is None or self._generations.get(root) != generation or not reader.workspace:
                with suppress(Exception):  # it is named in answers
                    reader.upkeep.look()
                self._generations[root] = generation or ""

    def _reader(self, served: ServedRoots, root: Path) -> RootReader:
        """Return what reads a root: what does already, unless it is served in another way now."""
        before, settings = self._readers.get(root), served.settings[root]
        kept = self._kept or root in served.generations
        if before is not None and (before.settings, before.is_kept) == (settings, kept):
            return before
        waits = replace(self._waits, first_s=0.0)  # for the others that are looked at after it
        return RootReader(root, settings, waits, kept=kept, called=as_utf8(str(root)))


def _chosen(served: ServedRoots, globs: Sequence[str]) -> list[Path]:
    """Return the roots that globs keep, with those that belong here and are not there."""
    every = [*served.settings, *served.missing, *served.coming]
    if every and not globs:
        return every
    if not every:
        raise StillIndexing(f"the list of repositories is being read; {_RETRY_ADVICE}")
    kept = set(kept_repositories(list(map(str, every)), globs))
    chosen = [root for root in every if str(root) in kept]
    if not chosen:
        names = sorted(repository_name(str(root)) for root in every)
        some = f"{len(names)} are served, such as {', '.join(names[:3])}"
        near = nearest(globs[0], names) if len(names) <= 10 else some
        raise InputError(f"no served folder is called '{', '.join(globs)}'; {near}")
    return chosen
