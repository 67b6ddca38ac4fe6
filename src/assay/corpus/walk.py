"""List the files of a folder that are worth indexing, and those left out with the reason.

Ignored folders are never entered, so a walk costs what is kept; but what git tracks is kept whatever a rule says of its
name: `/server`, for a binary, is often written `server`, which is `cmd/server`, too. Symbolic links are not followed:
what they point to is either below the root already or not part of it. A `!` rule of `.assayignore` brings back what is
left out by its name. What git ignores, and files that usually hold keys, it brings back only where the user opens them:
the rules were written by whoever wrote the repository.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from errno import EINVAL
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path
from stat import S_ISREG

from assay.corpus.ignore_rules import IgnoreRules, around, compiled
from assay.corpus.left_out_names import (
    BARE_REPOSITORY,
    VERSION_CONTROL,
    file_reason,
    folder_reason,
    inside_reason,
    secret_reason,
)
from assay.corpus.walked_files import FileEntry, Skipped, Walk, as_utf8, entry_of
from assay.corpus.worktrees import git_folder
from assay.errors import InputError

MAX_FILE_BYTES = 1_000_000
"""Larger files are data, not something that people wrote to be read."""
_PATIENCE_S = 5.0
"""What git may take in all to say what it tracks, whose settings a stranger may have written; half a million files take
it one second."""
_IGNORE_FILES = (".gitignore", ".assayignore")
_BY_GIT, _IN_IGNORED = "ignored by .gitignore", "in an ignored folder"


def walk(
    root: Path,
    *,
    known_paths: Collection[str] = (),
    rules: str = "",
    largest_bytes: int = MAX_FILE_BYTES,
    open_ignored: bool = False,
) -> Walk:
    """List the files below a folder.

    `known_paths` are those that an earlier walk under the same `rules` kept: they are not matched again. When the rules
    turn out to be others, everything is. With `open_ignored`, rules of `.assayignore` may bring in files that git
    ignores, and those that usually hold keys.
    """
    _check(root)
    found = _Walker(root, frozenset(known_paths) if rules else frozenset(), largest_bytes, open_ignored).walk()
    if known_paths and rules and found.rules != rules:
        return _Walker(root, frozenset(), largest_bytes, open_ignored).walk()
    return found


@dataclass(frozen=True, slots=True)
class FolderLevel:
    """The entries of one folder, by name: folders that a walk would enter, its files, and skipped ones."""

    folders: tuple[str, ...]
    """Paths from the root, without a `/` at their end."""
    files: tuple[FileEntry, ...]
    """Of any size."""
    skipped: tuple[Skipped, ...]
    """Files and folders that a walk leaves out by their name or kind, or because a rule ignores them."""


def folder_level(root: Path, folder: str = "", only: str = "", *, open_ignored: bool = False) -> FolderLevel | None:
    """Return the entries of a folder below a root, or only one by name; None if a walk never enters the folder."""
    _check(root)
    return _Walker(root, frozenset(), sys.maxsize, open_ignored).level(folder, only)


def _check(root: Path) -> None:
    if not root.exists():
        raise InputError(f"{root} does not exist; give a folder to search")
    if not root.is_dir():
        raise InputError(f"{root} is not a folder; give the folder that holds it")


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder to enter, with the rules that apply in it, the strongest first."""

    path: str
    forces: tuple[IgnoreRules, ...]
    ignores: tuple[IgnoreRules, ...]
    is_ignored: bool = False
    """Whether only what is forced in or tracked is kept of it."""
    by_git: bool = False
    """Whether it is git that ignores it."""
    repository: str = ""
    """The folder whose repository it belongs to."""


