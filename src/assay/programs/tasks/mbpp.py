"""MBPP (Austin et al. 2021), the 974 tasks or the sanitized 427: a sentence, a solution, and asserts.

Fields: `task_id`, `text` or `prompt`, `code`, `test_list`, and where there are any `challenge_test_list`, whose
asserts count too, `test_setup_code` or `test_imports`. Each assert is a test. Ids are `Mbpp/N`, as EvalPlus has them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path
from warnings import catch_warnings

from assay.io.fields import Fields
from assay.programs.tasks.task_file import TaskFile
from assay.programs.tasks.task_rows import gathered
from assay.types import Script, Task


def fits(keys: AbstractSet[str]) -> bool:
    """Say whether records with these fields are such tasks."""
    return {"task_id", "code", "test_list"} <= keys


def read(path: Path) -> TaskFile:
    """Read the tasks of a file."""
    return gathered(path, "mbpp", _task)


def _task(record: Fields) -> Task:
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


def id_of(record: Fields) -> str:
    """Return the id of a task, `Mbpp/N` for a number N."""
    name = record.name("task_id")
    return f"Mbpp/{name}" if name.isdecimal() else name


def function_of(source: str, tests: str = "") -> str:
    """Return the name of the function that tests call first, else of the last function that a source defines."""
    defined = _functions(source)
    called = (node.func.id for node in _walk(tests) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    return next((name for name in called if name in defined), defined[-1] if defined else "")


def _functions(source: str) -> list[str]:
    tree = _parsed(source)
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def _walk(source: str) -> Iterator[ast.AST]:
    return ast.walk(_parsed(source))


def _parsed(source: str) -> ast.Module:
    try:
        with catch_warnings(action="ignore"):
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module(body=[], type_ignores=[])
