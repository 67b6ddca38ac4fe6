"""Run programs against the tests of their tasks and return an outcome for each.

Where the tests themselves fail on what a program returned, `int('abc')` or `sorted([1, 'a'])`, either the tests are
broken or the answer is wrong. If another program of the task, or else its reference, passes the same test, the test can
be passed, and it was the answer. Tests that nobody passes decide nothing.

What comes out depends on which outcomes there are, not on their order, nor on when a run was cut off.

The one path from a program to an outcome, whoever asks: a command, a ranker, a judge. Programs of a task with the same
text run once. What cannot run has an outcome all the same; where the machinery failed it is undecided. Where the tests
failed on what a program returned, the other programs and the reference decide, at the end (`settle`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from assay.cage.job import Ended, Job
from assay.cage.limits import Limits
from assay.faults import Fault
from assay.programs.modules.imports import imported
from assay.programs.verdict import Extent, job_of, outcome_of, passed
from assay.values import Outcome, Program, Task

if TYPE_CHECKING:
    from assay.cage.cage import ProgramRunner


Reach = dict[str, float]
"""By the id of a task, how many of its tests somebody passed, from the first on."""


def settle(
    tasks: Iterable[Task], outcomes: Sequence[Outcome], run: Callable[[Sequence[Program]], Iterable[Outcome]]
) -> list[Outcome]:
    """Return all outcomes of a run in order, with undecided ones settled; `run` runs references if needed."""
    reach = _reach(outcomes)
    asked = {each.task_id for each in outcomes if each.suspected and not _is_passed(each, reach)}
    references = [Program(task.id, task.reference, task.id) for task in tasks if task.id in asked and task.reference]
    if references:
        reach = _reach([*outcomes, *run(references)])
    return [
        replace(each, fault=each.suspected, suspected=None) if each.suspected and _is_passed(each, reach) else each
        for each in outcomes
    ]


def _reach(outcomes: Iterable[Outcome]) -> Reach:
    reach: Reach = {}
    for each in outcomes:
        far = inf if each.fault is Fault.CORRECT else each.test
        reach[each.task_id] = max(far, reach.get(each.task_id, 0))
    return reach


def _is_passed(outcome: Outcome, reach: Reach) -> bool:
    return outcome.test < reach[outcome.task_id] and (outcome.test >= 0 or reach[outcome.task_id] == inf)


_MAX_PROGRAM_CHARS = 12_000_000
"""Characters of a program that is run; JSON of the next larger ones is more than a message may be."""
Key = tuple[str, str]
"""The id of a task and the text of a program."""


@dataclass(frozen=True, slots=True)
class Execution:
    """The result of running a program."""

    outcome: Outcome
    passed: tuple[str, ...] = ()
    """The tests that held, where a survey asked for all of them."""
    broken: bool = False
    """The sandbox broke: nothing is known about the program."""


def execute(
    tasks: Iterable[Task], programs: Iterable[Program], runner: ProgramRunner, *, limits: Limits | None = None
) -> Iterator[Outcome]:
    """Yield the outcome of each program; `programs` name their tasks."""
    tasks, outcomes = tuple(tasks), list[Outcome]()
    free = 0
    for each in executions(tasks, programs, runner, limits=limits):
        outcomes.append(each.outcome)
        if free == len(outcomes) - 1 and each.outcome.suspected is None:
            free += 1
            yield each.outcome
    yield from settled(tasks, outcomes, runner, limits=limits)[free:]


def settled(
    tasks: Iterable[Task], outcomes: Sequence[Outcome], runner: ProgramRunner, *, limits: Limits | None = None
) -> list[Outcome]:
    """Return all outcomes of a run, with undecided ones settled by other programs, or else by the reference."""
    tasks = tuple(tasks)
    return settle(tasks, outcomes, lambda able: [one.outcome for one in executions(tasks, able, runner, limits=limits)])


def executions(  # noqa: PLR0913  each is one thing
    tasks: Iterable[Task],
    programs: Iterable[Program],
    runner: ProgramRunner,
    *,
    limits: Limits | None = None,
    survey: bool = False,
    every_test: bool = False,
    distribution_of: Callable[[str], str] = lambda _: "",
    outcomes: Mapping[Key, Outcome] | None = None,
) -> Iterator[Execution]:
    """Yield the result of running each program.

    With `every_test` the tests go on after a wrong answer, a survey names those that hold, too.
    `distribution_of` returns the distribution of a module, empty if unknown, for messages about missing ones. Programs
    with earlier `outcomes` are not run again.
    """
    of = {task.id: task for task in tasks}
    programs = tuple(programs)
    extent: Extent = "survey" if survey else "every test" if every_test else "first failure"
    shown = {key: Execution(outcome) for key, outcome in (outcomes or {}).items()}
    ended = runner.run(_jobs(of, programs, set(shown), limits, extent))
    for program in programs:
        task, key = of[program.task_id], (program.task_id, program.source)
        if key not in shown:
            if refusal := refused(task, program):
                one = Execution(refusal)
            else:
                one = _execution_of(task, program, next(ended), distribution_of, survey=survey)
            shown[key] = replace(one, outcome=replace(one.outcome, sandbox=runner.name))
        same = shown[key]
        yield Execution(replace(same.outcome, program_id=program.id), same.passed, same.broken)


def _jobs(
    of: Mapping[str, Task], programs: Iterable[Program], keys: set[Key], limits: Limits | None, extent: Extent
) -> Iterator[Job]:
    for program in programs:
        key = (program.task_id, program.source)
        if key not in keys:
            keys.add(key)
            if refused(of[program.task_id], program) is None:
                yield job_of(of[program.task_id], program, limits=limits, extent=extent)


def _execution_of(
    task: Task, program: Program, ended: Ended, distribution_of: Callable[[str], str], *, survey: bool
) -> Execution:
    """Return the result of a job; a missing module counts only if the program imports it."""

    def brings(module: str) -> str:
        return distribution_of(module) if module in imported(program.source) else ""

    outcome = outcome_of(task, program, ended, distribution_of=brings)
    return Execution(outcome, passed(ended) if survey else (), ended.ended == "broken")


def refused(task: Task, program: Program) -> Outcome | None:
    """Return the outcome of a program that cannot or need not be run; None if it has to run."""
    source = program.source
    if not task.tests:
        return Outcome(task.id, program.id, None, detail="the task has no tests that say anything")
    if len(source) > _MAX_PROGRAM_CHARS:
        size = f"{len(source) / 1e6:.1f} MB of text, more than {_MAX_PROGRAM_CHARS / 1e6:.0f} MB"
        return Outcome(task.id, program.id, None, detail=f"not run: {size}")
    bad, why = source.find("\0"), "source code cannot contain null bytes"
    if bad < 0:
        try:
            source.encode()
        except UnicodeEncodeError as error:
            bad, why = error.start, f"not UTF-8 text: {error.reason}"
    return Outcome(task.id, program.id, Fault.SYNTAX_ERROR, source[:bad].count("\n") + 1, why) if bad >= 0 else None
