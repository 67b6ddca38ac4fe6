"""A task to programs that do nothing, and what its tests think of them: a test that such a stub passes shows little.

Four stubs: one raises, one returns None, one returns a fresh object with the default `__eq__`, one is an empty
program. Whatever function the tests ask for, the first three have it. A task whose tests a stub passes altogether is
vacuous: no verdict about it means anything. A single test that all three answers pass asks nothing of the program. One
that only some pass is named and stays, for many are honest: `f([])` is None, and any object is as true as `f("()")`.
Without those of MBPP that the None stub passes, 30 of 189 programs for their tasks went from wrong to correct.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

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


_ANSWERING = ("raises", "none", "object")
"""Stubs that have what the tests ask for, first of all."""
ANSWERS = len(_ANSWERING)
"""How many jobs `alone` is."""


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


def by_test(found: Iterable[Vacuous]) -> dict[str, tuple[str, ...]]:
    """Return the stubs that each single test holds for."""
    stubs_of: dict[str, tuple[str, ...]] = {}
    for each in found:
        if each.test:
            stubs_of[each.test] = (*stubs_of.get(each.test, ()), each.stub)
    return stubs_of


def number_of(test: str) -> int:
    """Return the place of a test in its task, from the name that the survey gave it or an assert in it."""
    return int(test.partition(":")[0].rpartition(" ")[2])


def suspects(found: Iterable[Vacuous]) -> tuple[int, ...]:
    """Return the places of tests of which something holds for every answer; `alone` tells whether all of it does."""
    places: dict[str, set[int]] = {stub: set() for stub in _ANSWERING}
    for each in found:
        if each.test and each.stub in places:
            places[each.stub].add(number_of(each.test))
    return tuple(sorted(set.intersection(*places.values())))


def alone(task: Task, place: int) -> tuple[Job, ...]:
    """Return what to run to know whether one test holds whatever is answered."""
    one = replace(task, tests=(task.tests[place],))
    return tuple(job_of(one, stub) for stub in stubs(task)[:ANSWERS])


def asks_nothing(task: Task, ended: Iterable[Ended]) -> bool:
    """Say whether the test of the jobs of `alone` held for every answer."""
    pairs = list(zip(stubs(task), ended, strict=False))
    return len(pairs) == ANSWERS and all(outcome_of(task, *pair).fault is Fault.CORRECT for pair in pairs)
