"""`assay rank data`: tasks and samples in, a data set that rankers learn from out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli import options
from assay.cli.rank_parts import stop_option, tell, verbose_option

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from assay.cli.exec_modules import Room
    from assay.protocols import Progress
    from assay.rank.rows.data import Example
    from assay.sandbox.samples import Samples
    from assay.sandbox.tasks.reading import Reading
    from assay.types import Outcome, Problem


@click.command(short_help="Make a data set of samples.")
@click.argument("tasks", type=click.Path(path_type=Path))
@click.argument("samples", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="PLACE", help="Where the data set goes.")
@click.option("--outcomes", type=click.Path(path_type=Path), metavar="FILE", help="What assay exec wrote of SAMPLES.")
@click.option("--valid", type=float, default=0.1, show_default=True, help="The share of tasks to validate on.")
@click.option("--test", type=float, default=0.0, show_default=True, help="The share of tasks to test on.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which tasks these are.")
@click.option("--strip-examples", is_flag=True, help="Leave the example tests out of the prompts.")
@click.option("--keep-failing", is_flag=True, help="Keep tasks whose own reference fails.")
@click.option("--limit-tasks", type=click.IntRange(min=1), metavar="N", help="Only the first N tasks.")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw how frequent each class is.")
@stop_option
@options.form("text", "json")
@verbose_option
def data(
    tasks: Path,
    samples: Path,
    out: Path,
    outcomes: Path | None,
    valid: float,
    test: float,
    seed: int,
    strip_examples: bool,
    keep_failing: bool,
    limit_tasks: int | None,
    plot: Path | None,
    stop: str,
    form: str,
    verbose: bool,
) -> None:
    """Run SAMPLES against the tests of TASKS and write a data set: each program with how it fails.

    Tasks are split, never programs: the programs of one task are all on one side. Tasks to validate on have a correct
    program among their samples. Tasks whose own reference fails are dropped and named.

    PLACE is a file (.jsonl or .parquet) or, without an ending, a folder as the code of CodeRanker trains from. What
    running showed lies beside it, so that a run that was cut off goes on there. For other limits, or modules to
    install, run 'assay exec' and give its file as --outcomes.
    """
    from dataclasses import replace

    from assay.cli.workspaces import counted, say
    from assay.errors import InputError
    from assay.rank.rows import formats, splits, strip
    from assay.rank.rows.data import examples_of, without

    splits.split((), valid=valid, test=test)
    if plot:
        _plots().check(plot)
    reading, held = _asked(tasks, samples, outcomes, stop, limit_tasks)
    failing, found, problems = _found(reading, held, out, outcomes, check=not keep_failing)
    for name, why in failing.items():
        say(f"{name} is dropped: its own reference fails ({why})")
    kept = {task.id for task in without(reading.tasks, failing)}
    made = examples_of(reading.tasks, [each for each in held.programs if each.task_id in kept], found)
    tell([*problems, *held.problems, *made.problems], verbose=verbose)
    if not made.examples:
        raise InputError("no program is left to learn from: no task is sound, or nothing was decided")
    rows = splits.split(made.examples, valid=valid, test=test, seed=seed)
    if strip_examples:
        rows = [replace(row, prompt=strip.without_examples(row.prompt)) for row in rows]
    formats.write(out, rows)
    show(rows, form, plot)
    say(f"{counted(len(rows), 'program')} written to {out}")


def show(rows: Sequence[Example], form: str, plot: Path | None) -> None:
    """Print how many programs fail how, and draw it where that was asked for."""
    from assay.cli.answer import dumps
    from assay.rank.rows import tables

    sides = tables.sides(rows)
    click.echo(dumps({"splits": tables.told(sides)}) if form == "json" else "\n".join(tables.text(sides)))
    if plot:
        _plots().classes(sides, plot)


def _asked(tasks: Path, samples: Path, outcomes: Path | None, stop: str, most: int | None) -> tuple[Reading, Samples]:
    """Return the samples and the tasks that have some; where only the first tasks count, others are no problem."""
    from dataclasses import replace

    from assay.errors import InputError
    from assay.sandbox.samples import read as samples_of
    from assay.sandbox.tasks.files import read
    from assay.types import Problem

    reading = read(tasks)
    reading = replace(reading, tasks=reading.tasks[:most])
    held = samples_of(samples, reading.tasks, stop=stop)
    if not held.programs:
        raise InputError(f"there is no program to learn from{f': {held.problems[0]}' if held.problems else ''}")
    if outcomes and not outcomes.is_file():
        raise InputError(f"no such file: '{outcomes}'; leave --outcomes out to run the samples now")
    sampled = {program.task_id for program in held.programs}
    reading = replace(reading, tasks=tuple(task for task in reading.tasks if task.id in sampled))
    lost = (
        (Problem(samples.name, f"{held.unknown:,} samples are of tasks that are not in TASKS"),) if held.unknown else ()
    )
    return reading, replace(held, problems=() if most else (*held.problems, *lost))


def _found(
    reading: Reading, held: Samples, out: Path, outcomes: Path | None, *, check: bool
) -> tuple[dict[str, str], list[Outcome], list[Problem]]:
    """Return which references fail, the outcomes of the samples, and what could not be used."""
    import os
    from functools import partial

    from assay.cli.exec_modules import furnished
    from assay.cli.progress import progress
    from assay.cli.workspaces import counted, say
    from assay.rank.rows.data import failing_references
    from assay.sandbox.campaign import load
    from assay.sandbox.limits import Limits
    from assay.sandbox.opening import open_sandbox
    from assay.sandbox.samples import references
    from assay.sandbox.sound import sound
    from assay.sandbox.tasks.expected import answered

    given = [row.outcome for row in load(outcomes)] if outcomes else []
    if outcomes and not check:
        return {}, given, []
    opened = partial(open_sandbox, "", Limits(), os.cpu_count() or 1)
    with furnished(opened, reading, held, None, install=False) as room, progress() as watch:
        say(f"programs run in the sandbox '{room.sandbox.name}'")
        ready = sound(answered(reading, room.sandbox, watch), room.sandbox, watch)
        own = references(ready.tasks)
        if check and own.problems:
            say(f"{counted(len(own.problems), 'task')} without a reference to check")
        failing: dict[str, str] = {}
        if check and own.programs:
            failing = failing_references(_run(reading, ready, own, room, _beside(out, "references"), watch))
        ran = given if outcomes else _run(reading, ready, held, room, _beside(out, "outcomes"), watch)
        return failing, ran, list(ready.problems)


def _run(
    reading: Reading, ready: Reading, held: Samples, room: Room, out: Path, watch: Progress | None
) -> list[Outcome]:
    """Run programs as assay exec does, going on where a run was cut off."""
    from assay.records import digest
    from assay.sandbox import campaign
    from assay.sandbox.limits import Limits

    settings = campaign.Settings(
        tasks=digest((*reading.tasks, *reading.inputs.items())),
        samples=digest(enumerate(held.programs)),
        form=reading.form,
        stop=held.stop,
        sandbox=room.sandbox.name,
        limits=Limits(),
        guarantees=room.sandbox.guarantees,
    )
    rows = campaign.run(
        ready.tasks, held.programs, room.sandbox, out, settings=settings, missing=room.missing, report=watch
    )
    return [row.outcome for row in rows]


def _beside(out: Path, what: str) -> Path:
    return out.with_name(f"{out.name}.{what}.jsonl")


def _plots() -> ModuleType:
    from assay.errors import MissingExtra

    try:
        from assay.rank import plots
    except ModuleNotFoundError as error:
        raise MissingExtra("a plot", str(error.name), "bench") from error
    return plots
