"""Read the indexes of served roots while any number of threads search: one root, or all of them.

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
"""How often to look for a new version that another process wrote, so that all processes answer alike."""
_POLL_INTERVAL_S = 0.05
"""Seconds between two checks whether an index exists."""
_RETRY_ADVICE = "ask again in a minute"


class StillIndexing(AssayError):
    """There is no clone or index yet, but one is being built."""


@dataclass(frozen=True, slots=True)
class Waits:
    """How long things may take, in seconds."""

    fresh_s: float = 1.0
    """The longest pause between two checks of the files of a root while clients search."""
    refresh_s: float = 0.5
    """How long answers wait for changed files to be indexed, from the start of that, until they use the old index."""
    first_s: float = 45.0
    """How long an answer waits for a clone, and for a first index."""
    clone_s: float = 300.0
    """A clone that was fetched so recently is not fetched again."""
    fraction: float = 0.1
    """The largest fraction of the time for checking the files of a root (unless `fresh_s` allows more), or of all."""

    def pace(self, *, is_kept: bool, most_s: float = 60.0) -> Pace:
        """Return how often files are checked, or an index that another process writes."""
        least_s = WATCHED_FRESH_S if is_kept else min(WATCHED_FRESH_S, self.fresh_s)
        return Pace(least_s=least_s, fraction=self.fraction, most_s=most_s)


class RootReader:
    """One root with its index open; any number of threads may search it."""

    def __init__(self, root: Path, settings: Settings, waits: Waits, *, is_kept: bool = False, name: str = "") -> None:
        """Take a root and its settings; with `is_kept`, another process writes the index.

        `name` is what the root is called in hits, where they are of several roots.
        """
        self.root, self.settings, self.is_kept = root, settings, is_kept
        self._reads = replace(settings, index=replace(settings.index, refresh=False)) if is_kept else settings
        self._waits, self._hit_name = waits, name
        self._lock = Lock()
        self.last_view: WorkspaceView | None = None
        """The view at the last check of the files; None before the first."""
        self.is_new = True
        """Whether opening the index was not tried yet."""
        self.upkeep = Upkeep(f"index {root.name}", self._update, waits.pace(is_kept=is_kept, most_s=waits.fresh_s))
        self._verified = set[str]()
        self._progress = (0, 0)
        self._written_since = math.inf
        """Since when another process was seen to write the index."""

    @cached_property
    def history(self) -> History:
        """The commits of the root's repository, indexed at the first question."""
        return History(self.root, self.settings)

    @property
    def name(self) -> str:
        """The root as text, whatever bytes its name is made of."""
        return as_utf8(str(self.root))

    @property
    def checked_s(self) -> float | None:
        """Seconds since the files were last checked; None if they never were."""
        return time.monotonic() - self.upkeep.looked_at if self.upkeep.looked_at > 0 else None

    @property
    def index(self) -> AnyIndex:
        """Return the index, opened or not, to compare it with the files."""
        held = self.last_view
        return held.workspace.index if held and not self.is_kept else index_of(self.root, self.settings)

    @property
    def making(self) -> tuple[int, int] | None:
        """Files that are done, and all files, of a first index that is being built; None if none is."""
        return self._progress if self.last_view is None and self.upkeep.is_running else None

    @property
    def trouble(self) -> str:
        """Return why it cannot be updated, or an empty text; a missing index is not a problem."""
        return "" if isinstance(self.upkeep.error, StillIndexing) else self.upkeep.trouble

    @property
    def workspace(self) -> Workspace | None:
        """The open workspace, unless it cannot be updated."""
        return self.last_view.workspace if self.last_view and not self.trouble else None

    def view(self) -> WorkspaceView:
        """Return the index, up to date if that is quick; raise `StillIndexing` if there is none yet."""
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
        """Return the open view: at first the index as it was last written, so that clients do not wait for changes.

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
        """Update the index, or look for what another process wrote, and return the view then.

        While nothing changed it is the same workspace, which knows words and filters by then.
        """
        held = self.open_last()
        made = self._refreshed(held) if held else self._view_of(self._first())
        with self._lock:
            self.last_view = made
        return made

    def _refreshed(self, view: WorkspaceView) -> WorkspaceView:
        if self._reads.index.refresh:
            verify_once(view.workspace.index, self._verified)
        elif not view.workspace.index.is_being_written():
            self._written_since = math.inf
        else:
            self._written_since = min(self._written_since, time.monotonic())
        workspace, report = view.workspace.refresh(self._count)
        report = replace(report, rebuilt_because=report.rebuilt_because or view.report.rebuilt_because)
        return replace(view, report=report) if workspace is view.workspace else self._view_of(workspace, report)

    def _first(self) -> Workspace:
        """Return the root with its first index: built here, or by another process."""
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
        """Return the view of a workspace, with its snapshot fixed now: its index may be refreshed at any time."""
        if workspace.name != self._hit_name:
            workspace = replace(workspace, name=self._hit_name)
        return WorkspaceView(workspace, report or workspace.report, workspace.snapshot.state)

    def _count(self, _stage: str, done: int, total: int) -> None:
        self._progress = (done, total)

    def _still_indexing(self) -> StillIndexing:
        done, total = self._progress
        far = f", {done:,} of {total:,} files" if total else ""
        return StillIndexing(f"the index of '{self.root.name}' is being made{far}; {_RETRY_ADVICE}")


_LATE = f"it is still being indexed; {_RETRY_ADVICE}"
_VIEW_CACHE_SIZE = 8
"""Selections of roots whose joint corpus is cached."""


class RootsReader:
    """The served roots; any number of threads may search them."""

    def __init__(self, source: RootSource, waits: Waits, *, is_kept: bool = False) -> None:
        """Keep the source of the roots; if another process writes their indexes, they are only read."""
        self._source, self._waits, self._is_kept = source, waits, is_kept
        self._lock = Lock()
        self._readers: dict[Path, RootReader] = {}
        self._generations: dict[Path, str] = {}
        """The versions that are open, of roots that are listed."""
        self._served = ServedRoots({})
        self._looked_at: ServedRoots | None = None
        self._views: dict[tuple[str, ...], tuple[object, RootsView]] = {}
        self._upkeep = Upkeep("all roots", self._look, waits.pace(is_kept=is_kept))
        self._progress = (0, 0)

    def view(self, globs: Sequence[str] = ()) -> RootsView:
        """Return the roots that globs allow, or all; raise `StillIndexing` if none of them has an index yet."""
        served = self._source.current()
        chosen = _selected_roots(served, globs)
        self._wait(served, self._open_readers(served, chosen))
        view = self._view(served, tuple(globs), chosen)
        if not view.searches and view.truncated:
            done, total = (0, len(served.coming)) if served.coming else self._progress
            raise StillIndexing(f"the served folders are being indexed, {done} of {total}; {_RETRY_ADVICE}")
        if not view.searches:
            raise InputError(f"no served folder can be searched: {'; '.join(map(str, view.problems[:3]))}")
        return view

    def _open_readers(self, served: ServedRoots, roots: Sequence[Path]) -> list[RootReader]:
        """Return the readers of some served roots; those whose index was written to while open are reopened."""
        with self._lock:
            if served is not self._served:
                self._readers = {root: self._reader(served, root) for root in served.settings}
                self._served = served
            readers = [self._readers[root] for root in roots if root in self._readers]
        for each in readers:
            if not each.is_new:
                with suppress(AssayError, OSError):  # the next look finds that, too
                    each.open_last()
        return readers

    def _wait(self, served: ServedRoots, readers: Sequence[RootReader]) -> None:
        """Check the files if it is time; wait until existing indexes are open, and for changes if that is quick."""
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

    def _view(self, served: ServedRoots, globs: tuple[str, ...], roots: Sequence[Path]) -> RootsView:
        every = self._readers
        readers = {root: every[root] for root in roots if root in every}
        there = {root: each.workspace for root, each in readers.items() if each.workspace}
        failed = {root: Problem(each.name, each.trouble) for root, each in readers.items() if each.trouble}
        failed |= served.missing
        late = [root for root in roots if root not in there and root not in failed]
        problems = [failed[root] for root in roots if root in failed]
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
        """Open existing indexes, to be searched at once, then update one root after the other."""
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
        """Return the reader of a root: the present one, unless its settings changed."""
        before, settings = self._readers.get(root), served.settings[root]
        kept = self._is_kept or root in served.generations
        if before is not None and (before.settings, before.is_kept) == (settings, kept):
            return before
        waits = replace(self._waits, first_s=0.0)  # for the others that are looked at after it
        return RootReader(root, settings, waits, is_kept=kept, name=as_utf8(str(root)))


def _selected_roots(served: ServedRoots, globs: Sequence[str]) -> list[Path]:
    """Return the roots that globs allow, including listed ones that are missing."""
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
