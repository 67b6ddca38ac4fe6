"""HumanEval (Chen et al. 2021): a prompt to complete, and `check(candidate)` with the asserts.

Fields: `task_id`, `prompt`, `entry_point`, `test`, `canonical_solution`. A program is the prompt with a completion. The
prompt's helpers that the tests call run with the tests.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from pathlib import Path

from assay.io.fields import Fields
from assay.programs.tasks.prompt_helpers import helpers_of
from assay.programs.tasks.task_file import TaskFile
from assay.programs.tasks.task_rows import gathered
from assay.types import Script, Task


def fits(keys: AbstractSet[str]) -> bool:
    """Say whether records with these fields are such tasks."""
    return {"prompt", "test", "entry_point"} <= keys and "plus_input" not in keys


def read(path: Path) -> TaskFile:
    """Read the tasks of a file."""
    return gathered(path, "humaneval", _task)


def _task(record: Fields) -> Task:
    prompt, name, test = record.text("prompt"), record.text("entry_point"), record.text("test", "")
    return Task(
        record.name("task_id"),
        prompt,
        name,
        tests=(Script(test),) if test.strip() else (),
        setup=helpers_of(prompt, name, test),
        reference=whole(prompt, record.text("canonical_solution", "")),
    )


def whole(prompt: str, canonical: str) -> str:
    """Return the program that a prompt and its solution make, empty where there is no solution."""
    return prompt + canonical if canonical else ""
