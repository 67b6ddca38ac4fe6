"""What inverted lists cost and change in a large index: the same questions with them and with every vector read.

    python benchmarks/inverted_lists.py INDEX QUESTIONS.csv...

INDEX is a folder that `assay index PATH --index INDEX` wrote; the first column of each CSV file is a question.
"""

from __future__ import annotations

import argparse
import csv
import random
import resource
import time
from dataclasses import fields
from pathlib import Path

from assay.encode.static import load_static
from assay.search.hybrid import LearnedSearcher
from assay.store.folder import IndexFolder
from assay.store.segment import Segment
from assay.store.snapshot import Snapshot
from assay.types import Hit, Query

ASKED, K = 120, 10


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("index", type=Path)
    arguments.add_argument("questions", type=Path, nargs="+")
    given = arguments.parse_args()
    version = IndexFolder(given.index).open()
    assert version is not None, f"no index in {given.index}"
    snapshot, asked = version.snapshot(), questions(given.questions)
    print(f"{len(snapshot):,} chunks in {len(snapshot.parts)} segments, {len(asked)} questions")
    by_lists = answers("lists", snapshot, asked)
    exact = answers("every vector", without_lists(snapshot), asked)
    same = sum(one[:1] == other[:1] for one, other in zip(by_lists, exact, strict=True)) / len(asked)
    shared = sum(len({*one} & {*other}) / max(1, len(other)) for one, other in zip(by_lists, exact, strict=True))
    print(f"same first hit {same:.3f}, of the first {K} the same {shared / len(asked):.3f}")


def questions(files: list[Path]) -> list[str]:
    """Return some questions of the files, the same each time."""
    found = [row[0] for file in sorted(files) for row in list(csv.reader(file.open(encoding="utf-8")))[1:] if row]
    return random.Random(0).sample(found, min(ASKED, len(found)))  # noqa: S311  the same each time is the point


def without_lists(snapshot: Snapshot) -> Snapshot:
    """Return the same chunks in segments that are read whole."""
    columns = [field.name for field in fields(Segment)]
    parts = [(Segment(*(getattr(part, name) for name in columns)), live) for part, live in snapshot.parts]
    return Snapshot(parts, places=snapshot.places)


def answers(name: str, snapshot: Snapshot, asked: list[str]) -> list[list[tuple[str, int]]]:
    """Ask everything twice; print what the first question and each of the second round took."""
    searcher = LearnedSearcher(snapshot, load_static())
    started = time.perf_counter()
    searcher.search([Query("q", asked[0])], K)
    first_s = time.perf_counter() - started
    for text in asked:
        searcher.search([Query("q", text)], K)
    found, times = list[list[Hit]](), list[float]()
    for text in asked:
        started = time.process_time()
        found += searcher.search([Query("q", text)], K)
        times.append((time.process_time() - started) * 1e3)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"{name}: first {first_s:.2f} s, then {_spread(times)} of processor time, peak {peak_mb:.0f} MB")
    return [[(hit.chunk.path, hit.chunk.start_line) for hit in hits] for hits in found]


def _spread(times: list[float]) -> str:
    ordered = sorted(times)
    return f"p50 {ordered[len(ordered) // 2]:.1f} ms, p95 {ordered[int(len(ordered) * 0.95)]:.1f} ms"


if __name__ == "__main__":
    main()
