"""Answer questions about the past: which commits changed lines, who wrote each line, and commits by meaning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from threading import BoundedSemaphore

from assay.corpus import line_history
from assay.corpus.blocks import lines_of
from assay.corpus.line_history import BlamedLines, LineCommit
from assay.corpus.remotes import host_links
from assay.errors import AssayError, InputError
from assay.operations.commits import LogAnswer, reason_of
from assay.operations.files import FileLinks, ReadFile, check_file_line, links_to, read_file
from assay.operations.found_commit import FoundCommit, commit_text, commits_text
from assay.operations.hits import answer_type, as_text
from assay.operations.read import span_of
from assay.operations.requests import MAX_CHANGES, Blame, LineHistory, Log, LogKeep
from assay.operations.roots import Place, Roots
from assay.operations.sizing import OVERHEAD, cost, fitting, most_fitting
from assay.search.display import worth_showing
from assay.search.history import CommitFilter
from assay.terms import tokens

_MAX_CONCURRENT = 3
"""Histories that are read at a time: each takes a process that may compute for seconds."""
_WAIT_S = 5.0
_running = BoundedSemaphore(_MAX_CONCURRENT)


class HistoryBusy(AssayError):
    """Too many histories are being read."""


@answer_type
class BlameAnswer:
    """The commits that wrote lines of a file."""

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
    """How it changed the lines, as a unified diff; a long one is cut."""


@answer_type
class HistoryAnswer:
    """The history of lines of a file, newest first."""

    root: str
    path: str
    commits: list[HistoryCommit]
    complete: bool
    """False: there are older commits, or the search for them took too long."""
    links: FileLinks
    """Where a code host shows the file and its commits."""


def blame(request: Blame, roots: Roots) -> BlameAnswer:
    """Return which commits wrote some lines of a file, from one line on."""
    read = read_file(roots, request.path)
    check_file_line(read, request.path, request.line)
    inside, last = read.place.inside, request.line + request.count - 1
    with _reading_slot():
        now = line_history.head_lines(read.root, inside, read.text or "")
        spans, commits = line_history.blame_lines(read.root, inside, now, request.line, last)
    return BlameAnswer(read.place.reader.name, inside, spans, commits, links_to(host_links(read.root), inside))


def history(request: LineHistory, roots: Roots) -> HistoryAnswer:
    """Return the commits that changed some lines of a file, or with line 0 the whole of it."""
    read, line = read_file(roots, request.path), request.line
    if line:
        check_file_line(read, request.path, line)
    inside = read.place.inside
    with _reading_slot():
        found, complete = _changes(read, line, max(request.end_line, line), request.limit)
    commits = []
    for each in found:
        subject, _, body = each.message.partition("\n")
        commits.append(HistoryCommit(each.id, each.author, each.date, subject.strip(), body.strip(), each.patch))
    return HistoryAnswer(read.place.reader.name, inside, commits, complete, links_to(host_links(read.root), inside))


def _changes(file: ReadFile, line: int, end_line: int, k: int) -> tuple[list[line_history.LineChange], bool]:
    inside = file.place.inside
    now = line_history.head_lines(file.root, inside, file.text or "")
    if not now.exists:
        return [], True
    span = now.span(line, min(end_line, len(lines_of(file.text or "")))) if line else None
    if line and span is None:
        return [], True
    return line_history.changes(file.root, inside, span, k)


@contextmanager
def _reading_slot() -> Iterator[None]:
    """Hold one of the slots for reading a history; wait for it for a while."""
    if not _running.acquire(timeout=_WAIT_S):
        raise HistoryBusy(f"{_MAX_CONCURRENT} histories are being read already; ask again in a moment")
    try:
        yield
    finally:
        _running.release()


_CHANGED = 12
"""Changed lines of a commit that are shown of a unit."""
_REASON = 12
"""Lines of a message's body without a question, which would say which ones matter."""


