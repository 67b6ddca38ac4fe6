"""Find the checkout around a folder, its git folder and its other worktrees, without running git."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

from assay.io.files import read_regular

_MAX_POINTER_BYTES = 8192
"""Bytes of a file that says where a repository lies."""
_MAX_WORKTREES = 1000


def is_checkout(folder: Path) -> bool:
    """Say whether a folder is the top of a git checkout; one that cannot be looked into is not."""
    return os.path.lexists(folder / ".git")


def checkout_around(folder: Path) -> Path | None:
    """Return the top of the nearest git checkout that a folder is in, itself included."""
    return next(filter(is_checkout, (folder, *folder.absolute().parents)), None)


def git_folder(top: Path) -> Path:
    """Return the folder that all worktrees of a repository share: `.git`, or the one that the file `.git` names."""
    git = top / ".git"
    if not git.is_file():
        return git
    try:
        target = top / _small_text(git).partition("gitdir:")[2].strip()
        common = target / "commondir"
        return (target / _small_text(common).strip()).resolve() if common.exists() else target.resolve()
    except (OSError, ValueError):
        return git


def other_worktrees(folder: Path) -> list[Path]:
    """Return the same folder in the other worktrees of its repository.

    A `.git` can be a stranger's and lead anywhere: the repository has to name this worktree, and each other one it.
    """
    folder = folder.resolve()
    top = checkout_around(folder) or folder
    try:
        common = git_folder(top).resolve()
        pointers = list(islice((common / "worktrees").glob("*/gitdir"), _MAX_WORKTREES))
        tops = [common.parent] if common.name == ".git" else []
        tops += [(each.parent / _small_text(each).strip()).resolve().parent for each in pointers]
        others = [each for each in tops if each != top and git_folder(each).resolve() == common] if top in tops else []
        same = [each / folder.relative_to(top) for each in others]
        return [each for each in same if each.resolve() == each]  # through no link to a folder of another repository
    except (OSError, ValueError):
        return []


def _small_text(file: Path) -> str:
    return read_regular(file, _MAX_POINTER_BYTES).decode(errors="replace")
