"""A module of tests to the names in it that may hold what the program returned: callables of the program, and values.

By names and not by scopes: a name that holds such a value anywhere counts everywhere. That is coarse, and enough to
say which side of an assert is the program's; `recorder` looks at the values themselves where names do not tell.
"""

from __future__ import annotations

import ast
import builtins
import symtable
from collections import Counter, deque
from collections.abc import Iterator
from typing import Final

_PLAIN: Final = (list, dict, str, set, tuple, int, float, complex, bytes, deque, Counter)
_ARRAY_NAMES: Final = "all any shape dtype tolist item size ndim T astype reshape flatten ravel isoformat".split()
_PLAIN_NAMES: Final = frozenset(_ARRAY_NAMES) | {"__class__", "__name__"}.union(
    name for kind in _PLAIN for name in dir(kind) if not name.startswith("__")
)
_HARNESS: Final = frozenset({"__name__", "__file__", "__doc__", "__builtins__"})


def free_names(source: str, entry: str) -> frozenset[str]:
    """Return the names that the tests use and do not make: the program has to bring them.

    A builtin is none of them, unless the function under test is called like it.
    """
    top = symtable.symtable(source, "<tests>", "exec")
    made = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    used = {
        symbol.get_name()
        for table in _tables(top)
        for symbol in table.get_symbols()
        if symbol.is_referenced() and (symbol.is_global() or table is top)
    }
    made |= {
        symbol.get_name()
        for table in _tables(top)
        for symbol in table.get_symbols()
        if symbol.is_declared_global() and symbol.is_assigned()
    }
    return frozenset(used - made - (set(dir(builtins)) - {entry}) - _HARNESS)


def imported_names(tree: ast.Module, module: str) -> frozenset[str]:
    """Return the names that tests import from the program: from `module`, or what they put for it in `sys.modules`."""
    modules = {module}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Subscript(slice=ast.Constant(value=str() as alias))], value=ast.Name(id=name)):
                modules |= {alias} if name == module else set()
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str() as name, names=names) if name in modules:
                found |= {alias.asname or alias.name for alias in names if alias.name != "*"}
            case ast.Import(names=names):
                found |= {alias.asname or alias.name for alias in names if alias.name in modules}
    return frozenset(found)


def tainted_names(tree: ast.Module, program: frozenset[str]) -> frozenset[str]:
    """Return the program's names and those that take a value from them, to a fixed point."""
    names = set(program) | _checked(tree)
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    while True:
        before = len(names)
        for node in ast.walk(tree):
            for target, value in _flows(node, functions):
                if uses(value, names):
                    names |= _stored(target)
        if len(names) == before:
            return frozenset(names)


def uses(node: ast.AST, names: set[str] | frozenset[str]) -> bool:
    """Say whether one of these names is read in the expression."""
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))


def is_plain(attr: str) -> bool:
    """Say whether plain data has such an attribute, or a test case: whoever uses it needs no object of the program."""
    return attr in _PLAIN_NAMES or attr.startswith("assert")


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _tables(child)


def _checked(tree: ast.Module) -> set[str]:
    """Return the parameter through which HumanEval's `check` gets the program's function."""
    return {
        node.args.args[0].arg
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name == "check" and node.args.args
    }


def _flows(node: ast.AST, functions: dict[str, ast.FunctionDef]) -> Iterator[tuple[ast.AST, ast.AST]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.AugAssign(target=target, value=value):
            yield target, value
        case (
            ast.NamedExpr(target=target, value=value)
            | ast.withitem(optional_vars=ast.expr() as target, context_expr=value)
        ):
            yield target, value
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            yield from _loop(target, value)
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in functions:
            for parameter, argument in zip(functions[name].args.args, arguments, strict=False):
                yield ast.Name(parameter.arg, ast.Store()), argument


def _loop(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Pair the targets of a loop over `zip` with what each takes, so that the expected side stays clean."""
    match value, target:
        case ast.Call(func=ast.Name(id="zip"), args=sources), ast.Tuple(elts=targets) if len(sources) == len(targets):
            yield from zip(targets, sources, strict=True)
        case ast.Call(func=ast.Name(id="enumerate"), args=[source, *_]), ast.Tuple(elts=[_, item]):
            yield item, source
        case _:
            yield target, value


def _stored(target: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
