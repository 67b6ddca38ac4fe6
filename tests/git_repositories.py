"""Git repositories of a few files, for tests."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

WHO = ("-c", "user.name=Nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgsign=false")


def repository(root: Path, files: Mapping[str, str]) -> Path:
    """Make a repository with some files, committed on the branch main."""
    root.mkdir(parents=True)
    git(root, "init", "--quiet", "--initial-branch=main")
    commit(root, files)
    return root


def commit(root: Path, files: Mapping[str, str]) -> str:
    """Write files and commit all that is there; return the commit."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "add", "--all")
    git(root, *WHO, "commit", "--quiet", "-m", "more")
    return git(root, "rev-parse", "HEAD").strip()


def git(root: Path, *arguments: str) -> str:
    """Run git in a repository and return what it prints."""
    return subprocess.run(["git", "-C", root, *arguments], check=True, capture_output=True, text=True).stdout
