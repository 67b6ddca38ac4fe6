"""What is served right now: folders that somebody named, and those of a list that another process keeps up to date."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Protocol

from assay.corpus.addresses import is_url
from assay.errors import AssayError
from assay.serve.mirror_state import ListState, MirrorState, StateFile
from assay.settings import Settings
from assay.types import Problem

_LOOK_S = 0.25
"""Between two looks whether the state of a list was written again."""
_COMING = "not fetched and indexed yet"


@dataclass(frozen=True, slots=True)
class ServedRoots:
    """The folders that are served, at one moment."""

    settings: Mapping[Path, Settings]
    generations: Mapping[Path, str] = field(default_factory=dict)
    """Of those that another process keeps up to date, what names the version of the index that it wrote last."""
    missing: Mapping[Path, Problem] = field(default_factory=dict)
    """Folders that belong here and cannot be searched, each with what the list calls it, and the reason."""
    coming: Mapping[Path, Problem] = field(default_factory=dict)
    """The same of those that are being fetched for the first time."""
    mirrors: frozenset[Path] = frozenset()
    """Those whose files are fetched from elsewhere, and replaced at any time."""
    is_list: bool = False
    """Whether there is a list, so that several are meant however many there are."""


class RootSource(Protocol):
    """What says which folders are served."""

    def current(self) -> ServedRoots:
        """Return them; the same value while nothing changed."""


class FixedRoots:
    """Folders that stay the same."""

    def __init__(self, roots: Mapping[Path, Settings]) -> None:
        self._roots = ServedRoots({root.resolve(): settings for root, settings in roots.items()})

    def current(self) -> ServedRoots:
        """Return them."""
        return self._roots


class ListedRoots:
    """Folders that stay the same, and what a list holds; any number of threads may ask."""

    def __init__(
        self, fixed: Mapping[Path, Settings], store: StateFile, settings_of: Callable[[MirrorState], Settings]
    ) -> None:
        """Take folders, where the state of the list is written, and what gives settings to a line of it."""
        self._fixed = FixedRoots(fixed).current().settings
        self.store, self._settings_of = store, settings_of
        self._lock = Lock()
        self._looked, self._stamp = -float("inf"), object()
        self._state = ListState()
        self._known: dict[tuple[str, tuple[str, ...]], Settings] = {}
        self._current = ServedRoots(self._fixed, is_list=True)

    def current(self) -> ServedRoots:
        """Return what is served, by a look at one file now and then."""
        with self._lock:
            if time.monotonic() - self._looked >= _LOOK_S:
                self._looked = time.monotonic()
                stamp: object = self.store.stamp()
                if stamp != self._stamp:
                    self._state = self.store.read()
                    self._take(self._state)
                    self._stamp = stamp
            return self._current

    @property
    def state(self) -> ListState:
        """What is known of each line of the list."""
        self.current()
        return self._state

    def _take(self, state: ListState) -> None:
        there = {Path(each.root): each for each in state.mirrors if each.generation}
        settings, unread = self._read(there)
        there = {root: each for root, each in there.items() if root in settings}
        lacking = {Path(each.root): each for each in state.mirrors if not each.generation}
        made = ServedRoots(
            {**self._fixed, **settings},
            {root: each.generation for root, each in there.items() if root not in self._fixed},
            unread | {root: _problem(each) for root, each in lacking.items() if each.problem},
            {root: Problem(each.place, _COMING) for root, each in lacking.items() if not each.problem},
            frozenset(root for root, each in there.items() if is_url(each.place)),
            is_list=True,
        )
        if made != self._current:
            self._current = made

    def _read(self, there: Mapping[Path, MirrorState]) -> tuple[dict[Path, Settings], dict[Path, Problem]]:
        """Return the settings of each root, and why those of some cannot be read."""
        settings, unread = dict[Path, Settings](), dict[Path, Problem]()
        for root, each in there.items():
            try:
                settings[root] = self._settings(each)
            except AssayError as error:
                unread[root] = Problem(each.place, str(error))
        return settings, unread

    def _settings(self, state: MirrorState) -> Settings:
        """Return the settings of a root once for each line of the list."""
        key = state.root, state.changes
        if key not in self._known:
            self._known[key] = self._settings_of(state)
        return self._known[key]


def _problem(state: MirrorState) -> Problem:
    """Return why a line of a list cannot be searched; what git says names the place once more."""
    return Problem(state.place, state.problem.removeprefix(f"cannot get {state.place}: ").removeprefix("fatal: "))
