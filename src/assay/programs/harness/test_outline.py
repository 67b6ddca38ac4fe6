"""Read in the source of tests what has to run, so that a test that did not run is noticed.

Names are dotted paths of classes and functions; a line is the first of a definition, its decorators included, which is
where its code begins.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from assay.programs.harness.taint import uses

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_SKIPS: Final = frozenset({"skip", "skipIf", "skipUnless", "skipif", "skipTest", "SkipTest", "importorskip", "Skipped"})
_RUNNERS: Final = frozenset({"unittest.main", "pytest.main"})


@dataclass(frozen=True, slots=True)
class Outline:
    """What a module of tests holds."""

    tests: tuple[tuple[str, int], ...]
    """Name and line of each test that pytest or unittest would run, `check` and `main` where they are called here."""
    helpers: tuple[str, ...]
    """Functions that are named like tests, want arguments and are used elsewhere in the module."""
    calls: tuple[str, ...]
    """`check`, HumanEval's, and `main`: functions that nothing in the module calls, and that have to be called."""
    skips_by_program: bool
    """Whether the program may decide that a test is skipped."""


def outline(tree: ast.Module, names: frozenset[str]) -> Outline:
    """Return what a module holds; `names` are those that may hold values of the program."""
    functions = {node.name: node for node in tree.body if isinstance(node, _FUNCTIONS)}
    loaded = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    elsewhere = {
        part.id
        for node in tree.body
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and part.id != getattr(node, "name", "")
    }
    helpers = tuple(sorted(name for name in functions.keys() & elsewhere if _is_helper(functions[name])))
    calls = _uncalled(functions, loaded)
    found = dict(_tests(tree.body, "", testing=True, known={}))
    gone = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    opted = any(isinstance(node, ast.Name | ast.Attribute) and _name(node) == "__test__" for node in ast.walk(tree))
    kept = {} if opted else {n: line for n, line in found.items() if n.partition(".")[0] not in {*gone, *helpers}}
    kept |= {name: first_line(functions[name]) for name in calls}
    return Outline(tuple(kept.items()), helpers, calls, _skips_by_program(tree, names))


def first_line(node: ast.stmt) -> int:
    """Return the line at which the code of a definition begins."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def open_main(tree: ast.Module) -> None:
    """Have what stands under `if __name__ == "__main__":` run in its place, but for calls of a test runner."""
    runs = {"main"} & {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module in {"unittest", "pytest"}
        for alias in node.names
    }
    body = [
        part for node in tree.body for part in (node.body if isinstance(node, ast.If) and _is_main(node) else [node])
    ]
    tree.body = [node for node in body if not _starts_runner(node, runs)]


def _is_main(node: ast.If) -> bool:
    match node.test:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            sides = {getattr(each, "id", getattr(each, "value", None)) for each in (left, right)}
            return sides == {"__name__", "__main__"}
    return False


def _starts_runner(node: ast.stmt, runs: set[str]) -> bool:
    """Say whether a statement looks for tests in another module, and would end the process."""
    if not isinstance(node, ast.Expr | ast.Raise | ast.Assign):
        return False
    called = {ast.unparse(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)}
    return not called.isdisjoint(_RUNNERS | runs)


def _uncalled(functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef], loaded: set[str]) -> tuple[str, ...]:
    wanted = {"check": 1, "main": 0}
    return tuple(
        name
        for name, count in wanted.items()
        if name in functions.keys() - loaded
        and isinstance(functions[name], ast.FunctionDef)
        and _required(functions[name]) <= count <= len(functions[name].args.args)
    )


def _is_helper(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return function.name.startswith("test") and not function.decorator_list and _required(function) > 0


def _required(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    args = function.args
    missing = sum(default is None for default in args.kw_defaults)
    return len(args.posonlyargs) + len(args.args) - len(args.defaults) + missing


def _tests(body: list[ast.stmt], above: str, *, testing: bool, known: dict[str, bool]) -> Iterator[tuple[str, int]]:
    """Yield the tests among some definitions; `known` says of the classes so far whether they are test cases."""
    for node in body:
        if isinstance(node, _FUNCTIONS) and testing and node.name.startswith("test"):
            if not any("fixture" in ast.unparse(each) for each in node.decorator_list):
                yield f"{above}{node.name}", first_line(node)
        elif isinstance(node, ast.ClassDef):
            bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
            is_case = any(base.endswith("TestCase") or known.get(base) for base in bases)
            known[node.name] = is_case
            inner = is_case or node.name.startswith("Test")
            if inner or not above:
                yield from _tests(node.body, f"{above}{node.name}.", testing=inner, known=known)


def _skips_by_program(tree: ast.Module, names: frozenset[str]) -> bool:
    """Say whether a condition that the program has a part in stands before a skip."""
    known = names | {
        name.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Try) and (uses(node, names) or _imports_program(node))
        for name in ast.walk(node)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=function, args=args, keywords=keywords) if _name(function) in _SKIPS:
                if any(uses(each, known) for each in (*args, *(keyword.value for keyword in keywords))):
                    return True
            case ast.If(test=test) if uses(test, known) and _asks_to_skip(node):
                return True
            case ast.Try() if _asks_to_skip(node):
                return True
    return False


def _asks_to_skip(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Name | ast.Attribute) and _name(part) in _SKIPS for part in ast.walk(node))


def _imports_program(node: ast.AST) -> bool:
    return any(isinstance(part, ast.ImportFrom) and part.module == "solution" for part in ast.walk(node))


def _name(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
