"""What may be asked of a repository's past: the commits that answer a question, as many as a budget holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay.assemble.commit_text import commit_text
from assay.assemble.history import FoundCommit
from assay.search.commit_filter import CommitFilter
from assay.serve.responses import OVERHEAD, cost
from assay.serve.search_tools import Page
from assay.serve.session import Session
from assay.terms import tokens


@dataclass(frozen=True, slots=True)
class LogAnswer:
    """Commits, best first, or without a question the newest."""

    __pydantic_config__: ClassVar[Mapping[str, bool]] = {"use_attribute_docstrings": True}

    root: str
    commits: list[FoundCommit]
    relevant: bool
    """False: no commit is likely to be right; these are only the nearest."""
    indexed: int
    """Commits that were looked among."""


def log(session: Session, question: str, path: str, keep: CommitFilter, *, page: Page) -> LogAnswer:
    """Return the commits that answer a question; a path below the root keeps those that changed something there."""
    place = session.place(path)
    globs = place.globs(keep.paths)
    found = place.engine.history.search(question, CommitFilter(keep.author, keep.since, keep.until, globs), page.k)
    left, shown = page.budget - OVERHEAD, list[FoundCommit]()
    for commit in found.commits:
        left -= tokens(commit_text(commit)) if page.is_text else cost(commit)
        if left < 0 and shown:
            break
        shown.append(commit)
    return LogAnswer(place.engine.name, shown, found.relevant, found.indexed)
