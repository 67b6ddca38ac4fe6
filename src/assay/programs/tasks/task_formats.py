"""A file or folder of tasks to values, in any of the formats of one table.

A format is a module with `fits(keys)` and `read(path)`; a new one is a line of the table. It is told by the
fields that the records of a file have, not by its name.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from assay.errors import InputError, nearest
from assay.io import rows
from assay.programs.tasks.pytest_files import PYTHON
from assay.programs.tasks.task_file import TaskFile
from assay.types import Problem

FORMATS = {
    "evalplus": ("assay.programs.tasks.evalplus", "HumanEval+ and MBPP+ as EvalPlus keeps them"),
    "humaneval": ("assay.programs.tasks.humaneval", "HumanEval, or any file with its fields"),
    "apps": ("assay.programs.tasks.apps", "APPS, functions and whole programs"),
    "mbpp": ("assay.programs.tasks.mbpp", "MBPP, all 974 or sanitized"),
    "own": ("assay.programs.tasks.jsonl_tasks", "our own JSON lines, which hold every kind of test"),
    "pytest": ("assay.programs.tasks.pytest_files", "a test file of pytest, or a folder of them"),
}
"""Name to module and what it is, in the order in which they are tried."""


def read(path: Path, form: str = "") -> TaskFile:
    """Read tasks; without a format it is found out. Nothing usable at all is an error."""
    reading: TaskFile = _module(form or form_of(path)).read(path)
    if not reading.tasks:
        first = f": {reading.problems[0]}" if reading.problems else ""
        more = f" (and {len(reading.problems) - 1:,} more)" if len(reading.problems) > 1 else ""
        raise InputError(f"'{path}' holds no task that can be used{first}{more}")
    return reading


def form_of(path: Path) -> str:
    """Return the format of a file or folder by what it holds."""
    problems: list[Problem] = []
    keys = _keys(path, problems)
    found = next((name for name in FORMATS if _module(name).fits(keys)), "")
    if not found:
        why = f" (its fields: {', '.join(sorted(keys)[:12])})" if keys else f" ({problems[0]})" if problems else ""
        raise InputError(f"cannot tell the format of '{path}'{why}: name it with --from; known: {_listed()}")
    return found


def _keys(path: Path, problems: list[Problem]) -> frozenset[str]:
    """Return the fields of the first records of a file, or what stands for them."""
    if path.is_dir() or path.suffix == ".py":
        return frozenset({PYTHON})
    return frozenset(name for record in rows.sample(path, problems) for name in record)


def _module(name: str) -> Any:
    if name not in FORMATS:
        raise InputError(f"unknown format '{name}'; {nearest(name, list(FORMATS))}")
    return import_module(FORMATS[name][0])


def _listed() -> str:
    return "; ".join(f"{name} ({what})" for name, (_, what) in FORMATS.items())
