"""Measure one question over many repositories: ways to merge, their cost, and a served list over HTTP.

python benchmarks/roots.py TRUTH.csv... --checkouts CHECKOUTS --roots ROOTS.txt [--most N]

ROOTS.txt names the roots, one a line; the checkouts of the truths are among them, by the name of their folder. Indexes
are made first. `alone` asks the right repository only, which is the most that any way to merge can find; `by rank` and
`by score` ask every root by itself; `together` is one pass over all, as `assay search` asks. `--most` takes so many
questions of each repository and sort, drawn with a fixed seed. A question is counted as answered by its own repository
only, though others of the same field may answer it, too.

python benchmarks/roots.py serve LIST OUT [--questions 200]

LIST is what `assay serve --repos` takes. The first start finds nothing: its time is until every repository is mirrored
and indexed. Later ones find all there is: their time is until the first answer over all of them. Questions are those of
speed.py with a number, none of them asked before; memory is that of the server alone, its own and with mapped pages.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
from shared import mean_with_interval, memory_mb, run_command
from speed import QUERIES

from assay.measure.line_spans import Entry, Span
from assay.measure.matched import match
from assay.measure.measures import parse
from assay.operations.joint_search import JointSearch, joint_searches
from assay.operations.open_roots import RootOpening, open_many
from assay.operations.workspace import Workspace
from assay.search.retrievers import union
from assay.settings import Settings
from assay.train.ranking_examples import JudgedQuery, judged_queries
from assay.values import Hit

FOUND = 20
MEASURES = ("Hit@5", "Hit@10", "MRR")
Way = Callable[[JudgedQuery], Sequence[Hit]]


def run_roots() -> None:
    """Print a row for each way to merge and sort of question, then what one pass costs."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("truths", nargs="+", type=Path)
    options.add_argument("--checkouts", type=Path, required=True)
    options.add_argument("--roots", type=Path, required=True)
    options.add_argument("--most", type=int, default=0)
    options.add_argument("--together", action="store_true", help="Leave out the ways that ask each root by itself.")
    given = options.parse_args()
    asked = drawn(judged_queries(given.truths, given.checkouts), given.most)
    roots = given.roots.read_text(encoding="utf-8").split()
    open_many(roots, RootOpening(lambda _: Settings()))
    started = time.process_time()
    workspaces = open_many(roots, RootOpening(lambda _: Settings(), refresh=False)).workspaces
    (joint,) = joint_searches(workspaces)
    opened = time.process_time() - started
    joint.corpus_search.search([asked[0].query], FOUND)
    first = time.process_time() - started - opened
    chunks = sum(workspace.report.chunks for workspace in workspaces)
    print(f"{len(workspaces)} roots, {chunks:,} chunks: {opened:.2f} CPU-s to open, {first:.2f} for the first question")
    by_name = {Path(workspace.name).name: workspace for workspace in workspaces}
    ways = ways_to_ask(joint, by_name)
    for name in ("alone", "together") if given.together else tuple(ways):
        measure(name, ways[name], asked)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:,.0f} MiB, mapped pages of the indexes included")


def drawn(every: Sequence[JudgedQuery], most: int) -> list[JudgedQuery]:
    """Return so many questions of each repository and sort, or all."""
    chance = random.Random(1)  # noqa: S311  the same every time
    groups: dict[tuple[str, str], list[JudgedQuery]] = {}
    for one in every:
        groups.setdefault((one.repository, one.query.mode), []).append(one)
    return [one for group in groups.values() for one in chance.sample(group, min(most or len(group), len(group)))]


def ways_to_ask(joint: JointSearch, workspaces: Mapping[str, Workspace]) -> dict[str, Way]:
    """Return each way to ask, by name."""

    def each(one: JudgedQuery) -> list[list[Hit]]:
        return [
            named(workspace, workspace.corpus_search.search([one.query], FOUND)[0]) for workspace in workspaces.values()
        ]

    return {
        "alone": lambda one: named(
            workspaces[one.repository], workspaces[one.repository].corpus_search.search([one.query], FOUND)[0]
        ),
        "by rank": lambda one: union(each(one), FOUND),
        "by score": lambda one: sorted((hit for hits in each(one) for hit in hits), key=lambda hit: -hit.score)[:FOUND],
        "together": lambda one: joint.corpus_search.search([one.query], FOUND)[0],
    }


def named(workspace: Workspace, hits: Sequence[Hit]) -> list[Hit]:
    """Return hits that know their root, as those of one pass do."""
    root = workspace.name
    return [replace(hit, chunk=replace(hit.chunk, root=root, id=f"{root}/{hit.chunk.id}")) for hit in hits]


