"""`assay rank data`: make the dataset that rankers learn from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli import options
from assay.cli.adapter import command
from assay.cli.options import ClusterOptions
from assay.cli.progress import progress
from assay.errors import InputError, counted
from assay.io.terminal import dumps, say, say_problems
from assay.parameters import Options, argument, flag, form, option, shared, verbose
from assay.report.plain_text import table_lines
from assay.report.web_page import check_picture, write_picture
from assay.runs.record import sole_writer, start_fresh
from assay.values import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.programs.samples import Samples
    from assay.programs.tasks.task_file import TaskFile
    from assay.rank.dataset.rows import Example
    from assay.values import Outcome


class RankDataOptions(Options):
    """Options of `assay rank data`."""

    tasks: Path = argument()
    samples: Path = argument()
    out: Path = option("--out PLACE", "Where the dataset goes: .jsonl or .parquet.", required=True)
    outcomes: Path | None = option("--outcomes FILE", "The outcomes of SAMPLES that assay exec wrote.")
    valid: float = option("--valid FRACTION", "The fraction of tasks to validate on.", default=0.1)
    test: float = option("--test FRACTION", "The fraction of tasks to test on.", default=0.0)
    seed: int = option("--seed N", "The random seed that chooses these tasks.", default=0)
    strip_examples: bool = flag("--strip-examples", "Leave the example tests out of the prompts.")
    keep_failing: bool = flag("--keep-failing", "Keep tasks whose own reference fails.")
    limit_tasks: int | None = option("--limit-tasks N", "Use only the first N tasks.", least=1)
    plot: Path | None = option("--plot FILE", "Draw how frequent each class is, as SVG or PNG.")
    stop: str = options.stop()
    fresh: bool = flag("--fresh", "Run all programs again; outcomes beside PLACE are moved aside.")
    where: ClusterOptions = shared(ClusterOptions)
    form: str = form("text", "json")
    verbose: bool = verbose("Name every problem; show the traceback of an error.")


@command(RankDataOptions, example="assay rank data MBPP.jsonl samples.jsonl --out data.parquet")
def data(given: RankDataOptions) -> None:
    """Run SAMPLES against the tests of TASKS and write a dataset: each program with how it fails.

    Tasks are split, never programs: all programs of one task are in one split. Every validation task has a correct
    program among its samples. Tasks whose own reference solution fails are dropped and named.

    The outcomes are kept beside PLACE, so an interrupted run continues. For other limits, or modules to install, run
    'assay exec' and give its file as --outcomes.
    """
    from assay.rank.dataset import formats
    from assay.rank.dataset.rows import examples_of, split, without, without_examples

    formats.check_place(given.out)
    split((), valid=given.valid, test=given.test)
    if given.plot:
        check_picture(given.plot)
    reading, held = _load_samples(given)
    for what in ("references", "outcomes") if given.fresh else ():
        start_fresh(_beside(given.out, what))
    failing, found, problems = _run_programs(given, reading, held)
    for name, why in failing.items():
        say(f"{name} is dropped: its own reference fails ({why})")
    kept = {task.id for task in without(reading.tasks, failing)}
    made = examples_of(reading.tasks, [each for each in held.programs if each.task_id in kept], found)
    say_problems([*problems, *held.problems, *made.problems], every=given.verbose)
    if not made.examples:
        raise InputError("no program is left to learn from: no task is sound, or nothing was decided")
    rows = split(made.examples, valid=given.valid, test=given.test, seed=given.seed)
    if given.strip_examples:
        rows = [replace(row, prompt=without_examples(row.prompt)) for row in rows]
    formats.write(given.out, rows)
    show(rows, given.form, given.plot)
    say(f"{counted(len(rows), 'program')} written to {given.out}")


def show(rows: Sequence[Example], form: str, plot: Path | None) -> None:
    """Print how many programs fail how, and draw it where that was asked for."""
    from assay.rank.dataset import fault_tables

    sides = fault_tables.sides(rows)
    if form == "json":
        click.echo(dumps({"splits": fault_tables.tables_as_json(sides)}))
    else:
        click.echo("\n\n".join("\n".join(table_lines(table, indent="")) for table in fault_tables.tables(sides)))
    if plot:
        write_picture(fault_tables.drawing(sides), plot)


def _load_samples(given: RankDataOptions) -> tuple[TaskFile, Samples]:
    """Return the samples and the tasks that have some; where only the first tasks count, others are no problem."""
    from assay.programs.samples import read as samples_of
    from assay.programs.tasks.task_file import read_tasks

    reading = read_tasks(given.tasks)
    tasks = reading.tasks[: given.limit_tasks]
    held = samples_of(given.samples, tasks, stop=given.stop)
    if not held.programs:
        raise InputError(f"there is no program to learn from{f': {held.problems[0]}' if held.problems else ''}")
    if given.outcomes and not given.outcomes.is_file():
        raise InputError(f"no such file: '{given.outcomes}'; leave --outcomes out to run the samples now")
    sampled = {program.task_id for program in held.programs}
    reading = replace(reading, tasks=tuple(task for task in tasks if task.id in sampled))
    problems = list(held.problems)
    if held.unknown:
        problems.append(Problem(given.samples.name, f"{held.unknown:,} samples are of tasks that are not in TASKS"))
    return reading, replace(held, problems=() if given.limit_tasks else tuple(problems))


def _run_programs(
    given: RankDataOptions, reading: TaskFile, held: Samples
) -> tuple[dict[str, str], list[Outcome], list[Problem]]:
    """Return which references fail, the outcomes of the samples, and what could not be used."""
    from assay.cage.job import Limits
    from assay.operations.open_runner import open_equipped_runner
    from assay.programs.run_samples import RunnerOptions, load, ready_tasks, run_samples
    from assay.programs.samples import references
    from assay.rank.dataset.rows import failing_references

    cluster, check = given.where.cluster, not given.keep_failing
    known = [row.outcome for row in load(given.outcomes)] if given.outcomes else []
    if given.outcomes and not check:
        if cluster:
            raise InputError("nothing is left to run with --outcomes and --keep-failing: leave --on out")
        return {}, known, []
    with progress() as watch, open_equipped_runner(RunnerOptions(cluster=cluster), reading, held, say) as room:
        ready = ready_tasks(reading, room, watch)
        own = references(ready.tasks)

        def ran(samples: Samples, what: str) -> list[Outcome]:
            file = _beside(given.out, what)
            with sole_writer(file):
                return [row.outcome for row in run_samples(reading, ready, samples, room, file, Limits(), watch)]

        if check and own.problems:
            say(f"{counted(len(own.problems), 'task')} without a reference to check")
        failing = failing_references(ran(own, "references")) if check and own.programs else {}
        return failing, known if given.outcomes else ran(held, "outcomes"), list(ready.problems)


def _beside(out: Path, what: str) -> Path:
    return out.with_name(f"{out.name}.{what}.jsonl")
