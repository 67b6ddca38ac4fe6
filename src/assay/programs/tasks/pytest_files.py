"""A test file of pytest, or a folder of them: each `test_NAME.py` or `NAME_test.py` is a task.

A program stands for the module `solution`: where a test imports `NAME`, it imports that instead, on the same line.
`NAME.py` beside the test is the task's reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path

from assay.errors import InputError
from assay.io.rows import text_of
from assay.programs.tasks.task_file import TaskFile
from assay.types import Problem, Pytest, Task

PYTHON = "*.py"
"""What stands for fields where a file has none, being Python, or a folder."""
_MODULE = "solution"


def fits(keys: AbstractSet[str]) -> bool:
    """Say whether this is what stands for the fields of a Python file, or of a folder."""
    return PYTHON in keys


def read(path: Path) -> TaskFile:
    """Read each test file as a task, whose id is its path without its ending."""
    problems: list[Problem] = []
    tasks: list[Task] = []
    base = path if path.is_dir() else path.parent
    for file in _files(path):
        where = file.relative_to(base)
        try:
            tasks.append(_task(file, where.with_suffix("").as_posix()))
        except InputError as error:
            problems.append(Problem(where.as_posix(), str(error)))
    return TaskFile(tuple(tasks), tuple(problems), "pytest")


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(file for file in path.rglob("*.py") if _subject(file))
    elif path.suffix == ".py" and _subject(path):
        yield path


def _subject(file: Path) -> str:
    """Return the module that a test file is about, empty where it is no test file."""
    stem = file.stem
    return (
        stem.removeprefix("test_") if stem.startswith("test_") else stem.removesuffix("_test") * stem.endswith("_test")
    )


def _task(file: Path, name: str) -> Task:
    subject = _subject(file)
    beside = file.with_name(f"{subject}.py")
    return Task(
        name,
        prompt="",
        tests=(Pytest(_redirected(text_of(file), subject)),),
        reference=text_of(beside) if beside.is_file() else "",
    )


def _redirected(source: str, subject: str) -> str:
    """Return a test that imports the program in the place of the module it is about."""
    name = re.escape(subject)
    source = re.sub(rf"^(\s*from\s+)\.?{name}(\s+import\s)", rf"\1{_MODULE}\2", source, flags=re.MULTILINE)
    source = re.sub(rf"^(\s*import\s+){name}(\s+as\s)", rf"\1{_MODULE}\2", source, flags=re.MULTILINE)
    return re.sub(rf"^(\s*import\s+){name}[ \t]*$", rf"\1{_MODULE} as {subject}", source, flags=re.MULTILINE)
