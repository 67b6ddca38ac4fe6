"""What may be asked of lines of a file: which commits wrote them, and how they came to be; each as a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import ClassVar

from assay.corpus import line_history
from assay.corpus.blocks import lines_of
from assay.corpus.line_history import BlamedLines, LineCommit
from assay.corpus.remotes import host_links
from assay.errors import AssayError
from assay.serve.file_views import MOST_LINES, FileLinks, ReadFile, check_file_line, links_to, read_file
from assay.serve.session import Session

MOST_CHANGES = 50
_MOST_AT_ONCE = 3
"""Reading history takes a process that may compute for seconds: others wait."""
_WAIT_S = 5.0
_DESCRIBED = {"use_attribute_docstrings": True}
_running = BoundedSemaphore(_MOST_AT_ONCE)


class HistoryBusy(AssayError):
    """Too many histories are being read."""


@dataclass(frozen=True, slots=True)
class BlameAnswer:
    """Which commits wrote lines of a file."""

    __pydantic_config__: ClassVar[Mapping[str, bool]] = _DESCRIBED

    root: str
    path: str
    spans: list[BlamedLines]
    """In order; a commit is empty where the lines differ from HEAD."""
    commits: list[LineCommit]
    links: FileLinks
    """Where a code host shows the file and its commits."""


@dataclass(frozen=True, slots=True)
class HistoryCommit:
    """A commit that changed lines of a file."""

    __pydantic_config__: ClassVar[Mapping[str, bool]] = _DESCRIBED

    id: str
    author: str
    date: str
    """When it was written, in ISO 8601."""
    subject: str
    body: str
    patch: str
    """What it changed of the lines, as a unified diff; the end of a long one is left out."""


@dataclass(frozen=True, slots=True)
class HistoryAnswer:
    """How lines of a file came to be, newest first."""

    __pydantic_config__: ClassVar[Mapping[str, bool]] = _DESCRIBED

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
    commits = [_history_commit(each) for each in found]
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


def _history_commit(change: line_history.LineChange) -> HistoryCommit:
    subject, _, body = change.message.partition("\n")
    return HistoryCommit(change.id, change.author, change.date, subject.strip(), body.strip(), change.patch)


class _turn:  # noqa: N801  a context manager
    """Wait for the turn to read a history, for a while."""

    def __enter__(self) -> None:
        if not _running.acquire(timeout=_WAIT_S):
            raise HistoryBusy(f"{_MOST_AT_ONCE} histories are being read already; ask again in a moment")

    def __exit__(self, *_: object) -> None:
        _running.release()
