"""Measure how issues find the files of their fix, and entries of a changelog their commit.

python benchmarks/issues.py INSTANCES.jsonl --repositories FOLDER [--work FOLDER] [--json FILE]

INSTANCES are rows of SWE-bench: issue, commit, patch. FOLDER/OWNER/NAME is a clone of each repository, which may be
bare. Each is indexed at the commit before the fix, one state after the other, and asked for code; files of
documentation that a fix touched are no answers. *assay* is the default with the history up to that commit, *without
history* the same of a folder that has none, *one question* is that ranking asked with the whole text, *bm25* is the
plain one that `assay bench` has. Times are processor time of the first question to an index.

python benchmarks/issues.py log ROOT CHANGELOG [--sample N]

An entry was written for users, a message for who reviews, so that they seldom share words. The commit that added the
entry to the file is the right one (`git blame`); what it changed in the changelog itself is left out of
the search. Commits that added more than three entries are left out: releases and moves of the file. Orders by words and
by vectors alone stand beside the one that ships.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory

import numpy as np
from shared import mean_with_interval, run_command

from assay.corpus.languages import BY_EXTENSION, PROSE
from assay.corpus.pinned import export
from assay.errors import InputError
from assay.measure.line_spans import Entry, Span, span_of
from assay.measure.matched import match
from assay.measure.measures import parse
from assay.operations.commits import History
from assay.operations.past_commits import past_until
from assay.operations.workspace import Workspace, open_workspace
from assay.protocols import Searcher
from assay.search.history import CommitFilter
from assay.search.hybrid import LearnedSearcher
from assay.search.past_changes import PastChanges
from assay.search.retrievers import FieldWeights, KeywordSearcher
from assay.settings import Settings, load
from assay.truth import truth_formats
from assay.truth.formats.swebench import by_checkout
from assay.truth.ground_truth import Truth
from assay.values import Query

_BODY = FieldWeights(weight=(0.0, 0.0, 0.0, 0.0, 1.0))
SYSTEMS: dict[str, Callable[[Workspace, PastChanges | None], Searcher]] = {
    "bm25": lambda workspace, _: KeywordSearcher(workspace.snapshot, _BODY),
    "one question": lambda workspace, _: LearnedSearcher(workspace.snapshot, workspace.index.encoder),
    "without history": lambda workspace, _: workspace.corpus_search,
    "assay": lambda workspace, past: replace(workspace.corpus_search, past=past),
}
FIGURES = (("file", "Hit@5"), ("file", "MRR"), ("file", "Acc@5"), ("line", "covered@5"))
DEPTH = 20


def run_issues() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("instances", type=Path)
    arguments.add_argument("--repositories", type=Path, required=True)
    arguments.add_argument("--work", type=Path, help="where checkouts and indexes are kept")
    arguments.add_argument("--json", type=Path)
    given = arguments.parse_args()
    with TemporaryDirectory() as scratch:
        rows = list(asked(given.instances, given.repositories, (given.work or Path(scratch)).resolve()))
    print(f"{given.instances.stem}: {len(rows) // len(SYSTEMS)} issues")
    hits = {system: values(rows, system, "file", "Hit@5") for system in SYSTEMS}
    for system in SYSTEMS:
        figures = "  ".join(f"{name} {values(rows, system, unit, name).mean():.3f}" for unit, name in FIGURES)
        taken = 1e3 * np.percentile([row["seconds"] for row in rows if row["system"] == system], (50, 90))
        gained = mean_with_interval(hits[system] - hits["bm25"], "+.3f")
        print(f"  {system:<15}  {figures}  p50 {taken[0]:.0f} ms  p90 {taken[1]:.0f} ms", end="")
        print(f"  Hit@5 over bm25 {gained}")
    if given.json:
        given.json.write_text(json.dumps(rows) + "\n", "utf-8")


def asked(instances: Path, repositories: Path, work: Path) -> Iterator[dict]:
    """Yield what each system made of each issue, in the order of their dates, repository by repository."""
    states = by_checkout(truth_formats.read(instances, "swebench").truth)
    for state in sorted(states, key=lambda each: (each.repository, each.queries[0].tags.get("date", ""))):
        entries = {query.id: list(changed(state, query.id)) for query in state.queries}
        queries = [replace(query, mode="code") for query in state.queries if entries[query.id]]
        if not queries:
            continue
        try:
            workspace = indexed(repositories / state.repository, state, work)
        except InputError as error:
            print(f"{state.name} is left out: {error}", flush=True)
            continue
        past = past_until(repositories / state.repository, state.commit, workspace.settings)
        for name, system in SYSTEMS.items():
            searcher = system(workspace, past)
            for query in queries:
                yield {"system": name, "id": query.id, **answered(searcher, query, entries[query.id])}
        print(f"{state.name}: {workspace.report.chunks:,} chunks, {workspace.report.seconds:.1f} s", flush=True)


def indexed(repository: Path, state: Truth, work: Path) -> Workspace:
    """Write the files of a state out and bring the repository's index up to date with them."""
    folder = work / "checkouts" / state.repository
    rmtree(folder, ignore_errors=True)
    export(repository, state.commit, folder)
    location = str(work / "indexes" / state.repository)
    return open_workspace(folder, load(options={"index": {"location": location}}))


