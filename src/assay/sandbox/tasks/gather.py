"""Records of a file to tasks by a function that makes one, with what went wrong told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from assay.sandbox.tasks.lines import FieldError, Record, records_of
from assay.sandbox.tasks.reading import Inputs, Reading
from assay.types import Problem, Task

Made = Task | tuple[Task, Inputs]


def gathered(path: Path, form: str, make: Callable[[Record], Made]) -> Reading:
    """Return the tasks of a file; a record that makes none, or one that is there already, is told."""
    problems: list[Problem] = []
    tasks: dict[str, Task] = {}
    inputs: dict[str, Inputs] = {}
    for row, fields in records_of(path, problems):
        where = f"{path.name}:{row}"
        try:
            made = make(Record(fields))
        except FieldError as error:
            problems.append(Problem(where, str(error)))
            continue
        task, calls = made if isinstance(made, tuple) else (made, None)
        if task.id in tasks:
            same = "the same again" if tasks[task.id] == task else "another one: the first counts"
            problems.append(Problem(where, f"there is a task '{task.id}' already, and this is {same}"))
            continue
        tasks[task.id] = task
        if calls is not None:
            inputs[task.id] = calls
        elif not task.tests:
            problems.append(Problem(where, f"task '{task.id}' has no tests: its programs stay undecided"))
    return Reading(tuple(tasks.values()), tuple(problems), form, inputs)
