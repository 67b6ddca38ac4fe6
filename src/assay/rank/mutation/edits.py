"""What the operators of the mutator share: places in a tree, edits of them, and what is taken for what."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Edit = Callable[[], None]
"""Changes a tree where it stands, once."""

ARITHMETIC: Mapping[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add, ast.Pow),
    ast.Div: (ast.FloorDiv, ast.Mult),
    ast.FloorDiv: (ast.Div, ast.Mod),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitXor: (ast.BitOr,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
}
BOUNDS: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
OPPOSITES: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
RELATED = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "append": "extend",
    "extend": "append",
    "upper": "lower",
    "lower": "upper",
    "isupper": "islower",
    "islower": "isupper",
    "find": "index",
    "index": "find",
    "floor": "ceil",
    "ceil": "floor",
    "startswith": "endswith",
    "endswith": "startswith",
    "lstrip": "rstrip",
    "rstrip": "lstrip",
    "keys": "values",
    "values": "keys",
    "union": "intersection",
    "intersection": "union",
    "int": "float",
    "float": "int",
    "list": "set",
    "set": "list",
    "sum": "len",
    "sort": "reverse",
    "add": "discard",
    "isdigit": "isalpha",
    "isalpha": "isdigit",
    "split": "strip",
    "strip": "split",
}


def constants(tree: ast.Module, kind: type | tuple[type, ...]) -> Iterator[tuple[ast.Constant, Any]]:
    """Yield constants of a kind with their values; documentation is none, and a truth value is no number."""
    prose = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, kind) and id(node) not in prose:
            if isinstance(node.value, bool) and kind is not bool:
                continue
            yield node, node.value


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.Module]:
    """Yield the outer functions, or the module itself where a program has none."""
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if found:
        yield from found
    else:
        yield tree


def variables(scope: ast.FunctionDef | ast.Module) -> set[str]:
    """Return the variables that a function binds, its parameters included."""
    names = {node.id for node in ast.walk(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return names | {node.arg for node in ast.walk(scope) if isinstance(node, ast.arg)}


def statements(tree: ast.Module) -> Iterator[tuple[list[ast.stmt], int, ast.stmt]]:
    """Yield each statement with the list it stands in and its place there."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list):
                for place, statement in enumerate(body):
                    yield body, place, statement


def is_call(statement: ast.stmt) -> bool:
    """Say whether a statement does nothing but call something."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)


def call(name: str, value: ast.expr) -> ast.Call:
    """Return a call with one argument."""
    return ast.Call(ast.Name(name, ast.Load()), [value], [])


def setting(node: ast.AST, name: str, value: object) -> Edit:
    """Return the edit that gives a node another part."""
    return lambda: setattr(node, name, value)


def setting_all(node: ast.AST, **values: object) -> Edit:
    """Return the edit that gives a node several other parts."""

    def edit() -> None:
        for name, value in values.items():
            setattr(node, name, value)

    return edit


def putting(body: list[ast.stmt], place: int, statement: ast.stmt) -> Edit:
    """Return the edit that puts another statement in the place of one."""
    return lambda: body.__setitem__(place, statement)


def removing(body: list[ast.stmt], place: int) -> Edit:
    """Return the edit that takes a statement out; a block that it leaves empty gets `pass`."""
    return lambda: body.__setitem__(slice(place, place + 1), [] if len(body) > 1 else [ast.Pass()])
