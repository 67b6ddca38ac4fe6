"""The text of a Python file to the functions in it, and the file with another function in the place of one of them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from io import StringIO
from textwrap import dedent, indent
from warnings import catch_warnings

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class RepositoryFunction:
    """A function or method of a repository."""

    file: str
    name: str
    """With the classes that it stands in, as `Signer.sign`."""
    first: int
    """Its first line, that of a decorator if it has one; 1-based."""
    last: int
    column: int
    prompt: str
    """Its head, and its documentation."""
    code: str
    """The same without its documentation, as Python writes the tree: layout and comments tell nothing."""
    statements: int

    @property
    def id(self) -> str:
        """Return what names it."""
        return f"{self.file}::{self.name}"

    @property
    def entry_point(self) -> str:
        """Return its own name."""
        return self.name.rpartition(".")[2]


def functions_in(file: str, text: str) -> list[RepositoryFunction]:
    """Return the functions of a file that are defined in it or in its classes; none where it cannot be parsed.

    A name that the file has twice, as a property and its setter, names no function and is left out.
    """
    tree = _parsed(text)
    found = list(_nodes(tree, "")) if tree else []
    times = Counter(name for name, _ in found)
    return [_function(file, name, node) for name, node in found if times[name] == 1]


def called(function: RepositoryFunction, name: str) -> str:
    """Return the code of a function under another name."""
    tree = ast.parse(function.code)
    assert isinstance(tree.body[0], FunctionNode)
    tree.body[0].name = name
    return ast.unparse(tree) + "\n"


def filled(text: str, hole: RepositoryFunction, code: str) -> str:
    """Return the text of a file with other code in the place of a function."""
    lines = StringIO(text, newline="").readlines()  # as Python counts them: a form feed ends none
    new = indent(dedent(code).rstrip("\n") + "\n", lines[hole.first - 1][: hole.column])
    return "".join([*lines[: hole.first - 1], new, *lines[hole.last :]])


def context_of(text: str, module: str, codes: list[str], own: str) -> str:
    """Return the import of the names that candidates use and the module of the hole has."""
    tree = _parsed(text)
    bound = set(_bound(tree.body)) if tree else set()
    used = {node.id for code in codes for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    names = sorted((bound & used) - {own})
    return f"from {module} import {', '.join(names)}\n\n\n" if names else ""


def _bound(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the names that a module binds at its top, also below `if` and `try`."""
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Import() | ast.ImportFrom():
                yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
            case ast.If() | ast.Try():
                handlers = [each for handler in getattr(node, "handlers", []) for each in handler.body]
                yield from _bound([*node.body, *node.orelse, *handlers])
            case _:
                stored = (each for each in ast.walk(node) if isinstance(each, ast.Name))
                yield from (each.id for each in stored if isinstance(each.ctx, ast.Store))


def _parsed(text: str) -> ast.Module | None:
    try:
        with catch_warnings(action="ignore"):
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _nodes(tree: ast.Module | ast.ClassDef, above: str) -> Iterator[tuple[str, FunctionNode]]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from _nodes(node, f"{above}{node.name}.")
        elif isinstance(node, FunctionNode):
            yield f"{above}{node.name}", node


def _function(file: str, name: str, node: FunctionNode) -> RepositoryFunction:
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    doc = ast.get_docstring(node, clean=False)
    body = node.body[1:] if doc is not None else node.body
    column, last = node.col_offset, node.end_lineno or node.lineno
    bare = copy(node)
    bare.body = body or [ast.Pass()]
    code = ast.unparse(ast.fix_missing_locations(bare)) + "\n"
    documentation = [ast.Expr(ast.Constant(doc))] if doc is not None else []
    bare.body = [*documentation, ast.Expr(ast.Constant(...))]
    prompt = ast.unparse(ast.fix_missing_locations(bare)).removesuffix("...").rstrip() + "\n"
    return RepositoryFunction(file, name, first, last, column, prompt, code, len(list(_statements(body))))


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield from (each for each in ast.walk(node) if isinstance(each, ast.stmt))
