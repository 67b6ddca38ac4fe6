"""Measure how well a judge without a model agrees with hidden tests, with and without running the examples of a query.

    python benchmarks/judging.py pairs HumanEval.jsonl.gz PROGRAMS OUTCOMES OUT --each 30
    python benchmarks/judging.py pairs MBPP.jsonl PROGRAMS OUTCOMES OUT --sample 1500
    assay judge run OUT/pairs.jsonl --judge signals --out OUT/read.jsonl
    assay judge run OUT/pairs.jsonl --judge signals --allow-execution --out OUT/ran.jsonl
    python benchmarks/judging.py agree OUT/labels.jsonl OUT/read.jsonl OUT/ran.jsonl
    python benchmarks/judging.py rates OUT/labels.jsonl OUT/ran.jsonl MBPP.jsonl

PROGRAMS are JSON lines with `task_id` and `code`, OUTCOMES what `assay exec` wrote of them, in the same order. A query
is the prompt of its task, an MBPP one its text and the first of its tests. Labels are right (1) or wrong (0) by all
hidden tests. Intervals are of 10,000 bootstrap samples by task. `rates` says how likely a program meets the tests that
it was not shown, where it holds on the shown one and where not: the constants of the judge.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from assay.cage.open_cage import open_sandbox
from assay.judge.records import verdicts
from assay.measure.agreement import against
from assay.programs.verdict import job_of, passed
from assay.values import Program, Script, Task

ROUNDS = 10_000


@dataclass(frozen=True, slots=True)
class Called:
    """What a judge said of a pair, beside its label."""

    task: str
    label: int
    grade: int
    chance: float
    path: str
    trial: Mapping[str, Any]
    code: str


def rows(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of JSON lines, packed or not."""
    with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as lines:
        yield from map(json.loads, lines)


def queries(file: Path) -> dict[str, str]:
    """Return the text of each task's query."""
    return {str(row["task_id"]).rpartition("/")[2]: row.get("prompt") or asked(row) for row in rows(file)}


def asked(row: Mapping[str, Any]) -> str:
    """Return an MBPP task as a query that shows one test."""
    return f"{row['text']}\n{row['test_list'][0]}"


def make(given: argparse.Namespace) -> None:
    """Write pairs and their labels."""
    texts = queries(given.tasks)
    of: dict[str, list[tuple[str, str, int]]] = defaultdict(list)
    for number, (program, outcome) in enumerate(zip(rows(given.programs), rows(given.outcomes), strict=True)):
        task = program["task_id"].rpartition("/")[2]
        if program["task_id"] != outcome["task_id"]:
            raise SystemExit(f"line {number + 1}: {program['task_id']} beside {outcome['task_id']}")
        if task in texts and outcome["fault"] and program["code"].strip():
            of[task].append((f"{task}.{number}", program["code"], int(outcome["fault"] == "correct")))
    draw = random.Random(given.seed)  # noqa: S311
    chosen = [(task, one) for task, every in of.items() for one in draw.sample(every, min(given.each, len(every)))]
    if given.sample:
        chosen = draw.sample(chosen, given.sample)
    given.out.mkdir(parents=True, exist_ok=True)
    with (given.out / "pairs.jsonl").open("w") as pairs, (given.out / "labels.jsonl").open("w") as labels:
        for task, (name, code, label) in chosen:
            print(json.dumps({"query_id": task, "query": texts[task], "code_id": name, "code": code}), file=pairs)
            print(json.dumps({"query_id": task, "code_id": name, "label": label}), file=labels)
    print(f"{len(chosen):,} pairs of {len({task for task, _ in chosen})} tasks")


def called(labels: Path, records: Path) -> list[Called]:
    """Return what was said of each labelled pair; an undecided one counts as a no."""
    label_of = {(row["query_id"], row["code_id"]): row["label"] for row in rows(labels)}
    found = [
        Called(
            row["query_id"],
            label_of[row["query_id"], row["code_id"]],
            row["grade"] or 0,
            row["probability"] or 0.0,
            row["path"] or row["problem"],
            row.get("examples", {}),
            row["code"],
        )
        for row in verdicts(records)
    ]
    if len(found) != len(label_of):
        raise SystemExit(f"{records}: {len(found)} of {len(label_of)} pairs are judged")
    return found


