"""Measure rankers over sets of samples as systems of an experiment: a cell a ranker and column, with its figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import isnan, nan
from pathlib import Path

from assay.bench.experiment import concluded
from assay.bench.ranking_matrix import AXES, PROMPTS, Matrix, RankingSetSpec
from assay.bench.ranking_plots import curves, heat
from assay.bench.recorded_ranker import RecordedRanker, recorded
from assay.bench.results import MeasuredCell, MeasuredQuery, MeasuredSet, MeasuredSystem, Results, plain_cell
from assay.bench.scores import manifest_from
from assay.errors import InputError
from assay.io.terminal import say, say_problems
from assay.measure.passk import RankMeasure
from assay.measure.passk import measures as measures_of
from assay.operations import rank
from assay.programs.requests import ReadingOptions
from assay.protocols import Progress, Ranker
from assay.rank import datasets
from assay.rank.datasets import Example, by_task, without_examples
from assay.rank.evaluate_rankers import UNRANKED, Cell, EvaluationOptions, evaluate
from assay.report import document as doc
from assay.runs.record import manifest
from assay.values import Task

UNIT = "task"


@dataclass(frozen=True, slots=True)
class RankingColumn:
    """Samples of one kind with their tasks as a ranker is shown them."""

    set: str
    model: str
    config: str
    prompt: str
    tasks: tuple[Task, ...]
    examples: tuple[Example, ...]

    @property
    def name(self) -> str:
        """What tells it from the others."""
        prompt = "" if self.prompt == PROMPTS[0] else self.prompt
        return " / ".join(part for part in (self.set, self.model, self.config, prompt) if part)


def columns(spec: RankingSetSpec, tasks: Sequence[Task], examples: Sequence[Example]) -> Iterator[RankingColumn]:
    """Yield the columns of a set: one for each model, configuration and prompt that it is taken apart by."""
    if spec.limit_tasks:
        kept = set(list(by_task(examples))[: spec.limit_tasks])
        examples = [each for each in examples if each.task_id in kept]
    values = [sorted({getattr(each, axis) for each in examples}) if axis in spec.by else [None] for axis in AXES]
    for prompt, model, config in product(spec.prompts, *values):
        chosen = tuple(
            each
            for each in examples
            if (model is None or each.model == model) and (config is None or each.config == config)
        )
        if chosen:
            shown = tuple(tasks)
            if prompt != PROMPTS[0]:
                shown = tuple(replace(task, prompt=without_examples(task.prompt)) for task in tasks)
            yield RankingColumn(spec.name, model or "", config or "", prompt, shown, chosen)


def tasks_of(examples: Sequence[Example]) -> tuple[Task, ...]:
    """Return the tasks of rows whose prompts are all that is known of them."""
    return tuple(Task(name, rows[0].prompt) for name, rows in by_task(examples).items())


@dataclass(frozen=True, slots=True)
class RankedColumn:
    """Samples of one kind, and what each ranker came to on them, unranked first."""

    column: RankingColumn
    cells: tuple[Cell, ...]


def _cells(ranked: Sequence[RankedColumn]) -> Iterator[tuple[RankingColumn, Cell]]:
    yield from ((each.column, cell) for each in ranked for cell in each.cells)


def plots_of(plan: Matrix, ranked: Sequence[RankedColumn]) -> tuple[doc.Figure, ...]:
    """Return the heat map of the first measure, and the curves of the rankers that have the log of a training."""
    first = RankMeasure(plan.ks[0])
    sets = {each.column.name: each.column.set for each in ranked}
    found = {(cell.ranker, column.name): cell.values[first].value for column, cell in _cells(ranked)}
    values = [[found.get((ranker.name, name), nan) for name in sets] for ranker in plan.rankers]
    texts = (f"{first} of each ranker, relative", "Over that of the ranker trained on the set, else of the best.")
    return (heat(texts, plan.rankers, sets, values), *curves(plan.rankers))


def ranked_columns(  # noqa: PLR0913  what is ranked by what, where orders are kept, who watches, what can be imported
    plan: Matrix,
    rankers: Sequence[Ranker],
    out: Path,
    watch: Progress,
    importable: Sequence[str] = (),
    *,
    verbose: bool = False,
) -> list[RankedColumn]:
    """Return what the opened rankers of a matrix come to on each column; orders are kept in a folder."""
    names = [each.name for each in plan.rankers]
    wanted, done = EvaluationOptions(plan.ks, seed=plan.seed), []
    with recorded(rankers, names, out, importable) as kept:
        called = {ranker.name: (ranker, name) for ranker, name in zip(kept, names, strict=True)}
        for column in _columns(plan, verbose=verbose):
            found = evaluate(column.tasks, column.examples, kept, wanted, report=watch)
            done.append(RankedColumn(column, tuple(with_spared(cell, called) for cell in found.cells)))
    return done


def _columns(plan: Matrix, *, verbose: bool) -> Iterator[RankingColumn]:
    for spec in plan.sets:
        tasks = rank.tasks_of(spec.tasks)
        if spec.samples and spec.outcomes:
            data, tasks = rank.labelled(spec.samples, spec.outcomes, tasks, ReadingOptions(), say)
        else:
            assert spec.data
            data = datasets.read(spec.data)
            tasks = tasks or tasks_of(data.examples)
        say_problems(data.problems, every=verbose)
        examples = [each for each in data.examples if not spec.split or each.split == spec.split]
        there = list(columns(spec, tasks, examples))
        if not there:
            raise InputError(f"[sets.{spec.name}] holds no program with an outcome")
        yield from there


def results_of(ranked: Sequence[RankedColumn], plan: Matrix, command: str, *, all_pairs: bool = False) -> Results:
    """Return what was measured as any experiment has it; `command` is what was typed."""
    specs = {ranker.name: ranker.spec for ranker in plan.rankers}
    measures = tuple(map(str, measures_of(plan.ks)))
    systems = {
        name: MeasuredSystem(spec, base, "", {}, name, how="in process")
        for name, spec, base in (*((name, spec, UNRANKED) for name, spec in specs.items()), (UNRANKED, UNRANKED, ""))
    }
    sets = {each.column.name: MeasuredSet("", each.column.set, "", tuple(_items(each.cells[0])), ()) for each in ranked}
    cells = sorted(
        (_cell(column.name, cell) for column, cell in _cells(ranked)), key=lambda each: each.system == UNRANKED
    )
    about = manifest(EvaluationOptions(plan.ks, seed=plan.seed), seed=plan.seed)
    found = Results(
        format=1,
        manifest=manifest_from(about, measures, max(plan.ks), command, "ranking"),
        sets=sets,
        unusable={},
        systems=systems,
        cells=tuple(cells),
        comparisons=(),
    )
    return concluded(found, all_pairs=all_pairs)


def _items(cell: Cell) -> Iterator[MeasuredQuery]:
    tasks = next(iter(cell.per_task.values()), {})
    yield from (MeasuredQuery(task, task, {}, ()) for task in tasks)


def _cell(column: str, cell: Cell) -> MeasuredCell:
    """Return one ranker on one set; a measure that some task is too small for has a figure and no values."""
    per_task = {str(measure): tuple(values.values()) for measure, values in cell.per_task.items()}
    items = len(next(iter(per_task.values()), ()))
    each_ms = 1000 * cell.seconds / cell.programs if cell.programs else None
    figures = {str(m): doc.Mean(v.value, v.low, v.high) for m, v in cell.values.items() if not isnan(v.value)}
    values = {name: values for name, values in per_task.items() if not any(map(isnan, values))}
    return plain_cell(column, cell.ranker, UNIT, items, figures, values, each_ms)


def with_spared(cell: Cell, called: Mapping[str, tuple[RecordedRanker, str]]) -> Cell:
    """Return a cell under the name that the matrix has, with the seconds that saved orders took."""
    if cell.ranker not in called:
        return cell
    ranker, name = called[cell.ranker]
    spared_s, ranker.spared_s = ranker.spared_s, 0.0
    return replace(cell, ranker=name, seconds=cell.seconds + spared_s)
