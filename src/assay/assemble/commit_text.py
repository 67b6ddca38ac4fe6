"""Commits as a few lines of text each: its short id, when, who and what for; why, the files, and what was changed."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from assay.assemble.history import FoundCommit
from assay.errors import printable

_NAMED = 4
"""Changed files that are named."""
_WIDEST = 300
"""Characters of a line that are shown."""
_WIDEST_REASON = 1000
"""The same of a message, whose paragraph may be one line."""
_BODY = 2
"""Lines of a message after its first that are shown."""
_FIRST_BODY = 8
"""The same of the best of several commits."""


def commits_text(commits: Sequence[FoundCommit]) -> str:
    """Return commits as text, an empty line between two."""
    return "\n".join(commit_text(commit, body_lines(at, len(commits))) for at, commit in enumerate(commits))


def body_lines(place: int, count: int) -> int:
    """Return how many lines of its message a commit shows in its place among so many; one that is alone shows all."""
    if count == 1:
        return sys.maxsize
    return _BODY if place else _FIRST_BODY


def commit_text(commit: FoundCommit, most: int = _BODY) -> str:
    """Return a commit as text whose every line is fit for a terminal, with at most so many lines of its body."""
    root = f"{commit.root} " if commit.root else ""
    author = commit.author.partition(" <")[0]
    first = f"{root}{commit.id[:10]} {commit.date[:10]} {author}: {commit.subject}"
    body = [line for line in commit.body.splitlines() if line.strip()]
    more = (f"… {len(body) - most} more lines",) if len(body) > most else ()
    reason = (f"    {printable(row)[:_WIDEST_REASON]}\n" for row in (*body[:most], *more))
    rest = (f"    {printable(row)[:_WIDEST]}\n" for row in (_files(commit), *commit.lines))
    return "".join((f"{printable(first)}\n", *reason, *rest))


def _files(commit: FoundCommit) -> str:
    """Return the changed files, first the one whose change was found."""
    names = list(dict.fromkeys(([commit.change] if commit.change else []) + [*commit.files]))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}" or "no file"
