"""Expressions to the kinds of value that they may have, by a look at their form: `len(x)` is an int, `x == y` a bool.

Nothing is followed beyond the variables of one function, and what cannot be told has no kind: an empty set.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Final

Kinds = frozenset[str]
NONE: Final[Kinds] = frozenset()
_OF_CALLS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("len", "int", "ord", "hash", "id"), "int"),
    **dict.fromkeys(("bool", "all", "any", "isinstance", "callable", "hasattr"), "bool"),
    **dict.fromkeys(("str", "chr", "repr", "bin", "hex", "oct", "input", "format", "ascii"), "str"),
    **dict.fromkeys(("list", "sorted"), "list"),
    "float": "float",
    "tuple": "tuple",
    "set": "set",
    "dict": "dict",
    "print": "None",
    "Counter": "dict",
    "defaultdict": "dict",
    "OrderedDict": "dict",
    "frozenset": "set",
}
_OF_METHODS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("join", "lower", "upper", "strip", "lstrip", "rstrip", "title", "capitalize"), "str"),
    **dict.fromkeys(("replace", "swapcase", "format", "zfill", "sub", "translate", "ljust", "rjust"), "str"),
    **dict.fromkeys(("isdigit", "isalpha", "startswith", "endswith", "isupper", "islower", "isalnum"), "bool"),
    **dict.fromkeys(("split", "splitlines", "findall", "readlines", "rsplit", "most_common"), "list"),
    **dict.fromkeys(("find", "index", "count", "rfind", "gcd", "factorial", "ceil", "floor", "comb"), "int"),
    **dict.fromkeys(("sqrt", "log", "sin", "cos", "mean"), "float"),
    **dict.fromkeys(("append", "sort", "reverse", "extend", "insert", "remove", "clear", "update"), "None"),
}
_OF_FORMS: Final[Mapping[type[ast.expr], str]] = {
    ast.List: "list",
    ast.ListComp: "list",
    ast.Tuple: "tuple",
    ast.Dict: "dict",
    ast.DictComp: "dict",
    ast.Set: "set",
    ast.SetComp: "set",
    ast.JoinedStr: "str",
    ast.Compare: "bool",
    ast.GeneratorExp: "generator",
    ast.Lambda: "function",
}
_NUMERIC: Final = frozenset({"int", "float", "bool"})


def kinds(  # noqa: PLR0911  one case a kind of node
    node: ast.expr, variables: Mapping[str, Kinds], depth: int = 0
) -> Kinds:
    """Return the kinds that an expression may have; empty where one of them is unknown."""
    if depth > 20:
        return NONE
    match node:
        case ast.Constant(value=value):
            return frozenset({"None" if value is None else type(value).__name__})
        case ast.Name(id=name):
            return variables.get(name, NONE)
        case ast.Call():
            return _one(_of_call(node.func))
        case ast.UnaryOp():
            return frozenset({"bool"}) if isinstance(node.op, ast.Not) else kinds(node.operand, variables, depth + 1)
        case ast.BinOp():
            return _binary(node, variables, depth + 1)
        case ast.IfExp() | ast.BoolOp():
            parts = node.values if isinstance(node, ast.BoolOp) else [node.body, node.orelse]
            return _joined(parts, variables, depth + 1)
        case ast.Subscript(slice=ast.Slice()):
            return kinds(node.value, variables, depth + 1)
        case _:
            return _one(_OF_FORMS.get(type(node)))


def _of_call(func: ast.expr) -> str | None:
    """Return the kind that a function or method of a name gives."""
    if isinstance(func, ast.Attribute):
        return _OF_METHODS.get(func.attr)
    return _OF_CALLS.get(func.id) if isinstance(func, ast.Name) else None


def _one(kind: str | None) -> Kinds:
    return frozenset({kind}) if kind else NONE


def _joined(nodes: Sequence[ast.expr], variables: Mapping[str, Kinds], depth: int) -> Kinds:
    found = [kinds(node, variables, depth) for node in nodes]
    return frozenset().union(*found) if all(found) else NONE


def _binary(node: ast.BinOp, variables: Mapping[str, Kinds], depth: int) -> Kinds:
    if isinstance(node.op, ast.Div):
        return frozenset({"float"})
    left, right = kinds(node.left, variables, depth), kinds(node.right, variables, depth)
    if isinstance(node.op, ast.Mod) and "str" in left:
        return frozenset({"str"})
    if left and right and left | right <= _NUMERIC:
        return frozenset({"float"} if "float" in left | right else {"int"})
    return left or right


def variables_of(nodes: Sequence[ast.AST], given: Mapping[str, Kinds]) -> dict[str, Kinds]:
    """Return the kinds of the variables of a function with these nodes, by the first thing that each is assigned."""
    found = dict(given)
    for node in nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            made = kinds(node.value, found)
            found[name] = made if name not in found else (found[name] | made if found[name] and made else NONE)
        elif isinstance(node, ast.For | ast.comprehension) and isinstance(node.target, ast.Name):
            found[node.target.id] = _items(node.iter, found)
    return found


def _items(node: ast.expr, variables: Mapping[str, Kinds]) -> Kinds:
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "range":
        return frozenset({"int"})
    return frozenset({"str"}) if kinds(node, variables) == {"str"} else NONE
