"""Candidates of every query among every code, by the mean of several encoders: seconds and peak memory.

    python benchmarks/candidates.py [--codes 132952] [--queries 20604] [--encoder SPEC ...] [--json FILE]

Texts are those of `exhaustive.py`: made by a seeded generator, questions are half of the words of a code's docstring.
Sizes are an eighth, a quarter, a half and all of both; each row is a process of its own, so that its peak memory is
its own. Memory that is a mapped file, which the system takes back when it wants to, is told apart from the rest.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

import numpy as np
from exhaustive import made

from assay import plugins
from assay.judge.candidates import Sources, candidates
from assay.search.retrievers import exhaustive
from assay.types import Chunk, Query

ENCODERS = ("static:default", "hash", "hash:512")
DEPTH = 20


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--codes", type=int, default=132_952)
    arguments.add_argument("--queries", type=int, default=20_604)
    arguments.add_argument("--encoder", nargs="*", default=ENCODERS)
    arguments.add_argument("--parts", type=int, nargs="*", default=(8, 4, 2, 1), help="What part of both each row is.")
    arguments.add_argument("--json", type=Path)
    arguments.add_argument("--one", type=int, nargs=2, help="codes and queries to measure in this process")
    given = arguments.parse_args()
    if given.one:
        codes, queries = given.one
        print(json.dumps(measured(codes, queries, given.encoder)))
        return
    rows = []
    for part in given.parts:
        sizes = [str(given.codes // part), str(given.queries // part)]
        command = [sys.executable, __file__, "--one", *sizes, "--encoder", *given.encoder]
        rows.append(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))
        print("  ".join(f"{key} {value:,.4g}" for key, value in rows[-1].items()), flush=True)
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


def measured(codes: int, queries: int, specs: list[str]) -> dict[str, Any]:
    """Choose candidates; return seconds of encoding and of the rest, and the peak memory."""
    right = np.random.default_rng(1).integers(0, codes, queries)
    found_in, asked = made(codes, right)
    sources = Sources(
        [Query(str(number), text) for number, text in enumerate(asked)],
        [Chunk(str(number), text, "python") for number, text in enumerate(found_in)],
        {spec: plugins.make("encoder", spec) for spec in specs},
        DEPTH,
        exhaustive,
    )
    del found_in, asked
    before, begin, encoded = anonymous_mb(), time.perf_counter(), 0.0
    most, ended = [before], Event()

    def sample() -> None:
        while not ended.wait(0.05):
            most.append(anonymous_mb())

    sampler = Thread(target=sample)
    sampler.start()

    def watch(stage: str, _done: int, _total: int) -> None:
        nonlocal encoded
        if stage != "searching":
            encoded = time.perf_counter() - begin

    with TemporaryDirectory() as folder:
        found = candidates(sources, Path(folder) / "candidates.jsonl", watch)
        written_mb = (Path(folder) / "candidates.jsonl").stat().st_size / 1e6
    seconds = time.perf_counter() - begin
    ended.set()
    sampler.join()
    return {
        "codes": codes,
        "queries": queries,
        "pairs": found.pairs,
        "encode_s": encoded,
        "search_s": seconds - encoded,
        "texts_mb": before,
        "peak_mb": max(most),
        "written_mb": written_mb,
    }


def anonymous_mb() -> float:
    """Return the memory of this process that is no file."""
    for line in Path("/proc/self/status").read_text("utf-8").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    raise SystemExit("no /proc/self/status here: this measures on Linux")


if __name__ == "__main__":
    main()