class _Walker:
    def __init__(self, root: Path, known_paths: frozenset[str], largest_bytes: int, open_ignored: bool) -> None:  # noqa: FBT001
        self.root, self.known_paths, self.largest, self.open_ignored = root, known_paths, largest_bytes, open_ignored
        self.prefix = str(root).rstrip("/") + "/"
        self.files: list[FileEntry] = []
        self.skipped: list[Skipped] = []
        self.folders: list[str] = []
        self.hash = blake2b(b"opened" if open_ignored else b"keys are left out", digest_size=16)
        self.repositories = {str(git_folder(root))}
        self.tracked: dict[str, frozenset[str]] = {}
        self.patience_s = _PATIENCE_S

    def walk(self) -> Walk:
        stack = [self._top()]
        while stack:
            stack.extend(self._enter(stack.pop()))
        self.files.sort(key=lambda entry: entry.path)
        self.skipped.sort(key=lambda skipped: skipped.path)
        return Walk(tuple(self.files), tuple(self.skipped), self.hash.hexdigest(), tuple(self.folders))

    def level(self, folder: str, only: str) -> FolderLevel | None:
        """Return the entries of one folder; above it, only the folders on its path are read."""
        here = self._top()
        for name in filter(None, folder.split("/")):
            inside = self._enter(here, name)
            found = next((one for one in inside if one.path == f"{here.path}{name}/"), None)
            if found is None:
                return None
            here = found
        self.files.clear()
        self.skipped.clear()
        folders = tuple(as_utf8(one.path.rstrip("/")) for one in reversed(self._enter(here, only)))
        by_path = attrgetter("path")
        return FolderLevel(folders, tuple(sorted(self.files, key=by_path)), tuple(sorted(self.skipped, key=by_path)))

    def _top(self) -> _Folder:
        """Return the root, with the rules that apply to it from outside."""
        found = [self._rules(path, "", above) for path, above in around(self.root.absolute())]
        return _Folder("", (), tuple(filter(None, reversed(found))))

    def _rules(self, path: Path, base: str, above: str = "") -> IgnoreRules | None:
        try:
            data = _rules_in(path)
            self.hash.update(f"{len(data)} {base} {above} {path.name}\n".encode(errors="replace") + data)
            return compiled(data, base, above)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._skip(str(path), f"its rules cannot be read: {error.strerror}")
            return None

    def _skip(self, path: str, reason: str) -> None:
        self.skipped.append(Skipped(as_utf8(path), reason))

    def _enter(self, folder: _Folder, only: str = "") -> list[_Folder]:
        """Take the files of a folder, or one of them; return the folders in it to enter, the last in order first."""
        try:
            with os.scandir(self.prefix + folder.path) as entries:
                listed = list(entries)
        except OSError as error:
            self._skip(folder.path or ".", f"cannot be read: {error.strerror}")
            return []
        names = {entry.name for entry in listed}
        if folder.path and not folder.is_ignored and (reason := self._whole_reason(folder, names)):
            self._skip(folder.path, reason)
            return []
        self.folders.append(folder.path)
        here = self._with_rules(folder, names)
        inside: list[_Folder] = []
        for entry in listed if not only else [entry for entry in listed if entry.name == only]:
            try:
                self._take(entry, here, names, inside)
            except OSError as error:
                self._skip(folder.path + entry.name, f"cannot be read: {error.strerror}")
        inside.sort(key=lambda found: found.path, reverse=True)
        return inside

    def _with_rules(self, folder: _Folder, names: set[str]) -> _Folder:
        if ".git" in names and folder.path:
            folder = replace(folder, repository=folder.path)
        if names.isdisjoint(_IGNORE_FILES):
            return folder
        forces, ignores = folder.forces, folder.ignores
        for name in sorted(names.intersection(_IGNORE_FILES)):
            found = self._rules(self.root / folder.path / name, folder.path)
            if found is not None and name == ".gitignore":
                ignores = (found, *ignores)
            elif found is not None:
                forces = (found, *forces)
        return replace(folder, forces=forces, ignores=ignores)

    def _whole_reason(self, folder: _Folder, names: set[str]) -> str:
        """Say why a folder is left out by its contents; empty if it is not."""
        name = folder.path.rstrip("/").rpartition("/")[2]
        if BARE_REPOSITORY.issubset(names):
            return "a folder of tools"
        if _decision(folder.forces, folder.path, name + "/") is False:
            return ""
        if ".git" in names and (self.root / folder.path / ".git").is_file():
            repository = str(git_folder(self.root / folder.path))
            if repository in self.repositories:
                return "another checkout of a repository that is already searched"
            self.repositories.add(repository)
        return inside_reason(name, names)

    def _take(self, entry: os.DirEntry[str], here: _Folder, beside: set[str], inside: list[_Folder]) -> None:
        name = entry.name
        path = here.path + name
        if name in VERSION_CONTROL:  # a file in a worktree
            return
        if entry.is_symlink():
            self._skip(path, "a symbolic link")
        elif entry.is_dir(follow_symlinks=False):
            self._take_folder(path + "/", name, here, beside, inside)
        elif not entry.is_file(follow_symlinks=False):
            self._skip(path, "not a regular file")
        elif (path in self.known_paths and not here.is_ignored) or self._keeps(path, name, here):
            stat = entry.stat(follow_symlinks=False)
            if stat.st_size > self.largest:
                self._skip(path, f"{stat.st_size / 1e6:.1f} MB, larger than {self.largest / 1e6:.1f} MB")
            else:
                self.files.append(entry_of(as_utf8(path), stat))

    def _take_folder(self, path: str, name: str, here: _Folder, beside: set[str], inside: list[_Folder]) -> None:
        reason = self._reason(path, name + "/", here, folder_reason(name, beside))
        if not reason:
            inside.append(replace(here, path=path, is_ignored=False, by_git=False))
        elif any(rules.opens(path) for rules in here.forces) or self._is_tracked(path, reason, here):
            by_git = here.by_git or reason in {_BY_GIT, _IN_IGNORED}
            inside.append(replace(here, path=path, is_ignored=True, by_git=by_git))
        else:
            self._skip(path, reason)

    def _ignored(self, path: str, name: str, here: _Folder) -> str:
        if here.is_ignored:
            return _IN_IGNORED
        return _BY_GIT if here.ignores and _decision(here.ignores, path, name) else ""

    def _reason(self, path: str, name: str, here: _Folder, by_name: str) -> str:
        """Say why a path is left out, by its name if no rule matches; empty if it is not."""
        forced = _decision(here.forces, path, name)
        if forced is None:
            return by_name or self._ignored(path, name, here)
        if forced:
            return "ignored by .assayignore"
        if self.open_ignored:  # else no rule of the repository brings in what git ignores, or keys
            return ""
        return secret_reason(name) or self._ignored(path, name, replace(here, is_ignored=here.by_git))

    def _is_tracked(self, path: str, reason: str, here: _Folder) -> bool:
        """Say whether a path that git ignores is tracked nevertheless."""
        if reason not in {_BY_GIT, _IN_IGNORED}:
            return False
        top = here.repository
        if top not in self.tracked:
            began = time.monotonic()
            self.tracked[top] = _tracked_paths(self.root / top, self.patience_s)
            self.patience_s -= time.monotonic() - began
        return path[len(top) :] in self.tracked[top]

    def _keeps(self, path: str, name: str, here: _Folder) -> bool:
        reason = self._reason(path, name, here, file_reason(name) or secret_reason(name))
        if not reason or self._is_tracked(path, reason, here):
            return True
        self._skip(path, reason)
        return False


