"""Find in a prompt what its tests use of it, to be run with the tests.

In human-eval and BigCodeBench prompt, program and tests share their names: HumanEval/32, 38 and 50 define a function
above the one to be written, and their tests call it. A program brings it along, and could bring another one. So what
the prompt binds runs where a program cannot change it. What a helper itself does not define comes from the program.
"""

from __future__ import annotations

import ast
from warnings import catch_warnings

_BINDING = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign,
)  # fmt: skip


def helpers_of(prompt: str, entry: str, *tests: str) -> str:
    """Return the statements of a prompt, but for the function under test, that its tests need; empty where none."""
    others = [
        node for node in _parsed(prompt).body if isinstance(node, _BINDING) and getattr(node, "name", "") != entry
    ]
    needed: set[int] = set()
    used = {name for test in tests for name in _used(_parsed(test))}
    while more := {place for place, node in enumerate(others) if place not in needed and used & _bound(node)}:
        needed |= more
        used |= {name for place in more for name in _used(others[place])}
    return "\n".join(ast.unparse(others[place]) for place in sorted(needed))


def _bound(node: ast.stmt) -> set[str]:
    """Return the names that a statement binds."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    return {getattr(node, "name", "")}


def _used(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _parsed(source: str) -> ast.Module:
    try:
        with catch_warnings(action="ignore"):
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module(body=[], type_ignores=[])
