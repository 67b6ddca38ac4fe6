"""Build segments from the files of a folder: find what changed, read it, cut it, encode it, batch by batch.

As in git, a file is not read when size, times and inode are as recorded. Programs can set the time of modification
back, but not that of change. Neither is trusted for a file that changed just before it was recorded: a second change in
the same tick of the clock would not show.

Files whose size, times or inode differ are read: a branch that was switched and switched back is no difference. What is
reported as stale is what the next refresh would report as changed, and it is found by the same comparison.

A file's text is indexed once: under the first of the paths that hold it. Which path that is depends on the files
alone and not on how they came to be, so that an updated index is equal to a fresh one.

A fork copies only the thread that calls it, so a process with more threads works alone; so does one outside Linux,
where a fork and the system's own libraries do not agree. Workers end when the parent does, whatever ended it, so
that none writes to an index after another process has taken it over.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from assay.corpus.call_facts import names_in
from assay.corpus.chunk import parse
from assay.corpus.walked_files import FileEntry, Skipped, Walk, read_as
from assay.encode.view import chunk_vectors
from assay.errors import AssayError
from assay.io.digest import digest
from assay.io.processes import end_with
from assay.protocols import Encoder, Progress, is_quick
from assay.search.index_changes import Build, Differences, SiftedWalk, differences, sift
from assay.store.catalog import DIGEST_BYTES, NO_DIGEST, NOTES_BETWEEN, FileRecord
from assay.store.segment import build, write_segment
from assay.store.vectors import quantised
from assay.values import Chunk

_WORTH_FORKING_BYTES = 200_000  # below, two processes save less than they cost
_MIN_BATCH_BYTES = 100_000
FILE_BYTES = 500  # what a file costs besides its text, in bytes of text


Describe = Callable[[Sequence[Chunk]], list[Chunk]]
"""Adds known descriptions to chunks; called in the process that encodes them."""


Text = tuple[str, str]
"""The path of a file that was read, and its text."""
SegmentBatch = tuple[Sequence[Text], Path]
"""Files that become one segment, and the path of that segment."""


@dataclass(frozen=True, slots=True)
class Built:
    """A batch that was written, or nothing if it held no chunk."""

    target: Path
    chunks: dict[str, int]
    """How many chunks each file has."""
    notes: dict[str, str]


def _batches(texts: Iterable[Text], size: int, new_path: Callable[[], Path]) -> Iterator[SegmentBatch]:
    batch: list[Text] = []
    held = 0
    for text in texts:
        batch.append(text)
        held += len(text[1]) + FILE_BYTES
        if held >= size:
            yield batch, new_path()
            batch, held = [], 0
    if batch:
        yield batch, new_path()


def _built(batch: SegmentBatch, encoder: Encoder, how: Build, describe: Describe) -> Built:
    chunks: list[Chunk] = []
    facts: list[str] = []
    counts, notes = {}, {}
    texts, target = batch
    for path, text in texts:
        parsed = parse(path, text, how.sizes, linked=True)
        counts[path] = len(parsed.chunks)
        if parsed.note:
            notes[path] = parsed.note
        chunks.extend(parsed.chunks)
        facts.extend(parsed.facts or [""] * len(parsed.chunks))
    chunks = describe(chunks)
    if chunks:
        vectors = chunk_vectors(encoder, chunks, how.reads)
        links = [list(names_in(each)) if each else [] for each in facts]
        write_segment(target, build(chunks, quantised(vectors, how.quantisation), facts, links))
    return Built(target, counts, notes)


GUESSED = "decoded by guess"
"""How the note on a file begins that does not declare its encoding."""


def read_file(root: Path, file: FileEntry, usual: str = "") -> tuple[str | None, FileRecord]:
    """Return the text of a file, or None if it has none, and its record; for `usual` see `read_text`."""
    found = read_as(root, file, usual=usual)
    if isinstance(found, Skipped):
        return None, _record(file, skipped=found.reason)
    note = f"{GUESSED} as {found.encoding}" if found.guessed else ""
    return found.text, replace(_record(file, _digest(file.path, found.text)), note=note)


def _joined(decoding: str, cutting: str) -> str:
    """Join the notes on a file: how it was decoded, and how it was cut."""
    notes = (each for each in cutting.split(NOTES_BETWEEN) if not each.startswith(GUESSED))
    return NOTES_BETWEEN.join(filter(None, (decoding, *notes)))


def stale(root: Path, walked: Walk, before: Mapping[str, FileRecord], checked_ns: int, usual: str = "") -> Differences:
    """Return how the files of a walk differ from those recorded; only files that may differ are read."""
    sifted = sift(walked, before, checked_ns)
    after = {record.path: record for record in sifted.same}
    after.update((file.path, read_file(root, file, usual)[1]) for file in sifted.to_read)
    return differences(before, after)


def is_stale(root: Path, walked: Walk, before: Mapping[str, FileRecord], checked_ns: int, usual: str = "") -> bool:
    """Return whether any file of a walk differs from what is recorded; stops at the first."""
    if any(before[path].digest != NO_DIGEST for path in before.keys() - {file.path for file in walked.files}):
        return True
    sifted = sift(walked, before, checked_ns)
    known = {path: record.digest for path, record in sifted.records.items()}
    return any(read_file(root, file, usual)[1].digest != known.get(file.path, NO_DIGEST) for file in sifted.to_read)


def _record(file: FileEntry, digest: bytes = NO_DIGEST, skipped: str = "") -> FileRecord:
    return FileRecord(file.path, file.size, file.mtime_ns, file.ctime_ns, file.inode, digest, skipped=skipped)


def _digest(path: str, text: str) -> bytes:
    """Hash what decides how a file is cut: its text and the suffix of its name."""
    suffix = path.rpartition("/")[2].rpartition(".")[2]
    return digest(f"{suffix}\0{text}", DIGEST_BYTES)


KEEP_S = 5.0
"""How much work an interruption of a first index may cost."""
MIN_COPY_BYTES = 400
"""Smaller files may be equal by chance: empty `__init__.py`, one-line re-exports."""


@dataclass(slots=True)
class Update:
    """One update of one index, with what is known so far of each file."""

    root: Path
    encoder: Encoder
    build: Build
    new_path: Callable[[], Path]
    progress: Progress | None = None
    describe: Describe = list
    keep: Callable[[Sequence[FileRecord], Collection[str], Sequence[Path]], None] | None = None
    """Called regularly with the result if no other file differed: records, dead paths, segments."""
    records: dict[str, FileRecord] = field(default_factory=dict)
    indexed: set[str] = field(default_factory=set)
    """Paths whose present text is in a segment."""
    fresh: list[Path] = field(default_factory=list)
    """The segments written by this update."""
    before: Mapping[str, FileRecord] = field(default_factory=dict)
    done: int = 0
    """Files that are finished."""
    due_s: float = field(default_factory=lambda: time.monotonic() + KEEP_S)
    """When to keep what is done next."""

    def run(
        self, walked: Walk, before: Mapping[str, FileRecord], trusted_ns: int, *, again: Collection[str] = ()
    ) -> set[str]:
        """Write new texts as segments; return the paths whose former chunks are dead.

        The files of `again` are indexed again, though they did not change.
        """
        self.before = before
        keep = {path: record for path, record in before.items() if path not in again} if again else before
        todo = sift(walked, keep, trusted_ns)
        self._keep(todo.same)
        self._build(self._first_texts(todo), todo.to_read)
        self._build(self._promoted(), ())
        self._settle()
        kept = {path for path in self.indexed & keep.keys() if keep[path].digest == self.records[path].digest}
        return {path for path, record in before.items() if record.indexed} - kept

    def _keep(self, same: Iterable[FileRecord]) -> None:
        for record in same:
            self.records[record.path] = record
            if record.indexed:
                self.indexed.add(record.path)

    def _first_texts(self, todo: SiftedWalk) -> Iterator[Text]:
        """Read what may have changed; yield the texts that no earlier path holds."""
        first = _firsts(self.records.values())
        for file in todo.to_read:
            text, record = read_file(self.root, file, self.build.encoding)
            self.records[file.path] = record
            self.done += 1
            self._report(todo.to_read)
            if text is None:
                continue
            known = todo.records.get(file.path)
            if known is not None and known.indexed and known.digest == record.digest:
                self.records[file.path] = replace(record, chunks=known.chunks, note=_joined(record.note, known.note))
                self.indexed.add(file.path)
            elif not _may_repeat(record) or file.path <= first.get(record.digest, file.path):
                self.done -= 1  # until it is built
                yield file.path, text
            _claim(first, record)

    def _promoted(self) -> Iterator[Text]:
        """Yield texts that no indexed path holds any more: theirs were recorded as copies of a file that is gone."""
        for path in sorted(set(_firsts(self.records.values()).values()) - self.indexed):
            old = self.records[path]
            entry = FileEntry(path, old.size, old.mtime_ns, old.ctime_ns, old.inode)
            text, self.records[path] = read_file(self.root, entry, self.build.encoding)
            if text is not None:
                yield path, text

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
        for built in self._built(texts, total):
            for path, chunks in built.chunks.items():
                record = self.records[path]
                note = _joined(record.note, built.notes.get(path, ""))
                self.records[path] = replace(record, chunks=chunks, note=note)
            self.indexed.update(built.chunks)
            if any(built.chunks.values()):
                self.fresh.append(built.target)
            self.done += len(built.chunks)
            self._report(files)
            self._keep_so_far()

    def _built(self, texts: Iterable[Text], total: int) -> Iterator[Built]:
        """Cut, encode and write texts of about `total` bytes in batches, on as many cores as pay off.

        An encoder of numpy alone is safe to copy to another process; others use every core themselves.
        """
        limit, cores = self.build.batch_bytes, os.cpu_count() or 1
        work = partial(_built, encoder=self.encoder, how=self.build, describe=self.describe)
        if cores == 1 or total < _WORTH_FORKING_BYTES or not can_fork() or not is_quick(self.encoder):
            yield from map(work, _batches(texts, limit, self.new_path))
            return
        size = min(limit, max(_MIN_BATCH_BYTES, total // cores + 1))
        yield from run_forked(work, _batches(texts, size, self.new_path), cores)

    def _report(self, files: Sequence[FileEntry]) -> None:
        if self.progress and files:
            self.progress("index", min(self.done, len(files)), len(files))

    def _keep_so_far(self) -> None:
        """Save what is done, if an interruption must not cost it; files in progress are left out."""
        if self.keep is None or time.monotonic() < self.due_s:
            return
        done = {path: record for path, record in self.records.items() if path in self.indexed or not record.indexed}
        old = self.before.keys() & done.keys()
        dead = {path for path in old if self.before[path].indexed and self.before[path].digest != done[path].digest}
        self.keep([*{**self.before, **done}.values()], dead, self.fresh)
        self.due_s = time.monotonic() + KEEP_S


def _firsts(records: Iterable[FileRecord]) -> dict[bytes, str]:
    """Return the first path of each text that is long enough to be looked for again."""
    first: dict[bytes, str] = {}
    for record in records:
        _claim(first, record)
    return first


def _may_repeat(record: FileRecord) -> bool:
    return record.size >= MIN_COPY_BYTES and record.digest != NO_DIGEST


def _claim(first: dict[bytes, str], record: FileRecord) -> None:
    if _may_repeat(record):
        first[record.digest] = min(record.path, first.get(record.digest, record.path))


_UNSAFE = ("onnxruntime", "torch")  # have threads of their own that a copy would lack

Task = TypeVar("Task")
Result = TypeVar("Result")


def can_fork() -> bool:
    """Return whether this process can be forked safely."""
    alone = threading.active_count() == 1 and sys.modules.keys().isdisjoint(_UNSAFE)
    return sys.platform == "linux" and alone and os.access("/dev/shm", os.W_OK)  # noqa: S108  where semaphores are


def run_forked(work: Callable[[Task], Result], tasks: Iterable[Task], count: int) -> Iterator[Result]:
    """Yield what copies of this process make of tasks, in any order; no more tasks than copies are held at a time.

    The first error of a copy is raised here.
    """
    from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, as_completed, wait
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    running = set[Future[Result]]()
    try:
        with ProcessPoolExecutor(count, get_context("fork"), _start_worker, (work, os.getpid())) as pool:
            for task in tasks:
                if len(running) == count:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    yield from (each.result() for each in done)
                running.add(pool.submit(_do, task))
            yield from (each.result() for each in as_completed(running))
    except BrokenProcessPool as gone:
        raise AssayError("an indexing process was killed, perhaps because memory ran out") from gone


def forked(work: Callable[[], object]) -> Callable[[], None]:
    """Have a copy of this process do one thing; return what waits for its end."""
    from multiprocessing import get_context

    def run(parent: int) -> None:
        _start_worker(_do, parent)
        work()

    process = get_context("fork").Process(target=run, args=(os.getpid(),))
    process.start()
    return process.join


_works = list[Callable[[Any], Any]]()
"""The function that workers run: a fork has it without pickling."""


def _start_worker(work: Callable[[Any], Any], parent: int) -> None:
    end_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's matter
    _keep_to_one_core()
    gc.disable()  # nearly nothing here is a cycle, and looking for some took a twentieth of the time
    _works.append(work)


def _do(task: Any) -> Any:
    return _works[-1](task)


def _keep_to_one_core() -> None:
    """Stop numpy's OpenBLAS from using every core in every worker: its threads spin, and that doubled the work.

    A library that is loaded no longer reads its environment, so its own switch is looked up.
    """
    with Path("/proc/self/maps").open() as maps:
        loaded = {line.split(maxsplit=5)[-1].strip() for line in maps if "openblas" in line}
    for path in loaded:
        library = ctypes.CDLL(path)
        for prefix, suffix in product(("scipy_", ""), ("64_", "")):
            switch = getattr(library, f"{prefix}openblas_set_num_threads{suffix}", None)
            if switch is not None:
                switch(1)
