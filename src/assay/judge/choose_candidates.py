"""Queries, codes and any number of encoders in, the codes worth judging of each query out (CoSQA+, II-B and table I).

The score of a pair is the mean of its cosines. Vectors lie side by side in a file that is mapped, so that memory is a
block's; pairs are written block by block, and a second file says how many of them count: killed at any point, the same
call goes on after the last whole block. Who searches the vectors is handed in.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from assay.errors import InputError, StorageError
from assay.protocols import Encoder, Progress, Role, Vectors
from assay.runs.record import append_lines, differing, progress_of, read_lines, refuse, sole_writer
from assay.types import Chunk, Query

Nearest = Callable[[Vectors, Vectors, int], tuple[NDArray[np.int64], Vectors]]
"""Queries, codes and a number to the numbers and products of so many codes of each query, best first."""

QUERIES = 512
"""Queries of a block: what a crash costs."""
_TEXTS = 1024
"""Texts that are encoded before their vectors go to the file."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What candidates are made of."""

    queries: Sequence[Query]
    codes: Sequence[Chunk]
    encoders: Mapping[str, Encoder]
    """By the spec that was given."""
    k: int
    nearest: Nearest
    sample: str = ""
    """How the queries were drawn; empty where all were taken."""
    block: int = QUERIES
    """Queries at a time; nothing but time, memory and what a crash costs depends on it."""

    @property
    def key(self) -> str:
        """A hash of all that decides about candidates."""
        head = repr((self.k, [each.name for each in self.encoders.values()]))
        return _hash(head, *self.queries, *self.codes)

    def begin(self) -> dict[str, Any]:
        """Return the line that opens the file of progress."""
        texts = {"queries": _hash("", *self.queries), "codes": _hash("", *self.codes)}
        return {"key": self.key, "encoders": [*self.encoders], "k": self.k, "sample": self.sample, **texts}


def _hash(head: str, *items: Query | Chunk) -> str:
    digest = blake2b(head.encode(), digest_size=16)
    for item in items:
        digest.update(repr((item.id, item.text)).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class CandidateCounts:
    """What was written."""

    pairs: int
    queries: int
    overlap: Mapping[str, float]
    """By encoder, the share of its own candidates that the mean of all chose, too (table I)."""
    before: int
    """Queries that an earlier call had done."""


def candidates(sources: Sources, out: Path, watch: Progress | None = None) -> CandidateCounts:
    """Write the `k` codes of the highest mean cosine with each query to `out`, a pair a line, and go on there."""
    _check(sources)
    with _progress(out, sources) as held:
        before = sum(block["queries"] for block in held)
        new = _write_candidates(sources, out, watch, before) if before < len(sources.queries) else []
        done = [*held, *new]
    overlap = {name: sum(block["shared"][name] for block in done) for name in sources.encoders}
    pairs = sum(block["pairs"] for block in done)
    shares = {name: shared / max(pairs, 1) for name, shared in overlap.items()}
    return CandidateCounts(pairs, len(sources.queries), shares, before)


def _check(sources: Sources) -> None:
    for what, items in (("query", sources.queries), ("code", sources.codes), ("encoder", sources.encoders)):
        if not items:
            raise InputError(f"no {what}: candidates are chosen by encoders, for queries, among codes")


@contextmanager
def _progress(out: Path, sources: Sources) -> Iterator[list[dict[str, Any]]]:
    """Give the blocks that are done, the file cut back to them; nobody else writes it meanwhile."""
    file, now = progress_of(out), sources.begin()
    with sole_writer(out):
        first, *done = [*read_lines(file)] or [{}]
        if not first:
            if out.exists() and out.stat().st_size:
                raise InputError(
                    f"{out} is there, and {file.name} is not, which says how far it got: give another --out, or --fresh"
                )
            append_lines(file, [now])
        elif first.get("key") != now["key"]:
            refuse(out, "candidates", [name for name in differing(first, now) if name != "key"] or ["queries or codes"])
        _cut(out, done[-1]["bytes"] if done else 0)
        yield done


def _cut(out: Path, size: int) -> None:
    with out.open("ab") as pairs:
        if pairs.tell() < size:
            raise StorageError(f"{out} has lost lines that were written: give --fresh to choose all again")
        pairs.truncate(size)


def _write_candidates(sources: Sources, out: Path, watch: Progress | None, begin: int) -> list[dict[str, Any]]:
    """Encode, search and write the queries from `begin` on, block by block."""
    place = out.with_name(f"{out.name}.vectors")
    made = []
    try:
        codes = _encoded(sources, [code.text for code in sources.codes], "code", place, watch)
        for start in range(begin, len(sources.queries), sources.block):
            block = sources.queries[start : start + sources.block]
            made.append(_written(sources, block, codes, out))
            if watch:
                watch("searching", start + len(block), len(sources.queries))
    finally:
        place.unlink(missing_ok=True)
    return made


def _encoded(sources: Sources, texts: Sequence[str], role: Role, place: Path, watch: Progress | None) -> Vectors:
    """Return a vector a text, those of all encoders side by side, in a file that is mapped."""
    width = sum(encoder.dimension for encoder in sources.encoders.values())
    vectors = open_memmap(place, mode="w+", dtype=np.float32, shape=(len(texts), width))
    for name, columns in _columns(sources).items():
        for start in range(0, len(texts), _TEXTS):
            some = texts[start : start + _TEXTS]
            vectors[start : start + len(some), columns] = sources.encoders[name].encode(some, role)
            if watch:
                watch(f"encoding with {name}", start + len(some), len(texts))
    return vectors


def _columns(sources: Sources) -> dict[str, slice]:
    """Return where the vectors of each encoder stand."""
    columns, at = {}, 0
    for name, encoder in sources.encoders.items():
        columns[name] = slice(at, at + encoder.dimension)
        at += encoder.dimension
    return columns


def _written(sources: Sources, queries: Sequence[Query], codes: Vectors, out: Path) -> dict[str, Any]:
    """Write the pairs of some queries, then that they are whole."""
    texts = [query.text for query in queries]
    asked = np.concatenate([each.encode(texts, "query") for each in sources.encoders.values()], axis=1)
    numbers, means = sources.nearest(np.divide(asked, len(sources.encoders), dtype=np.float32), codes, sources.k)
    shared, cosines = {}, {}
    for name, columns in _columns(sources).items():
        own, _ = sources.nearest(asked[:, columns], codes[:, columns], sources.k)
        shared[name] = sum(len(np.intersect1d(one, other)) for one, other in zip(own, numbers, strict=True))
        cosines[name] = np.einsum("qd,qcd->qc", asked[:, columns], codes[:, columns][numbers])
    with out.open("ab") as file:
        for row, query in enumerate(queries):
            for rank, number in enumerate(numbers[row].tolist(), 1):
                scores = {name: round(float(each[row, rank - 1]), 5) for name, each in cosines.items()}
                file.write(_line(query, sources.codes[number], rank, round(float(means[row, rank - 1]), 5), scores))
        file.flush()
        os.fsync(file.fileno())
        size = file.tell()
    block = {"queries": len(queries), "pairs": int(numbers.size), "bytes": size, "shared": shared}
    append_lines(progress_of(out), [block])
    return block


def _line(query: Query, code: Chunk, rank: int, score: float, scores: Mapping[str, float]) -> bytes:
    told = {
        "query_id": query.id,
        "query": query.text,
        "code_id": code.id,
        "code": code.text,
        "language": code.language,
        "rank": rank,
        "score": score,
        "scores": scores,
    }
    return (json.dumps(told, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