def _rules_in(path: Path) -> bytes:
    """Read an ignore file; refuse a device or a pipe, which may never end and which a link can point to."""
    found = path.stat()
    if not S_ISREG(found.st_mode) or found.st_size > MAX_FILE_BYTES:
        raise OSError(EINVAL, f"no regular file of at most {MAX_FILE_BYTES / 1e6:.0f} MB")
    return path.read_bytes()


def _decision(rules: tuple[IgnoreRules, ...], path: str, name: str) -> bool | None:
    """Return the decision of the strongest rules that match a path: ignored, forced in, or None."""
    for some in rules:
        decided = some.decide(path, name)
        if decided is not None:
            return decided
    return None


def _tracked_paths(root: Path, patience_s: float) -> frozenset[str]:
    """Return the tracked files below a folder and their folders, which end with `/`.

    Paths are relative to the folder. Nothing is tracked where there is no repository, or no git that answers: then
    rules alone decide, and what they leave out is named as ever.
    """
    from assay.corpus.git import reading  # nothing that a folder without ignored files needs

    if patience_s <= 0:
        return frozenset()
    try:
        with reading(root, "ls-files", "-z", timeout_s=patience_s) as printed:
            files = os.fsdecode(printed.read()).split("\0")
    except (InputError, OSError):
        return frozenset()
    folders = {file[: at + 1] for file in files for at, letter in enumerate(file) if letter == "/"}
    return frozenset(filter(None, files)) | folders
