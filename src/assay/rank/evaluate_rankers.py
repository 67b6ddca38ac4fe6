"""Measure how good the orders of rankers are on programs with known outcomes.

Every ranker sees the same pools. Smaller pools are drawn from the samples of a task without replacement, by seed, and
figures are means over the draws of a task first, then over tasks. What running a program did not decide is in no pool.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import isnan, nan
from typing import TYPE_CHECKING

from assay import faults
from assay.errors import InputError
from assay.faults import Fault
from assay.measure import agreement, passk
from assay.measure.passk import Gain, Judged, RankMeasure, Value
from assay.protocols import Ranker
from assay.rank.datasets import Example, by_task
from assay.rank.rankers import ranked_pools
from assay.values import Ranked, Task

if TYPE_CHECKING:
    from assay.protocols import Progress

UNRANKED = "unranked"
LABELS = {"binary": faults.binary, "ternary": faults.ternary, "intent": faults.intent, "execution": faults.execution}
"""The label sets by name."""


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """Options of a measurement."""

    ks: tuple[int, ...] = (1, 5)
    sizes: tuple[int, ...] = (0,)
    """Samples of a pool; 0 is all there are."""
    draws: int = 5
    """Pools drawn for each task, where a pool is not all."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Cell:
    """One ranker on pools of one size."""

    ranker: str
    size: int
    values: Mapping[RankMeasure, Value]
    gains: Mapping[RankMeasure, Gain]
    """Over the same pools unranked; none for these themselves."""
    few: int
    """Tasks with fewer samples than a pool has, which are left out."""
    seconds: float = 0.0
    programs: int = 0
    """How many programs were ranked in that time."""
    per_task: Mapping[RankMeasure, Mapping[str, float]] = field(default_factory=dict)
    """By measure, the value of each task; nan where it has fewer than k samples."""


@dataclass(frozen=True, slots=True)
class RankerDifference:
    """The difference between two rankers in a measure."""

    a: str
    b: str
    size: int
    gains: Mapping[RankMeasure, Gain]


