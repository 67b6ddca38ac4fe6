"""A folder of files in, an index in Lance out: for indexes in object storage, shared by many machines.

What changed is found and cut as for an index in a folder; the segments are only the way there. There is no lock in
object storage: let one machine refresh an index, and any number search it.
"""

from __future__ import annotations

import tempfile
import time
import uuid
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from assay import __version__
from assay.corpus.walk import Skipped, walk
from assay.protocols import Encoder, Vectors
from assay.search.index import Report, outside
from assay.search.index_update import Limits, Progress, Update, counted
from assay.store.lance import LanceStore
from assay.store.manifest import Identity
from assay.store.segment_file import read_segment
from assay.store.snapshot import Snapshot


class LanceIndex:
    """The index of one root at a path or an object storage URI."""

    def __init__(self, root: Path, uri: str, encoder: Encoder, limits: Limits = Limits()) -> None:  # noqa: B008  frozen
        self.root = root
        self.encoder = encoder
        self.limits = limits
        self.store = LanceStore(uri, encoder.dimension)
        self.identity = Identity(encoder.name, encoder.dimension, f"assay {__version__}")

    def refresh(self, progress: Progress | None = None) -> Report:
        """Bring the index up to date with the files and say what changed."""
        started = time.perf_counter()
        about = self.store.about()
        why = "" if not about or about["identity"] == asdict(self.identity) else "it was made with another encoder"
        usable = bool(about) and not why
        recorded = self.store.records() if about else []
        before = {record.path: record for record in recorded} if usable else {}
        checked_ns, found = time.time_ns(), outside(walk(self.root), self.root, Path(self.store.uri))
        trusted_ns = about["checked_ns"] if usable and about["rules"] == found.rules else 0
        with tempfile.TemporaryDirectory() as folder:
            update = Update(self.root, self.encoder, self.limits, lambda: Path(folder) / uuid.uuid4().hex, progress)
            dead = update.run(found, before, trusted_ns)
            records = update.records
            if dead or update.fresh or not usable or records != before:
                gone = dead if usable else {record.path for record in recorded}
                self._save(update, gone, {"rules": found.rules, "checked_ns": checked_ns})
        skipped = tuple(Skipped(record.path, record.skipped) for record in records.values() if record.skipped)
        return Report(
            files=sum(record.digest.strip(b"\0") != b"" for record in records.values()),
            chunks=sum(record.chunks for record in records.values()),
            skipped=(*found.skipped, *skipped),
            notes={record.path: record.note for record in records.values() if record.note},
            counts=counted(before, records),
            rebuilt_because=why,
            seconds=time.perf_counter() - started,
        )

    def candidates(self, terms: Sequence[str], vector: Vectors, k: int = 300) -> Snapshot:
        """Return the chunks worth ranking for one query, with the statistics of the whole corpus."""
        return self.store.candidates(terms, vector, k)

    def _save(self, update: Update, gone: set[str], about: dict[str, object]) -> None:
        segments = [read_segment(path) for path in update.fresh]
        chunks = [segment.chunk(number) for segment in segments for number in range(len(segment))]
        vectors = [segment.vectors for segment in segments] or [np.zeros((0, self.encoder.dimension), np.float32)]
        about = {"identity": asdict(self.identity), **about}
        self.store.update(gone, chunks, np.concatenate(vectors), records=[*update.records.values()], about=about)
