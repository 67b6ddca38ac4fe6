"""Answer with the past: the commits that changed lines of a file, who wrote each line, and commits by meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from threading import BoundedSemaphore

from assay.corpus import line_history
from assay.corpus.blocks import lines_of
from assay.corpus.line_history import BlamedLines, LineCommit
from assay.corpus.remotes import host_links
from assay.errors import AssayError
from assay.operations.commits import FoundCommit, commit_text, reason_of
from assay.search.history import CommitFilter
from assay.serve.file_views import MOST_LINES, FileLinks, ReadFile, check_file_line, links_to, read_file
from assay.serve.read_tools import span_of
from assay.serve.responses import OVERHEAD, answer_type, cost, fitting, most_fitting
from assay.serve.search_tools import Page, worth_showing
from assay.serve.session import Session
from assay.terms import tokens

MOST_CHANGES = 50
_MOST_AT_ONCE = 3
"""Reading history takes a process that may compute for seconds: others wait."""
_WAIT_S = 5.0
_running = BoundedSemaphore(_MOST_AT_ONCE)


class HistoryBusy(AssayError):
    """Too many histories are being read."""


@answer_type
class BlameAnswer:
    """Which commits wrote lines of a file."""

    root: str
    path: str
    spans: list[BlamedLines]
    """In order; a commit is empty where the lines differ from HEAD."""
    commits: list[LineCommit]
    links: FileLinks
    """Where a code host shows the file and its commits."""


@answer_type
class HistoryCommit:
    """A commit that changed lines of a file."""

    id: str
    author: str
    date: str
    """When it was written, in ISO 8601."""
    subject: str
    body: str
    patch: str
    """What it changed of the lines, as a unified diff; the end of a long one is left out."""


@answer_type
class HistoryAnswer:
    """How lines of a file came to be, newest first."""

    root: str
    path: str
    commits: list[HistoryCommit]
    complete: bool
    """False: there are older ones, or looking for them took too long."""
    links: FileLinks
    """Where a code host shows the file and its commits."""


def blame(session: Session, path: str, line: int, count: int) -> BlameAnswer:
    """Return which commits wrote some lines of a file, from one line on."""
    read = read_file(session, path)
    check_file_line(read, path, line)
    inside = read.place.inside
    with _turn():
        now = line_history.head_lines(read.root, inside, read.text or "")
        spans, commits = line_history.blame_lines(read.root, inside, now, line, line + min(count, MOST_LINES) - 1)
    return BlameAnswer(read.place.engine.name, inside, spans, commits, links_to(host_links(read.root), inside))


def history(session: Session, path: str, line: int, end_line: int, k: int) -> HistoryAnswer:
    """Return the commits that changed some lines of a file, or with line 0 the whole of it."""
    read = read_file(session, path)
    if line:
        check_file_line(read, path, line)
    inside = read.place.inside
    with _turn():
        found, complete = _changes(read, line, max(end_line, line), k)
    messages = [each.message.partition("\n") for each in found]
    commits = [
        HistoryCommit(each.id, each.author, each.date, subject.strip(), body.strip(), each.patch)
        for each, (subject, _, body) in zip(found, messages, strict=True)
    ]
    return HistoryAnswer(read.place.engine.name, inside, commits, complete, links_to(host_links(read.root), inside))


def _changes(read: ReadFile, line: int, end_line: int, k: int) -> tuple[list[line_history.LineChange], bool]:
    inside = read.place.inside
    now = line_history.head_lines(read.root, inside, read.text or "")
    if not now.exists:
        return [], True
    span = now.span(line, min(end_line, len(lines_of(read.text or "")))) if line else None
    if line and span is None:
        return [], True
    return line_history.changes(read.root, inside, span, k)


class _turn:  # noqa: N801  a context manager
    """Wait for the turn to read a history, for a while."""

    def __enter__(self) -> None:
        if not _running.acquire(timeout=_WAIT_S):
            raise HistoryBusy(f"{_MOST_AT_ONCE} histories are being read already; ask again in a moment")

    def __exit__(self, *_: object) -> None:
        _running.release()


_CHANGED = 12
"""Changed lines of a commit that are shown of a unit."""
_REASON = 12
"""Lines of its message's body: without a question none of them is known to be the wanted one."""


@answer_type
class LogAnswer:
    """Commits, best first, or without a question the newest."""

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
    commits, inside = [], found.path
    for each in found.commits:
        lines, why = _changed_lines(each.patch), reason_of(each.body, most=_REASON)
        about = (each.id, each.date, each.author, each.subject, each.body)
        commits.append(FoundCommit(*about, 1.0, (inside,), inside, lines, why))
    return LogAnswer(found.root, _fitting(commits, page), bool(commits), len(commits))


def _changed_lines(patch: str) -> tuple[str, ...]:
    """Return the changed lines of a unified diff, the first of many."""
    rows = [row for row in patch.splitlines() if row[:1] in {"+", "-"} and row[:4] not in {"+++ ", "--- "}]
    more = (f"… {len(rows) - _CHANGED} more",) if len(rows) > _CHANGED else ()
    return (*rows[:_CHANGED], *more)


def _fitting(commits: Sequence[FoundCommit], page: Page) -> list[FoundCommit]:
    """Return as many commits as the budget of a page holds; of the first, as much of its message."""
    left, is_one = page.budget - OVERHEAD, len(commits) == 1
    shown = fitting(commits, left, lambda commit: _cost(commit, page, whole=is_one))
    return shown or [_shorten_body(commit, left, page) for commit in commits[:1]]


def _cost(commit: FoundCommit, page: Page, *, whole: bool) -> int:
    return tokens(commit_text(commit, whole=whole)) if page.is_text else cost(commit)


def _shorten_body(commit: FoundCommit, left: int, page: Page) -> FoundCommit:
    """Return a commit with as many lines of its body as fit, and then without those of its change."""
    body = commit.body.splitlines()

    def first(count: int) -> FoundCommit:
        return replace(commit, body="\n".join(body[:count]), lines=())

    return first(most_fitting(len(body), left, lambda count: _cost(first(count), page, whole=True)))
