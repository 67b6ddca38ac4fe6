"""Where a job may write: empty at its start, gone after it.

A job that wrote nothing leaves its folders as they were made, and the next one takes them over: most programs
write nothing, and a new mount costs more than a look.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex
from typing import Protocol

from assay.cage.limits import Limits
from assay.cage.namespaces import CANDIDATE, forget_scratch, fresh_scratch

FOLDERS = ("work", "tmp", "shm")


class Scratch(Protocol):
    """The folders of one cage."""

    def refresh(self, limits: Limits) -> None:
        """Make them empty."""

    def is_over(self, limits: Limits) -> bool:
        """Say whether they hold more than a job may write, where nothing else refuses it."""

    def remove(self) -> None:
        """Take them away for good."""


_State = tuple[tuple[int, int, int, tuple[str, ...]], ...]


class MountedScratch:
    """A small file system in memory, which the kernel bounds."""

    def __init__(self, links: Mapping[str, str]) -> None:
        self._links = links
        self._made: tuple[int, int] | None = None
        self._state: _State = ()

    def refresh(self, limits: Limits) -> None:
        """Mount another one unless this one was never written to."""
        wanted = limits.scratch_mb, limits.inodes
        if self._made == wanted and self._state == _state("/scratch"):
            return
        if self._made:
            forget_scratch()
        fresh_scratch(*wanted, self._links)
        self._made, self._state = wanted, _state("/scratch")

    def is_over(self, limits: Limits) -> bool:
        """Say no: the kernel refuses what is too much."""
        del limits
        return False

    def remove(self) -> None:
        """Leave it to the end of the mount namespace."""


class FolderScratch:
    """A folder of the machine, where nothing can be mounted; its size is looked at, not bounded."""

    def __init__(self, root: str) -> None:
        self._root = Path(root)
        self._state: _State = ()

    def make(self, first_user: int | None) -> None:
        """Make the folders, which stay: the rules about them are bound to these very folders.

        Where users are chosen, the first is the fork server, who owns the folder, and the next the program, who writes.
        """
        self._root.chmod(0o711)
        for name in FOLDERS:
            (self._root / name).mkdir(mode=0o700)
            if first_user is not None:
                os.chown(self._root / name, first_user + CANDIDATE, first_user + CANDIDATE)
        if first_user is not None:
            os.chown(self._root, first_user, first_user)

    def refresh(self, limits: Limits) -> None:
        """Delete what is in them unless they were never written to."""
        del limits
        if self._state and self._state == _state(str(self._root)):
            return
        for name in FOLDERS:
            _empty(self._root / name)
        self._state = _state(str(self._root))

    def is_over(self, limits: Limits) -> bool:
        """Say whether its files are too many or too large together."""
        if self._state == _state(str(self._root)):
            return False
        count, blocks = 0, 0
        for folder, _, files in os.walk(self._root):
            for name in files:
                try:
                    blocks += os.lstat(os.path.join(folder, name)).st_blocks
                except OSError:
                    continue
            count += 1 + len(files)
        return count > limits.inodes or blocks * 512 > limits.scratch_mb << 20

    def remove(self) -> None:
        """Delete it with all that is in it."""
        if self._root.exists():
            _empty(self._root)
            self._root.rmdir()


def _state(root: str) -> _State:
    """Return what changes with any write: mode, owner, time of change and names of each folder."""
    found = []
    for name in FOLDERS:
        path = f"{root}/{name}"
        try:
            about = os.stat(path, follow_symlinks=False)
            found.append((about.st_mode, about.st_uid, about.st_ctime_ns, tuple(sorted(os.listdir(path)))))
        except OSError:
            return ()
    return tuple(found)


def _empty(root: Path) -> None:
    """Delete all that is in a folder, whatever modes its folders have and however deep they lie.

    Folders inside folders are moved up first, so that no path grows too long and nothing recurses.
    """
    os.chmod(root, 0o700)
    top = os.open(root, _FOLDER)
    try:
        while names := os.listdir(top):
            for name in names:
                if not _unlinked(name, top):
                    _flatten(name, top)
                    os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)


_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def _flatten(name: str, top: int) -> None:
    """Delete the files of a folder and move its folders beside it."""
    os.chmod(name, 0o700, dir_fd=top)
    folder = os.open(name, _FOLDER, dir_fd=top)
    try:
        for inner in os.listdir(folder):
            if not _unlinked(inner, folder):
                os.chmod(inner, 0o700, dir_fd=folder)
                os.rename(inner, token_hex(16), src_dir_fd=folder, dst_dir_fd=top)
    finally:
        os.close(folder)


def _unlinked(name: str, folder: int) -> bool:
    """Delete what is no folder; say whether it was."""
    try:
        os.unlink(name, dir_fd=folder)
    except IsADirectoryError:
        return False
    return True
