"""Index the commits of a repository, so that a question finds what changed, when and by whom.

A message says why, in prose, and a change says what, in code, so that each is ranked beside its like. The path of a
chunk is the commit's id, and below it the file's; author and date stand where other chunks have their parents and
signature, so that nothing but chunks has to be stored.

It is made when somebody first asks about the history, and not before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from assay.corpus.changed_units import declared_name, head_name
from assay.corpus.git_history import Commit, commits_of, cut_off
from assay.corpus.languages import language_of
from assay.corpus.patches import FileChange, Hunk
from assay.errors import InputError
from assay.search.commit_index import CommitForm, LinkedChunk
from assay.search.filters import Mask
from assay.search.path_filters import keeping
from assay.store.segment import Segment
from assay.store.snapshot import Snapshot
from assay.values import Chunk

MAX_FILES = 30
"""Changed files per commit whose changes are read; all of them are named."""
_MAX_NAMED_FILES = 200
_MAX_MESSAGE_CHARS = 4000
_MAX_CHANGE_CHARS = 3000
"""Characters of what a commit changed in a file."""
_FILES = "\x1e"
"""Separates a message from the files; no typed message contains it."""


def commit_chunks(commit: Commit) -> Iterator[Chunk]:
    """Yield the chunks of a commit, its message first."""
    paths = [change.after or change.before for change in commit.changes]
    message = commit.message[:_MAX_MESSAGE_CHARS]
    text, lines = "\n".join((message, _FILES, *paths[:_MAX_NAMED_FILES])), (1, 1 + message.count("\n"))
    subject, body = commit.subject[:200], commit.body[:_MAX_MESSAGE_CHARS]
    yield _chunk(commit, commit.id, text, "text", lines, symbol=subject, kind="section", doc=body)
    for change, path in list(zip(commit.changes, paths, strict=True))[:MAX_FILES]:
        if change.hunks and not change.binary:
            yield _change_chunk(commit, change, f"{commit.id}/{path}")


def changed_files(message: Chunk) -> tuple[str, ...]:
    """Return the files that the commit of a message changed, the first two hundred."""
    return tuple(filter(None, message.text.rpartition(_FILES)[2].split("\n")))


def _change_chunk(commit: Commit, change: FileChange, path: str) -> Chunk:
    first = change.hunks[0].start
    text = "\n".join(_lines(change))[:_MAX_CHANGE_CHARS]
    names = dict.fromkeys(name for hunk in change.hunks for name in _names(hunk))
    symbol, doc = ", ".join(list(names)[:8]), commit.subject[:200]
    return _chunk(commit, path, text, language_of(path), (first, first), symbol=symbol, kind="block", doc=doc)


def _chunk(commit: Commit, path: str, text: str, language: str, lines: tuple[int, int], **about: str) -> Chunk:
    """Return a chunk of a commit: author and date are in the fields for parents and signature."""
    author, (first, last) = commit.author[:200], lines
    return Chunk(path, text, language, path, first, last, parent=author, signature=commit.written, **about)


def _lines(change: FileChange) -> Iterator[str]:
    for hunk in change.hunks:
        if hunk.context:
            yield f"@ {hunk.context}"
        yield from (f"- {line}" for line in hunk.removed if line)
        yield from (f"+ {line}" for line in hunk.new if line)


def _names(hunk: Hunk) -> Iterator[str]:
    """Yield the names that a change declares, and the name of what encloses it."""
    yield from filter(None, (head_name(hunk.context), *map(declared_name, (*hunk.removed, *hunk.new))))


_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


@dataclass(frozen=True, slots=True)
class CommitFilter:
    """Filters of commits."""

    author: str = ""
    """A part of the author's name or address, in any letter case."""
    since: str = ""
    """The first day, month or year to keep, as `2024-05-01`, `2024-05` or `2024`."""
    until: str = ""
    """The last one to keep."""
    paths: tuple[str, ...] = ()
    """Globs of changed files; one that starts with `!` excludes."""

    def __post_init__(self) -> None:
        """Refuse a text that is not a date."""
        for date in (self.since, self.until):
            if date and not _DATE.fullmatch(date):
                raise InputError(f"'{date}' is not a date: give YYYY-MM-DD, YYYY-MM or YYYY")

    def keep_in(self, snapshot: Snapshot) -> Snapshot:
        """Return the same commits with only the matching ones alive; of their changes, those of matching files."""
        if self == CommitFilter():
            return snapshot
        parts = [(segment, self._mask(segment, live)) for segment, live in snapshot.parts]
        return Snapshot(parts, snapshot.places)

    def _mask(self, segment: Segment, live: Mask | None) -> Mask:
        wanted = self.author.casefold()
        pairs = zip(segment.parents.all(), segment.signatures.all(), strict=True)
        mask = np.array([wanted in author.casefold() and self._is_then(date) for author, date in pairs], dtype=bool)
        mask = mask if live is None else mask & live
        if self.paths:
            passes = keeping(self.paths)
            for number in np.flatnonzero(mask).tolist():
                mask[number] = any(map(passes, _files_of(segment, number)))
        return mask

    def _is_then(self, date: str) -> bool:
        return date >= self.since and (not self.until or date[: len(self.until)] <= self.until)


def _files_of(segment: Segment, number: int) -> Sequence[str]:
    """Return the file of a change, or all files of a message."""
    file = segment.ids[number].partition("/")[2]
    return [file] if file else changed_files(segment.chunks([number])[0])


def _whole(root: Path, ids: Sequence[str]) -> Iterator[LinkedChunk]:
    """Yield the chunks of some commits; of the first commit of a shallow clone, the message alone."""
    rootless = cut_off(root)
    for commit in commits_of(root, ids):
        yield from map(LinkedChunk, commit_chunks(replace(commit, changes=()) if commit.id in rootless else commit))


WHOLE_COMMITS = CommitForm("commits 4", _whole)
"""Messages and changes, to be searched for."""
