"""Outcomes of a run in, the same with those decided that one program alone cannot decide.

Where the tests themselves fail on what a program returned, `int('abc')` or `sorted([1, 'a'])`, either the tests are
broken or the answer is wrong. If another program of the task, or else its reference, passes the same test, the test can
be passed, and it was the answer. Tests that nobody passes decide nothing.

What comes out depends on which outcomes there are, not on their order, nor on when a run was cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import inf

from assay.faults import Fault
from assay.types import Outcome, Program, Task

Reach = dict[str, float]
"""By the id of a task, how many of its tests somebody passed, from the first on."""


def settle(
    tasks: Iterable[Task], outcomes: Sequence[Outcome], run: Callable[[Sequence[Program]], Iterable[Outcome]]
) -> list[Outcome]:
    """Return all outcomes of a run in their order; `run` runs references, where no program decides."""
    reach = _reach(outcomes)
    asked = {each.task_id for each in outcomes if each.suspected and not _is_passed(each, reach)}
    references = [Program(task.id, task.reference, task.id) for task in tasks if task.id in asked and task.reference]
    if references:
        reach = _reach([*outcomes, *run(references)])
    return [_decided(each) if each.suspected and _is_passed(each, reach) else each for each in outcomes]


def _reach(outcomes: Iterable[Outcome]) -> Reach:
    reach: Reach = {}
    for each in outcomes:
        far = inf if each.fault is Fault.CORRECT else each.test
        reach[each.task_id] = max(far, reach.get(each.task_id, 0))
    return reach


def _is_passed(outcome: Outcome, reach: Reach) -> bool:
    return outcome.test < reach[outcome.task_id] and (outcome.test >= 0 or reach[outcome.task_id] == inf)


def _decided(outcome: Outcome) -> Outcome:
    return replace(outcome, fault=outcome.suspected, suspected=None)
