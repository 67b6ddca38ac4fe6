"""Index the commits of a repository, so that a question finds what changed, when and by whom.

A message says why, in prose, and a change says what, in code, so that each is ranked beside its like. The path of a
chunk is the commit's id, and below it the file's; author and date stand where other chunks have their parents and
signature, so that nothing but chunks has to be stored.

Stored as an index of files is, a commit being a file whose text never changes; it is made when somebody first asks
about the history, and not before.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

import numpy as np

from assay.corpus.git_history import Commit, commit_ids, commits_of, cut_off
from assay.corpus.languages import language_of
from assay.corpus.patches import FileChange, Hunk
from assay.encode.view import chunk_vectors
from assay.errors import DamagedIndex, InputError, StorageError
from assay.protocols import Encoder, Progress
from assay.search.filters import Mask
from assay.search.index_changes import Build, identity, mismatch
from assay.search.path_filters import keeping
from assay.store.catalog import DIGEST_BYTES, FileRecord
from assay.store.folder import IndexFolder, Version
from assay.store.segment import Segment, build, write_segment
from assay.store.snapshot import Snapshot
from assay.store.vectors import quantised
from assay.values import Chunk

MOST_FILES = 30
"""Changed files of a commit whose changes are read; all are named."""
_MOST_NAMED = 200
_LONGEST_MESSAGE = 4000
_LONGEST_CHANGE = 3000
"""Characters of what a commit changed in a file."""
_FILES = "\x1e"
"""What stands between a message and the files, and in no message that somebody typed."""
_DECLARED = re.compile(
    r"\b(?:def|class|func|fn|function|impl|struct|enum|trait|interface|type|module|sub)\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w*)"
)
_CALLED = re.compile(r"([A-Za-z_]\w*)\s*\(")


def commit_chunks(commit: Commit) -> Iterator[Chunk]:
    """Yield the chunks of a commit, its message first."""
    paths = [change.after or change.before for change in commit.changes]
    message = commit.message[:_LONGEST_MESSAGE]
    text, lines = "\n".join((message, _FILES, *paths[:_MOST_NAMED])), (1, 1 + message.count("\n"))
    subject, body = commit.subject[:200], commit.body[:_LONGEST_MESSAGE]
    yield _chunk(commit, commit.id, text, "text", lines, symbol=subject, kind="section", doc=body)
    for change, path in list(zip(commit.changes, paths, strict=True))[:MOST_FILES]:
        if change.hunks and not change.binary:
            yield _change_chunk(commit, change, f"{commit.id}/{path}")


def changed_files(message: Chunk) -> tuple[str, ...]:
    """Return the files that the commit of a message changed, the first two hundred."""
    return tuple(filter(None, message.text.rpartition(_FILES)[2].split("\n")))


def _change_chunk(commit: Commit, change: FileChange, path: str) -> Chunk:
    first = change.hunks[0].start
    text = "\n".join(_lines(change))[:_LONGEST_CHANGE]
    names = dict.fromkeys(name for hunk in change.hunks for name in _names(hunk))
    symbol, doc = ", ".join(list(names)[:8]), commit.subject[:200]
    return _chunk(commit, path, text, language_of(path), (first, first), symbol=symbol, kind="block", doc=doc)


def _chunk(commit: Commit, path: str, text: str, language: str, lines: tuple[int, int], **about: str) -> Chunk:
    """Return a chunk of a commit: author and date stand where others have parents and signature."""
    author, (first, last) = commit.author[:200], lines
    return Chunk(path, text, language, path, first, last, parent=author, signature=commit.written, **about)


def _lines(change: FileChange) -> Iterator[str]:
    for hunk in change.hunks:
        if hunk.context:
            yield f"@ {hunk.context}"
        yield from (f"- {line}" for line in hunk.removed if line)
        yield from (f"+ {line}" for line in hunk.new if line)


def _names(hunk: Hunk) -> Iterator[str]:
    """Yield the names that a change declares, and that of what it stands in."""
    found = _DECLARED.search(hunk.context) or _CALLED.search(hunk.context)
    if found:
        yield found[1]
    for line in (*hunk.removed, *hunk.new):
        if declared := _DECLARED.search(line):
            yield declared[1]


_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2})?)?")


@dataclass(frozen=True, slots=True)
class CommitFilter:
    """Which commits to look among."""

    author: str = ""
    """A part of the name or the address, in any letter case."""
    since: str = ""
    """The first day, month or year to keep, as `2024-05-01`, `2024-05` or `2024`."""
    until: str = ""
    """The last one, which is kept, too."""
    paths: tuple[str, ...] = ()
    """Globs of changed files; one that starts with `!` leaves out."""

    def __post_init__(self) -> None:
        """Refuse a date that is none."""
        for date in (self.since, self.until):
            if date and not _DATE.fullmatch(date):
                raise InputError(f"'{date}' is not a date: give YYYY-MM-DD, YYYY-MM or YYYY")

    def keep_in(self, snapshot: Snapshot) -> Snapshot:
        """Return the same commits with only those alive that are meant; of their changes, those of kept files."""
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


MOST_COMMITS = 20_000
"""The newest commits that are indexed."""
_FORM = "commits 4"
_BATCH = 500
"""Commits whose chunks are held at once; each batch is there for good, whatever ends the next."""


class HistoryIndex:
    """The index of the commits of one repository, or of those that touch one of its folders."""

    def __init__(self, root: Path, location: Path, encoder: Encoder, how: Build = Build()) -> None:  # noqa: B008  frozen
        self.root, self.encoder = root, encoder
        self.folder = IndexFolder(location, root=str(root))
        self._how = how
        made = identity(encoder, how)
        self._identity = replace(made, settings=f"{made.settings}, {_FORM}")
        self._held: tuple[str, Snapshot] | None = None

    def snapshot(self, progress: Progress | None = None) -> Snapshot:
        """Return all commits, the newest included; raise InputError where there is no repository or no commit."""
        ids = commit_ids(self.root, MOST_COMMITS)
        last = self._usable()
        if last is None or last.manifest.rules != _state(ids):
            with self.folder.writing():
                last = self._usable()
                if last is None or last.manifest.rules != _state(ids):
                    self._update(last, ids, progress)
            last = self.folder.open()
        if last is None:
            raise StorageError(f"the index of the history in {self.folder.location} was removed; try again")
        if self._held is None or self._held[0] != last.manifest.catalog:
            self._held = last.manifest.catalog, last.snapshot()
        return self._held[1]

    def check(self) -> str:
        """Read every byte; return what is damaged, or nothing."""
        try:
            self.folder.check()
        except DamagedIndex as damage:
            return str(damage)
        return ""

    def _usable(self) -> Version | None:
        try:
            version = self.folder.open()
        except DamagedIndex:
            return None
        return None if version is None or mismatch(version.manifest.identity, self._identity) else version

    def _update(self, last: Version | None, ids: list[str], progress: Progress | None) -> None:
        """Write the version that has these commits, of which those that the last one has stay as they are."""
        known = {record.path: record for record in last.catalog.records()} if last else {}
        wanted = set(ids)
        kept = {path: record for path, record in known.items() if _id(path) in wanted}
        there = {_id(path) for path in kept}
        missing = [id_ for id_ in ids if id_ not in there]
        records, dead, rootless = list(kept.values()), set(known) - set(kept), cut_off(self.root)
        batches = [missing[at : at + _BATCH] for at in range(0, len(missing), _BATCH)] or [[]]
        for number, batch in enumerate(batches, 1):
            commits = commits_of(self.root, batch) if batch else ()
            shown = (replace(each, changes=()) if each.id in rootless else each for each in commits)
            chunks, fresh = [chunk for each in shown for chunk in commit_chunks(each)], list[Path]()
            if chunks:
                fresh.append(self.folder.new_path())
                vectors = chunk_vectors(self.encoder, chunks, self._how.reads)
                write_segment(fresh[0], build(chunks, quantised(vectors, self._how.quantisation)))
            records += map(_record, chunks)
            state = _state(ids) if number == len(batches) else ""
            self.folder.save(last, self._identity, state, time.time_ns(), records, dead=dead, fresh=fresh)
            last, dead = self.folder.open(), set()
            if progress:
                progress("commits", min(number * _BATCH, len(missing)), len(missing))


def _id(path: str) -> str:
    return path.partition("/")[0]


def _state(ids: list[str]) -> str:
    """Return what an index of these commits was made of, in a few characters."""
    return blake2b("".join(ids).encode(), digest_size=DIGEST_BYTES).hexdigest()


def _record(chunk: Chunk) -> FileRecord:
    digest = blake2b(chunk.path.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
    return FileRecord(chunk.path, len(chunk.text), 0, 0, 0, digest, 1)
