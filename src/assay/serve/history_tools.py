"""What may be asked of a repository's past: the commits that answer a question, or that changed the unit at a line."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from assay.assemble.commits import FoundCommit, commit_text, reason_of
from assay.corpus.blocks import lines_of
from assay.search.history import CommitFilter
from assay.serve.file_history import history
from assay.serve.file_views import check_file_line, read_file
from assay.serve.responses import OVERHEAD, cost
from assay.serve.search_tools import Page, worth_showing
from assay.serve.session import Session
from assay.serve.unit_tools import span_of
from assay.terms import tokens

_CHANGED = 12
"""Changed lines of a commit that are shown of a unit."""
_REASON = 12
"""Lines of its message's body: without a question none of them is known to be the wanted one."""


@dataclass(frozen=True, slots=True)
class LogAnswer:
    """Commits, best first, or without a question the newest."""

    __pydantic_config__: ClassVar[Mapping[str, bool]] = {"use_attribute_docstrings": True}

    root: str
    commits: list[FoundCommit]
    relevant: bool
    """Whether any was found."""
    indexed: int
    """Commits that were looked among."""


def log(session: Session, question: str, path: str, keep: CommitFilter, *, page: Page) -> LogAnswer:
    """Return the commits that answer a question; a path below the root keeps those that changed something there."""
    place = session.place(path)
    globs = place.globs(keep.paths)
    found = place.engine.history.search(question, CommitFilter(keep.author, keep.since, keep.until, globs), page.k)
    commits = found.commits
    if page.is_text and question.strip():
        commits = commits[: worth_showing([commit.score for commit in commits])]
    return LogAnswer(place.engine.name, _fitting(commits, page), found.relevant, found.indexed)


def unit_log(session: Session, path: str, line: int, *, page: Page) -> LogAnswer:
    """Return the commits that changed the unit around a line, the newest first, each with what it changed there."""
    file = read_file(session, path)
    check_file_line(file, path, line)
    text = file.text or ""
    span = span_of(file.place.inside, text, (line, 0, ""), len(lines_of(text)))
    found = history(session, path, span.first, span.last, page.k)
    commits = [
        FoundCommit(
            one.id,
            one.date,
            one.author,
            one.subject,
            one.body,
            1.0,
            (found.path,),
            found.path,
            _changed_lines(one.patch),
            reason_of(one.body, most=_REASON),
        )
        for one in found.commits
    ]
    return LogAnswer(found.root, _fitting(commits, page), bool(commits), len(commits))


def _changed_lines(patch: str) -> tuple[str, ...]:
    """Return the changed lines of a unified diff, the first of many."""
    rows = [row for row in patch.splitlines() if row[:1] in {"+", "-"} and row[:4] not in {"+++ ", "--- "}]
    more = (f"… {len(rows) - _CHANGED} more",) if len(rows) > _CHANGED else ()
    return (*rows[:_CHANGED], *more)


def _fitting(commits: Sequence[FoundCommit], page: Page) -> list[FoundCommit]:
    """Return as many commits as the budget of a page holds; of the first, as much of its message."""
    left, shown = page.budget - OVERHEAD, list[FoundCommit]()
    for commit in commits:
        spent = _cost(commit, page, whole=len(commits) == 1)
        if spent > left:
            return shown or [_shorten_body(commit, left, page)]
        left -= spent
        shown.append(commit)
    return shown


def _cost(commit: FoundCommit, page: Page, *, whole: bool) -> int:
    return tokens(commit_text(commit, whole=whole)) if page.is_text else cost(commit)


def _shorten_body(commit: FoundCommit, left: int, page: Page) -> FoundCommit:
    """Return a commit with as many lines of its body as fit, and then without those of its change."""
    body = commit.body.splitlines()

    def first(count: int) -> FoundCommit:
        return replace(commit, body="\n".join(body[:count]), lines=())

    count = bisect_right(range(1, len(body) + 1), left, key=lambda count: _cost(first(count), page, whole=True))
    return first(count)
