"""Open the roots of paths, addresses and globs, and report why others cannot be opened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from glob import glob
from pathlib import Path
from typing import NamedTuple

from assay.corpus.addresses import is_url
from assay.errors import AssayError, DamagedIndex, InputError, some_of
from assay.operations.corpus_search import check
from assay.operations.indexes import AnyIndex, root_of
from assay.operations.workspace import Workspace, open_workspace
from assay.protocols import Progress
from assay.search import retrievers
from assay.search.path_filters import kept_and_left_out
from assay.settings import Settings
from assay.store.index_location import holds_many, is_bucket, located
from assay.values import Problem

_NAMED = 3
"""Roots that an error names as examples."""


class OpenedRoots(NamedTuple):
    """The roots that can be searched, and why others cannot."""

    workspaces: tuple[Workspace, ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class RootOpening:
    """Options of opening roots."""

    settings_of: Callable[[Path], Settings]
    refresh: bool = True
    progress: Progress | None = None
    patience_s: float | None = None
    hint: bool = False
    """Whether paths followed a question, so that a missing one may be a word of it."""
    check_all: bool = False
    """Whether every byte of an index is read first, and damage is repaired."""
    strict: bool = False
    """Whether the first root that cannot be opened raises an error."""
    repositories: tuple[str, ...] = ()
    """Globs of the names or paths of roots to open, as `kept_repositories` reads them."""


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
        found = "it lists no root: write one folder or URL per line"
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
    """Return the roots whose name or whole path matches a glob, or all; one that starts with `!` excludes."""

    def is_called(root: str, names: Sequence[str]) -> bool:
        return any(
            fnmatchcase(repository_name(root), one) or fnmatchcase(root, one) or _ends(root, one) for one in names
        )

    wanted, unwanted = kept_and_left_out(globs)
    return [root for root in roots if (not wanted or is_called(root, wanted)) and not is_called(root, unwanted)]


def _ends(root: str, glob: str) -> bool:
    """Return whether the last folders of a path match a glob with as many folders."""
    return "/" in glob and fnmatchcase("/".join(Path(root).parts[-1 - glob.count("/") :]), glob)


def repository_name(root: str) -> str:
    """Return the usual name of a root: the last part of its path or URL."""
    if is_url(root):
        return root.rstrip("/").replace(":", "/").rpartition("/")[2].removesuffix(".git")
    return Path(root).name or Path(root).resolve().name or root


def open_many(paths: Sequence[str], how: RootOpening) -> OpenedRoots:
    """Open every root that can be opened, each once; raise the first error if none can.

    Each path is a folder, the URL of a git repository, or a place in a bucket, whose repositories are read as they are
    and come last. All that can be is checked before any index is made.
    """
    opened: list[Workspace] = []
    errors: dict[str, AssayError] = {}
    places = [] if how.check_all else [path for path in paths if is_bucket(path)]
    folders = [path for path in paths if path not in places]
    for each in named_roots(kept_repositories(folders, how.repositories), how, errors):
        with _noting(each.name, how, errors):
            opened.append(open_root(each, how))
    for place in places:
        with _noting(place, how, errors):
            opened += _published(place, how, errors)
    if not opened:
        raise next(iter(errors.values()), None) or _none_kept(folders, how.repositories)
    return OpenedRoots(tuple(opened), tuple(Problem(name, str(error)) for name, error in errors.items()))


def _none_kept(folders: Sequence[str], globs: Sequence[str]) -> InputError:
    names = some_of(map(repository_name, folders), _NAMED)
    there = f": there are {names}" if names else ""
    return InputError(f"no repository matches --repo {' '.join(globs)}{there}")


@contextmanager
def _noting(name: str, how: RootOpening, errors: dict[str, AssayError]) -> Iterator[None]:
    """Record the error of a root, unless every root has to be opened."""
    try:
        yield
    except AssayError as error:
        if how.strict:
            raise
        errors[name] = error


class NamedRoot(NamedTuple):
    """A root, the name that was given to it, and its settings."""

    root: Path
    name: str
    settings: Settings


def named_roots(paths: Sequence[str], how: RootOpening, errors: dict[str, AssayError] | None = None) -> list[NamedRoot]:
    """Return every folder and clone, each once; adds what is wrong with the others to the errors."""
    roots: dict[Path, str] = {}
    found, errors = [], {} if errors is None else errors
    for path in paths:
        with _noting(path, how, errors):
            if not path:
                raise InputError("a PATH is empty: name a folder, or . for the current one")
            roots.setdefault(root_of(path, refresh=how.refresh, hint=how.hint), path)
    for root, path in roots.items():
        with _noting(path, how, errors):
            found.append(NamedRoot(root, str(root) if is_url(path) else path, how.settings_of(root)))
    locations = [(each.settings.index.location, each.root) for each in found if each.settings.index.location]
    single = [located(location, root) for location, root in locations if not holds_many(location)]
    if len(set(single)) < len(single):
        raise InputError("--index names one index, and several paths were given: take them one by one")
    return found


def _published(place: str, how: RootOpening, errors: dict[str, AssayError]) -> Iterator[Workspace]:
    """Open the repositories of a place in a bucket, or the one that it names, read-only."""
    from assay.operations.published import fetch_ahead, published  # not for a search in a folder

    settings = how.settings_of(Path(place))
    check(settings.search)
    found = published(place, settings, lambda names: kept_repositories(names, how.repositories))
    for name, index in fetch_ahead(found):
        with _noting(name, how, errors):
            yield open_root(NamedRoot(index.root, name, settings), how, index)


def open_root(each: NamedRoot, how: RootOpening, index: AnyIndex | None = None) -> Workspace:
    """Open one root; an `index` in a bucket is only read."""
    if index is not None:
        check(each.settings.search)
        return Workspace(index, index.refresh(), each.settings, name=each.name)
    try:
        workspace = open_workspace(
            each.root,
            each.settings,
            refresh=how.refresh,
            progress=how.progress,
            patience_s=how.patience_s,
            check_all=how.check_all,
        )
    except DamagedIndex as damage:
        rebuild = retrievers.rebuild_command(str(each.root), each.settings.index.location)
        raise DamagedIndex(f"{damage}; {rebuild} rebuilds it") from damage
    return replace(workspace, name=each.name)