def agree(given: argparse.Namespace) -> None:
    """Tell how far each judge agrees with the labels."""
    for records in given.records:
        found = called(given.labels, records)
        if records == given.records[0]:
            told("always no", [replace(one, grade=0, chance=0.0) for one in found])
        told(records.stem, found)
        for path in sorted({one.path for one in found}):
            told(f"  by {path}", [one for one in found if one.path == path])
        shows = {one.task for one in found if one.trial.get("examples")}
        if shows:
            told("  query shows some", [one for one in found if one.task in shows])


def told(name: str, given: Sequence[Called]) -> None:
    """Print accuracy with its interval, precision, recall, and how well the probabilities order."""
    of: dict[str, list[bool]] = defaultdict(list)
    for one in sorted(given, key=lambda one: one.task):
        of[one.task].append(one.label == one.grade)
    right, count = np.array([sum(each) for each in of.values()]), np.array([len(each) for each in of.values()])
    draws = np.random.default_rng(0).integers(len(of), size=(ROUNDS, len(of)))
    low, high = np.percentile(right[draws].sum(1) / count[draws].sum(1), [2.5, 97.5])
    hits = sum(one.label * one.grade for one in given)
    yes, true = sum(one.grade for one in given), sum(one.label for one in given)
    more = (("precision", share(hits, yes)), ("recall", share(hits, true)), ("ROC-AUC", area(given)))
    print(f"{name:20} {len(given):6,} pairs {len(of):4} tasks  ", end="")
    print(f"{right.sum() / count.sum():.3f} [{low:.3f}, {high:.3f}]  ", "  ".join(f"{what} {of}" for what, of in more))


def share(part: int, whole: int) -> str:
    """Return a share, or a dash where there is none."""
    return f"{part / whole:.3f}" if whole else "-"


def area(given: Sequence[Called]) -> str:
    """Return how often a right pair has the higher chance of a right and a wrong one."""
    labels = [one.label for one in given]
    found = against(labels, labels, probabilities=[one.probability for one in given]).auc.value
    return "-" if isnan(found) else f"{found:.3f}"


def rates(given: argparse.Namespace) -> None:
    """Tell how likely a program meets the tests it was not shown, by what it does on the one that it was."""
    of = {str(row["task_id"]): row for row in rows(given.tasks)}
    found = [one for one in called(given.labels, given.records) if one.trial.get("state") in {"passed", "failed"}]
    tasks = {name: Task(name, "", "", tuple(map(Script, of[name]["test_list"][1:]))) for name in of}
    jobs = [job_of(tasks[one.task], Program(one.task, one.code), extent="survey") for one in found]
    with open_sandbox() as sandbox:
        meets = [len(passed(end)) == len(tasks[one.task].tests) for one, end in zip(found, sandbox.run(jobs))]  # noqa: B905
    for state in ("passed", "failed"):
        at = [number for number, one in enumerate(found) if one.trial["state"] == state]
        true, hidden = sum(found[number].label for number in at), sum(meets[number] for number in at)
        print(f"{state}: {len(at):,}; right by all tests {true}, meets the others {hidden} ({share(hidden, len(at))})")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    pairs = commands.add_parser("pairs")
    for name in ("tasks", "programs", "outcomes", "out"):
        pairs.add_argument(name, type=Path)
    pairs.add_argument("--each", type=int, default=10**9)
    pairs.add_argument("--sample", type=int, default=0)
    pairs.add_argument("--seed", type=int, default=0)
    pairs.set_defaults(run=make)
    agreement = commands.add_parser("agree")
    agreement.add_argument("labels", type=Path)
    agreement.add_argument("records", type=Path, nargs="+")
    agreement.set_defaults(run=agree)
    learned = commands.add_parser("rates")
    for name in ("labels", "records", "tasks"):
        learned.add_argument(name, type=Path)
    learned.set_defaults(run=rates)
    given = parser.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()
