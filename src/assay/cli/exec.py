"""`assay exec`: tasks and programs in, how each one failed out, with pass@k and exec@k."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli import options
from assay.cli.command import COUNT, FILE, argument, command, flag, form, option, shared, verbose
from assay.cli.options import ClusterOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.programs.run_samples import RunnerOptions
    from assay.programs.samples import Samples
    from assay.programs.tasks.task_file import TaskFile
    from assay.values import Problem

_TOLD = 10
"""Problems that are named; the rest is counted."""


@dataclass(frozen=True, slots=True)
class ExecOptions:
    """Options of `assay exec`."""

    tasks: Path = argument()
    samples: Path | None = argument()
    out: Path = option(
        "--out FILE",
        "Where outcomes go; an interrupted run continues there.",
        type=FILE,
        default=Path("outcomes.jsonl"),
    )
    fresh: bool = options.fresh()
    workers: int | None = option("--workers N", "Programs at a time.  [default: one per core]", type=COUNT)
    where: ClusterOptions = shared(ClusterOptions)
    kind: str = options.sandbox()
    allow_unsafe: bool = flag("--allow-unsafe", "Run even without isolation: programs can then do whatever you can.")
    timeout: float | str | None = options.timeout(
        "a program", auto="ten times what the reference takes, from 2 to 5 or four times that"
    )
    install: bool = options.install()
    allow: Path | None = options.allow()
    ks: str = option("--k K,…", "The k of pass@k and exec@k.", default="1,10,100")
    first_failure: bool = flag(
        "--first-failure",
        "End a program's tests at its first wrong answer; exec@k is then about the tests up to there.",
    )
    stop: str = options.stop()
    reference: bool = flag("--reference", "Run the reference solutions of the tasks, not samples.")
    limit_tasks: int | None = option("--limit-tasks N", "Use only the first N tasks.", type=COUNT)
    source: str = option(
        "--from FORMAT", "humaneval, evalplus, mbpp, apps, own or pytest.  [default: found by its contents]"
    )
    form: str = form("text", "json")
    verbose: bool = verbose("Name every problem; show the traceback of an error.")


@command(ExecOptions, example="assay exec HumanEval.jsonl samples.jsonl --out outcomes.jsonl")
def exec(given: ExecOptions) -> int:  # noqa: A001  # the command's name
    """Run the programs in SAMPLES against the tests of TASKS, each in a sandbox, and say how each one failed.

    TASKS is HumanEval, EvalPlus, MBPP, APPS, a file or folder of pytest tests, or Assay's own JSON lines. SAMPLES
    has one row per program, with task_id and completion, solution or code. FILE gets one outcome per program, in
    the same order.

    Exits 0 if done, 1 if nothing could be decided, 2 on an error, 3 if no machine of the cluster is left.
    """
    from assay.assemble.open_runner import open_equipped_runner
    from assay.cli.exec_text import figures_as_json, figures_of, text
    from assay.cli.progress import progress
    from assay.errors import InputError
    from assay.io.terminal import dumps, say
    from assay.measure.passk import ks_of
    from assay.programs.run_samples import ready_tasks, run_samples, with_limits
    from assay.runs.record import sole_writer, start_fresh

    wanted = ks_of(given.ks)
    chosen = _runner_options(given)
    with progress() as watch:
        reading = _first(given.tasks, given.source, given.limit_tasks)
        if (given.samples is None) != given.reference:
            raise InputError("give either SAMPLES or --reference")
        programs = _samples(given.samples, reading, given.stop, limited=given.limit_tasks is not None)
        if given.fresh:
            start_fresh(given.out)
        with sole_writer(given.out), open_equipped_runner(chosen, reading, programs, say) as room:
            ready = ready_tasks(_sampled(reading, programs), room, watch)
            ready, timeouts = with_limits(ready, room, given.out) if chosen.by_reference else (ready, ())
            rows = run_samples(
                reading,
                ready,
                programs,
                room,
                given.out,
                chosen.limits,
                watch,
                timeouts=timeouts,
                every_test=not given.first_failure,
            )
    _tell([*room.problems, *ready.problems, *programs.problems], programs.unknown, verbose=given.verbose)
    _note(ready.notes, verbose=given.verbose)
    figures = figures_of(rows, wanted)
    click.echo(
        dumps({**figures_as_json(figures), "out": str(given.out)}) if given.form == "json" else "\n".join(text(figures))
    )
    say(f"written to {given.out}")
    return 0 if sum(figures.classes.values()) else 1


def _runner_options(given: ExecOptions) -> RunnerOptions:
    from assay.programs.run_samples import RunnerOptions

    return RunnerOptions(
        given.kind,
        given.workers or 0,
        given.timeout if isinstance(given.timeout, float) else None,
        given.timeout == options.AUTO,
        given.allow_unsafe,
        given.install,
        given.allow,
        given.where.cluster,
    )


def _first(path: Path, source: str, most: int | None) -> TaskFile:
    """Return the tasks, or the first of them, in the form that does not ask for what is left out."""
    from assay.programs.tasks.task_file import read_tasks

    reading = read_tasks(path, source)
    return reading if most is None else replace(reading, tasks=reading.tasks[:most])


def _samples(path: Path | None, reading: TaskFile, stop: str, *, limited: bool) -> Samples:
    from assay.errors import InputError
    from assay.programs.samples import read, references

    samples = references(reading.tasks) if path is None else read(path, reading.tasks, stop=stop)
    if not samples.programs:
        first = f": {samples.problems[0]}" if samples.problems else ""
        raise InputError(f"there is no program to run{first}")
    return replace(samples, unknown=0) if limited else samples


def _sampled(reading: TaskFile, samples: Samples) -> TaskFile:
    """Return the tasks that have a program."""
    asked = {program.task_id for program in samples.programs}
    return replace(reading, tasks=tuple(task for task in reading.tasks if task.id in asked))


def _tell(problems: list[Problem], unknown: int, *, verbose: bool) -> None:
    from assay.errors import counted
    from assay.io.terminal import say

    for problem in problems if verbose else problems[:_TOLD]:
        say(str(problem))
    if len(problems) > _TOLD and not verbose:
        say(f"{len(problems) - _TOLD:,} more problems; -v names them")
    if unknown:
        say(f"{counted(unknown, 'sample')} of tasks that are not in TASKS {'was' if unknown == 1 else 'were'} not run")


def _note(notes: Sequence[Problem], *, verbose: bool) -> None:
    """Tell of tests that hold for programs that do nothing, and count all the same."""
    from assay.errors import counted
    from assay.io.terminal import say

    for note in notes if verbose else ():
        say(str(note))
    if notes and not verbose:
        hold = "holds" if len(notes) == 1 else "hold"
        say(f"{counted(len(notes), 'test')} {hold} for some program that does nothing, and count; -v names them")
