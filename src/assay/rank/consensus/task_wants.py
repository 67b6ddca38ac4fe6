"""A task's text to what it asks of a program: its parameters, the kinds of value in and out, its words and numbers.

The text is all that is read, its shown examples too; the tests of a task are never looked at.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from assay.programs.shown_examples import examples_in, function_in, text_of
from assay.terms import STOP_WORDS, terms
from assay.types import Call, Task

KINDS: Final = frozenset({"bool", "int", "float", "str", "list", "tuple", "dict", "set", "None"})
_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
_LONGEST: Final = 20_000
"""Characters of a text that are looked at."""
_EXAMPLES: Final = 20


@dataclass(frozen=True, slots=True)
class TaskWants:
    """What a text says about the programs that answer it."""

    entry: str = ""
    arity: int = -1
    """How many arguments the function is given; -1 where the text does not say."""
    given: tuple[str, ...] = ()
    """The kind of each argument, empty where it is not said."""
    returned: frozenset[str] = frozenset()
    """The kinds of value that may come out; empty where it is not said."""
    words: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    text: str = ""


def wants_of(task: Task) -> TaskWants:
    """Return what a task's text asks."""
    text = task.prompt[:_LONGEST]
    if not text.strip():
        return TaskWants(task.entry_point)
    function = function_in(text, task.entry_point) if task.entry_point else None
    calls = [test for test in examples_in(task)[:_EXAMPLES] if isinstance(test, Call)] if task.entry_point else []
    return TaskWants(
        task.entry_point,
        _arity(function, calls),
        _argument_kinds(function, calls),
        _returned(function, calls),
        frozenset(terms(text_of(task)[:_LONGEST])) - STOP_WORDS,
        frozenset(_NUMBER.findall(text)),
        text,
    )


def kind_of(annotation: ast.expr | None) -> str:
    """Return the kind of value that an annotation names, empty where it names none of them, or several."""
    match annotation:
        case ast.Subscript(value=value):
            return "" if getattr(value, "id", "") in {"Optional", "Union"} else kind_of(value)
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
            return name.lower() if name.lower() in KINDS else ""
        case _:
            return ""


def _arity(function: ast.FunctionDef | None, calls: Iterable[Call]) -> int:
    if function:
        return len(function.args.posonlyargs) + len(function.args.args)
    counts = [len(call.args) for call in calls]
    return max(set(counts), key=lambda count: (counts.count(count), count), default=-1)


def _argument_kinds(function: ast.FunctionDef | None, calls: Iterable[Call]) -> tuple[str, ...]:
    hints = tuple(kind_of(argument.annotation) for argument in function.args.args) if function else ()
    if any(hints):
        return hints
    kinds = [tuple(type(value).__name__ for value in call.args) for call in calls]
    widest = max(map(len, kinds), default=0)
    columns = [{row[place] for row in kinds if place < len(row)} for place in range(widest)]
    return tuple(column.pop() if len(column) == 1 else "" for column in columns)


def _returned(function: ast.FunctionDef | None, calls: Iterable[Call]) -> frozenset[str]:
    """Return what the examples show, else what the annotation says: examples show None where it may come out, too."""
    kinds = {"None" if call.expected is None else type(call.expected).__name__ for call in calls}
    hint = kind_of(function.returns) if function else ""
    return frozenset((kinds | ({hint} - {""})) & KINDS)
