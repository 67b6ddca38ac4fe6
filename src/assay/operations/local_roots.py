"""Keep the roots of one command or program: each is opened at the first search, and stays as it is until a refresh."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING

from assay.corpus.worktrees import is_checkout
from assay.errors import AssayError, InputError, some_of
from assay.operations.indexes import AnyIndex, index_of
from assay.operations.joint_search import joint_searches
from assay.operations.open_roots import NamedRoot, OpenedRoots, RootOpening, named_roots, open_many, open_root
from assay.operations.roots import NotServed, Place, RootsView, WorkspaceView
from assay.operations.workspace import Workspace, notes_of, summary
from assay.protocols import Progress, Say
from assay.search.named_places import places_of
from assay.settings import Settings
from assay.store.index_location import default_location, holds_many, is_bucket

if TYPE_CHECKING:
    from assay.operations.commits import History


class LocalReader:
    """One root, whose index is opened at the first search."""

    def __init__(
        self, named: NamedRoot, open_it: Callable[[], Workspace], index: AnyIndex | None, progress: Progress | None
    ) -> None:
        """Keep a root and the function that opens it; with an index if that lies in a bucket."""
        self.root, self.name, self.settings = named
        self._open, self._index, self._progress = open_it, index, progress
        self.is_here = index is None
        """Whether its files are on this machine."""
        self.last_view: WorkspaceView | None = None
        """The open root; None before the first search."""

    @cached_property
    def history(self) -> History:
        """The commits of the root's repository, indexed at the first question."""
        from assay.operations.commits import History  # and git: not for a search

        return History(self.root, self.settings, self._progress)

    @property
    def index(self) -> AnyIndex:
        """Return the index, opened or not, to compare it with the files."""
        if self.last_view:
            return self.last_view.workspace.index
        return self._index or index_of(self.root, self.settings)

    @property
    def checked_s(self) -> float | None:
        """Seconds since the files were last checked; None if they never were."""
        return 0.0 if self.last_view else None

    def view(self) -> WorkspaceView:
        """Return the index as it was when it was opened."""
        return self.last_view or self.show(self._open())

    def show(self, workspace: Workspace) -> WorkspaceView:
        """Answer from another workspace from now on."""
        report = workspace.report
        self.last_view = WorkspaceView(workspace, report, workspace.snapshot.state, report.stale)
        return self.last_view


