"""A task to programs that do nothing, and what its tests think of them: a test that such a stub passes shows nothing.

Four stubs: one raises, one returns None, one returns a fresh object with the default `__eq__`, one is an empty
program. Whatever function the tests ask for, the first three have it. A task whose tests a stub passes altogether is
vacuous: no verdict about it means anything. Single tests that hold for a stub are named, and stay: many are honest
(`f([])` is None), and without them wrong programs would pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.faults import Fault
from assay.sandbox.limits import Ended, Job
from assay.sandbox.verdict import job_of, outcome_of, passed
from assay.types import Program, Task

_HAS_EVERYTHING = """\
class _Stub:
    pass
def _answer(*args, **keywords):
    {}
def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _answer
"""

_SOURCES = {
    "raises": _HAS_EVERYTHING.format("raise NotImplementedError"),
    "none": _HAS_EVERYTHING.format("return None"),
    "object": _HAS_EVERYTHING.format("return _Stub()"),
    "empty": "",
}


@dataclass(frozen=True, slots=True)
class Vacuous:
    """A test that a program without any content passes."""

    task_id: str
    stub: str
    test: str
    """As the survey names it, `test 0: line 3: …`; empty where the stub passes the whole task."""


def stubs(task: Task) -> tuple[Program, ...]:
    """Return programs that do nothing at all, for a task."""
    return tuple(Program(task.id, source, id=f"{task.id}#stub-{name}") for name, source in _SOURCES.items())


def jobs(task: Task) -> tuple[Job, ...]:
    """Return what to run to know which tests of a task hold for a stub."""
    return tuple(job_of(task, stub, survey=True) for stub in stubs(task))


def findings(task: Task, ended: Iterable[Ended]) -> tuple[Vacuous, ...]:
    """Name the tests that hold for a stub, from how the jobs of `jobs` ended, in their order."""
    found = []
    for stub, name, end in zip(stubs(task), _SOURCES, ended, strict=True):
        if outcome_of(task, stub, end).fault is Fault.CORRECT:
            found.append(Vacuous(task.id, name, ""))
        found += [Vacuous(task.id, name, test) for test in passed(end)]
    return tuple(found)


def is_vacuous(found: Sequence[Vacuous]) -> bool:
    """Say whether a stub passes all tests of a task."""
    return any(not each.test for each in found)
