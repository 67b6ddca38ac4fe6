"""`assay rank eval`: measure what the orders of rankers are worth."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import options, tables
from assay.cli.adapter import command
from assay.cli.exec import EXEC_COUNTS
from assay.cli.progress import progress
from assay.cli.rank_parts import RankerOptions, labelled, rankers, tasks_of
from assay.cli.tables import nulled
from assay.errors import InputError, counted
from assay.io.terminal import dumps, say_problems
from assay.parameters import Options, argument, form, option, shared, verbose
from assay.report.plain_text import cell_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from assay.measure.passk import Gain, RankMeasure, Value
    from assay.rank.evaluate_rankers import Cell, Evaluation, RankerDifference


class RankEvalOptions(Options):
    """Options of `assay rank eval`."""

    samples: Path = argument()
    outcomes: Path = argument()
    tasks: Path | None = options.tasks()
    specs: tuple[str, ...] = option("--ranker SPEC", "A ranker to measure. Repeatable.  [default: consensus]")
    may: RankerOptions = shared(RankerOptions)
    ks: str = option("--k K,…", "The k of pass@k and exec@k.", default="1,5")
    sizes: str = option("--pool N,…", "Sizes of pools of samples.  [default: all samples of a task]")
    draws: int = option("--draws N", "Pools drawn from each task.", least=1, default=5)
    limit_tasks: int | None = option("--limit-tasks N", "Use only the first N tasks.", least=1)
    stop: str = options.stop()
    seed: int = option("--seed N", "The random seed that draws the pools.", default=0)
    form: str = form("text", "json")
    verbose: bool = verbose("Name every problem; show the traceback of an error.")


@command(
    RankEvalOptions, example="assay rank eval samples.jsonl outcomes.jsonl --ranker consensus --k 1,5", name="eval"
)
def eval(given: RankEvalOptions) -> None:  # noqa: A001  # the command's name
    """Measure an order of the programs: pass@k and exec@k of the k ranked first, beside unranked.

    OUTCOMES is what assay exec wrote about SAMPLES. Programs with equal scores count as the mean over their orders.
    'unique' is with duplicates removed. Intervals are 95% bootstrap intervals over tasks; gains are paired by task.
    A program that does nothing scores on exec@k, so pass@k is always shown with it.

    With --pool 3,10 rankers get pools of 3 and of 10 samples, drawn from those of a task. Tasks with fewer are left
    out and counted.
    """
    from assay.measure.passk import ks_of
    from assay.rank.dataset.rows import by_task
    from assay.rank.evaluate_rankers import EvaluationOptions, evaluate

    plan = EvaluationOptions(ks_of(given.ks), ks_of(given.sizes) if given.sizes else (0,), given.draws, given.seed)
    if len(set(given.specs)) != len(given.specs):
        raise InputError("a ranker is named twice; name each once")
    data, known = labelled(given.samples, given.outcomes, tasks_of(given.tasks), given.stop)
    kept = set(list(by_task(data.examples))[: given.limit_tasks])
    examples = tuple(each for each in data.examples if each.task_id in kept)
    with rankers(given.specs or ("consensus",), given.may) as (made, _), progress() as watch:
        found = evaluate(known, examples, made, plan, report=watch)
    say_problems(data.problems, every=given.verbose)
    click.echo(dumps(_as_json(found)) if given.form == "json" else "\n".join(_text(found)))


def _as_json(found: Evaluation) -> dict[str, Any]:
    """Return all of it as JSON has it."""
    return {
        "tasks": found.tasks,
        "samples": found.samples,
        "exec@k counts": EXEC_COUNTS[found.every_test],
        "rankers": [
            {
                "ranker": cell.ranker,
                "pool": cell.size or None,
                "values": _by_measure(cell.values),
                "gains": _by_measure(cell.gains),
                "left_out": cell.few,
                "seconds": cell.seconds,
                "programs": cell.programs,
            }
            for cell in found.cells
        ],
        "differences": [
            {"a": each.a, "b": each.b, "pool": each.size or None, "gains": _by_measure(each.gains)}
            for each in found.differences
        ],
        "predicted": [
            {
                "ranker": each.ranker,
                "opinions": each.opinions,
                "samples": each.samples,
                "labels": {name: labels.record() for name, labels in each.labels.items()},
                "lines": asdict(each.lines),
            }
            for each in found.predicted
        ],
    }


def _by_measure(values: Mapping[RankMeasure, Value] | Mapping[RankMeasure, Gain]) -> dict[str, Any]:
    return {str(measure): nulled(asdict(value)) for measure, value in values.items()}


def _text(found: Evaluation) -> Iterator[str]:
    """Yield lines for a terminal."""
    yield f"{counted(found.tasks, 'task')}, {counted(found.samples, 'sample')}"
    for size in dict.fromkeys(cell.size for cell in found.cells):
        yield ""
        yield from _table([cell for cell in found.cells if cell.size == size], size)
        yield from _differences([each for each in found.differences if each.size == size])
    yield f"  exec@k counts {EXEC_COUNTS[found.every_test]}"
    for each in found.predicted:
        part = each.opinions / each.samples if each.samples else 0.0
        yield ""
        samples = f"{each.opinions:,} samples ({part:.0%})"
        yield f"{each.ranker} predicts the fault of {samples}; the others are not predicted"
        yield f"  macro-F1: {', '.join(f'{name} {labels.macro_f1:.3f}' for name, labels in each.labels.items())}"
        lines = each.lines
        yield f"  line: {lines.accuracy:.3f} of all, {lines.found:.3f} of {lines.broken:,} that break at one"


def _table(cells: Sequence[Cell], size: int) -> Iterator[str]:
    from assay.bench.program_ranking import gain_cell, value_cell

    first = cells[0]
    measured = max((value.tasks for value in first.values.values()), default=0)
    left = f", {counted(first.few, 'task')} with fewer left out" if first.few else ""
    yield f"pools of {size or 'all samples'}: {counted(measured, 'task')}{left}"
    heads = ("ranker", *map(str, first.values))
    yield from tables.lines(heads, [(cell.ranker, *map(value_cell, cell.values.values())) for cell in cells], "  ")
    for measure, value in first.values.items():
        if few := measured - value.tasks:
            yield f"  {measure}: {counted(few, 'task')} with fewer than {measure.k} samples left out"
    if len(cells) > 1:
        yield "  gain over unranked"
        ranked = (cell for cell in cells if cell.gains)
        yield from tables.lines(heads, [(cell.ranker, *map(gain_cell, cell.gains.values())) for cell in ranked], "  ")
    for cell in cells:
        if cell.programs:
            each = 1000 * cell.seconds / cell.programs
            yield f"  {cell.ranker}: {cell.programs:,} programs in {cell.seconds:.1f} s, {each:.2f} ms each"


def _differences(differences: Sequence[RankerDifference]) -> Iterator[str]:
    from assay.bench.program_ranking import gain_cell

    for each in differences:
        shown = ((measure, gain) for measure, gain in each.gains.items() if measure.good == "pass")
        gains = (f"{measure} {cell_text(gain_cell(gain))} p {gain.p:.4f}" for measure, gain in shown if gain.tasks)
        yield f"  {each.a} less {each.b}: {', '.join(gains)}"
