"""Tasks with references to processor time for each: a multiple of what the reference took, within bounds.

A program that loops for ever costs what it is given, and most right ones take as long as the reference. A limit is
measured once a run and kept in its manifest, so that a run that goes on has the limits that it began with. Where there
is no reference that passes, the limit is the sandbox's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.faults import Fault
from assay.programs.execute import executions
from assay.programs.samples import references
from assay.types import Task

if TYPE_CHECKING:
    from assay.cage.cage_pool import ProgramRunner

Timeouts = tuple[tuple[str, float], ...]
"""Ids of tasks, each with its seconds of processor time."""


@dataclass(frozen=True, slots=True)
class ReferenceTimes:
    """How the limit of a task follows from what its reference took."""

    least_s: float = 2.0
    """A program may load what the reference does not need."""
    times: float = 10.0
    most_s: float = 5.0
    slack: float = 4.0
    """A reference that takes long itself: programs have so many times that, beyond the most."""

    def limit(self, took_s: float) -> float:
        """Return the limit for what a reference took, in tenths of a second."""
        return round(max(min(max(self.times * took_s, self.least_s), self.most_s), self.slack * took_s), 1)


def measured(tasks: Iterable[Task], runner: ProgramRunner, how: ReferenceTimes | None = None) -> Timeouts:
    """Run the references against the tests of their tasks, and return the limits that follow; a task's own stays."""
    how, able = how or ReferenceTimes(), [task for task in tasks if task.tests and not task.timeout_s]
    ran = executions(able, references(able).programs, runner)
    passed = (each.outcome for each in ran if each.outcome.fault is Fault.CORRECT)
    return tuple((outcome.task_id, how.limit(outcome.cpu_s)) for outcome in passed)


def limited(tasks: Iterable[Task], timeouts: Timeouts) -> tuple[Task, ...]:
    """Return the tasks with these limits."""
    of = dict(timeouts)
    return tuple(replace(task, timeout_s=of[task.id]) if task.id in of else task for task in tasks)
