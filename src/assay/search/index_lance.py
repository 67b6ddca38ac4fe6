"""A folder of files in, an index in Lance out: for indexes in object storage, shared by many machines.

What changed is found and cut as for an index in a folder; the segments are only the way there. There is no lock in
object storage: let one machine refresh an index, and any number search it.
"""

from __future__ import annotations

import tempfile
import time
import uuid
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from assay.corpus.walked_files import Skipped
from assay.errors import DamagedIndex, InputError
from assay.protocols import Encoder, Progress, Vectors
from assay.search.filters import PROSE, globs
from assay.search.index_changes import differences
from assay.search.index_identity import Build, identity, mismatch
from assay.search.index_read import stale
from assay.search.index_report import Freshness, IndexReport
from assay.search.index_update import Update
from assay.search.index_walk import WalkListing, listed
from assay.store.catalog import NO_DIGEST, FileRecord
from assay.store.lance import LanceStore, quoted
from assay.store.manifest import Identity
from assay.store.place import LANCE
from assay.store.segment_file import read_segment
from assay.store.snapshot import Snapshot
from assay.types import Query


class LanceIndex:
    """The index of one root at a path or an object storage URI."""

    def __init__(self, root: Path, uri: str, encoder: Encoder, build: Build = Build()) -> None:  # noqa: B008  frozen
        if build.quantisation != "none":
            raise InputError("Lance quantises the vectors of its index itself: leave index.quantisation at none")
        self.root = root
        self.encoder = encoder
        self.build = build
        self.store = LanceStore(uri, encoder.dimension)
        self.identity = identity(encoder, build)
        self._damage = ""

    @property
    def location(self) -> str:
        """Where it lies, as `--index` takes it."""
        return LANCE + self.store.uri

    def size_bytes(self) -> int | None:
        """Return what it takes up; None for object storage, where each listing is a request."""
        place = Path(self.store.uri)
        return sum(file.stat().st_size for file in place.rglob("*")) if place.is_dir() else None

    def refresh(self, progress: Progress | None = None, *, patience_s: float | None = None) -> IndexReport:  # noqa: ARG002
        """Bring the index up to date with the files and say what changed; there is no lock to wait for."""
        started = time.perf_counter()
        if damage := self._damage or self._found_damage():
            self.store.remove(damage)
            self._damage = ""
        about = self.store.about()
        made_by = Identity(**about["identity"]) if about else self.identity
        why = damage or mismatch(made_by, self.identity)
        usable = bool(about) and not why
        recorded = self.store.records() if about else []
        before = {record.path: record for record in recorded} if usable else {}
        now = self._list()
        found = now.walk
        trusted_ns = about["checked_ns"] if usable and about["rules"] == found.rules else 0
        with tempfile.TemporaryDirectory() as folder:
            update = Update(self.root, self.encoder, self.build, lambda: Path(folder) / uuid.uuid4().hex, progress)
            dead = update.run(found, before, trusted_ns)
            records = update.records
            if dead or update.fresh or not usable or records != before:
                gone = dead if usable else {record.path for record in recorded}
                self._save(update, gone, {"rules": found.rules, "checked_ns": now.at_ns})
        report = _report(records.values(), found.skipped)
        seconds = time.perf_counter() - started
        changed = differences(before, records)
        return replace(report, changed=changed, rebuilt_because=why, seconds=seconds, folders=found.folders)

    def describe(self, progress: Progress | None = None) -> IndexReport:  # noqa: ARG002
        """Refuse: the datasets have no column for descriptions."""
        raise InputError(f"the index in {self.location} keeps no descriptions: use an index in a folder")

    def check(self) -> str:
        """Read every byte where it lies on a disk; return what is damaged, or nothing. The next refresh mends it."""
        self._damage = self._found_damage(whole=True)
        return self._damage

    def _found_damage(self, *, whole: bool = False) -> str:
        try:
            self.store.check(whole=whole)
        except DamagedIndex as damage:
            return str(damage)
        return ""

    def keeping(self) -> AbstractContextManager[None]:
        """Return what does nothing: who shares an index in Lance agrees on who writes."""
        return nullcontext()

    def torn(self) -> bool:
        """Say no: nothing of it is mapped into memory."""
        return False

    def last(self) -> IndexReport | None:
        """Say what a refresh would build upon; None where that is nothing."""
        about = {} if self._damage or self._found_damage() else self.store.about()
        return self.status() if about and Identity(**about["identity"]) == self.identity else None

    def standing(self) -> Freshness | None:
        """Say how the index stands against the files, without changing it; None where there is none."""
        self.store.check(whole=False)
        about = self.store.about()
        if not about:
            return None
        made_by, before = Identity(**about["identity"]), {record.path: record for record in self.store.records()}
        found = self._list().walk
        return Freshness(
            report=replace(_report(before.values(), found.skipped), folders=found.folders),
            stale=stale(self.root, found, before, about["checked_ns"]),
            updated_s=about["checked_ns"] / 1e9,
            encoder=made_by.encoder,
            form=f"lance {self.store.form()}",
            rebuild_because=mismatch(made_by, self.identity),
        )

    def status(self) -> IndexReport | None:
        """Say what the index holds without looking at the files; None where there is none."""
        return _report(self.store.records(), ()) if self.store.about() else None

    def corpus(self) -> LanceIndex:
        """Return what a searcher gets its candidates from."""
        return self

    def candidates(self, query: Query, terms: Sequence[str], names: Sequence[str], vector: Vectors) -> Snapshot:
        """Return the chunks worth ranking for one query, with the statistics of the whole corpus."""
        return self.store.candidates(terms, vector, names=names, filters=_filters(query))

    def whole(self) -> None:
        """Return none: chunks are fetched query by query."""

    def _list(self) -> WalkListing:
        return listed(self.root, Path(self.store.uri))

    def _save(self, update: Update, gone: set[str], about: dict[str, object]) -> None:
        segments = [read_segment(path) for path in update.fresh]
        chunks = [segment.chunk(number) for segment in segments for number in range(len(segment))]
        vectors = [segment.vectors for segment in segments] or [np.zeros((0, self.encoder.dimension), np.float32)]
        about = {"identity": asdict(self.identity), **about}
        self.store.update(gone, chunks, np.concatenate(vectors), records=[*update.records.values()], about=about)


