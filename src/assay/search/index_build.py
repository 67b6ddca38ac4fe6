"""Texts to segments on disk, batch by batch, so that memory is bounded by a batch and not by the repository."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.corpus.call_facts import names_in
from assay.corpus.chunk import parse
from assay.encode.view import chunk_vectors
from assay.protocols import Encoder
from assay.search.index_identity import Build
from assay.store.segment import build, write_segment
from assay.store.vectors import quantised
from assay.types import Chunk

_WORTH_FORKING_BYTES = 200_000  # below, two processes save less than they cost
_SMALLEST_BATCH_BYTES = 100_000
FILE_BYTES = 500  # what a file costs besides its text, in bytes of text
_ENCODERS_TO_FORK = ("static:", "hash")  # numpy alone, hence safe to copy; the others use every core themselves


Describe = Callable[[Sequence[Chunk]], list[Chunk]]
"""Chunks in, the same out with the descriptions that are known; called in the process that encodes them."""


@dataclass(frozen=True, slots=True)
class Text:
    """A file that was read."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class SegmentBatch:
    """Files that become one segment, and the new file that it is written to."""

    texts: tuple[Text, ...]
    target: Path


@dataclass(frozen=True, slots=True)
class Built:
    """A batch that was written; nothing is when it held no chunk."""

    target: Path
    chunks: dict[str, int]
    """How many each file has."""
    notes: dict[str, str]


def build_all(  # noqa: PLR0913  what is indexed, how, and where to
    texts: Iterable[Text],
    encoder: Encoder,
    how: Build,
    new_path: Callable[[], Path],
    total: int,
    *,
    describe: Describe = list,
) -> Iterator[Built]:
    """Cut, encode and write texts of about `total` bytes batch by batch, on every core it pays for."""
    limit = how.batch_bytes

    def work(batch: SegmentBatch) -> Built:
        return _built(batch, encoder, how, describe)

    from assay.search.workers import ChunkWorkers, can_fork  # not for a search that finds nothing changed: 10 ms

    cores = os.cpu_count() or 1
    if cores == 1 or total < _WORTH_FORKING_BYTES or not can_fork() or not encoder.name.startswith(_ENCODERS_TO_FORK):
        yield from map(work, _batches(texts, limit, new_path))
        return
    size = min(limit, max(_SMALLEST_BATCH_BYTES, total // cores + 1))
    with ChunkWorkers(work, cores) as workers:
        yield from workers.map(_batches(texts, size, new_path))


def _batches(texts: Iterable[Text], size: int, new_path: Callable[[], Path]) -> Iterator[SegmentBatch]:
    batch: list[Text] = []
    held = 0
    for text in texts:
        batch.append(text)
        held += len(text.text) + FILE_BYTES
        if held >= size:
            yield SegmentBatch(tuple(batch), new_path())
            batch, held = [], 0
    if batch:
        yield SegmentBatch(tuple(batch), new_path())


def _built(batch: SegmentBatch, encoder: Encoder, how: Build, describe: Describe) -> Built:
    chunks: list[Chunk] = []
    facts: list[str] = []
    counts, notes = {}, {}
    for text in batch.texts:
        parsed = parse(text.path, text.text, how.sizes, linked=True)
        counts[text.path] = len(parsed.chunks)
        if parsed.note:
            notes[text.path] = parsed.note
        chunks.extend(parsed.chunks)
        facts.extend(parsed.facts or [""] * len(parsed.chunks))
    chunks = describe(chunks)
    if chunks:
        vectors = chunk_vectors(encoder, chunks, how.reads)
        links = [list(names_in(each)) if each else [] for each in facts]
        write_segment(batch.target, build(chunks, quantised(vectors, how.quantisation), facts, links))
    return Built(batch.target, counts, notes)
