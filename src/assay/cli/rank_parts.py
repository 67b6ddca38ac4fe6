"""What the commands of `assay rank` share: tasks, rankers with the sandbox that some need, and what is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from assay.protocols import Ranker
    from assay.rank.rows.data import Dataset
    from assay.sandbox.tasks.expected import Runs
    from assay.types import Problem, Task

_TOLD = 5
"""Problems that are named; the rest is counted."""

Command = Callable[..., Any]


def tasks_option(command: Command) -> Command:
    """Add the option that says what the samples are for."""
    text = "What the samples are for, in any format that assay exec reads."
    return click.option("--tasks", type=click.Path(path_type=Path), metavar="TASKS", help=text)(command)


def allow_option(command: Command) -> Command:
    """Add the option that lets a ranker run programs."""
    text = "Let rankers that run programs do so, each program in a sandbox."
    return click.option("--allow-execution", "allowed", is_flag=True, help=text)(command)


def stop_option(command: Command) -> Command:
    """Add the option that says where completions end."""
    text = "What ends a completion.  [default: human-eval]"
    return click.option("--stop", default="", metavar="RULE", help=text)(command)


def verbose_option(command: Command) -> Command:
    """Add the option that says more."""
    text = "Name every problem; show the traceback of an error."
    return click.option("-v", "--verbose", is_flag=True, help=text)(command)


def tasks_of(path: Path | None) -> tuple[Task, ...] | None:
    """Return the tasks of a file, None where none is given."""
    if path is None:
        return None
    from assay.sandbox.tasks.files import read

    return read(path).tasks


@contextmanager
def rankers(specs: Sequence[str], *, allowed: bool) -> Iterator[list[Ranker]]:
    """Give the rankers of some specs; a sandbox is open where one of them runs programs and may."""
    from assay.assemble import ranker
    from assay.rank.specs import executes

    if not allowed or not any(map(executes, specs)):
        yield [ranker(spec) for spec in specs]
        return
    with opened() as sandbox:
        yield [ranker(spec, sandbox) for spec in specs]


@contextmanager
def opened() -> Iterator[Runs]:
    """Give the strongest sandbox that this machine has, and say which it is."""
    import os

    from assay.cli.workspaces import say
    from assay.sandbox.opening import open_sandbox

    with open_sandbox(workers=os.cpu_count() or 1) as sandbox:
        say(f"programs run in the sandbox '{sandbox.name}'")
        yield sandbox


def labelled(
    samples: Path, outcomes: Path, tasks: Sequence[Task] | None, stop: str
) -> tuple[Dataset, tuple[Task, ...]]:
    """Return samples joined with what assay exec found out about them, and their tasks."""
    from dataclasses import replace

    from assay.errors import InputError
    from assay.rank.pools import read
    from assay.rank.rows.data import examples_of
    from assay.sandbox.campaign import load

    if not outcomes.is_file():
        raise InputError(f"no such file: '{outcomes}'; make it with assay exec TASKS SAMPLES --out {outcomes.name}")
    pools = read(samples, tasks, stop=stop)
    made = examples_of(pools.tasks, pools.programs, (row.outcome for row in load(outcomes)))
    if not made.examples:
        first = f": {made.problems[0]}" if made.problems else ""
        raise InputError(f"none of the programs in '{samples}' has an outcome in '{outcomes}'{first}")
    return replace(made, problems=(*pools.problems, *made.problems)), pools.tasks


def tell(problems: Iterable[Problem], *, verbose: bool) -> None:
    """Name the first problems and count the others."""
    from assay.cli.workspaces import say

    problems = list(problems)
    for problem in problems if verbose else problems[:_TOLD]:
        say(str(problem))
    if len(problems) > _TOLD and not verbose:
        say(f"{len(problems) - _TOLD:,} more problems; -v names them")
