"""A syntax tree to the names in it that nothing defines: what Python would look up, and not find, without running it.

Scopes are Python's, with two liberties taken for speed: what a scope binds anywhere it has everywhere, and a star
import defines all. So what is told is near certain, and a use before the assignment is not told.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Final

from assay.rank.consensus.canon import BUILT_IN
from assay.rank.consensus.syntax_nodes import children

_GIVEN: Final = BUILT_IN | {"__name__", "__file__", "__doc__", "__builtins__", "__spec__", "__package__", "__class__"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SILENT = (ast.Constant, ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
"""What neither holds a name nor stands above one."""
_OWN_SCOPE = (*_FUNCTIONS, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(slots=True)
class _Scope:
    above: _Scope | None
    function: bool = False
    bound: set[str] = field(default_factory=set)
    added_to: dict[str, int] = field(default_factory=dict)
    """Names that an augmented assignment stores, with its line."""
    elsewhere: set[str] = field(default_factory=set)
    """Names that are declared global or nonlocal."""

    def knows(self, name: str) -> bool:
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.bound:
                return True
            scope = scope.above
        return False


@dataclass(frozen=True, slots=True)
class Names:
    """What the names of a program say."""

    undefined: tuple[tuple[str, int], ...]
    """Names that nothing defines, each with the line of its use, in the order of lines."""
    top: frozenset[str]
    """Names that the module itself binds."""
    unused_arguments: int
    arguments: int
    unused_variables: int
    """Variables of functions that are assigned and never read."""


def names(tree: ast.Module) -> Names:
    """Return what is undefined and what is unused."""
    walk = _Walk(tree)
    return Names(walk.undefined(), walk.top(), *walk.unused())


class _Walk:
    def __init__(self, tree: ast.Module) -> None:
        self._loads: list[tuple[str, int, _Scope]] = []
        self._scopes: list[_Scope] = []
        self._arguments: list[tuple[str, _Scope]] = []
        self._star = False
        module = self._open(None)
        self._stack: list[tuple[ast.AST, _Scope]] = [(node, module) for node in tree.body]
        while self._stack:
            node, scope = self._stack.pop()
            if not isinstance(node, _SILENT):
                self._see(node, scope)

    def undefined(self) -> tuple[tuple[str, int], ...]:
        """Return the names that no scope around their use binds."""
        if self._star:
            return ()
        lost = {(name, line) for name, line, scope in self._loads if name not in _GIVEN and not scope.knows(name)}
        for scope in self._scopes:
            own = scope.bound | scope.elsewhere
            lost |= {(name, line) for name, line in scope.added_to.items() if scope.function and name not in own}
        return tuple(sorted(lost, key=lambda each: (each[1], each[0])))

    def top(self) -> frozenset[str]:
        """Return what the module binds."""
        return frozenset(self._scopes[0].bound)

    def unused(self) -> tuple[int, int, int]:
        """Return how many arguments are never read, of how many, and how many variables."""
        read = {name for name, _, _ in self._loads}
        arguments = [name for name, _ in self._arguments if name not in {"self", "cls", "_"}]
        taken = {name for name, _ in self._arguments}
        stored = {name for scope in self._scopes if scope.function for name in scope.bound} - taken
        idle = {name for name in stored if name not in read and not name.startswith("_")}
        return sum(name not in read for name in arguments), len(arguments), len(idle)

    def _open(self, above: _Scope | None, *, function: bool = False) -> _Scope:
        scope = _Scope(above, function)
        self._scopes.append(scope)
        return scope

    def _see(self, node: ast.AST, scope: _Scope) -> None:
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                self._loads.append((node.id, node.lineno, scope))
            else:
                scope.bound.add(node.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            scope.added_to.setdefault(node.target.id, node.lineno)
            self._stack.append((node.value, scope))
        elif isinstance(node, _OWN_SCOPE):
            self._enter(node, scope)
        else:
            self._bind(node, scope)
            self._stack += [(child, scope) for child in children(node)]

    def _bind(self, node: ast.AST, scope: _Scope) -> None:
        match node:
            case ast.Import() | ast.ImportFrom():
                self._star |= any(alias.name == "*" for alias in node.names)
                scope.bound |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                scope.bound.add(name)
            case ast.Global() | ast.Nonlocal():
                scope.elsewhere |= set(node.names)
                if isinstance(node, ast.Global):
                    self._scopes[0].bound |= set(node.names)

    def _enter(self, node: ast.AST, scope: _Scope) -> None:
        """Go into what has a scope of its own; its defaults, decorators and annotations are of the one around."""
        inner = self._open(scope, function=isinstance(node, _FUNCTIONS))
        if isinstance(node, _FUNCTIONS):
            self._parameters(node, inner, scope)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            scope.bound.add(node.name)
            self._stack += [(outer, scope) for outer in (*node.decorator_list, *_bases(node))]
        body = getattr(node, "body", None)
        inside = body if isinstance(body, list) else [body] if body else children(node)
        self._stack += [(child, inner) for child in inside]

    def _parameters(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, inner: _Scope, scope: _Scope
    ) -> None:
        given = node.args
        own = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
        inner.bound |= {argument.arg for argument in own}
        if not isinstance(node, ast.Lambda):
            self._arguments += [(argument.arg, inner) for argument in own]
        hints = (argument.annotation for argument in own)
        self._stack += [(outer, scope) for outer in (*hints, *given.defaults, *given.kw_defaults) if outer]


def _bases(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[ast.expr]:
    """Return what a head names beside its decorators and parameters: the type of the result, or the bases."""
    if isinstance(node, ast.ClassDef):
        return [*node.bases, *(word.value for word in node.keywords)]
    return [node.returns] if node.returns else []
