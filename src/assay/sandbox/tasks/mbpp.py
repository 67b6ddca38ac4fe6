"""MBPP (Austin et al. 2021), the 974 tasks or the sanitized 427: a sentence, a solution, and asserts.

Fields: `task_id`, `text` or `prompt`, `code`, `test_list`, and where there are any `challenge_test_list`, whose
asserts count too, `test_setup_code` or `test_imports`. Each assert is a test. Ids are `Mbpp/N`, as EvalPlus has them.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from pathlib import Path

from assay.sandbox.tasks.gather import gathered
from assay.sandbox.tasks.lines import Record, function_of
from assay.sandbox.tasks.reading import Reading
from assay.types import Script, Task


def fits(keys: AbstractSet[str]) -> bool:
    """Say whether records with these fields are such tasks."""
    return {"task_id", "code", "test_list"} <= keys


def read(path: Path) -> Reading:
    """Read the tasks of a file."""
    return gathered(path, "mbpp", _task)


def _task(record: Record) -> Task:
    tests = (*record.texts("test_list"), *record.texts("challenge_test_list", ()))
    code = record.text("code")
    setup = (record.text("test_setup_code", ""), *record.texts("test_imports", ()))
    return Task(
        id_of(record),
        record.text("prompt", "") or record.text("text"),
        function_of(code, "\n".join(tests)),
        tests=tuple(Script(test) for test in tests if test.strip()),
        setup="\n".join(part for part in setup if part),
        reference=code,
    )


def id_of(record: Record) -> str:
    """Return the id of a task, `Mbpp/N` for a number N."""
    name = record.name("task_id")
    return f"Mbpp/{name}" if name.isdecimal() else name
