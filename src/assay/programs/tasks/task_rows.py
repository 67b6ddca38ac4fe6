"""Records of a file to tasks by a function that makes one, with what went wrong told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from assay.io import rows
from assay.io.fields import FieldError, Fields
from assay.programs.tasks.task_file import Inputs, TaskFile
from assay.types import Problem, Task

Made = Task | tuple[Task, Inputs]


def gathered(path: Path, form: str, make: Callable[[Fields], Made]) -> TaskFile:
    """Return the tasks of a file; a record that makes none, or one that is there already, is told."""
    problems: list[Problem] = []
    tasks: dict[str, Task] = {}
    inputs: dict[str, Inputs] = {}
    for row, fields in rows.objects(path, problems):
        where = rows.place(path, row)
        try:
            made = make(Fields(fields))
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
    return TaskFile(tuple(tasks.values()), tuple(problems), form, inputs)
