"""Measure indexes by size, from a thousand to a million chunks: time, bytes, memory, queries, inverted lists.

python benchmarks/scale.py OUT [--sizes 1000 10000 100000 1000000]

The text is made by a seeded generator: files of functions whose names, comments and calls come from a vocabulary
with the long tail that code has. Each size runs in a process of its own, so that its peak memory is its own.

python benchmarks/scale.py lists INDEX QUESTIONS.csv...

INDEX is a folder that `assay index PATH --index INDEX` wrote; the first column of each CSV file is a question.

python benchmarks/scale.py first REPOSITORY

REPOSITORY is a git repository. Its first index is made on a terminal, then that of a second worktree whose commit
changes five files; both in a cache of their own. Then a first index is killed halfway, and made again.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import pty
import random
import resource
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

from shared import run_command

from assay.encode.static import load_static
from assay.search.hybrid import LearnedSearcher
from assay.store.folder import IndexFolder
from assay.store.segment import Segment
from assay.store.snapshot import Snapshot
from assay.values import Hit, Query

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


def run_scale() -> None:
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
    from assay.values import Query

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


ASKED, K = 120, 10


def run_lists() -> None:
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


def run_first() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("repository", type=Path)
    repository = arguments.parse_args().repository.resolve()
    with tempfile.TemporaryDirectory() as folder:
        cache, second = Path(folder) / "cache", Path(folder) / "second"
        took_s = on_terminal("first index", repository, cache)
        bytes_before = size_of(cache)
        git(repository, "worktree", "add", "--quiet", "--detach", str(second))
        try:
            change(second)
            on_terminal("second worktree", second, cache)
        finally:
            git(repository, "worktree", "remove", "--force", str(second))
        print(f"bytes: {bytes_before:,} for the first, {size_of(cache) - bytes_before:,} more for the second")
        cache = Path(folder) / "other"
        on_terminal("killed", repository, cache, killed_after_s=took_s / 2)
        on_terminal("the same command", repository, cache)


def change(worktree: Path) -> None:
    """Commit a change of five of a worktree's files."""
    files = git(worktree, "ls-files", "*.py", "*.go", "*.java", "*.c", "*.ts").splitlines()
    for name in files[:: max(1, len(files) // 5)][:5]:
        with (worktree / name).open("a") as file:
            file.write("\n")
    git(worktree, "-c", "user.name=N", "-c", "user.email=n@example.org", "commit", "--quiet", "-am", "five files")


def on_terminal(what: str, root: Path, cache: Path, killed_after_s: float = float("inf")) -> float:
    """Index on a terminal; print when something was first written there, and the longest silences."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "TERM": "xterm"}
    command = [sys.executable, "-m", "assay", "index", str(root)]
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=environment, text=True) as process:
        os.close(theirs)
        seen_s = [0.0, *writes(ours, began, killed_after_s)]
        if process.poll() is None and killed_after_s < float("inf"):
            process.kill()
        printed, _ = process.communicate()
    took_s = time.monotonic() - began
    os.close(ours)
    gaps = sorted((later - earlier for earlier, later in pairwise([*seen_s, took_s])), reverse=True)
    first = f"{seen_s[1]:.2f} s" if len(seen_s) > 1 else "none"
    spoken = f"first word {first}, longest silences {', '.join(f'{gap:.2f}' for gap in gaps[:3])} s"
    print(f"{what}: {took_s:.1f} s, {spoken}; {printed.strip().rpartition(': ')[2]}", flush=True)
    return took_s


def writes(terminal: int, began: float, until_s: float) -> Iterator[float]:
    """Yield when something is written to a terminal, until it closes or time is up."""
    while (now := time.monotonic() - began) < until_s:
        if not select.select([terminal], [], [], min(1.0, until_s - now))[0]:
            continue
        try:
            os.read(terminal, 1 << 16)
        except OSError:  # nobody has it open any more
            return
        yield time.monotonic() - began


def size_of(folder: Path) -> int:
    """Return the bytes of a folder's files, each counted once however many names it has."""
    found = {(about.st_dev, about.st_ino): about.st_size for about in map(os.lstat, folder.rglob("*"))}
    return sum(found.values())


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", folder, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


COMMANDS = {"lists": run_lists, "first": run_first}

if __name__ == "__main__":
    run_command(COMMANDS, run_scale)