def measure(name: str, way: Way, asked: Sequence[JudgedQuery]) -> None:
    """Print what a way finds, by mode, and the processor time that it takes."""
    for mode in sorted({one.query.mode for one in asked}):
        wanted = [one for one in asked if one.query.mode == mode]
        run, taken = {}, []
        for number, one in enumerate(wanted):
            started = time.process_time()
            hits = way(one)
            taken.append((time.process_time() - started) * 1000)
            run[str(number)] = [Span(place_of(hit), hit.chunk.start_line, hit.chunk.end_line) for hit in hits]
        matched = match(run, {str(number): within(one) for number, one in enumerate(wanted)}, "line")
        cells = [f"{each} {mean_with_interval(each.of(matched))}" for each in map(parse, MEASURES)]
        times = f"{np.median(taken):6.0f} / {np.percentile(taken, 95):.0f} ms"
        print(f"{name:<9} {mode:<5} {len(wanted):4}  {'  '.join(cells)}  {times}", flush=True)


def place_of(hit: Hit) -> str:
    """Return the path of a hit below the name of its repository."""
    return f"{Path(hit.chunk.root).name}/{hit.chunk.path}"


def within(one: JudgedQuery) -> list[Entry]:
    """Return the right answers, their paths below the name of the repository."""
    return [
        replace(entry, span=replace(entry.span, path=f"{one.repository}/{entry.span.path}")) for entry in one.entries
    ]


STARTS = 3


def run_serve() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("list", type=Path)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--questions", type=int, default=200)
    given = arguments.parse_args()
    os.environ["XDG_CACHE_HOME"] = str((given.out / "cache").absolute())
    figures: dict[str, Any] = {}
    with served(given.list) as (port, _):
        started = time.perf_counter()
        while waiting(port):
            time.sleep(0.5)
        figures["mirrored and indexed, s"] = round(time.perf_counter() - started, 1)
    figures["start to first answer over all, s"] = [warm_start(given.list) for _ in range(STARTS)]
    with served(given.list) as (port, process):
        asked(port, "warm the caches")
        state = json.loads(get(port, "/api/repositories"))["repositories"]
        names = [each["root"] for each in state if each["is_searched"]]
        figures["repositories"] = {"searched": len(names), "with problems": sum(bool(e["problem"]) for e in state)}
        figures["over all, ms"] = quantiles([asked(port, text) for text in questions(given.questions)])
        ones = [asked(port, text, names[n % min(8, len(names))]) for n, text in enumerate(questions(given.questions))]
        figures["over one, ms"] = quantiles(ones[8:])
        figures["memory, MB"] = {
            name: round(memory_mb(process.pid, kind)) for name, kind in (("own", "RssAnon"), ("mapped", "RssFile"))
        }
    print(json.dumps(figures, indent=1))


@contextmanager
def served(listed: Path) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """Start a server of a list and give its port; end it."""
    command = [sys.executable, "-m", "assay", "serve", "--repos", str(listed), "--port", "0", "--rate", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        lines = iter(process.stderr.readline, "")
        port = next(int(found[1]) for line in lines if (found := re.search(r"http://127.0.0.1:(\d+)/", line)))
        yield port, process
    finally:
        process.terminate()
        process.communicate()


def waiting(port: int) -> bool:
    """Say whether a repository was not looked at yet."""
    state = json.loads(get(port, "/api/repositories"))["repositories"]
    return not state or any(not each["is_searched"] and not each["problem"] for each in state)


def warm_start(listed: Path) -> float:
    """Return the seconds from a start to the first answer over all that was there before."""
    started = time.perf_counter()
    with served(listed) as (port, _):
        while not json.loads(get(port, f"/api/search?{urlencode({'query': QUERIES[0]})}")).get("hits"):
            time.sleep(0.02)
        return round(time.perf_counter() - started, 2)


def questions(count: int) -> list[str]:
    return [f"{QUERIES[number % len(QUERIES)]} {number}" for number in range(count)]


def asked(port: int, text: str, path: str = "") -> float:
    """Return the milliseconds of one answer."""
    query = urlencode({"query": text, **({"path": path} if path else {})})
    started = time.perf_counter()
    answer = json.loads(get(port, f"/api/search?{query}"))
    assert "hits" in answer, answer
    return (time.perf_counter() - started) * 1e3


def get(port: int, path: str) -> bytes:
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    line.request("GET", path)
    body = line.getresponse().read()
    line.close()
    return body


def quantiles(values: list[float]) -> dict[str, float]:
    return {f"p{share}": round(float(np.percentile(values, share)), 1) for share in (50, 95)}


COMMANDS = {"serve": run_serve}

if __name__ == "__main__":
    run_command(COMMANDS, run_roots)
