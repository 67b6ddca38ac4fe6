"""Every served root in one question: light readers of all indexes, which one thread keeps up to date.

A reader is a few memory maps, so that hundreds may be open. Looking at the files of hundreds of roots takes a second
and more, so that no question waits for it longer than for one root: it is done beside the questions, while there are
any, in at most a tenth of the time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Event, Lock, Thread

from assay.assemble.many_roots import kept_repositories, repository_name
from assay.assemble.workspace import JointSearch, Workspace, joint_searches, last_workspace, open_workspace
from assay.corpus.walked_files import as_utf8
from assay.errors import AssayError, InputError, nearest
from assay.serve.engine import KEPT_FRESH_S, StillIndexing, Waits, as_kept
from assay.serve.served_roots import RootSource, ServedRoots
from assay.settings import Settings
from assay.store.snapshot import Snapshot
from assay.types import Problem

_LONGEST_PAUSE_S = 60.0
"""Between two looks at all files, however long they take."""
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
            raise InputError(f"no served folder is called '{', '.join(globs)}'; {_some(globs, names)}")
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
            if known and known.problems == problems and _members(known) == set(map(id, members)):
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
            pause = max(self._waits.fresh_s, min(self._took / self._waits.fraction, _LONGEST_PAUSE_S))
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


def _members(view: RootsView) -> set[int]:
    return {id(member) for each in view.searches for member in each.members}


def _name(root: Path) -> str:
    return as_utf8(str(root))


def _some(globs: Sequence[str], names: Sequence[str]) -> str:
    """Return the end of a message about globs that match no name: the nearest, or some of them."""
    return nearest(globs[0], names) if len(names) <= 10 else f"{len(names)} are served, such as {', '.join(names[:3])}"