def log(request: Log, roots: Roots, *, is_text: bool = False) -> LogAnswer:
    """Return the commits that answer a question, of one repository or of all roots, the best or newest first.

    A path below a root keeps those that changed something there.
    """
    if request.line:
        if request.query or request.keep != LogKeep():
            raise InputError("line selects the commits: leave out query, author, since, until and file")
        return _unit_log(request, roots, is_text=is_text)
    if request.path or not roots.are_several:
        place = roots.place(request.path)
        found = replace(_commits(request, place), root=place.reader.name)
    else:
        each = {place.reader.name: _commits(request, place) for place in map(roots.place, map(str, roots.roots))}
        every = [replace(commit, root=name) for name, one in each.items() for commit in one.commits]
        key = _newest if not request.query.strip() else lambda commit: -commit.score
        best = sorted(every, key=key)[: request.limit]
        found = LogAnswer("", best, bool(best), sum(one.indexed for one in each.values()))
    likely = worth_showing([commit.score for commit in found.commits]) if is_text and request.query.strip() else None
    return replace(found, commits=_fitting(found.commits[:likely], request.budget, is_text=is_text))


def _commits(request: Log, place: Place) -> LogAnswer:
    keep = request.keep
    wanted = CommitFilter(keep.author, keep.since, keep.until, place.globs(keep.file))
    return place.reader.history.search(request.query, wanted, request.limit)


def _newest(commit: FoundCommit) -> float:
    return -datetime.fromisoformat(commit.date).timestamp()


def _unit_log(request: Log, roots: Roots, *, is_text: bool = False) -> LogAnswer:
    """Return the commits that changed the unit around a line, newest first, each with its changes there."""
    path, line = request.path, request.line
    file = read_file(roots, path)
    check_file_line(file, path, line)
    text = file.text or ""
    span = span_of(file.place.inside, text, line)
    line_request = LineHistory(path=path, line=span.first, end_line=span.last, limit=min(request.limit, MAX_CHANGES))
    found = history(line_request, roots)
    commits, inside = [], found.path
    for each in found.commits:
        lines, why = _changed_lines(each.patch), reason_of(each.body, most=_REASON)
        about = (each.id, each.date, each.author, each.subject, each.body)
        commits.append(FoundCommit(*about, 1.0, (inside,), inside, lines, why))
    return LogAnswer(found.root, _fitting(commits, request.budget, is_text=is_text), bool(commits), len(commits))


def _changed_lines(patch: str) -> tuple[str, ...]:
    """Return the changed lines of a unified diff, at most a limit of them."""
    rows = [row for row in patch.splitlines() if row[:1] in {"+", "-"} and row[:4] not in {"+++ ", "--- "}]
    more = (f"… {len(rows) - _CHANGED} more",) if len(rows) > _CHANGED else ()
    return (*rows[:_CHANGED], *more)


def _fitting(commits: Sequence[FoundCommit], budget: int, *, is_text: bool) -> list[FoundCommit]:
    """Return as many commits as a budget holds; of the first, as much of its message as fits."""
    left, is_one = budget - OVERHEAD, len(commits) == 1
    shown = fitting(commits, left, lambda commit: _cost(commit, is_text=is_text, whole=is_one))
    return shown or [_shorten_body(commit, left, is_text=is_text) for commit in commits[:1]]


def _cost(commit: FoundCommit, *, is_text: bool, whole: bool) -> int:
    return tokens(commit_text(commit, whole=whole)) if is_text else cost(commit)


def _shorten_body(commit: FoundCommit, budget: int, *, is_text: bool) -> FoundCommit:
    """Return a commit with as many lines of its body as fit, and without those of its change."""
    body = commit.body.splitlines()

    def first(count: int) -> FoundCommit:
        return replace(commit, body="\n".join(body[:count]), lines=())

    return first(most_fitting(len(body), budget, lambda count: _cost(first(count), is_text=is_text, whole=True)))


@as_text.register
def _(answer: LogAnswer) -> str:
    if not answer.commits:
        return f"no commit found, of {answer.indexed}"
    return commits_text(answer.commits).rstrip("\n")
