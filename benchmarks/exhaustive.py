"""Every query against every code, exactly, then measured: seconds and peak memory at CoSQA+'s size and below.

    python benchmarks/exhaustive.py [--codes 132952] [--queries 20604] [--random 768] [--json FILE]

Texts are made by a seeded generator (`scale.py`), questions are half of the words of a code's docstring. The default
encoder encodes both, `search.retrievers.exhaustive` finds the first 100 codes of each query, `assay.measure` scores
them. `--random N` adds random vectors of N dimensions, which need no encoding. Each row is a process of its own, so
that its peak memory is its own; sizes are a quarter, a half and all of the codes, of the queries, and of both.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from scale import SYLLABLES, unit

from assay.encode.static import load_static
from assay.measure.line_spans import Entry, Span
from assay.measure.matched import match
from assay.measure.measures import parse
from assay.protocols import Vectors
from assay.search.retrievers import exhaustive

DEPTH = 100
MEASURES = ("MRR", "nDCG@10", "MAP", "Recall@100")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--codes", type=int, default=132_952)
    arguments.add_argument("--queries", type=int, default=20_604)
    arguments.add_argument("--random", type=int, nargs="*", default=[])
    arguments.add_argument("--json", type=Path)
    arguments.add_argument("--one", type=int, nargs=3, help="codes, queries and dimensions to measure in this process")
    given = arguments.parse_args()
    if given.one:
        print(json.dumps(measured(*given.one)))
        return
    codes, queries = given.codes, given.queries
    sizes = [(codes // n, queries // n) for n in (4, 2)]
    sizes += [(codes // n, queries) for n in (4, 2)] + [(codes, queries // n) for n in (4, 2)] + [(codes, queries)]
    rows = []
    for code, query, dimensions in [(*size, 0) for size in sizes] + [(codes, queries, n) for n in given.random]:
        command = [sys.executable, __file__, "--one", str(code), str(query), str(dimensions)]
        rows.append(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))
        print("  ".join(f"{key} {value:,.4g}" for key, value in rows[-1].items()), flush=True)
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


def measured(codes: int, queries: int, dimensions: int) -> dict[str, Any]:
    """Encode or draw, search, and measure; return seconds of each and the peak memory after each."""
    right = np.random.default_rng(1).integers(0, codes, queries)
    texts = [] if dimensions else made(codes, right)
    watch = Watch()
    found_in, asked = drawn(codes, right, dimensions) if dimensions else encoded(*texts)
    watch.note("encode")
    numbers, _ = exhaustive(asked, found_in, DEPTH)
    watch.note("search")
    files = [Span(f"{number}.py", 0, 0) for number in range(codes)]
    run = {str(query): [files[number] for number in row] for query, row in enumerate(numbers.tolist())}
    truth = {str(query): [Entry(files[number], 1)] for query, number in enumerate(right.tolist())}
    matched = match(run, truth, "file")
    figures = {name: float(parse(name).of(matched).mean()) for name in MEASURES}
    watch.note("measure")
    return {"codes": codes, "queries": queries, "dimensions": found_in.shape[1], **watch.noted, **figures}


class Watch:
    """Seconds since the last note, and the most memory that was held so far."""

    def __init__(self) -> None:
        self.noted: dict[str, float] = {}
        self._last = time.perf_counter()

    def note(self, what: str) -> None:
        """Note what was just done."""
        now = time.perf_counter()
        self.noted[f"{what}_s"] = now - self._last
        self.noted[f"{what}_peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        self._last = now


def made(codes: int, right: np.ndarray[Any, np.dtype[np.int64]]) -> tuple[list[str], list[str]]:
    """Return the texts of codes, and for each right one half of the words of its docstring."""
    chance = random.Random(20)  # noqa: S311  the same text each time is the point
    rare = ["".join(chance.choices(SYLLABLES, k=3)) for _ in range(4000)]
    texts = [unit(chance, rare) for _ in range(codes)]
    said = [texts[number].split('"""')[1].rstrip(".").lower().split() for number in right]
    return texts, [" ".join(chance.sample(words, len(words) // 2)) for words in said]


def encoded(codes: list[str], queries: list[str]) -> tuple[Vectors, Vectors]:
    """Encode with the encoder that ships."""
    encoder = load_static()
    return encoder.encode(codes, "code"), encoder.encode(queries, "query")


def drawn(codes: int, right: np.ndarray[Any, np.dtype[np.int64]], dimensions: int) -> tuple[Vectors, Vectors]:
    """Draw unit vectors; a query's is its right code's with six times as much noise."""
    chance = np.random.default_rng(0)
    found_in = chance.standard_normal((codes, dimensions), dtype=np.float32)
    found_in /= np.linalg.norm(found_in, axis=1, keepdims=True)
    noise = chance.standard_normal((len(right), dimensions), dtype=np.float32)
    return found_in, found_in[right] + noise * np.float32(6 / dimensions**0.5)


if __name__ == "__main__":
    main()
