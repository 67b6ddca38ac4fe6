"""A commit as a few lines of text: its short id, when, who and what for; why, the files, and what was changed."""

from __future__ import annotations

from assay.assemble.history import FoundCommit
from assay.errors import printable

_NAMED = 4
"""Changed files that are named."""
_WIDEST = 300
"""Characters of a line that are shown."""
_BODY = 2
"""Lines of a message after its first that are shown."""


def commit_text(commit: FoundCommit, *, whole: bool = False) -> str:
    """Return a commit as text whose every line is fit for a terminal, with the first lines of its body, or all."""
    root = f"{commit.root} " if commit.root else ""
    author = commit.author.partition(" <")[0]
    first = f"{root}{commit.id[:10]} {commit.date[:10]} {author}: {commit.subject}"
    body = [line for line in commit.body.splitlines() if line.strip()]
    more = () if whole or len(body) <= _BODY else (f"… {len(body) - _BODY} more lines",)
    rest = (*(body if whole else body[:_BODY]), *more, _files(commit), *commit.lines)
    return "".join((f"{printable(first)}\n", *(f"    {printable(row)[:_WIDEST]}\n" for row in rest)))


def _files(commit: FoundCommit) -> str:
    """Return the changed files, first the one whose change was found."""
    names = list(dict.fromkeys(([commit.change] if commit.change else []) + [*commit.files]))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}" or "no file"
