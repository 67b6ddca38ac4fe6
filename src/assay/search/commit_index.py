"""Keep an index of the newest commits of a repository, each stored as a file that never changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from assay import __version__
from assay.corpus.git_history import commit_ids, history_state
from assay.encode.view import chunk_vectors
from assay.errors import DamagedIndex, StorageError
from assay.io.digest import digest
from assay.protocols import Encoder, Progress
from assay.search.index_changes import Build, identity, mismatch
from assay.store.catalog import DIGEST_BYTES, NO_DIGEST, FileRecord, Identity
from assay.store.folder import IndexFolder, Version
from assay.store.segment import build, write_segment
from assay.store.snapshot import Snapshot
from assay.store.vectors import quantised
from assay.values import Chunk

MAX_COMMITS = 20_000
"""The newest commits that are indexed."""
_BATCH = 500
"""Commits whose chunks are in memory at a time; a batch that is written stays, even if the next is interrupted."""


class LinkedChunk(NamedTuple):
    """A chunk of a commit, and the link terms under which it is found beside its words."""

    chunk: Chunk
    links: Sequence[str] = ()


def _id(path: str) -> str:
    return path.partition("/")[0]


@dataclass(frozen=True, slots=True)
class CommitForm:
    """How an index represents each commit."""

    name: str
    """A name that no other form has, nor another version of this one."""
    chunks: Callable[[Path, Sequence[str]], Iterator[LinkedChunk]]
    """Returns the chunks of some commits of a repository, by their keys."""
    keys: Callable[[Sequence[str]], list[str]] = list
    """Returns the keys of commits, newest first: their ids, if what is stored of a commit is the same at any age."""
    key_of: Callable[[str], str] = _id
    """Returns the key of the commit that the path of a chunk begins with."""
    most: int = MAX_COMMITS
    """The newest commits that are held."""

    def in_memory(self, root: Path, until: str = "HEAD") -> Snapshot:
        """Index the newest commits of a repository in memory, without vectors, for a corpus that is used once."""
        found = list(self.chunks(root, self.keys(commit_ids(root, self.most, until=until))))
        chunks, links = [one.chunk for one in found], [one.links for one in found]
        return Snapshot.of(chunks, np.zeros((len(chunks), 0), np.float32), links=links)


class CommitIndex:
    """The index of the commits of one repository, or of those that touch one of its folders.

    Without an encoder, it has no vectors, and is searched by words alone.
    """

    def __init__(
        self,
        root: Path,
        location: Path,
        form: CommitForm,
        encoder: Encoder | None = None,
        how: Build = Build(),  # noqa: B008  frozen
    ) -> None:
        self.root, self.encoder = root, encoder
        self.folder = IndexFolder(location, root=str(root))
        self._form, self._how = form, how
        made = identity(encoder, how) if encoder else Identity("", 0, f"assay {__version__}")
        self._identity = replace(made, settings=f"{made.settings}, {form.name}")
        self._cache: tuple[str, Snapshot] | None = None

    def snapshot(self, progress: Progress | None = None) -> Snapshot:
        """Return all commits, the newest included; raise InputError if there is no repository or no commit."""
        state = history_state(self.root)
        last = self._usable()
        if last is None or last.manifest.rules != state:
            with self.folder.writing():
                last = self._usable()
                if last is None or last.manifest.rules != state:
                    self._update(last, state, progress)
            last = self.folder.open()
        if last is None:
            raise StorageError(f"the index of the history in {self.folder.location} was removed; try again")
        if self._cache is None or self._cache[0] != last.manifest.catalog:
            self._cache = last.manifest.catalog, last.snapshot()
        return self._cache[1]

    def last(self) -> Snapshot | None:
        """Return the commits as they were last indexed, without looking for newer ones."""
        last = self._usable()
        return last.snapshot() if last else None

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

    def _update(self, last: Version | None, state: str, progress: Progress | None) -> None:
        """Write a version that has the newest commits; those that the last version has are kept as they are."""
        keys, key_of = self._form.keys(commit_ids(self.root, self._form.most)), self._form.key_of
        known = {record.path: record for record in last.catalog.records()} if last else {}
        wanted = set(keys)
        kept = {path: record for path, record in known.items() if key_of(path) in wanted}
        there = set(map(key_of, kept))
        missing = [key for key in keys if key not in there]
        records, dead = list(kept.values()), set(known) - set(kept)
        batches = [missing[at : at + _BATCH] for at in range(0, len(missing), _BATCH)] or [[]]
        for number, batch in enumerate(batches, 1):
            chunks, fresh = list(self._form.chunks(self.root, batch)) if batch else [], list[Path]()
            if chunks:
                fresh.append(self.folder.new_path())
                self._write(fresh[0], chunks)
            records += (_record(one.chunk) for one in chunks)
            silent = set(batch) - {key_of(one.chunk.path) for one in chunks}
            records += (FileRecord(key, 0, 0, 0, 0, NO_DIGEST, 0) for key in batch if key in silent)
            reached = state if number == len(batches) else ""
            self.folder.save(last, self._identity, reached, time.time_ns(), records, dead=dead, fresh=fresh)
            last, dead = self.folder.open(), set()
            if progress:
                progress("commits", min(number * _BATCH, len(missing)), len(missing))

    def _write(self, target: Path, linked: Sequence[LinkedChunk]) -> None:
        chunks = [one.chunk for one in linked]
        if self.encoder:
            vectors = quantised(chunk_vectors(self.encoder, chunks, self._how.reads), self._how.quantisation)
        else:
            vectors = np.zeros((len(chunks), 0), np.float32)
        write_segment(target, build(chunks, vectors, links=[one.links for one in linked]))


def _record(chunk: Chunk) -> FileRecord:
    return FileRecord(chunk.path, len(chunk.text), 0, 0, 0, digest(chunk.path, DIGEST_BYTES), 1)
