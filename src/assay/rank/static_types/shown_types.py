"""The values of a task's examples to types that a checker reads, and the types it infers back to whether a value fits.

Both sides are lenient, so that what does not fit is surely wrong: numbers of all kinds are one, a list of numbers and
texts is a list of anything, and what a checker does not know fits all.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

_DEEPEST: Final = 5
_LOOKED_AT: Final = 8
"""Items of a value that are compared."""
_NUMBERS: Final = frozenset({"int", "float", "bool", "complex", "Decimal", "Fraction"})
_DICTIONARIES: Final = frozenset({"dict", "Dict", "defaultdict", "Counter", "OrderedDict"})
_LISTS: Final = frozenset({"list", "List"})
_SETS: Final = frozenset({"set", "frozenset", "Set"})
_TUPLES: Final = frozenset({"tuple", "Tuple"})
_NEVER_EQUAL: Final = frozenset(
    "range map filter zip enumerate reversed Generator AsyncGenerator Coroutine Match Pattern slice Callable".split()
)
"""Kinds that equal no value that an example can show."""
_UNSOLVED: Final = re.compile(r"@_|\*tuple\[[^\]]*\]")


def annotation(values: Sequence[object], depth: int = 0) -> str:
    """Return a type that all of these values have, as an annotation."""
    kinds = {type(value).__name__ for value in values}
    if kinds <= {"int", "bool"} and kinds:
        return "bool" if kinds == {"bool"} else "int"
    if kinds and kinds <= _NUMBERS:
        return "float" if "complex" not in kinds else "complex"
    if len(kinds) != 1 or depth > _DEEPEST:
        return "Any"
    return _of_kind(kinds.pop(), values, depth)


def _of_kind(kind: str, values: Sequence[Any], depth: int) -> str:
    def items(parts: Iterable[object]) -> str:
        known = list(parts)
        return annotation(known, depth + 1) if known else "Any"

    if kind in {"str", "bytes"}:
        return kind
    if kind in {"list", "set", "frozenset"}:
        return f"{kind}[{items(item for value in values for item in value)}]"
    if kind == "tuple":
        return f"tuple[{items(item for value in values for item in value)}, ...]"
    if kind == "dict":
        keys, of_keys = (item for value in values for item in value), (v for value in values for v in value.values())
        return f"dict[{items(keys)}, {items(of_keys)}]"
    return "Any"


def may_be(inferred: str, value: object) -> bool:
    """Say whether a value may have the type that a checker inferred; what cannot be read may be anything."""
    try:
        node = ast.parse(_UNSOLVED.sub(_lenient, inferred), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return _fits(node, value, 0)


def _lenient(found: re.Match[str]) -> str:
    return "Any" if found[0] == "@_" else "..."


def _fits(node: ast.expr, value: object, depth: int) -> bool:
    if depth > _DEEPEST:
        return True
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _fits(left, value, depth) or _fits(right, value, depth)
        case ast.Constant(value=None):
            return value is None
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _named(name, (), value, depth)
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=inside):
            return _named(
                name, inside.elts if isinstance(inside, ast.Tuple) and inside.elts else (inside,), value, depth
            )
        case _:
            return True


def _named(name: str, inside: Sequence[ast.expr], value: object, depth: int) -> bool:  # noqa: PLR0911  a case a kind
    if name in _NUMBERS:
        return isinstance(value, int | float | complex)
    if name == "Literal":
        return any(_same_kind(each, value) for each in inside)
    if name in {"str", "LiteralString", "bytes"}:
        return isinstance(value, bytes if name == "bytes" else str)
    if name in _LISTS or name in _SETS:
        kinds: tuple[type, ...] = (list,) if name in _LISTS else (set, frozenset)
        return isinstance(value, kinds) and _all(value, lambda item: _fits(inside[0], item, depth + 1), inside)
    if name in _TUPLES:
        return isinstance(value, tuple) and _tuple(inside, value, depth)
    if name in _DICTIONARIES:
        return isinstance(value, dict) and _dictionary(inside, value, depth)
    return name not in _NEVER_EQUAL


def _all(value: Any, test: Callable[[object], bool], inside: Sequence[ast.expr]) -> bool:
    return not inside or all(test(item) for item in list(value)[:_LOOKED_AT])


def _same_kind(node: ast.expr, value: object) -> bool:
    try:
        literal = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return True
    return isinstance(value, int | float) if isinstance(literal, int | float) else isinstance(value, type(literal))


def _tuple(inside: Sequence[ast.expr], value: tuple[object, ...], depth: int) -> bool:
    if any(isinstance(each, ast.Constant) and each.value is Ellipsis for each in inside):
        plain = len(inside) == 2 and not isinstance(inside[0], ast.Constant)
        return not plain or _all(value, lambda item: _fits(inside[0], item, depth + 1), inside)
    if not inside:
        return True
    if len(inside) == 1 and isinstance(inside[0], ast.Tuple):  # tuple[()]
        return not value
    return len(inside) == len(value) and all(
        _fits(part, item, depth + 1) for part, item in zip(inside, value, strict=True)
    )


def _dictionary(inside: Sequence[ast.expr], value: dict[object, object], depth: int) -> bool:
    if len(inside) != 2:
        return True
    return all(
        _fits(inside[0], key, depth + 1) and _fits(inside[1], item, depth + 1)
        for key, item in list(value.items())[:_LOOKED_AT]
    )
