"""Index time, size, memory and query time from a thousand to a million chunks, as a table and a plot.

    python benchmarks/scale.py OUT [--sizes 1000 10000 100000 1000000]

The text is made by a seeded generator: files of functions whose names, comments and calls come from a vocabulary
with the long tail that code has. Each size runs in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIZES = (1_000, 10_000, 50_000, 100_000, 300_000, 1_000_000)
UNITS_A_FILE = 20
SYLLABLES = "ba co da fe gi ho ju ka le mi no pu ra se ti vo we xi ya zu".split()
COMMON = (
    "get set read write open close parse format user file index node path token cache limit error header request "
    "response client server session config option value key list queue stream buffer retry timeout connect send"
).split()
QUERIES = (
    "where are retries handled",
    "parse header limit",
    "open session timeout",
    "cache token for user",
    "write buffer to stream",
    "get_user_session",
    "connect client to server",
    "format error response",
)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    arguments.add_argument("--one", type=int, help="measure one size in this process")
    given = arguments.parse_args()
    if given.one:
        print(json.dumps(measured(given.one)))
        return
    rows = []
    for size in given.sizes:
        command = [sys.executable, __file__, str(given.out), "--one", str(size)]
        rows.append(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))
        print(json.dumps(rows[-1]), flush=True)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "scale.json").write_text(json.dumps(rows, indent=1) + "\n")
    plot(rows, given.out)


def measured(chunks: int) -> dict[str, float]:
    """Index a made folder of about so many chunks, then ask it things."""
    from assay.encode.static import load_static
    from assay.search.folder_index import FolderIndex
    from assay.search.hybrid import LearnedSearcher
    from assay.store.vectors import products
    from assay.types import Query

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        source_bytes = write_files(root, chunks // UNITS_A_FILE)
        index = FolderIndex(root, Path(folder) / "index", load_static())
        started = time.perf_counter()
        report = index.refresh()
        seconds = time.perf_counter() - started
        started = time.perf_counter()
        index.refresh()
        again = time.perf_counter() - started
        opened = FolderIndex(root, Path(folder) / "index", index.encoder)
        started = time.perf_counter()
        snapshot = opened.snapshot()
        open_ms = (time.perf_counter() - started) * 1e3
        searcher = LearnedSearcher(snapshot, index.encoder)
        times = []
        for turn in range(5):
            for text in QUERIES:
                started = time.perf_counter()
                searcher.search([Query("q", text)], 10)
                if turn:
                    times.append((time.perf_counter() - started) * 1e3)
        times.sort()
        vector = index.encoder.encode([QUERIES[0]], "query")
        started = time.perf_counter()
        for _ in range(10):
            for part, _ in snapshot.parts:
                products(vector, part.vectors)
        dense_ms = (time.perf_counter() - started) * 100
        return {
            "chunks": report.chunks,
            "files": report.files,
            "source_mb": source_bytes / 1e6,
            "index_s": seconds,
            "index_mb": sum(file.stat().st_size for file in index.folder.location.iterdir()) / 1e6,
            "unchanged_refresh_s": again,
            "open_ms": open_ms,
            "query_p50_ms": times[len(times) // 2],
            "query_p95_ms": times[int(len(times) * 0.95)],
            "dense_ms": dense_ms,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
            "worker_peak_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3,
        }


def write_files(root: Path, files: int) -> int:
    """Write so many files of functions; return their size in bytes."""
    chance = random.Random(20)  # noqa: S311  the same text each time is the point
    rare = ["".join(chance.choices(SYLLABLES, k=3)) for _ in range(4000)]
    written = 0
    for number in range(files):
        folder = root / f"{COMMON[number % len(COMMON)]}{number // 500}"
        folder.mkdir(parents=True, exist_ok=True)
        text = "\n\n".join(unit(chance, rare) for _ in range(UNITS_A_FILE))
        (folder / f"{chance.choice(COMMON)}_{number}.py").write_text(text)
        written += len(text)
    return written


def unit(chance: random.Random, rare: list[str]) -> str:
    """Make one function of about ten lines."""

    def word() -> str:
        return chance.choice(COMMON) if chance.random() < 0.6 else rare[int(len(rare) * chance.random() ** 3)]

    def name() -> str:
        return f"{word()}_{word()}"

    lines = [f"def {name()}({word()}, {word()}=None):", f'    """{" ".join(word() for _ in range(9)).capitalize()}."""']
    lines += [f"    {word()} = {name()}({word()}, {chance.randint(0, 99)})" for _ in range(chance.randint(4, 10))]
    lines.append(f"    return {word()}")
    return "\n".join(lines)


def plot(rows: list[dict[str, float]], out: Path) -> None:
    """Draw each figure over the number of chunks, with what bounds it."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    panels = (
        ("index_s", "seconds to index", "bound: Python and the parser, per line of text"),
        ("index_mb", "MB on disk", "bound: 1 kB a vector, then the text, then postings"),
        ("query_p50_ms", "ms a warm query (p50, p95)", "bound: reading every vector, memory bandwidth"),
        ("peak_mb", "MB at peak", "bound: one merge of 250,000 chunks, and pages of the map"),
    )
    figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
    chunks = [row["chunks"] for row in rows]
    for axis, (key, title, bound) in zip(axes.flat, panels, strict=True):
        axis.loglog(chunks, [row[key] for row in rows], marker="o")
        if key == "query_p50_ms":
            axis.loglog(chunks, [row["query_p95_ms"] for row in rows], marker=".", linestyle="--")
            axis.loglog(chunks, [row["dense_ms"] for row in rows], linestyle=":", label="vectors alone")
            axis.legend()
        axis.set(title=title, xlabel=f"chunks\n{bound}")
        axis.grid(visible=True, alpha=0.3)
    figure.savefig(out / "scale.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
