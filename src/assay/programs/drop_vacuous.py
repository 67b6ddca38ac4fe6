"""Drop the tests that programs without any content pass, and name those that tell little.

Four stubs: one raises, one returns None, one returns a fresh object with the default `__eq__`, one is an empty program.
Whatever function the tests ask for, the first three have it. A task that a stub passes altogether keeps no test, so its
programs stay undecided. A single test is left out when it holds whatever is answered, and an input when nothing at all
is expected for it. A test that holds for some stubs only is noted and stays, for many are honest: `f([])` is None, and
any object is as true as `f("()")`. Without those of MBPP that the None stub passes, 30 of 189 programs for their tasks
went from wrong to correct.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from assay.faults import Fault
from assay.programs.execute import Execution, executions
from assay.programs.tasks.task_file import TaskFile
from assay.programs.verdict import unusable
from assay.values import Problem, Program, Stdin, Task

if TYPE_CHECKING:
    from assay.cage.cage import ProgramRunner
    from assay.protocols import Progress

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


@dataclass(frozen=True, slots=True)
class Vacuous:
    """A test that a program without any content passes."""

    task_id: str
    stub: str
    test: str
    """As the survey names it, `test 0: line 3: …`; empty where the stub passes the whole task."""


Found = Mapping[str, tuple[Vacuous, ...]]
"""By the id of a task, what holds for stubs in it."""


def drop_vacuous_tests(
    reading: TaskFile, runner: ProgramRunner, report: Progress | None = None, *, around: Callable[[str], str] = str
) -> TaskFile:
    """Return the tasks with the tests that say something, which do not, and which say little.

    `around` puts a stub where a program would stand, with what stands around that.
    """
    problems = list(reading.problems)
    notes = list(reading.notes)
    looked_at = [_usable(task, problems) for task in reading.tasks]
    found = survey([task for task in looked_at if task.tests], runner, report, around=around)
    dropped = _asking_nothing(looked_at, found, runner, around)
    tasks = [
        _keep_telling_tests(task, found.get(task.id, ()), dropped.get(task.id, ()), problems, notes)
        for task in looked_at
    ]
    return replace(reading, tasks=tuple(tasks), problems=tuple(problems), notes=tuple(notes))


def stubs(task: Task, around: Callable[[str], str] = str) -> tuple[Program, ...]:
    """Return programs that do nothing at all, for a task."""
    return tuple(Program(task.id, around(source), id=f"{task.id}#stub-{name}") for name, source in _SOURCES.items())


def survey(
    tasks: Sequence[Task], runner: ProgramRunner, report: Progress | None = None, *, around: Callable[[str], str] = str
) -> Found:
    """Run the stubs of all tasks and name the tests that hold for one."""
    shown = executions(tasks, [stub for task in tasks for stub in stubs(task, around)], runner, survey=True)
    found: dict[str, tuple[Vacuous, ...]] = {}
    for task in tasks:
        found[task.id] = tuple(_holding(task, islice(shown, len(_SOURCES))))
        if report:
            report("tests against stubs", len(found), len(tasks))
    return found


def _holding(task: Task, shown: Iterable[Execution]) -> Iterator[Vacuous]:
    for name, one in zip(_SOURCES, shown, strict=True):
        whole = ("",) if one.outcome.fault is Fault.CORRECT else ()
        yield from (Vacuous(task.id, name, test) for test in (*whole, *one.passed))


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


def _usable(task: Task, problems: list[Problem]) -> Task:
    """Return a task without what can be seen to say nothing, and without tests where they cannot be read."""
    kept = tuple(test for test in task.tests if not isinstance(test, Stdin) or test.expected.strip())
    if len(kept) < len(task.tests):
        lost = len(task.tests) - len(kept)
        problems.append(Problem(task.id, f"{lost:,} of {len(task.tests):,} inputs expect nothing: left out"))
        task = replace(task, tests=kept)
    if kept and (why := unusable(task)):
        problems.append(Problem(task.id, why))
        return replace(task, tests=())
    return task


def _asking_nothing(
    tasks: Sequence[Task], found: Found, runner: ProgramRunner, around: Callable[[str], str]
) -> Mapping[str, tuple[int, ...]]:
    """Return the places of the tests that hold whatever is answered, where something else is left of a task."""
    asked = [
        (task, place)
        for task in tasks
        if len(task.tests) > 1 and not is_vacuous(found.get(task.id, ()))
        for place in _suspects(found.get(task.id, ()))
    ]
    alone = [replace(task, id=f"{task.id}#{place}", tests=(task.tests[place],)) for task, place in asked]
    shown = executions(alone, [stub for task in alone for stub in stubs(task, around)[: len(_ANSWERING)]], runner)
    dropped: dict[str, tuple[int, ...]] = {}
    for task, place in asked:
        answering = list(islice(shown, len(_ANSWERING)))
        if all(one.outcome.fault is Fault.CORRECT for one in answering):
            dropped[task.id] = (*dropped.get(task.id, ()), place)
    return dropped


def _suspects(found: Iterable[Vacuous]) -> tuple[int, ...]:
    """Return the places of tests of which something holds for every answer, though perhaps not all of it."""
    tests = [each for each in found if each.test]
    places = ({number_of(each.test) for each in tests if each.stub == stub} for stub in _ANSWERING)
    return tuple(sorted(set.intersection(*places)))


def _keep_telling_tests(
    task: Task, found: tuple[Vacuous, ...], dropped: tuple[int, ...], problems: list[Problem], notes: list[Problem]
) -> Task:
    """Return a task with the tests that say something, and tell of the others."""
    if is_vacuous(found):
        kinds = ", ".join(each.stub for each in found if not each.test)
        problems.append(Problem(task.id, f"a program that does nothing ({kinds}) passes its tests: left out"))
        return replace(task, tests=())
    for test, passing in by_test(found).items():
        out = number_of(test) in dropped
        why = "holds whatever is answered: left out" if out else f"holds for a stub ({', '.join(passing)}), and counts"
        (problems if out else notes).append(Problem(task.id, f"{test} {why}"))
    if not dropped:
        return task  # whose tests are known by identity
    return replace(task, tests=tuple(test for place, test in enumerate(task.tests) if place not in dropped))
