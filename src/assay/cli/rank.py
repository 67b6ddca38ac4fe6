"""Commands that order programs and measure orders: `assay rank order`, `assay rank eval`, `assay rank compare`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import isnan
from typing import TYPE_CHECKING, Any

import click

from assay.cli.adapter import command
from assay.cli.progress import progress
from assay.errors import InputError, counted, printable
from assay.io.files import dumps
from assay.io.terminal import say, say_problems, wants_color
from assay.rank.requests import CompareRequest, EvalRequest, OrderRequest
from assay.report.document import Number
from assay.report.plain_text import as_text, cell_text, rows_as_lines

if TYPE_CHECKING:
    from assay.measure.passk import Gain, RankMeasure, Value
    from assay.rank.evaluate_rankers import Cell, Evaluation, RankerDifference
    from assay.values import Ranked, Task

_DEFAULT_PROGRAMS = 5
"""Programs per task that are printed, if there are several tasks."""
_SURE = 0.5
"""The probability from which a predicted fault is printed; a fault that a ranker observed has none."""
_PARTS = 4
"""Parts of a score that are printed."""


@command(OrderRequest, example="assay rank order samples.jsonl --tasks HumanEval.jsonl --k 1")
def order(request: OrderRequest) -> None:
    """Order the programs of each task so that a right one comes early, and say what is wrong with the others.

    The order is for trying the first k: after the first, consensus prefers a program that is unlike those before it,
    so a second right one may come late. --order probability takes each program by itself.

    SAMPLES has one JSON object a line: a program (code, solution, or completion with its prompt), and the task_id where
    there are several tasks. A folder of .py files is one task's candidates. Rankers are consensus,
    consensus:?unfinished (for programs that are still being written), neural:FOLDER, and those that run programs and
    need --allow-execution: examples and agreement. With A+B the second decides between programs that the first holds
    equal. Scores compare programs of one task only; that of neural alone is the probability of being right. A fault
    is a prediction: text leaves out those of a probability below 0.5; consensus names only faults that it can see.

    Text shows five programs a task where there are several tasks; FILE, JSON and JSON lines have all of them.

    Exits 0 if there is an order, 2 on an error.
    """
    from assay.operations.rank import open_rankers, tasks_of
    from assay.programs.samples import say_edits
    from assay.rank.rankers import best_first, notes, notes_on_order, parts_of, ranked_pools, read

    pools = read(request.samples, tasks_of(request.tasks), request.reading)
    say_edits(pools.programs, say)
    groups = list(pools)
    found: list[tuple[Task, list[Ranked]]] = []
    with open_rankers([request.spec], request.may, say) as ((ranker,), _), progress() as watch:
        for (task, _), opinions in zip(groups, ranked_pools(ranker, groups), strict=True):
            found.append((task, best_first(opinions, seed=request.seed, by=request.by)))
            watch("tasks", len(found), len(groups))
    parts = parts_of(request.spec)
    are_whole = not any(part.startswith("consensus:") and "unfinished" in part for part in parts)
    odd = [note for task, programs in groups for note in notes(task, programs, are_whole=are_whole)]
    odd += [note for task, ranked in found for note in notes_on_order(task, ranked, parts)]
    say_problems([*pools.problems, *odd], every=request.verbose)
    rows = [row for task, ranked in found for row in _rows(task, ranked[: request.most])]
    if request.form == "text":
        shown = request.most or (_DEFAULT_PROGRAMS if len(found) > 1 else None)
        is_neural = request.spec.startswith("neural:") and len(parts_of(request.spec)) == 1
        columns = ("probability",) if is_neural else ("score", "probability")
        click.echo("\n".join(line for task, ranked in found for line in _order_text(task, ranked, shown, columns)))
    elif request.form == "jsonl":
        click.echo("\n".join(map(dumps, rows)))
    else:
        click.echo(dumps({"ranker": ranker.name, "tasks": len(found), "programs": rows}))
    if request.out:
        from assay.io import files

        files.write_rows(request.out, rows)
        say(f"written to {request.out}")


def _rows(task: Task, ranked: Sequence[Ranked]) -> Iterator[dict[str, Any]]:
    for place, each in enumerate(ranked, 1):
        yield {
            "task_id": task.id,
            "rank": place,
            "id": each.program.id,
            "score": float(each.score),
            "probability": each.probability,
            "fault": None if each.fault is None else str(each.fault),
            "line": each.line,
            "n": each.program.n,
            "why": {name: float(value) for name, value in each.why.items()},
            "source": each.program.source,
        }


def _order_text(task: Task, ranked: Sequence[Ranked], most: int | None, columns: Sequence[str]) -> Iterator[str]:
    samples = sum(each.program.n for each in ranked)
    of = f", sampled {samples:,} times" if samples != len(ranked) else ""
    yield f"{printable(task.id)}: {counted(len(ranked), 'program')}{of}"
    rows = [_cells(place, each, columns) for place, each in enumerate(ranked[:most], 1)]
    head, *lines = rows_as_lines(("rank", *columns, "id", "times", "predicted", "why"), rows, "  ")
    start, stop = head.find("  predicted"), head.rindex("  why")
    is_dim = start > 0 and wants_color()
    yield head
    for line in lines:
        yield f"{line[:start]}{click.style(line[start:stop], dim=True)}{line[stop:]}" if is_dim else line
    if most is not None and len(ranked) > most:
        yield f"       {len(ranked) - most:,} more"


def _cells(place: int, each: Ranked, columns: Sequence[str]) -> tuple[int | str | Number, ...]:
    """Return the row of a program; a column that is empty in every row is omitted."""
    fault, line = each.fault or "", f" line {each.line}" if each.line > 0 else ""
    sure = next((value for name, value in each.why.items() if name.rpartition(".")[2] == fault), 1.0)
    parts = sorted(each.why.items(), key=lambda part: -abs(part[1]))[:_PARTS]
    return (
        place,
        *("" if (value := getattr(each, name)) is None else Number(value) for name in columns),
        each.program.id,
        f"x{each.program.n}" if each.program.n > 1 else "",
        f"{fault}{line}" if sure >= _SURE else "",
        ", ".join(f"{name} {round(value, 2) + 0.0:.2f}" for name, value in parts),
    )


@command(EvalRequest, example="assay rank eval samples.jsonl outcomes.jsonl --ranker consensus --k 1,5", name="eval")
def eval(request: EvalRequest) -> None:  # noqa: A001  # the command's name
    """Measure an order of the programs: pass@k and exec@k of the k ranked first, beside unranked.

    OUTCOMES is what assay exec wrote about SAMPLES. Programs with equal scores count as the mean over their orders.
    'unique' is with duplicates removed. Intervals are 95% bootstrap intervals over tasks; gains are paired by task.
    A program that does nothing scores on exec@k, so pass@k is always shown with it.

    With --pool 3,10 rankers get pools of 3 and of 10 samples, drawn from those of a task. Tasks with fewer are left
    out and counted.
    """
    from assay.measure.passk import ks_of
    from assay.operations.rank import labelled, open_rankers, tasks_of
    from assay.rank.datasets import by_task
    from assay.rank.evaluate_rankers import EvaluationOptions, evaluate

    sizes = ks_of(request.sizes) if request.sizes else (0,)
    plan = EvaluationOptions(ks_of(request.ks), sizes, request.draws, request.seed)
    if len(set(request.specs)) != len(request.specs):
        raise InputError("a ranker is named twice; name each once")
    data, known = labelled(request.samples, request.outcomes, tasks_of(request.tasks), request.reading, say)
    kept = set(list(by_task(data.examples))[: request.limit_tasks])
    examples = tuple(each for each in data.examples if each.task_id in kept)
    with open_rankers(request.specs or ("consensus",), request.may, say) as (rankers, _), progress() as watch:
        found = evaluate(known, examples, rankers, plan, report=watch)
    beyond = {task.id for task in known} - kept if request.limit_tasks else set()
    problems = [each for each in data.problems if each.where.rpartition("#")[0] not in beyond]
    say_problems(problems, every=request.verbose)
    click.echo(dumps(_evaluation_as_json(found)) if request.form == "json" else "\n".join(_evaluation_text(found)))


def _evaluation_as_json(evaluation: Evaluation) -> dict[str, Any]:
    """Return an evaluation for JSON."""
    from assay.measure.passk import EXEC_COUNTS

    return {
        "tasks": evaluation.tasks,
        "samples": evaluation.samples,
        "exec@k counts": EXEC_COUNTS[evaluation.every_test],
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
            for cell in evaluation.cells
        ],
        "differences": [
            {"a": each.a, "b": each.b, "pool": each.size or None, "gains": _by_measure(each.gains)}
            for each in evaluation.differences
        ],
        "predicted": [
            {
                "ranker": each.ranker,
                "opinions": each.opinions,
                "samples": each.samples,
                "labels": {name: labels.record() for name, labels in each.labels.items()},
                "lines": asdict(each.lines),
            }
            for each in evaluation.predicted
        ],
    }


def _by_measure(values: Mapping[RankMeasure, Value] | Mapping[RankMeasure, Gain]) -> dict[str, Any]:
    return {str(measure): asdict(value) for measure, value in values.items()}


def _evaluation_text(evaluation: Evaluation) -> Iterator[str]:
    """Yield an evaluation as lines for a terminal."""
    from assay.measure.passk import EXEC_COUNTS

    yield f"{counted(evaluation.tasks, 'task')}, {counted(evaluation.samples, 'sample')}"
    for size in dict.fromkeys(cell.size for cell in evaluation.cells):
        yield ""
        yield from _pool_lines([cell for cell in evaluation.cells if cell.size == size], size)
        yield from _differences([each for each in evaluation.differences if each.size == size])
    yield f"  exec@k counts {EXEC_COUNTS[evaluation.every_test]}"
    for each in evaluation.predicted:
        part = each.opinions / each.samples if each.samples else 0.0
        yield ""
        samples = f"{each.opinions:,} samples ({part:.0%})"
        yield f"{each.ranker} predicts the fault of {samples}; the others are not predicted"
        yield f"  macro-F1: {', '.join(f'{name} {labels.macro_f1:.3f}' for name, labels in each.labels.items())}"
        lines = each.lines
        yield f"  line: {lines.accuracy:.3f} of all, {lines.found:.3f} of {lines.broken:,} that break at one"


def _pool_lines(cells: Sequence[Cell], size: int) -> Iterator[str]:
    first = cells[0]
    measured = max((value.tasks for value in first.values.values()), default=0)
    left = f", {counted(first.few, 'task')} with fewer left out" if first.few else ""
    yield f"pools of {size or 'all samples'}: {counted(measured, 'task')}{left}"
    heads = ("ranker", *map(str, first.values))
    yield from rows_as_lines(heads, [(cell.ranker, *map(_value_cell, cell.values.values())) for cell in cells], "  ")
    for measure, value in first.values.items():
        if few := measured - value.tasks:
            yield f"  {measure}: {counted(few, 'task')} with fewer than {measure.k} samples left out"
    if len(cells) > 1:
        yield "  gain over unranked"
        ranked = (cell for cell in cells if cell.gains)
        yield from rows_as_lines(heads, [(cell.ranker, *map(_gain_cell, cell.gains.values())) for cell in ranked], "  ")
    for cell in cells:
        if cell.programs:
            each = 1000 * cell.seconds / cell.programs
            yield f"  {cell.ranker}: {cell.programs:,} programs in {cell.seconds:.1f} s, {each:.2f} ms each"


def _differences(differences: Sequence[RankerDifference]) -> Iterator[str]:
    for each in differences:
        shown = ((measure, gain) for measure, gain in each.gains.items() if measure.good == "pass")
        gains = (f"{measure} {cell_text(_gain_cell(gain))} p {gain.p:.4f}" for measure, gain in shown if gain.tasks)
        yield f"  {each.a} less {each.b}: {', '.join(gains)}"


def _value_cell(value: Value) -> Number:
    return Number(None) if isnan(value.value) else Number(value.value, value.low, value.high)


def _gain_cell(gain: Gain) -> Number:
    return Number(None) if isnan(gain.value) else Number(gain.value, gain.low, gain.high, signed=True)


@command(CompareRequest, example="assay rank compare rankers.toml --out runs/compare")
def compare(request: CompareRequest) -> int:
    """Measure every ranker on every set of samples that MATRIX names, as one table.

    MATRIX is a TOML file with sets, taken apart by model, configuration or prompt where asked for, and rankers.
    FOLDER gets results.json and RESULTS.md as from assay bench and, with matplotlib, report.html: what differs and how
    surely, a heat map of pass@1 (each column relative to the ranker trained on its set, else to the best), and training
    curves of rankers that have a log. Orders are kept in FOLDER/runs: what is there is not ranked again.

    Exits 0 if all gates hold, 1 if one does not, 2 on an error.
    """
    from assay.bench import experiment, gates, results_file
    from assay.bench.bench_report import summary_of
    from assay.bench.program_ranking import plots_of, ranked_columns, results_of
    from assay.bench.ranking_matrix import load
    from assay.measure.passk import measures
    from assay.operations.rank import open_rankers

    plan = load(request.matrix)
    experiment.claim_output(request.out)
    gate = gates.gates_of(request.gating, [str(measure) for measure in measures(plan.ks)])
    if request.fresh:
        experiment.move_aside(request.out / "runs")
    specs = [each.spec for each in plan.rankers]
    if len(set(specs)) != len(specs):
        raise InputError("two rankers of the matrix have the same spec: name each once")
    with open_rankers(specs, request.may, say) as (rankers, importable), progress() as watch:
        ranked = ranked_columns(plan, rankers, request.out, watch, importable(), verbose=request.verbose)
    earlier = experiment.earlier_in(request.out / experiment.RESULTS)
    held = gate.compared(results_of(ranked, plan, f"assay {shlex.join(sys.argv[1:])}", all_pairs=request.all_pairs))
    experiment.write(held, request.out, say, earlier, plots_of(plan, ranked))
    is_json = request.form == "json"
    click.echo(results_file.as_text(held) if is_json else as_text(summary_of(held)), nl=is_json)
    failed = gates.failures(held, gate, say)
    say(experiment.written_to(request.out))
    return 1 if failed else 0
