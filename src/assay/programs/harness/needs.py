"""Test code to whether it has to run in the program's interpreter: for what the tests do, never for what is returned.

Objects of the program that tests only iterate, index, call or measure need none of that (`handles`). Tests do need it
that ask for attributes of objects, name a class of the program where a class has to be, wait for coroutines, or change
or watch the interpreter around the program: its streams, builtins, modules, files, threads, warnings, random numbers.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from typing import Final

from assay.programs.harness.libraries import MODULES as LIBRARIES
from assay.programs.harness.taint import is_plain, uses

MODULES: Final = sys.stdlib_module_names | LIBRARIES.keys()
"""Names of modules in tests that no program brings."""
_KNOWN: Final = sys.stdlib_module_names | {"numpy", "pytest", "solution"}
_AROUND: Final = frozenset(
    "asyncio builtins concurrent doctest gc glob importlib inspect logging mock multiprocessing os pathlib shutil"
    " signal subprocess runpy tempfile threading tracemalloc weakref".split()
)
"""Modules by which tests reach the interpreter that the program runs in, or its files."""
_WATCHING: Final = frozenset(
    "redirect_stdout redirect_stderr capsys capsysbinary capfd capfdbinary caplog monkeypatch tmp_path tmpdir"
    " tmp_path_factory tmpdir_factory recwarn catch_warnings filterwarnings simplefilter warns deprecated_call"
    " assertWarns assertWarnsRegex assertLogs assertNoLogs patch seed getcontext setcontext localcontext setlocale"
    " setrecursionlimit get_type_hints open".split()
)
_STREAMS: Final = frozenset({"stdin", "stdout", "stderr", "argv"})
_ENDING: Final = frozenset(
    {"StopIteration", "StopAsyncIteration", "GeneratorExit", "ExceptionGroup", "BaseExceptionGroup", "RaisesGroup"}
)
"""Exceptions that cross as others."""
_ASYNC: Final = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await, ast.TryStar)


def needs_objects(tree: ast.Module, program: frozenset[str], names: frozenset[str]) -> bool:
    """Say whether the tests need the program's interpreter.

    `program` are the names that the program brings, `names` those that may hold a value of it.
    """
    modules = frozenset(
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "solution"
    )
    called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return any(
        isinstance(node, _ASYNC)
        or (_handles(node, names) and not (node in called and _is_import(node, modules)))
        or _names_class(node, program)
        or _reaches_around(node)
        for node in ast.walk(tree)
    )


def _is_import(node: ast.AST, modules: frozenset[str]) -> bool:
    """Say whether a node does what `from solution import name` does."""
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr=attr, ctx=ast.Load()):
            return name in modules and not attr.startswith("_")
    return False


def uses_library(tree: ast.Module, modules: Sequence[str]) -> bool:
    """Say whether tests import what is neither Python's own nor numpy, or have it among modules that they mean."""
    named = [*modules]
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                named += [alias.name for alias in aliases]
            case ast.ImportFrom(module=str() as module):
                named.append(module)
    return bool({name.partition(".")[0] for name in named} - _KNOWN)


def _handles(node: ast.AST, names: frozenset[str]) -> bool:
    """Say whether a value of the program is used as an object: by an attribute of its own, by what it returns."""
    match node:
        case ast.Attribute(value=inner, attr=attr) if not _is_module(inner):
            return uses(inner, names) and not is_plain(attr)
        case ast.Call(func=ast.Call() | ast.Subscript() as inner):
            return uses(inner, names)
        case ast.Call(func=ast.Name(id=name), args=args) if name in names:
            return any(isinstance(argument, ast.Lambda) for argument in args)
        case ast.FunctionDef(decorator_list=decorators):
            return any(uses(decorator, names) for decorator in decorators)
        case (
            ast.withitem(context_expr=ast.expr() as context)
            | ast.Call(func=ast.Name(id="vars" | "dir"), args=[context])
        ):
            return _root(context) in names
    return False


def _is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and (node.id == "self" or node.id in MODULES)


def _root(node: ast.expr) -> str:
    """Return the name that an expression starts with, empty where it starts with something else."""
    while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _names_class(node: ast.AST, program: frozenset[str]) -> bool:
    """Say whether a name of the program stands where only a class makes sense."""
    match node:
        case ast.ClassDef(bases=bases):
            return any(uses(base, program) for base in bases)
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[ast.Name(id=name), _]) if name in program:
            return True
        case (
            ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kind])
            | ast.Call(func=ast.Attribute(attr="assertRaises" | "raises"), args=[kind, *_])
            | ast.ExceptHandler(type=ast.expr() as kind)
        ):
            return uses(kind, program)
    return False


def _reaches_around(node: ast.AST) -> bool:
    """Say whether a piece of test code changes or watches more than its own variables."""
    match node:
        case ast.Attribute(value=ast.Name(id="sys"), attr=attr) if attr in _STREAMS:
            return True
        case ast.Import(names=aliases):
            return any(alias.name.partition(".")[0] in _AROUND or alias.name == "unittest.mock" for alias in aliases)
        case ast.ImportFrom(module=str() as module):
            return module.partition(".")[0] in _AROUND or module == "unittest.mock"
    return not _WATCHING.isdisjoint(_names_in(node)) or not _ENDING.isdisjoint(_names_in(node))


def _names_in(node: ast.AST) -> Iterator[str]:
    """Yield the names that stand in one node itself."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
            yield name
        case ast.alias(name=name):
            yield name