@dataclass(frozen=True, slots=True)
class FaultPrediction:
    """How well a ranker predicts faults, on the programs that it predicts any for."""

    ranker: str
    opinions: int
    samples: int
    labels: Mapping[str, agreement.Confusion]
    lines: agreement.LineAccuracy


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All results of a measurement."""

    tasks: int
    samples: int
    cells: tuple[Cell, ...]
    differences: tuple[RankerDifference, ...]
    predicted: tuple[FaultPrediction, ...]
    every_test: bool = True
    """Whether exec@k is about all tests of each program, rather than those up to its first wrong answer."""


@dataclass(slots=True)
class _Run:
    """Collected values of one ranker on pools of one size."""

    per_task: dict[RankMeasure, dict[str, float]]
    seconds: float = 0.0
    programs: int = 0
    ranked: list[tuple[Example, Ranked]] = field(default_factory=list)


def evaluate(
    tasks: Iterable[Task],
    examples: Sequence[Example],
    rankers: Sequence[Ranker],
    plan: EvaluationOptions,
    *,
    report: Progress | None = None,
) -> Evaluation:
    """Measure rankers; the prompt and the entry point are those of the tasks."""
    book = {task.id: task for task in tasks}
    groups = by_task(examples)
    if not groups:
        raise InputError("no program has an outcome: there is nothing to measure")
    cells: list[Cell] = []
    differences: list[RankerDifference] = []
    predicted: list[FaultPrediction] = []
    for size in plan.sizes:
        plain, runs = _runs([ranker.name for ranker in rankers], plan, size)
        large = {name: group for name, group in groups.items() if _sample_count(group) >= size}
        for done, (name, group) in enumerate(large.items(), 1):
            _measure(book[name], group, size, plan, rankers, runs, plain)
            _say(report, size, done, len(large))
        cells += _cells(runs, plain, size, len(groups) - len(large), plan.seed)
        differences += _differences(runs, size, plan.seed)
        if size == plan.sizes[0]:
            predicted = [_predicted(name, run.ranked) for name, run in runs.items()]
    samples = sum(each.n for each in examples)
    every_test = not any(each.fault.is_intent and each.ran_all is None for each in examples)
    with_opinions = tuple(filter(lambda each: each.opinions > 0, predicted))
    return Evaluation(len(groups), samples, tuple(cells), tuple(differences), with_opinions, every_test)


def _runs(names: Sequence[str], plan: EvaluationOptions, size: int) -> tuple[_Run, dict[str, _Run]]:
    """Return an empty run for the unranked samples, and one for each ranker."""
    measures = [measure for measure in passk.measures(plan.ks) if not size or measure.k <= size]
    return _Run({each: {} for each in measures}), {name: _Run({each: {} for each in measures}) for name in names}


def _say(report: Progress | None, size: int, done: int, total: int) -> None:
    if report:
        report(f"pools of {size}" if size else "pools", done, total)


def _sample_count(group: Iterable[Example]) -> int:
    return sum(each.n for each in group)


def draw_pool(group: Sequence[Example], size: int, draw: int, seed: int) -> list[Example]:
    """Return a pool of a task: all of it, or as many samples as asked for, drawn without replacement."""
    if not size:
        return list(group)
    places = [place for place, each in enumerate(group) for _ in range(each.n)]
    lots = random.Random(f"{seed}/{group[0].task_id}/{size}/{draw}")  # noqa: S311  no secret hangs on it
    counts = Counter(lots.sample(places, size))
    return [replace(group[place], n=count) for place, count in sorted(counts.items())]


def judged(example: Example, score: float) -> Judged:
    """Convert a row to the form of the measures."""
    return Judged(score, example.fault is Fault.CORRECT, example.runs, example.n, example.source)


def _measure(  # noqa: PLR0913, PLR0917  each is one thing
    task: Task,
    group: Sequence[Example],
    size: int,
    plan: EvaluationOptions,
    rankers: Sequence[Ranker],
    runs: Mapping[str, _Run],
    plain: _Run,
) -> None:
    """Add the values of one task."""
    draws = plan.draws if size and size < sum(each.n for each in group) else 1
    pools = [draw_pool(group, size, draw, plan.seed) for draw in range(draws)]
    _add(plain, task.id, [[judged(each, 0.0) for each in pool] for pool in pools])
    for ranker in rankers:
        run, scored = runs[ranker.name], []
        started = time.perf_counter()
        opinions = list(ranked_pools(ranker, [(task, [each.program for each in pool]) for pool in pools]))
        run.seconds += time.perf_counter() - started
        for pool, orders in zip(pools, opinions, strict=True):
            run.programs += len(pool)
            if len(orders) != len(pool):
                raise InputError(f"{ranker.name} gave {len(orders):,} scores for {len(pool):,} programs of {task.id}")
            run.ranked += zip(pool, orders, strict=True)
            scored.append([judged(each, order.score) for each, order in zip(pool, orders, strict=True)])
        _add(run, task.id, scored)


def _add(run: _Run, task: str, pools: Sequence[Sequence[Judged]]) -> None:
    for measure, per_task in run.per_task.items():
        found = [passk.at(pool, measure) for pool in pools]
        values = [value for value in found if not isnan(value)]
        per_task[task] = sum(values) / len(values) if values else nan


def _cells(runs: Mapping[str, _Run], plain: _Run, size: int, few: int, seed: int) -> Iterator[Cell]:
    means = {measure: passk.mean(values, seed=seed) for measure, values in plain.per_task.items()}
    yield Cell(UNRANKED, size, means, {}, few, per_task=plain.per_task)
    for name, run in runs.items():
        yield Cell(
            name,
            size,
            {measure: passk.mean(values, seed=seed) for measure, values in run.per_task.items()},
            {m: passk.gain(values, plain.per_task[m], seed=seed) for m, values in run.per_task.items()},
            few,
            run.seconds,
            run.programs,
            run.per_task,
        )


def _differences(runs: Mapping[str, _Run], size: int, seed: int) -> Iterator[RankerDifference]:
    for a, b in combinations(runs, 2):
        one, other = runs[a].per_task, runs[b].per_task
        yield RankerDifference(a, b, size, {m: passk.gain(one[m], other[m], seed=seed) for m in one})


def _predicted(name: str, rows: Sequence[tuple[Example, Ranked]]) -> FaultPrediction:
    found = [(example, order) for example, order in rows if order.fault is not None]
    times = [example.n for example, _ in found]
    labels = {}
    for label, of in LABELS.items():
        true = [of(example.fault) for example, _ in found]
        guessed = [of(order.fault) for _, order in found if order.fault is not None]
        known = tuple(dict.fromkeys(of(fault) for fault in Fault))
        labels[label] = agreement.confusion(true, guessed, labels=known, n=times)
    true_lines = [faults.execution_line(example.fault, example.line)[1] for example, _ in found]
    lines = agreement.lines(true_lines, [order.line for _, order in found], n=times)
    return FaultPrediction(name, sum(times), sum(example.n for example, _ in rows), labels, lines)
