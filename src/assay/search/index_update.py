"""What the files are and what an index held in, what its next version differs by out.

A file's text is indexed once: under the first of the paths that hold it. Which path that is depends on the files
alone and not on how they came to be, so that an updated index is equal to a fresh one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from assay.corpus.walked_files import FileEntry, Walk
from assay.protocols import Encoder, Progress
from assay.search.index_build import FILE_BYTES, Describe, Text, build_all
from assay.search.index_changes import Sifted, sift
from assay.search.index_identity import Build
from assay.search.index_read import read_file
from assay.store.catalog import NO_DIGEST, FileRecord

SMALLEST_COPY_BYTES = 400
"""Below, equal files are chance: empty `__init__.py`, one-line re-exports."""


@dataclass(slots=True)
class Update:
    """One update of one index; holds what is known so far of each file."""

    root: Path
    encoder: Encoder
    build: Build
    new_path: Callable[[], Path]
    progress: Progress | None = None
    describe: Describe = list
    records: dict[str, FileRecord] = field(default_factory=dict)
    indexed: set[str] = field(default_factory=set)
    """Paths whose text, as it is now, is in a segment."""
    fresh: list[Path] = field(default_factory=list)
    """The segments written by this update."""

    def run(
        self, found: Walk, before: Mapping[str, FileRecord], trusted_ns: int, *, again: Collection[str] = ()
    ) -> set[str]:
        """Write what is new as segments; return the paths whose former chunks are no more.

        The files of `again` are indexed again, though they did not change.
        """
        keep = {path: record for path, record in before.items() if path not in again} if again else before
        todo = sift(found, keep, trusted_ns)
        self._keep(todo.same)
        self._build(self._first_texts(todo), todo.read)
        self._build(self._promoted(), ())
        self._settle()
        kept = {path for path in self.indexed & keep.keys() if keep[path].digest == self.records[path].digest}
        return {path for path, record in before.items() if record.indexed} - kept

    def _keep(self, same: Iterable[FileRecord]) -> None:
        for record in same:
            self.records[record.path] = record
            if record.indexed:
                self.indexed.add(record.path)

    def _first_texts(self, todo: Sifted) -> Iterator[Text]:
        """Read what may have changed; yield the texts that no earlier path holds."""
        first = _firsts(self.records.values())
        for file in todo.read:
            text, record = read_file(self.root, file)
            self.records[file.path] = record
            if text is None:
                continue
            known = todo.known.get(file.path)
            if known is not None and known.indexed and known.digest == record.digest:
                self.records[file.path] = replace(record, chunks=known.chunks, note=known.note)
                self.indexed.add(file.path)
            elif not _may_repeat(record) or file.path <= first.get(record.digest, file.path):
                yield Text(file.path, text)
            _claim(first, record)

    def _promoted(self) -> Iterator[Text]:
        """Yield texts whose first path is none of those indexed: it was a copy of one that is gone."""
        for path in sorted(set(_firsts(self.records.values()).values()) - self.indexed):
            old = self.records[path]
            entry = FileEntry(path, old.size, old.mtime_ns, old.ctime_ns, old.inode)
            text, self.records[path] = read_file(self.root, entry)
            if text is not None:
                yield Text(path, text)

    def _settle(self) -> None:
        """Record every later path of a text as a copy of the first."""
        first = _firsts(self.records.values())
        for path, record in self.records.items():
            if _may_repeat(record) and (holder := first[record.digest]) != path:
                self.indexed.discard(path)
                self.records[path] = replace(record, chunks=0, note="", skipped=f"a copy of {holder}")

    def _build(self, texts: Iterable[Text], files: Sequence[FileEntry]) -> None:
        """Write texts as segments and note what came of each file."""
        total = sum(file.size + FILE_BYTES for file in files)
        done = 0
        for built in build_all(texts, self.encoder, self.build, self.new_path, total, describe=self.describe):
            for path, chunks in built.chunks.items():
                self.records[path] = replace(self.records[path], chunks=chunks, note=built.notes.get(path, ""))
            self.indexed.update(built.chunks)
            if any(built.chunks.values()):
                self.fresh.append(built.target)
            done += len(built.chunks)
            if self.progress:
                self.progress("index", done, max(done, len(files)))


def _firsts(records: Iterable[FileRecord]) -> dict[bytes, str]:
    """Return the first path of each text that is long enough to have copies."""
    first: dict[bytes, str] = {}
    for record in records:
        _claim(first, record)
    return first


def _may_repeat(record: FileRecord) -> bool:
    return record.size >= SMALLEST_COPY_BYTES and record.digest != NO_DIGEST


def _claim(first: dict[bytes, str], record: FileRecord) -> None:
    if _may_repeat(record):
        holder = first.get(record.digest)
        if holder is None or record.path < holder:
            first[record.digest] = record.path
