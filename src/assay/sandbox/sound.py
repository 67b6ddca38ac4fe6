"""Tasks in, tasks whose tests say something out: what programs without any content pass is named, and some left out.

A task that a stub passes altogether keeps no test, so its programs stay undecided. A single test is left out when it
holds whatever is answered, and an input when nothing at all is expected for it. A test that holds for some stubs only
is noted and stays, as single asserts of a script do: leaving them out would let wrong programs pass
(`assay.sandbox.vacuity`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from assay.errors import InputError
from assay.sandbox import vacuity
from assay.sandbox.tasks.expected import Runs
from assay.sandbox.tasks.reading import Reading
from assay.sandbox.vacuity import Vacuous, stubs
from assay.sandbox.verdict import job_of
from assay.types import Problem, Stdin, Task

if TYPE_CHECKING:
    from assay.protocols import Progress

Found = Mapping[str, tuple[Vacuous, ...]]
"""By the id of a task, what holds for stubs in it."""


def sound(reading: Reading, sandbox: Runs, report: Progress | None = None) -> Reading:
    """Return the tasks with the tests that say something, which do not, and which say little."""
    problems = list(reading.problems)
    notes = list(reading.notes)
    looked_at = [_usable(task, problems) for task in reading.tasks]
    found = _surveyed([task for task in looked_at if task.tests], sandbox, report)
    dropped = _asking_nothing(looked_at, found, sandbox)
    tasks = [_kept(task, found.get(task.id, ()), dropped.get(task.id, ()), problems, notes) for task in looked_at]
    return replace(reading, tasks=tuple(tasks), problems=tuple(problems), notes=tuple(notes))


def _usable(task: Task, problems: list[Problem]) -> Task:
    """Return a task without what can be seen to say nothing, and without tests where they cannot be read."""
    kept = tuple(test for test in task.tests if not isinstance(test, Stdin) or test.expected.strip())
    if len(kept) < len(task.tests):
        lost = len(task.tests) - len(kept)
        problems.append(Problem(task.id, f"{lost:,} of {len(task.tests):,} inputs expect nothing: left out"))
    task = replace(task, tests=kept)
    try:
        if kept:
            job_of(task, stubs(task)[0])
    except InputError as error:
        problems.append(Problem(task.id, str(error)))
        return replace(task, tests=())
    return task


def _surveyed(tasks: list[Task], sandbox: Runs, report: Progress | None) -> Found:
    """Run the stubs of all tasks."""
    ended = sandbox.run(job for task in tasks for job in vacuity.jobs(task))
    found: dict[str, tuple[Vacuous, ...]] = {}
    for task in tasks:
        found[task.id] = vacuity.findings(task, islice(ended, len(stubs(task))))
        if report:
            report("tests against stubs", len(found), len(tasks))
    return found


def _asking_nothing(tasks: list[Task], found: Found, sandbox: Runs) -> Mapping[str, tuple[int, ...]]:
    """Return the places of the tests that hold whatever is answered, where something else is left of a task."""
    asked = [
        (task, place)
        for task in tasks
        if len(task.tests) > 1 and not vacuity.is_vacuous(found.get(task.id, ()))
        for place in vacuity.suspects(found.get(task.id, ()))
    ]
    dropped: dict[str, tuple[int, ...]] = {}
    ended = sandbox.run(job for task, place in asked for job in vacuity.alone(task, place))
    for task, place in asked:
        if vacuity.asks_nothing(task, islice(ended, vacuity.ANSWERS)):
            dropped[task.id] = (*dropped.get(task.id, ()), place)
    return dropped


def _kept(
    task: Task, found: tuple[Vacuous, ...], dropped: tuple[int, ...], problems: list[Problem], notes: list[Problem]
) -> Task:
    """Return a task with the tests that say something, and tell of the others."""
    if vacuity.is_vacuous(found):
        kinds = ", ".join(each.stub for each in found if not each.test)
        problems.append(Problem(task.id, f"a program that does nothing ({kinds}) passes its tests: left out"))
        return replace(task, tests=())
    for test, passing in vacuity.by_test(found).items():
        out = vacuity.number_of(test) in dropped
        told = "holds whatever is answered: left out" if out else f"holds for a stub ({', '.join(passing)}), and counts"
        (problems if out else notes).append(Problem(task.id, f"{test} {told}"))
    return replace(task, tests=tuple(test for place, test in enumerate(task.tests) if place not in dropped))
