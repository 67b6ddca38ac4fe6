"""A file of generated tests to tests by task: what `agreement:FILE` takes, as models write them.

One JSON object a line: `task_id` and `tests`, a list of asserts; or, as CodeT publishes them, `prompt` and `samples`,
the texts that followed a prompt which ends in `assert`: the task is found by its function. Only asserts of the form
`f(values) == value` make a test, also `f(values)` and `not f(values)`; at most `PER_SAMPLE` of one text, as in CodeT.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from assay.errors import InputError
from assay.io import rows
from assay.io.fields import Fields
from assay.types import Call, Problem, Task

PER_SAMPLE: Final = 5
_LONGEST: Final = 20_000
_ENDS: Final = ("\nclass", "\ndef", "\n#", "\nif", "\nprint")
_NAME: Final = re.compile(r"check the correctness of (\w+)")


class GeneratedTests:
    """Generated tests, read once; asked by task."""

    def __init__(self, path: Path) -> None:
        self._by_task: dict[str, list[list[str]]] = {}
        self._by_name: dict[str, list[list[str]]] = {}
        problems: list[Problem] = []
        for row, fields in rows.objects(path, problems):
            self._add(rows.place(path, row), Fields(fields))
        if problems:
            raise InputError(f"{path} holds rows that are no tests: {problems[0]}; take them out to go on")

    def tests(self, task: Task) -> list[tuple[Call, int]]:
        """Return each test of a task, and how often it was generated."""
        samples = self._by_task.get(task.id) or self._by_name.get(task.entry_point, [])
        return counted(samples, task.entry_point)

    def _add(self, where: str, record: Fields) -> None:
        if "tests" in record and "task_id" in record:
            tests = self._by_task.setdefault(record.name("task_id"), [])
            tests.extend([str(each)] for each in record.list("tests"))
            return
        name = _NAME.findall(record.text("prompt", ""))
        if not name or "samples" not in record:
            raise InputError(
                f"{where}: no generated tests; wanted task_id and tests, or prompt and samples as CodeT has"
            )
        self._by_name.setdefault(name[-1], []).extend(_asserts(str(each)) for each in record.list("samples"))


def counted(samples: Iterable[Iterable[str]], name: str) -> list[tuple[Call, int]]:
    """Return the tests that asserts are, each once with how often it is there."""
    found: dict[str, tuple[Call, int]] = {}
    for sample in samples:
        calls = [call for text in sample if (call := call_of(text, name))]
        for call in calls[:PER_SAMPLE]:
            key = repr((call.args, call.expected))
            found[key] = (call, found[key][1] + 1 if key in found else 1)
    return list(found.values())


def call_of(text: str, name: str) -> Call | None:
    """Return the call that an assert is about, None for an assert of another form."""
    if name not in text or len(text) > _LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text.strip()).body
            return _call(body[0].test, name) if len(body) == 1 and isinstance(body[0], ast.Assert) else None
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None


def _call(tree: ast.expr, name: str) -> Call | None:
    expected: Any = True
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        tree, expected = tree.operand, False
    elif isinstance(tree, ast.Compare) and len(tree.ops) == 1 and isinstance(tree.ops[0], ast.Eq | ast.Is):
        left, right = tree.left, tree.comparators[0]
        tree, value = (left, right) if isinstance(left, ast.Call) else (right, left)
        expected = ast.literal_eval(value)
    if not isinstance(tree, ast.Call) or getattr(tree.func, "id", "") != name or tree.keywords:
        return None
    return Call(tuple(map(ast.literal_eval, tree.args)), expected)


def _asserts(text: str) -> list[str]:
    """Return the asserts of what followed `assert`, each up to where other code begins."""
    parts = f"assert {text[:_LONGEST]}".split("assert ")[1:]
    cut = []
    for part in parts:
        ends = [place for end in _ENDS if (place := part.find(end)) >= 0]
        cut.append(f"assert {part[: min(ends, default=len(part))].strip()}")
    return cut
