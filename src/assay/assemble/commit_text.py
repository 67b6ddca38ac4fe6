"""Commits as a few lines of text each: its short id, when, who and what for; why, the files, and what was changed."""

from __future__ import annotations

from collections.abc import Sequence

from assay.assemble.history import FoundCommit
from assay.errors import printable

_NAMED = 4
"""Changed files that are named."""
_WIDEST = 300
"""Characters of a line that are shown."""
_WIDEST_REASON = 1000
"""The same of a message, whose paragraph may be one line."""


def commits_text(commits: Sequence[FoundCommit]) -> str:
    """Return commits as text, an empty line between two."""
    return "\n".join(commit_text(commit, whole=len(commits) == 1) for commit in commits)


def commit_text(commit: FoundCommit, *, whole: bool = False) -> str:
    """Return a commit as text whose every line is fit for a terminal, with telling lines of its body, or all."""
    root = f"{commit.root} " if commit.root else ""
    author = commit.author.partition(" <")[0]
    first = f"{root}{commit.id[:10]} {commit.date[:10]} {author}: {commit.subject}"
    body = [line for line in commit.body.splitlines() if line.strip()]
    told = body if whole else commit.reason
    more = (f"… {len(body) - len(told)} more lines",) if len(body) > len(told) else ()
    reason = (f"    {printable(row)[:_WIDEST_REASON]}\n" for row in (*told, *more))
    rest = (f"    {printable(row)[:_WIDEST]}\n" for row in (_files(commit), *commit.lines))
    return "".join((f"{printable(first)}\n", *reason, *rest))


def _files(commit: FoundCommit) -> str:
    """Return the changed files, first the one whose change was found."""
    names = list(dict.fromkeys(([commit.change] if commit.change else []) + [*commit.files]))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}" or "no file"
