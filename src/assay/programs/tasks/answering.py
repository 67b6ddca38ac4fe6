"""Print what a reference returns for each of some inputs, inside the sandbox.

The whole file is the program, so it uses the standard library alone. In JSON a tuple is a list: of a few shapes of the
arguments, the first counts under which the contract holds and the reference works for the most of the first inputs.
Values are printed as Python literals, one `(args, value)` a line, or why there is none; each at once, so that what
takes too long loses nothing before it.
"""

from __future__ import annotations

import ast
import copy
import itertools
import json
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

_MAX_SHAPES = 2_000
TOO_LONG = "the arguments and the value are too long"
MAX_LINE_CHARS = 1 << 18
"""Characters of one line: a test goes to the judge with every program."""
_TRIED = 20
"""Inputs that a shape is tried with."""


def main(text: str) -> None:
    """Answer one task."""
    sys.set_int_max_str_digits(0)
    task = json.loads(text)
    space: dict[str, Any] = {"__name__": "reference"}
    exec(compile(task["reference"], "reference", "exec"), space)  # noqa: S102  # what the sandbox is for
    function, inputs = space[task["entry_point"]], task["inputs"]
    check = contract_of(task["reference"], task["entry_point"], task["contract"], space)
    shapes = shapes_of(function, check, inputs[:_TRIED])
    for args in inputs:
        try:
            shaped = [shape(arg) for shape, arg in zip(shapes, args)]  # noqa: B905
        except ValueError as error:
            print(f"no such argument: {error}")  # noqa: T201  # the caller reads it
            continue
        value, fault = answer(function, check, shaped)
        print(fault or _line(shaped, value), flush=True)  # noqa: T201  # the caller reads it


def _line(args: list[Any], value: Any) -> str:
    try:
        line = f"({literal_of(tuple(args))}, {literal_of(value)})"
    except TypeError as error:
        return str(error)
    except (MemoryError, RecursionError):
        return TOO_LONG
    return line if len(line) <= MAX_LINE_CHARS else TOO_LONG


def contract_of(reference: str, name: str, contract: str, space: dict[str, Any]) -> Callable[..., None]:
    """Return the contract as a function with the parameters of its function."""
    if not contract.strip():
        return lambda *_: None
    tree = ast.parse(reference)
    function = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name][-1]
    checked = ast.parse(f"if True:\n{contract}" if contract.lstrip("\n")[:1].isspace() else contract)
    parts = checked.body[0].body if isinstance(checked.body[0], ast.If) else checked.body
    made = ast.FunctionDef(name="contract", args=function.args, body=parts, decorator_list=[], lineno=1)
    module = ast.fix_missing_locations(ast.Module(body=[made], type_ignores=[]))
    exec(compile(module, "contract", "exec"), space)  # noqa: S102
    found: Callable[..., None] = space["contract"]
    return found


def answer(function: Callable[..., Any], check: Callable[..., None], args: list[Any]) -> tuple[Any, str]:
    """Return the value of a function and None, or None and the fault."""
    try:
        check(*copy.deepcopy(args))
    except Exception as error:  # noqa: BLE001  # a contract may fail in any way
        return None, f"the contract does not hold: {type(error).__name__}"
    try:
        return function(*copy.deepcopy(args)), ""
    except Exception as error:  # noqa: BLE001
        return None, f"the reference fails: {type(error).__name__}"


Shape = Callable[[Any], Any]


def shapes_of(function: Callable[..., Any], check: Callable[..., None], inputs: list[list[Any]]) -> tuple[Shape, ...]:
    """Return a shape for each argument with which most inputs have an answer."""
    width = max(map(len, inputs))
    tried = sorted(itertools.product(range(len(_SHAPES)), repeat=width), key=sum)[:_MAX_SHAPES]
    best, most = (_SHAPES[0],) * width, -1
    for places in tried:
        shapes = tuple(_SHAPES[place] for place in places)
        works = _works(function, check, shapes, inputs)
        if works > most:
            best, most = shapes, works
        if most == len(inputs):
            break
    return best


def _works(
    function: Callable[..., Any], check: Callable[..., None], shapes: tuple[Shape, ...], inputs: list[list[Any]]
) -> int:
    count = 0
    for args in inputs:
        try:
            shaped = [shape(arg) for shape, arg in zip(shapes, args)]  # noqa: B905
        except (TypeError, ValueError):
            continue
        count += not answer(function, check, shaped)[1]
    return count


def _tuples(depth: int) -> Shape:
    """Return the shape that converts lists at a depth to tuples; 0 is the value itself."""

    def shape(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return tuple(value) if depth == 0 else [_tuples(depth - 1)(each) for each in value]

    return shape


def _all_tuples(value: Any) -> Any:
    return tuple(map(_all_tuples, value)) if isinstance(value, list) else value


def _values_tuples(value: Any) -> Any:
    return {key: _all_tuples(each) for key, each in value.items()} if isinstance(value, dict) else value


def _numbers(kind: Callable[[str], complex]) -> Shape:
    return lambda value: kind(value) if isinstance(value, str) else value


def _sets(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [set(each) if isinstance(each, list) and each else {} for each in value]


_SHAPES: tuple[Shape, ...] = (
    lambda value: value,
    _tuples(0),
    _tuples(1),
    _all_tuples,
    _tuples(2),
    _values_tuples,
    _numbers(float),
    _numbers(complex),
    _sets,
)


def literal_of(value: Any) -> str:  # noqa: PLR0911  # a kind of value each
    """Return plain data as a literal that evaluates to the same; raise TypeError for other values."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{literal_of(key)}: {literal_of(each)}' for key, each in value.items())}}}"
    if isinstance(value, re.Match):
        return "True"  # EvalPlus asks only whether there is one
    kind = type(value)
    if kind is float and value in (float("inf"), float("-inf")):
        return "1e999" if value > 0 else "-1e999"
    if kind is int and abs(value) >= 10**4000:
        return hex(value)
    if value is None or kind in (bool, int, str, bytes, complex) or (kind is float and value == value):  # noqa: PLR0124
        return repr(value)
    if kind in _BRACKETS and (value or kind is not set):
        left, right = _BRACKETS[kind]
        return left + "".join(f"{part}, " for part in _parts(value)) + right
    if kind is set:
        return "set()"
    raise TypeError(f"the reference returns {'nan' if kind is float else kind.__name__}, which cannot be compared")


_BRACKETS: dict[type[Any], tuple[str, str]] = {list: ("[", "]"), tuple: ("(", ")"), set: ("{", "}")}


def _parts(value: Any) -> Iterator[str]:
    parts = map(literal_of, value)
    return iter(sorted(parts)) if isinstance(value, set) else parts
