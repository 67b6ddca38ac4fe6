"""Measure exact search, measures and candidate selection at CoSQA+'s size and below: seconds and peak memory.

python benchmarks/exhaustive.py [--codes 132952] [--queries 20604] [--random 768] [--json FILE]

Texts are made by a seeded generator (`scale.py`), questions are half of the words of a code's docstring. The default
encoder encodes both, `search.retrievers.exhaustive` finds the first 100 codes of each query, `assay.measure` scores
them. `--random N` adds random vectors of N dimensions, which need no encoding. Each row is a process of its own, so
that its peak memory is its own; sizes are a quarter, a half and all of the codes, of the queries, and of both.

python benchmarks/exhaustive.py measures [--rows 100000 300000 1000000 3000000] [--results 100]

Runs are made by a seeded generator: 100 results a query; documents by id, and ranges of lines in 200 files with their
prices. What is timed starts from the run and the judgments as values and ends with the values of every measure, on one
core (processor time), once a size. pytrec_eval starts from its dictionaries and computes what it knows of the same.

python benchmarks/exhaustive.py candidates [--codes 132952] [--queries 20604] [--encoder SPEC ...] [--json FILE]

Texts are those of `exhaustive.py`: made by a seeded generator, questions are half of the words of a code's docstring.
Sizes are an eighth, a quarter, a half and all of both; each row is a process of its own, so that its peak memory is
its own. Memory that is a mapped file, which the system takes back when it wants to, is told apart from the rest.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

import numpy as np
from scale import SYLLABLES, unit
from shared import memory_mb, run_command

from assay import plugins
from assay.encode.static import load_static
from assay.judge.candidates import Sources, candidates
from assay.measure.compare import interval, randomisation
from assay.measure.line_spans import Entry, Span, Unit
from assay.measure.matched import Matched, match
from assay.measure.measures import NAMES, parse
from assay.protocols import Vectors
from assay.search.retrievers import exhaustive
from assay.values import Chunk, Query

DEPTH = 100
MEASURES = ("MRR", "nDCG@10", "MAP", "Recall@100")


def run_exhaustive() -> None:
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


DOCUMENTS, FILES, LINES = 100_000, 200, 2_000
JUDGED = 5
THEIRS = ("success", "recip_rank", "ndcg", "ndcg_cut", "recall", "map", "map_cut", "P", "Rprec", "bpref")
Run = Mapping[str, Sequence[Span]]
Truth = Mapping[str, Sequence[Entry]]


def run_measures() -> None:
    """Print a table of seconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 300_000, 1_000_000, 3_000_000])
    parser.add_argument("--results", type=int, default=100)
    given = parser.parse_args()
    print("| rows | documents, file | ranges, line | line published | file | function | pytrec_eval | peak GiB |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    for rows in given.rows:
        print(f"| {rows:,} | {' | '.join(timed(rows // given.results, given.results))} |", flush=True)
    a, b = np.random.default_rng(0).random((2, 20_000))
    print(f"interval of 20,000 queries {seconds(lambda: interval(a)):.2f} s, randomisation test", end=" ")
    print(f"{seconds(lambda: randomisation(a, b)):.2f} s")


def timed(queries: int, results: int) -> list[str]:
    """Return the seconds of each way, then the peak memory so far."""
    run, truth = documents(queries, results)
    cells = [seconds(lambda: measure_once(match(run, truth, "file")))]
    theirs = outside(run, truth)
    ranged, ranged_truth = ranges(queries, results)
    units: tuple[Unit, ...] = ("line", "line published", "file", "function")
    cells += [
        seconds(lambda unit=unit: measure_once(match(ranged, ranged_truth, unit, cost=cost, units=functions)))
        for unit in units
    ]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return [*(f"{cell:.2f}" for cell in cells), theirs, f"{peak:.1f}"]


def measure_once(matched: Matched) -> None:
    """Compute every measure, with the cut-offs of pytrec_eval for those that it has."""
    for name in NAMES:
        for cut in (5, 10, 20, 100, 1000) if "@" in name else (0,):
            if matched.tokens is not None or "token" not in name:
                parse(name.replace("@k", f"@{cut}").replace("@N", f"@{cut}")).of(matched)


def documents(queries: int, results: int) -> tuple[Run, Truth]:
    """Return rankings of whole documents."""
    draws = np.random.default_rng(0)
    names = [f"document-{n}" for n in range(DOCUMENTS)]
    run, truth = {}, {}
    for query in range(queries):
        picked = draws.choice(DOCUMENTS, results + JUDGED, replace=False, shuffle=False).tolist()
        run[f"q{query}"] = [Span(names[n]) for n in picked[:results]]
        truth[f"q{query}"] = [Entry(Span(names[n]), rank % 3) for rank, n in enumerate(picked[-2 * JUDGED :: 2])]
    return run, truth


def ranges(queries: int, results: int) -> tuple[Run, Truth]:
    """Return rankings of chunks of files."""
    draws = np.random.default_rng(0)
    paths = [f"src/package/module_{n}.py" for n in range(FILES)]

    def spans(count: int) -> list[Span]:
        starts = draws.integers(1, LINES, count).tolist()
        longer = draws.integers(0, 60, count).tolist()
        files = draws.integers(0, FILES, count).tolist()
        return [Span(paths[file], start, start + more) for file, start, more in zip(files, starts, longer, strict=True)]

    run = {f"q{n}": spans(results) for n in range(queries)}
    return run, {query: [Entry(span, rank % 3) for rank, span in enumerate(spans(JUDGED))] for query in run}


def cost(span: Span) -> int:
    """Price a line at ten tokens."""
    return 10 * (span.end - span.start + 1)


def functions(_: str) -> Sequence[tuple[int, int, str]]:
    """Return functions of thirty lines with five between them."""
    return [(start, start + 29, f"f{start}") for start in range(1, LINES, 35)]


def outside(run: Run, truth: Truth) -> str:
    """Return the seconds of pytrec_eval, or that it is not installed."""
    if not find_spec("pytrec_eval"):
        return "not installed"
    import pytrec_eval

    qrels = {query: {entry.span.path: entry.grade for entry in entries} for query, entries in truth.items()}
    scores = {query: {span.path: -float(rank) for rank, span in enumerate(spans)} for query, spans in run.items()}
    return f"{seconds(lambda: pytrec_eval.RelevanceEvaluator(qrels, THEIRS).evaluate(scores)):.2f}"


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of some work."""
    start = time.process_time()
    work()
    return time.process_time() - start


ENCODERS = ("static:default", "hash", "hash:512")
CANDIDATE_DEPTH = 20


def run_candidates() -> None:
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
        print(json.dumps(measure_candidates(codes, queries, given.encoder)))
        return
    rows = []
    for part in given.parts:
        sizes = [str(given.codes // part), str(given.queries // part)]
        command = [sys.executable, __file__, "candidates", "--one", *sizes, "--encoder", *given.encoder]
        rows.append(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout))
        print("  ".join(f"{key} {value:,.4g}" for key, value in rows[-1].items()), flush=True)
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


def measure_candidates(codes: int, queries: int, specs: list[str]) -> dict[str, Any]:
    """Choose candidates; return seconds of encoding and of the rest, and the peak memory."""
    right = np.random.default_rng(1).integers(0, codes, queries)
    found_in, asked = made(codes, right)
    sources = Sources(
        [Query(str(number), text) for number, text in enumerate(asked)],
        [Chunk(str(number), text, "python") for number, text in enumerate(found_in)],
        {spec: plugins.make("encoder", spec) for spec in specs},
        CANDIDATE_DEPTH,
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
    """Return the memory of this process that is no file, in MiB."""
    return memory_mb("self") * 1000 / 1024


COMMANDS = {"measures": run_measures, "candidates": run_candidates}

if __name__ == "__main__":
    run_command(COMMANDS, run_exhaustive)
