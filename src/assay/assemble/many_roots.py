"""Names of many roots in, those that can be searched out, with what is wrong with the others beside them.

One root that is missing, damaged or unreadable costs its own answers and not those of the rest. With a deadline, what
cannot be brought up to date by then is searched as it was last indexed, and what has no index yet is left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from glob import glob
from pathlib import Path

from assay.assemble.indexes import AnyIndex, root_of
from assay.assemble.workspace import Workspace, check, last_workspace, open_workspace, refuse_one_place_for_many
from assay.corpus.addresses import is_url
from assay.errors import AssayError, DamagedIndex, InputError
from assay.protocols import Progress
from assay.search.combine import rebuild_command
from assay.settings import Settings
from assay.store.place import is_bucket
from assay.values import Problem

_NAMED = 3
"""Roots that are named in an error as examples."""


class DeadlinePassed(AssayError):
    """The time to open roots is over."""


@dataclass(frozen=True, slots=True)
class OpenedRoots:
    """The roots that can be searched, and why others cannot."""

    workspaces: tuple[Workspace, ...]
    problems: tuple[Problem, ...] = ()
    truncated: bool = False
    """Whether the deadline left out roots, or what changed in them."""


@dataclass(frozen=True, slots=True)
class RootOpening:
    """How roots are opened."""

    settings_of: Callable[[Path], Settings]
    refresh: bool = True
    progress: Progress | None = None
    patience_s: float | None = None
    hint: bool = False
    """Whether paths stood after a question, so that a missing one may be a word of it."""
    deadline_s: float = 0.0
    """Seconds to open all of them; 0 is no limit."""
    repositories: tuple[str, ...] = ()
    """Globs of the names or paths of those to open, as `kept_repositories` takes them."""


def roots_in(places: Iterable[str]) -> list[str]:
    """Return the roots that places name, each a file with one root a line or a glob of folders."""
    return [root for place in places for root in _roots_at(place)]


def _roots_at(place: str) -> list[str]:
    path = Path(place).expanduser()
    if path.is_file():
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot read the roots in '{place}': {error}") from error
        roots = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
        found = "no root in it: write one folder or URL a line"
    elif path.is_dir():
        raise InputError(f"--roots '{place}' is one folder: give '{place}/*' for those in it, or the folder as PATH")
    else:
        found_by_glob = glob(str(path), recursive=True)  # noqa: PTH207  of any folder, as it was typed
        roots = sorted(folder for folder in found_by_glob if Path(folder).is_dir())
        found = "no folder matches, and there is no such file"
    if not roots:
        raise InputError(f"--roots '{place}': {found}")
    return roots


def kept_repositories(roots: Sequence[str], globs: Sequence[str]) -> list[str]:
    """Return the roots whose name or whole path matches a glob, or all; one that starts with `!` leaves out."""
    wanted = [one for one in globs if not one.startswith("!")]
    unwanted = [one[1:] for one in globs if one.startswith("!")]
    return [
        root
        for root in roots
        if (not wanted or any(is_called(root, one) for one in wanted))
        and not any(is_called(root, one) for one in unwanted)
    ]


def is_called(root: str, pattern: str) -> bool:
    """Say whether a glob matches the name of a root, or all of its path or URL."""
    return fnmatchcase(repository_name(root), pattern) or fnmatchcase(root, pattern)


def repository_name(root: str) -> str:
    """Return what people call a root: the last part of its path or URL."""
    if is_url(root):
        return root.rstrip("/").replace(":", "/").rpartition("/")[2].removesuffix(".git")
    return Path(root).name or Path(root).resolve().name or root


def open_many(paths: Sequence[str], how: RootOpening) -> OpenedRoots:
    """Open every root that can be opened, each once; raise what is wrong with the first where none can.

    Each path is a folder, the URL of a git repository, or a place in a bucket, whose repositories are read as they are.
    """
    opening = _Opening(how, time.monotonic() + how.deadline_s if how.deadline_s else float("inf"))
    folders = [path for path in paths if not is_bucket(path)]
    opening.open_folders(kept_repositories(folders, how.repositories))
    for place in (path for path in paths if is_bucket(path)):
        opening.open_bucket(place)
    if not opening.opened:
        raise next(iter(opening.errors.values()), None) or _none_kept(folders, how.repositories)
    return opening.result()


def _none_kept(folders: Sequence[str], globs: Sequence[str]) -> InputError:
    names = ", ".join(map(repository_name, folders[:_NAMED]))
    more = f" and {len(folders) - _NAMED:,} more" if len(folders) > _NAMED else ""
    there = f": there are {names}{more}" if names else ""
    return InputError(f"no repository is left by --repo {' '.join(globs)}{there}")


@dataclass(slots=True)
class _Opening:
    """What was opened so far."""

    how: RootOpening
    ends: float
    """When the time is over, by the monotonic clock."""
    opened: list[Workspace] = field(default_factory=list)
    errors: dict[str, AssayError] = field(default_factory=dict)
    late: int = 0
    """Roots that were not looked at for changes, though they should have been."""

    def open_folders(self, paths: Sequence[str]) -> None:
        """Open folders and clones."""
        roots: dict[Path, str] = {}
        for path in paths:
            try:
                roots.setdefault(_root(path, self.how, refresh=self.how.refresh and time.monotonic() < self.ends), path)
            except AssayError as error:
                self.errors[path] = error
        for root, settings in _settings(roots, self.how, self.errors).items():
            name = str(root) if is_url(roots[root]) else roots[root]
            try:
                workspace, fresh = _opened(root, settings, self.how, self.ends)
            except AssayError as error:
                self.errors[name] = error
            else:
                self.opened.append(replace(workspace, name=name))
                self.late += not fresh

    def open_bucket(self, place: str) -> None:
        """Open the repositories of a place in a bucket, as they are."""
        from assay.assemble.published import (
            fetched_ahead,
            published,  # not for a search in a folder
        )

        try:
            settings = self.how.settings_of(Path(place))
            check(settings.search)
            found = published(place, settings, lambda names: kept_repositories(names, self.how.repositories))
        except AssayError as error:
            self.errors[place] = error
            return
        for name, index in fetched_ahead(found):
            self._open_published(name, index, settings)

    def _open_published(self, name: str, index: AnyIndex, settings: Settings) -> None:
        try:
            if time.monotonic() >= self.ends:
                raise DeadlinePassed(f"{self.how.deadline_s:g} s were over before it was opened")
            self.opened.append(Workspace(index, index.refresh(), settings, name=name))
        except AssayError as error:
            self.errors[name] = error

    def result(self) -> OpenedRoots:
        """Return what was opened, and what is wrong with the rest."""
        problems = [Problem(name, str(error)) for name, error in self.errors.items()]
        if self.late:
            behind = f"{self.late} of {len(self.opened)} roots are searched as they were last indexed"
            problems.append(Problem(f"the deadline of {self.how.deadline_s:g} s has passed", behind))
        truncated = self.late > 0 or any(isinstance(error, DeadlinePassed) for error in self.errors.values())
        return OpenedRoots(tuple(self.opened), tuple(problems), truncated)


def _root(path: str, how: RootOpening, *, refresh: bool) -> Path:
    if not path:
        raise InputError("a PATH is empty: name a folder, or . for the current one")
    return root_of(path, refresh=refresh, hint=how.hint)


def _settings(roots: dict[Path, str], how: RootOpening, errors: dict[str, AssayError]) -> dict[Path, Settings]:
    """Return the settings of each root; what is wrong with some is added to the errors."""
    settings: dict[Path, Settings] = {}
    for root, path in roots.items():
        try:
            settings[root] = how.settings_of(root)
        except AssayError as error:
            errors[path] = error
    refuse_one_place_for_many(settings)
    return settings


def _opened(root: Path, settings: Settings, how: RootOpening, ends: float) -> tuple[Workspace, bool]:
    """Return a root, and whether there was time to look at its files."""
    if time.monotonic() < ends:
        try:
            return _open(root, settings, how, _until(ends, how.progress)), True
        except DeadlinePassed:
            pass
    workspace = last_workspace(root, settings)
    if workspace is None:
        raise DeadlinePassed(f"it has no index yet, and {how.deadline_s:g} s are over: run assay index {root}")
    return workspace, not how.refresh


def _open(root: Path, settings: Settings, how: RootOpening, progress: Progress | None) -> Workspace:
    try:
        return open_workspace(root, settings, refresh=how.refresh, progress=progress, patience_s=how.patience_s)
    except DamagedIndex as damage:
        where = settings.index.location
        raise DamagedIndex(f"{damage}; {rebuild_command(str(root), where)} rebuilds it") from damage


def _until(ends: float, progress: Progress | None) -> Progress | None:
    """Return what hears of progress, and stops the work when the time is over."""
    if ends == float("inf"):
        return progress

    def report(stage: str, done: int, total: int) -> None:
        if time.monotonic() >= ends:
            raise DeadlinePassed("the deadline has passed")
        if progress:
            progress(stage, done, total)

    return report
