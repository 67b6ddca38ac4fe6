"""Our own JSON lines: every kind of test, one task a line.

`id`, `prompt`, `entry_point`, `setup`, `reference`, `timeout_s`, `tags`, and `tests`, a list of objects of one of
four kinds: `script`; `args` with `expected` (JSON values), or `call` with `returns` (the same as Python writes it, for
what JSON has no word for), each with `atol`; `stdin` with `stdout`; `pytest`. An unknown field is told.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from assay.io.fields import FieldError, Fields, describe_value
from assay.programs.tasks.prompt_helpers import helpers_of
from assay.programs.tasks.task_file import TaskFile
from assay.programs.tasks.task_rows import gathered
from assay.types import Call, Pytest, Script, Stdin, Task, Test

_FIELDS = ("id", "prompt", "entry_point", "tests", "setup", "reference", "timeout_s", "tags")
_KINDS: Mapping[str, tuple[str, ...]] = {
    "script": ("script",),
    "args": ("args", "expected", "atol"),
    "call": ("call", "returns", "atol"),
    "stdin": ("stdin", "stdout"),
    "pytest": ("pytest",),
}
"""What tells a kind of test, and the fields it has."""


def fits(keys: AbstractSet[str]) -> bool:
    """Say whether records with these fields are such tasks."""
    return {"id", "tests"} <= keys


def read(path: Path) -> TaskFile:
    """Read the tasks of a file."""
    return gathered(path, "own", _task)


def _task(record: Fields) -> Task:
    record.only(_FIELDS)
    tags = record.mapping("tags", {})
    if not all(isinstance(value, str) for value in tags.values()):
        raise FieldError("field 'tags' holds something else than texts")
    name, prompt = record.text("entry_point", ""), record.text("prompt", "")
    tests = tuple(_test(f"tests[{number}]", test, name) for number, test in enumerate(record.list("tests", ())))
    sources = [test.source for test in tests if isinstance(test, Script | Pytest)]
    setup = record.text("setup", "")
    return Task(
        record.name("id"),
        prompt,
        name,
        tests=tests,
        setup="\n".join(filter(None, (helpers_of(prompt, name, setup, *sources), setup))),
        reference=record.text("reference", ""),
        timeout_s=record.number("timeout_s", 0.0),
        tags=tags,
    )


def _test(where: str, fields: object, name: str) -> Test:
    if not isinstance(fields, dict):
        raise FieldError(f"field '{where}' is {describe_value(fields)}, wanted an object")
    kind = next((kind for kind in _KINDS if kind in fields), "")
    if not kind:
        raise FieldError(f"field '{where}' is not a test: it needs one of {', '.join(_KINDS)}")
    if kind in {"args", "call"} and not name:
        raise FieldError(f"field '{where}' is a call, which needs the task's 'entry_point'")
    try:
        record = Fields(fields)
        record.only(_KINDS[kind])
        return _MAKERS[kind](record)
    except FieldError as error:
        raise FieldError(f"field '{where}': {error}") from error


def _args(record: Fields) -> Call:
    if "expected" not in record.values:
        raise FieldError("no field 'expected'")
    return Call(record.list("args"), record.values["expected"], record.number("atol", 0.0))


def _call(record: Fields) -> Call:
    args = _literal(record, "call")
    return Call(args if isinstance(args, tuple) else (args,), _literal(record, "returns"), record.number("atol", 0.0))


def _literal(record: Fields, name: str) -> Any:
    text = record.text(name)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        raise FieldError(f"field '{name}' is not a Python literal: {text[:40]!r}") from error


_MAKERS: Mapping[str, Callable[[Fields], Test]] = {
    "script": lambda record: Script(record.text("script")),
    "args": _args,
    "call": _call,
    "stdin": lambda record: Stdin(record.text("stdin"), record.text("stdout")),
    "pytest": lambda record: Pytest(record.text("pytest")),
}
