"""Tasks in, tasks whose tests say something out: what programs without any content pass is named and left out.

A task that a stub passes altogether keeps no test, so its programs stay undecided. A single input is left out when
nothing at all is expected for it. That a stub which answers None passes `f([]) is None` is no reproach to that test
while others of the task fail it: leaving it out would let wrong programs pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from assay.errors import InputError
from assay.faults import Fault
from assay.sandbox.limits import Job
from assay.sandbox.tasks.expected import Runs
from assay.sandbox.tasks.reading import Reading
from assay.sandbox.vacuity import stubs
from assay.sandbox.verdict import job_of, outcome_of
from assay.types import Problem, Stdin, Task

if TYPE_CHECKING:
    from assay.protocols import Progress


def sound(reading: Reading, sandbox: Runs, report: Progress | None = None) -> Reading:
    """Return the tasks with the tests that say something, and which do not."""
    problems = list(reading.problems)
    looked_at = [_usable(task, problems) for task in reading.tasks]
    ended = sandbox.run(_jobs(looked_at))
    tasks: list[Task] = []
    for task in looked_at:
        pairs = zip(stubs(task), islice(ended, len(stubs(task)) if task.tests else 0), strict=False)
        passing = [stub.id for stub, end in pairs if outcome_of(task, stub, end).fault is Fault.CORRECT]
        if passing:
            kinds = ", ".join(name.rpartition("-")[2] for name in passing)
            problems.append(Problem(task.id, f"a program that does nothing ({kinds}) passes its tests: left out"))
        tasks.append(replace(task, tests=()) if passing else task)
        if report:
            report("tests against stubs", len(tasks), len(looked_at))
    return replace(reading, tasks=tuple(tasks), problems=tuple(problems))


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


def _jobs(tasks: list[Task]) -> Iterator[Job]:
    for task in tasks:
        yield from (job_of(task, stub) for stub in stubs(task) if task.tests)
