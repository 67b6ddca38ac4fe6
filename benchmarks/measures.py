"""Time of matching and measuring against the number of results: one line a size, beside pytrec_eval where installed.

    python benchmarks/measures.py [--rows 100000 300000 1000000 3000000] [--results 100]

Runs are made by a seeded generator: 100 results a query; documents by id, and ranges of lines in 200 files with their
prices. What is timed starts from the run and the judgments as values and ends with the values of every measure, on one
core (processor time), once a size. pytrec_eval starts from its dictionaries and computes what it knows of the same.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec

import numpy as np

from assay.measure.compare import interval, randomisation
from assay.measure.line_spans import Entry, Span, Unit
from assay.measure.matched import Matched, match
from assay.measure.measures import NAMES, parse

DOCUMENTS, FILES, LINES = 100_000, 200, 2_000
JUDGED = 5
THEIRS = ("success", "recip_rank", "ndcg", "ndcg_cut", "recall", "map", "map_cut", "P", "Rprec", "bpref")
Run = Mapping[str, Sequence[Span]]
Truth = Mapping[str, Sequence[Entry]]


def main() -> None:
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
    cells = [seconds(lambda: measured(match(run, truth, "file")))]
    theirs = outside(run, truth)
    ranged, ranged_truth = ranges(queries, results)
    units: tuple[Unit, ...] = ("line", "line published", "file", "function")
    cells += [
        seconds(lambda unit=unit: measured(match(ranged, ranged_truth, unit, cost=cost, units=functions)))
        for unit in units
    ]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return [*(f"{cell:.2f}" for cell in cells), theirs, f"{peak:.1f}"]


def measured(matched: Matched) -> None:
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


if __name__ == "__main__":
    main()
