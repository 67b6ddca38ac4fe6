"""Test code to whether running it leaves its process as it was, so that the same process can test the next program.

What is not known to leave nothing behind does not: only plain statements, builtins and modules of a list are. What a
program returns is a copy, so only the tests' own code can change the process that they run in.
"""

from __future__ import annotations

import ast
import builtins
from typing import Final

_STATEMENTS: Final = (
    ast.FunctionDef, ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If, ast.Assert,
    ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.Try, ast.Raise, ast.Import, ast.ImportFrom,
)  # fmt: skip
_MODULES: Final = frozenset(
    "math cmath itertools functools collections string re copy typing operator fractions statistics datetime heapq"
    " bisect json numpy solution".split()
)
_BUILTINS: Final = frozenset(
    "exec eval compile open input breakpoint globals locals vars setattr delattr getattr exit quit help".split()
)
"""Those that reach beyond their arguments."""
AROUND_MODULES: Final = frozenset(
    "setup_module teardown_module setup_function teardown_function setUpModule tearDownModule setup teardown"
    " pytestmark pytest_plugins".split()
)
"""Names by which a module of tests has something run around them."""
_ATTRIBUTES: Final = frozenset("random seterr seterrcall setbufsize set_printoptions".split())
"""Those of the modules that hold a state."""


def is_pure(tree: ast.Module, names: frozenset[str]) -> bool:
    """Say whether test code changes nothing beside its own variables; `names` are those it takes from the program."""
    return not (names - called_names(tree)) and all(map(_leaves_nothing, ast.walk(tree)))


def called_names(tree: ast.Module) -> frozenset[str]:
    """Return what is called by its name."""
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return frozenset(function.id for function in calls if isinstance(function, ast.Name))


def _leaves_nothing(node: ast.AST) -> bool:
    match node:
        case ast.FunctionDef(name=name, args=arguments, decorator_list=decorators):
            by_pytest = name in AROUND_MODULES or (name.startswith("test") and arguments.args)  # which keeps much
            return not (decorators or by_pytest)
        case ast.Import(names=names):
            return all(alias.name in _MODULES for alias in names)
        case ast.ImportFrom(module=module):
            return module in _MODULES
        case ast.Name(id=name):
            return name not in _BUILTINS and (not name.startswith("__") or not hasattr(builtins, name))
        case ast.Attribute(attr=attr, ctx=context):
            return isinstance(context, ast.Load) and not attr.startswith("_") and attr not in _ATTRIBUTES
    return not isinstance(node, ast.stmt) or isinstance(node, _STATEMENTS)
