"""What is known of a parameter, its type hint, its name or nothing, to values that may be handed to it.

Used where a text shows no example. What nothing is known of gets values of all kinds in turn: those that most programs
break on tell nothing and weigh nothing.
"""

from __future__ import annotations

import ast
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from assay.programs.shown_examples import function_in
from assay.types import Program, Task

KINDS: Final = ("int", "list[int]", "str", "list[str]", "float", "list[tuple[int]]", "list[list[int]]", "dict")
_LOOKED_AT: Final = 25
_BY_NAME: Final = (
    ("int", ("n", "k", "m", "x", "y", "a", "b", "c", "i", "num", "number", "count", "size", "index", "limit", "year")),
    ("str", ("s", "t", "string", "str", "text", "word", "sentence", "st", "str1", "str2", "s1", "s2", "name", "char")),
    ("list[int]", ("lst", "l", "arr", "nums", "list", "array", "numbers", "items", "values", "li", "nums1", "nums2")),
    ("list[str]", ("words", "strings", "names", "strs")),
    ("list[list[int]]", ("grid", "matrix", "mat", "board")),
    ("dict", ("d", "dict", "dictionary", "mapping")),
)
_BASIC: Final = {"int": "int", "float": "float", "str": "str", "bool": "bool", "dict": "dict", "set": "list[int]"}
_LISTS: Final = frozenset({"list", "sequence", "iterable", "tuple", "array"})
_WORDS: Final = ("a", "b", "abc", "Hello", "hello world", "python 3", "aabbc", "racecar", "XYZ", "a1b2", "", "the cat")


def kinds_of(task: Task, programs: Sequence[Program]) -> tuple[str, ...]:
    """Return a kind for each parameter, empty for one that nothing is known of.

    The prompt's own signature counts; where it has none, the one that most programs have.
    """
    stated = function_in(task.prompt, task.entry_point)
    if stated:
        return _kinds(stated)
    votes: Counter[tuple[str, ...]] = Counter()
    for program in programs[:_LOOKED_AT]:
        function = function_in(program.source, task.entry_point)
        if function:
            votes[_kinds(function)] += program.n
    if not votes:
        return ("",)
    widths: Counter[int] = Counter()
    for kinds, count in votes.items():
        widths[len(kinds)] += count
    width = min(widths, key=lambda each: (-widths[each], each))
    return min((kinds for kinds in votes if len(kinds) == width), key=lambda kinds: (-votes[kinds], kinds))


def value_of(kind: str, lot: random.Random) -> Any:  # noqa: PLR0911  # a kind each
    """Return a value of a kind."""
    if kind == "int":
        return lot.choice((0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 25, -1, lot.randint(2, 30)))
    if kind == "float":
        return lot.choice((0.0, 0.5, 1.0, 2.5, 3.14, 10.0, -1.5, round(lot.uniform(0, 20), 2)))
    if kind == "str":
        return lot.choice((*_WORDS, *_WORDS, "".join(lot.choices("abcXY 12", k=lot.randint(1, 8)))))
    if kind == "bool":
        return lot.random() < 0.5
    if kind == "dict":
        return {lot.choice("abcdef"): lot.randint(0, 9) for _ in range(lot.randint(0, 4))}
    if kind == "list[tuple[int]]":
        return [(lot.randint(0, 9), lot.randint(0, 9)) for _ in range(lot.randint(1, 4))]
    inner = kind[5:-1] if kind.startswith("list[") else "int"
    return [value_of(inner, lot) for _ in range(lot.choice((0, 1, 2, 3, 3, 4, 5, 7)))]


def _kinds(function: ast.FunctionDef) -> tuple[str, ...]:
    parameters = function.args.args
    return tuple(_kind(parameter) for parameter in parameters)


def _kind(parameter: ast.arg) -> str:
    if parameter.annotation is not None:
        kind = _of_hint(parameter.annotation, 0)
        if kind:
            return kind
    name = parameter.arg.lower()
    return next((kind for kind, names in _BY_NAME if name in names), "")


def _of_hint(hint: ast.expr, depth: int) -> str:
    if isinstance(hint, ast.Constant) and isinstance(hint.value, str):
        return _BASIC.get(hint.value, "")
    if isinstance(hint, ast.Attribute):
        return _plain(hint.attr)
    if isinstance(hint, ast.Name):
        return _plain(hint.id)
    if not isinstance(hint, ast.Subscript) or depth > 2:  # deeper lists are made of nothing
        return ""
    outer = getattr(hint.value, "id", getattr(hint.value, "attr", "")).lower()
    first = hint.slice.elts[0] if isinstance(hint.slice, ast.Tuple) and hint.slice.elts else hint.slice
    if outer in _LISTS:
        return f"list[{_of_hint(first, depth + 1) or 'int'}]"
    return _of_hint(first, depth + 1) if outer in {"optional", "union"} else _BASIC.get(outer, "")


def _plain(name: str) -> str:
    return "list[int]" if name.lower() in _LISTS else _BASIC.get(name.lower(), "")
