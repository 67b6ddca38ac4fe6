"""Define the record of a found commit, and write it as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.errors import printable

_NAMED = 4
"""Changed files that are named."""
_MAX_LINE_CHARS = 300
"""Characters of a line that are shown."""
_MAX_REASON_CHARS = 1000
"""Characters of a line of a message that are shown; a paragraph may be one line."""


@dataclass(frozen=True, slots=True)
class FoundCommit:
    """A commit that was found."""

    id: str
    date: str
    """When it was written, in ISO 8601."""
    author: str
    """`name <mail>`."""
    subject: str
    body: str
    score: float
    """The score of the ranking of code and documentation, 0 to 1; 1 without a question."""
    files: tuple[str, ...]
    """The changed files."""
    change: str = ""
    """The file that `lines` belong to."""
    lines: tuple[str, ...] = ()
    """The best lines of that change: added ones begin with `+`, removed ones with `-`; `@` names what encloses them."""
    reason: tuple[str, ...] = ()
    """The best lines of the message's body; all of a short one."""
    root: str = ""
    """Its root, in an answer from several repositories."""


def commits_text(commits: Sequence[FoundCommit]) -> str:
    """Return commits as text, an empty line between two."""
    return "\n".join(commit_text(commit, whole=len(commits) == 1) for commit in commits)


def commit_text(commit: FoundCommit, *, whole: bool = False) -> str:
    """Return a commit as text that is safe for a terminal, with the best lines of its body, or all."""
    root = f"{commit.root} " if commit.root else ""
    author = commit.author.partition(" <")[0]
    first = f"{root}{commit.id[:10]} {commit.date[:10]} {author}: {commit.subject}"
    body = [line for line in commit.body.splitlines() if line.strip()]
    shown = body if whole else commit.reason
    more = (f"… {len(body) - len(shown)} more lines",) if len(body) > len(shown) else ()
    reason = (f"    {printable(row)[:_MAX_REASON_CHARS]}\n" for row in (*shown, *more))
    rest = (f"    {printable(row)[:_MAX_LINE_CHARS]}\n" for row in (_files(commit), *commit.lines))
    return "".join((f"{printable(first)}\n", *reason, *rest))


def _files(commit: FoundCommit) -> str:
    """Return the changed files, first the one whose change was found."""
    names = list(dict.fromkeys(([commit.change] if commit.change else []) + [*commit.files]))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}" or "no file"
