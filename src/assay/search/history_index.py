"""The commits of a repository in, an index of them out, which a new commit adds to.

Stored as an index of files is, a commit being a file whose text never changes; it is made when somebody first asks
about the history, and not before.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from assay.corpus.git_history import Commit, commit_ids, commits_of, cut_off
from assay.encode.view import chunk_vectors
from assay.errors import DamagedIndex, StorageError
from assay.protocols import Encoder, Progress
from assay.search.commit_chunks import commit_chunks
from assay.search.index_identity import Build, identity, mismatch
from assay.store.catalog import DIGEST_BYTES, FileRecord, IndexChange
from assay.store.folder import IndexFolder, Version
from assay.store.segment import build, write_segment
from assay.store.snapshot import Snapshot
from assay.store.vectors import quantised
from assay.types import Chunk

MOST_COMMITS = 20_000
"""The newest commits that are indexed."""
_FORM = "commits 4"
_BATCH = 500
"""Commits whose chunks are held at once; each batch is there for good, whatever ends the next."""


class HistoryIndex:
    """The index of the commits of one repository, or of those that touch one of its folders."""

    def __init__(self, root: Path, location: Path, encoder: Encoder, how: Build = Build()) -> None:  # noqa: B008  frozen
        self.root, self.encoder = root, encoder
        self.folder = IndexFolder(location)
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
            path = self.folder.new_path()
            chunks = (
                [chunk for commit in commits_of(self.root, batch) for chunk in _chunks(commit, rootless)]
                if batch
                else []
            )
            if chunks:
                vectors = chunk_vectors(self.encoder, chunks, self._how.reads)
                write_segment(path, build(chunks, quantised(vectors, self._how.quantisation)))
            records += map(_record, chunks)
            state = _state(ids) if number == len(batches) else ""
            fresh = [path] if chunks else []
            self.folder.save(last, IndexChange(self._identity, state, time.time_ns(), records, dead, fresh))
            last, dead = self.folder.open(), set()
            if progress:
                progress("commits", min(number * _BATCH, len(missing)), len(missing))


def _chunks(commit: Commit, rootless: Collection[str]) -> Iterator[Chunk]:
    return commit_chunks(replace(commit, changes=()) if commit.id in rootless else commit)


def _id(path: str) -> str:
    return path.partition("/")[0]


def _state(ids: list[str]) -> str:
    """Return what an index of these commits was made of, in a few characters."""
    return blake2b("".join(ids).encode(), digest_size=DIGEST_BYTES).hexdigest()


def _record(chunk: Chunk) -> FileRecord:
    digest = blake2b(chunk.path.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
    return FileRecord(chunk.path, len(chunk.text), 0, 0, 0, digest, 1)