def changed(state: Truth, query_id: str) -> Iterator[Entry]:
    """Yield the hunks of code that a fix changed."""
    for judgment in state.judgments:
        span = span_of(judgment.target)
        if judgment.query_id == query_id and BY_EXTENSION.get(span.path.rpartition(".")[2], "text") not in PROSE:
            yield Entry(span, 1)


def answered(searcher: Searcher, query: Query, entries: Sequence[Entry]) -> dict:
    began = time.process_time()
    (hits,) = searcher.search([query], DEPTH)
    seconds = time.process_time() - began
    run = {query.id: [Span(hit.chunk.path, hit.chunk.start_line, hit.chunk.end_line) for hit in hits]}
    found = {unit: match(run, {query.id: entries}, unit) for unit in ("file", "line")}
    figures = {f"{unit} {name}": float(parse(name).of(found[unit])[0]) for unit, name in FIGURES}
    return {"seconds": seconds, **figures}


def values(rows: Sequence[dict], system: str, unit: str, name: str) -> np.ndarray:
    return np.array([row[f"{unit} {name}"] for row in rows if row["system"] == system])


LOG_DEPTH = 10
SEED = 7
_REFERENCE = re.compile(r":\w+:`[^`]*`|\[?#\d+\]?(\([^)]*\))?|\(?https?://\S+|@\w+")
_BULLET = re.compile(r"^\s*[-*+]\s+")


def entries(root: Path, changelog: str) -> list[tuple[str, str]]:
    """Return each entry of a changelog with the commit that added its first line."""
    printed = subprocess.run(
        ["git", "-C", str(root), "blame", "-s", "-l", "HEAD", "--", changelog],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    found: list[tuple[str, str]] = []
    for row in printed:
        commit, line = row[:40].lstrip("^"), row.partition(") ")[2]
        if _BULLET.match(line):
            found.append((_BULLET.sub("", line), commit))
        elif found and line[:1] == " " and line.strip():
            found[-1] = (f"{found[-1][0]} {line.strip()}", found[-1][1])
    counts = Counter(commit for _, commit in found)
    cleaned = ((" ".join(_REFERENCE.sub(" ", text).split()), commit) for text, commit in found if counts[commit] <= 3)
    return [(text, commit) for text, commit in cleaned if len(text.split()) >= 5]


def run_log() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("changelog")
    parser.add_argument("--sample", type=int, default=100)
    given = parser.parse_args()
    every = entries(given.root, given.changelog)
    chosen = random.Random(SEED).sample(every, min(given.sample, len(every)))  # noqa: S311  a sample
    keep = CommitFilter(paths=(f"!{given.changelog}",))
    for ranking in ("learned", "keywords", "vectors"):
        settings = Settings()
        history = History(given.root.resolve(), replace(settings, search=replace(settings.search, ranking=ranking)))
        ranks = [rank(history, text, commit, keep) for text, commit in chosen]
        row = {
            "repository": given.root.name,
            "entries": len(ranks),
            "ranking": ranking,
            "Hit@1": mean_with_interval([float(rank == 1) for rank in ranks]),
            "Hit@5": mean_with_interval([float(0 < rank <= 5) for rank in ranks]),
            "MRR@10": mean_with_interval([1 / rank if rank else 0.0 for rank in ranks]),
        }
        print(json.dumps(row))


def rank(history: History, text: str, commit: str, keep: CommitFilter) -> int:
    """Return the place of a commit, 0 if it is none of the first."""
    found = [each.id for each in history.search(text, keep, LOG_DEPTH).commits]
    return found.index(commit) + 1 if commit in found else 0


COMMANDS = {"log": run_log}

if __name__ == "__main__":
    run_command(COMMANDS, run_issues)