class LocalRoots:
    """The folders, git URLs and places in buckets that one command or program names, as operations see them."""

    def __init__(
        self, paths: Sequence[str], how: RootOpening, say: Say = lambda _: None, *, is_full: bool = False
    ) -> None:
        """Keep what was named and how to open it; `say` is called with notes on an index, with `is_full` a summary."""
        self._paths, self._how, self._say, self._is_full = paths, how, say, is_full
        self._views: dict[tuple[str, ...], RootsView] = {}

    @cached_property
    def readers(self) -> Sequence[LocalReader]:
        """Every root, once; raises the first error if there is none."""
        errors: dict[str, AssayError] = {}
        folders = [path for path in self._paths if not is_bucket(path)]
        readers = [self._reader(each) for each in named_roots(folders, self._how, errors)]
        for place in filter(is_bucket, self._paths):
            from assay.operations.published import published  # not for a folder

            settings = self._how.settings_of(Path(place))
            every = published(place, settings)
            readers += [self._reader(NamedRoot(index.root, name, settings), index) for name, index in every]
        if errors and not readers:
            raise next(iter(errors.values()))
        return readers

    def _report_notes(self, workspace: Workspace) -> Workspace:
        for note in (*notes_of(workspace), *([summary(workspace.report)] if self._is_full else [])):
            self._say(note)
        return workspace

    def _reader(self, named: NamedRoot, index: AnyIndex | None = None) -> LocalReader:
        def open_it() -> Workspace:
            return self._report_notes(open_root(named, self._how, index))

        return LocalReader(named, open_it, index, self._how.progress)

    @property
    def roots(self) -> Mapping[Path, Settings]:
        """The folders, each with its settings."""
        return {each.root: each.settings for each in self.readers}

    @property
    def are_several(self) -> bool:
        """Whether several were named, or a place that holds several."""
        return len(self._paths) != 1 or holds_many(self._paths[0])

    @property
    def everything(self) -> LocalRoots:
        """All of them, to be searched as one."""
        return self

    def settings(self, repositories: Sequence[str] = ()) -> Settings:
        """Return the settings of the first root of those that globs keep."""
        if self.are_several or repositories:
            return self.view(repositories).searches[0].members[0].settings
        return self.readers[0].settings

    def opened(self, globs: tuple[str, ...] = ()) -> OpenedRoots:
        """Open the roots that globs allow, and report the notes on each."""
        found = open_many(self._paths, replace(self._how, repositories=globs))
        return found._replace(workspaces=tuple(map(self._report_notes, found.workspaces)))

    def view(self, globs: Sequence[str] = ()) -> RootsView:
        """Return the roots that globs allow and that can be opened, with the errors of the others."""
        key = tuple(globs)
        if key not in self._views:
            workspaces, problems = self.opened(key)
            state = repr(sorted((each.name, each.snapshot.state) for each in workspaces))
            searches = tuple(joint_searches(workspaces))
            self._views[key] = RootsView(searches, problems, truncated=False, version=state)
        return self._views[key]

    def place(self, target: str = "") -> Place:
        """Return the place of a path, seen from the current folder or from a root."""
        if not target and self.are_several:
            raise InputError("several folders are searched; say which one")
        if not target or target in {each.name for each in self.readers}:
            return Place(next(each for each in self.readers if target in {"", each.name}))
        if len(self.readers) == 1 and not self.readers[0].is_here:
            return Place(self.readers[0], target)
        paths = [(each, path.resolve()) for each in self.readers for path in (Path(target), each.root / target)]
        inside = [(each, path) for each, path in paths if path.is_relative_to(each.root)]
        there = [(each, path) for each, path in inside if path.exists()]
        if not there:
            name = self.readers[0].name
            outside = f"'{target}' is not below '{name}': name its folder as PATH"
            raise NotServed(outside if Path(target).exists() else f"no such file or folder: '{target}'")
        reader, path = max(there, key=lambda pair: len(pair[0].root.parts))
        below = path.relative_to(reader.root).as_posix()
        return Place(reader, "" if below == "." else below)


def parsed_place(place: str) -> tuple[str, int]:
    """Parse `FILE:LINE`, or a line of a trace or of a tool's output; a column or a range is ignored."""
    found = re.fullmatch(r"(.+?):(\d+)(?:[:-]\d+)*:?", place)
    if found and int(found[2]) and Path(found[1]).exists():
        return found[1], int(found[2])
    named = next((each for each in places_of(place) if each.line), None)
    if named:
        return named.path, named.line
    if not found or not int(found[2]):
        raise InputError(
            f"'{place}' is neither a place nor a name: give FILE:LINE or NAME, as in src/main.py:12, Task.retry"
        )
    return found[1], int(found[2])


def root_and_file(typed: str) -> tuple[str, str]:
    """Return the root of a PATH, and the path of a file below its root.

    The root of a file is the nearest folder above it that has an index or is a repository, else its own folder.
    """
    if not Path(typed).is_file():
        return typed, ""
    file = Path(typed).resolve()
    above = (folder for folder in file.parents if is_checkout(folder) or default_location(folder).exists())
    root = next(above, file.parent)
    return str(root) if Path(typed).is_absolute() else os.path.relpath(root), file.relative_to(root).as_posix()


def roots_and_globs(paths: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Return the roots of PATHs, and the globs of those that are files, of one root."""
    places = list(map(root_and_file, paths))
    roots, files = list(dict.fromkeys(root for root, _ in places)), [file for _, file in places if file]
    if files and (len(roots) > 1 or len(files) < len(places)):
        named = some_of([path for path, (_, file) in zip(paths, places, strict=True) if file])
        raise InputError(
            f"files and folders cannot be searched together: {named}; name folders, or files of one folder"
        )
    return roots, tuple(f"./{escape(file)}" for file in files)
