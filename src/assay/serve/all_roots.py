"""Every served root in one question: light readers of all indexes, which one thread keeps up to date.

A reader is a few memory maps, so that hundreds may be open. Looking at the files of hundreds of roots takes a second
and more, so that no question waits for it longer than for one root: it is done beside the questions, while there are
any, in at most a tenth of the time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Event, Lock, Thread

from assay.assemble.joint_search import JointSearch, joint_searches
from assay.assemble.many_roots import kept_repositories, repository_name
from assay.assemble.workspace import Workspace, last_workspace, open_workspace
from assay.corpus.walked_files import as_utf8
from assay.errors import AssayError, InputError, nearest
from assay.serve.engine import KEPT_FRESH_S, StillIndexing, Waits, as_kept
from assay.settings import Settings
from assay.store.snapshot import Snapshot
from assay.types import Problem

_LONGEST_PAUSE_S = 60.0
"""Between two looks at all files, however long they take."""
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

    def __init__(self, roots: Mapping[Path, Settings], waits: Waits, *, kept: bool = False) -> None:
        """Take the roots; where another process keeps their indexes, they are only read here."""
        self._roots = {root: as_kept(each) if kept else each for root, each in roots.items()}
        self._waits, self._kept = replace(waits, fresh_s=KEPT_FRESH_S) if kept else waits, kept
        self._lock = Lock()
        self._open: dict[Path, Workspace] = {}
        self._failed: dict[Path, str] = {}
        self._views: dict[tuple[str, ...], RootsView] = {}
        self._sweep: _Sweep | None = None
        self._swept, self._took = -float("inf"), 0.0
        self._progress = (0, 0)

    def view(self, globs: Sequence[str] = ()) -> RootsView:
        """Return the roots that globs keep, or all; raise `StillIndexing` where none of them has an index yet."""
        chosen = self._chosen(globs)
        sweep = self._begin_sweep()
        if sweep:
            with self._lock:
                known = any(root in self._open for root in chosen)
                quick = self._took < self._waits.refresh_s
            if not known:
                sweep.opened.wait(self._waits.first_s)
                known = any(root in self._open for root in chosen)
            sweep.done.wait(self._waits.first_s if not known else self._waits.refresh_s if quick else 0.0)
        view = self._view(tuple(globs), chosen)
        if not view.searches and view.truncated:
            done, total = self._progress
            raise StillIndexing(f"the served folders are being indexed, {done} of {total}; ask again in a minute")
        if not view.searches:
            raise InputError(f"no served folder can be searched: {'; '.join(map(str, view.problems[:3]))}")
        return view

    def _chosen(self, globs: Sequence[str]) -> list[Path]:
        kept = set(kept_repositories(list(map(str, self._roots)), globs))
        chosen = [root for root in self._roots if str(root) in kept]
        if not chosen:
            names = sorted(repository_name(str(root)) for root in self._roots)
            raise InputError(f"no served folder is called '{', '.join(globs)}'; {_some(globs, names)}")
        return chosen

    def _view(self, globs: tuple[str, ...], chosen: Sequence[Path]) -> RootsView:
        with self._lock:
            torn = [root for root, each in self._open.items() if each.index.torn()]
            for root in torn:
                del self._open[root]
                self._swept = -float("inf")
            members = [self._open[root] for root in chosen if root in self._open]
            problems = tuple(Problem(_name(root), self._failed[root]) for root in chosen if root in self._failed)
            late = [root for root in chosen if root not in self._open and root not in self._failed]
            problems += tuple(Problem(_name(root), "it is still being indexed; ask again in a minute") for root in late)
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

    def _begin_sweep(self) -> _Sweep | None:
        """Have the files looked at, unless that was done lately; return what says that it is done."""
        with self._lock:
            pause = max(self._waits.fresh_s, min(self._took / self._waits.fraction, _LONGEST_PAUSE_S))
            if self._sweep is None and time.monotonic() - self._swept >= pause:
                self._sweep = _Sweep()
                Thread(target=self._look, args=(self._sweep,), name="all roots", daemon=True).start()
            return self._sweep

    def _look(self, sweep: _Sweep) -> None:
        """Open what is there, so that it is searched at once, then bring one root after the other up to date."""
        started = time.monotonic()
        try:
            for root in self._roots:
                if root not in self._open:
                    self._keep(root, partial(last_workspace, root, self._roots[root]))
            sweep.opened.set()
            for number, root in enumerate(self._roots):
                self._progress = (number, len(self._roots))
                self._keep(root, partial(self._fresh, root))
        finally:
            with self._lock:
                self._sweep, self._swept, self._took = None, time.monotonic(), time.monotonic() - started
            sweep.opened.set()
            sweep.done.set()

    def _fresh(self, root: Path) -> Workspace | None:
        """Return a root with its index up to date; None where another process makes it."""
        held = self._open.get(root)
        if held is None and self._kept:
            return last_workspace(root, self._roots[root])
        return held.refresh()[0] if held else open_workspace(root, self._roots[root])

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