def _report(records: Collection[FileRecord], left_out: Sequence[Skipped]) -> IndexReport:
    skipped = [Skipped(record.path, record.skipped) for record in records if record.skipped]
    return IndexReport(
        files=sum(record.digest != NO_DIGEST for record in records),
        chunks=sum(record.chunks for record in records),
        skipped=(*left_out, *skipped),
        notes={record.path: record.note for record in records if record.note},
    )


def _filters(query: Query) -> list[str]:
    """Return conditions whose rows, taken together, are what a query may find and what its best is compared with."""
    kept = [f"language in ({_listed(query.languages)})"] if query.languages else []
    if query.kinds:
        kept.append(f"kind in ({_listed(query.kinds)})")
    for negation, chosen in (("", [p for p in query.paths if p[0] != "!"]), ("not ", _unwanted(query.paths))):
        if (pattern := globs(chosen)) is not None:
            kept.append(f"{negation}regexp_like(path, {quoted(_foreign(pattern.pattern))})")
    prose = f"language in ({_listed(sorted(PROSE))})"
    sides = {"code": [f"not {prose}"], "docs": [prose], "all": [f"not {prose}", prose]}[query.mode]
    whole = [] if query.mode == "all" and not kept else [""]
    return [*whole, *(" and ".join((side, *kept)) for side in sides)]


def _unwanted(paths: Sequence[str]) -> list[str]:
    return [path[1:] for path in paths if path[0] == "!"]


def _foreign(pattern: str) -> str:
    """Return one of Python's regular expressions for globs as one that Lance's engine reads."""
    return "^(?:" + pattern.replace("(?>", "(?:").replace(r")\Z", r")\z") + ")"


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(map(quoted, texts))
