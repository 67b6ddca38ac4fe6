"""Tasks and programs in, what running each program against the tests of its task showed out, in their order.

The one path from a program to an outcome, whoever asks: a command, a ranker, a judge. Programs of a task with the same
text run once. What cannot run has an outcome all the same; where the machinery failed it is undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.cage.limits import Ended, Job, Limits
from assay.faults import Fault
from assay.programs.modules.imports import imported
from assay.programs.verdict import job_of, outcome_of, passed
from assay.types import Outcome, Program, Task

if TYPE_CHECKING:
    from assay.cage.cage_pool import ProgramRunner

_LONGEST = 12_000_000
"""Characters of a program that is run; JSON of the next larger ones is more than a message may be."""
Key = tuple[str, str]
"""The id of a task and the text of a program."""


@dataclass(frozen=True, slots=True)
class Execution:
    """What running a program showed."""

    outcome: Outcome
    passed: tuple[str, ...] = ()
    """The tests that held, where a survey asked for all of them."""
    broken: bool = False
    """The sandbox broke: nothing is known about the program."""


def execute(
    tasks: Iterable[Task], programs: Iterable[Program], runner: ProgramRunner, *, limits: Limits | None = None
) -> Iterator[Outcome]:
    """Yield the outcome of each program; `programs` name their tasks."""
    return (each.outcome for each in executions(tasks, programs, runner, limits=limits))


def executions(  # noqa: PLR0913  each is one thing
    tasks: Iterable[Task],
    programs: Iterable[Program],
    runner: ProgramRunner,
    *,
    limits: Limits | None = None,
    survey: bool = False,
    distribution_of: Callable[[str], str] = lambda _: "",
    known: Mapping[Key, Outcome] | None = None,
) -> Iterator[Execution]:
    """Yield what running each program showed; a survey goes on after a failing test.

    `distribution_of` names what brings a module, empty for an unknown one: a program that lacks it says so. What is
    `known` of a text is not run again.
    """
    of = {task.id: task for task in tasks}
    programs = tuple(programs)
    shown = {key: Execution(outcome) for key, outcome in (known or {}).items()}
    ended = runner.run(_jobs(of, programs, set(shown), limits, survey=survey))
    for program in programs:
        task, key = of[program.task_id], (program.task_id, program.source)
        if key not in shown:
            refusal = refused(task, program)
            one = Execution(refusal) if refusal else _shown(task, program, next(ended), distribution_of, survey=survey)
            shown[key] = replace(one, outcome=replace(one.outcome, sandbox=runner.name))
        same = shown[key]
        yield Execution(replace(same.outcome, program_id=program.id), same.passed, same.broken)


def _jobs(
    of: Mapping[str, Task], programs: Iterable[Program], seen: set[Key], limits: Limits | None, *, survey: bool
) -> Iterator[Job]:
    for program in programs:
        key = (program.task_id, program.source)
        if key not in seen:
            seen.add(key)
            if refused(of[program.task_id], program) is None:
                yield job_of(of[program.task_id], program, limits=limits, survey=survey)


def _shown(
    task: Task, program: Program, ended: Ended, distribution_of: Callable[[str], str], *, survey: bool
) -> Execution:
    """Return what a job showed; what a program says is missing counts where the program imports it."""

    def brings(module: str) -> str:
        return distribution_of(module) if module in imported(program.source) else ""

    outcome = outcome_of(task, program, ended, distribution_of=brings)
    return Execution(outcome, passed(ended) if survey else (), ended.ended == "broken")


def refused(task: Task, program: Program) -> Outcome | None:
    """Return the outcome of a program that cannot or need not be run, None where it has to be."""
    if not task.tests:
        return Outcome(task.id, program.id, None, detail="the task has no tests that say anything")
    if len(program.source) > _LONGEST:
        size = f"{len(program.source) / 1e6:.1f} MB"
        return Outcome(task.id, program.id, None, detail=f"not run: {size} of text, more than {_LONGEST / 1e6:.0f} MB")
    if "\0" in program.source:
        line = program.source[: program.source.index("\0")].count("\n") + 1
        return Outcome(task.id, program.id, Fault.SYNTAX_ERROR, line, "source code cannot contain null bytes")
    try:
        program.source.encode()
    except UnicodeEncodeError as error:
        line = program.source[: error.start].count("\n") + 1
        return Outcome(task.id, program.id, Fault.SYNTAX_ERROR, line, f"not UTF-8 text: {error.reason}")
    return None
