"""Parse a program as Python: its tree, its nodes, its undefined names, and the kinds of values of expressions.

A program is untrusted text: what is too long or too deep is not read. Nothing is executed.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

BUILT_IN: Final = frozenset(dir(builtins))
MAX_PROGRAM_CHARS: Final = 50_000
"""Characters of a program that is read; a longer one is taken for no answer to a task."""


@dataclass(frozen=True, slots=True)
class ParsedProgram:
    """The tree of a program, or the reason why it does not parse."""

    tree: ast.Module | None
    line: int = -1
    """Where it stops being Python, 1-based; -1 where that is nowhere, or not known."""
    unread: bool = False
    """It is too long or too deep to be read: whether it is Python is not known."""


def parsed(source: str) -> ParsedProgram:
    """Parse a program; the caller silences the warnings of the compiler."""
    if len(source) > MAX_PROGRAM_CHARS:
        return ParsedProgram(None, unread=True)
    try:
        return ParsedProgram(ast.parse(source))
    except SyntaxError as error:
        lines = source.count("\n") + 1
        return ParsedProgram(None, min(error.lineno or _unprintable(source), lines))
    except ValueError:
        return ParsedProgram(None, _unprintable(source))
    except (RecursionError, MemoryError):
        return ParsedProgram(None, unread=True)


def _unprintable(source: str) -> int:
    """Return the line of the first character that a program cannot contain."""
    place = next((i for i, char in enumerate(source) if char == "\0" or "\ud800" <= char <= "\udfff"), 0)
    return source.count("\n", 0, place) + 1


_PLAIN: Final = frozenset(
    "id attr arg name asname module level kind type_comment conversion is_async simple rest kwd_attrs tag".split()
)
"""Fields that never hold a node, whatever the kind."""
_NO_NODES: Final = (ast.Constant, ast.MatchSingleton, ast.Global, ast.Nonlocal, ast.TypeIgnore)
_WITH_GAPS: Final = (ast.Dict, ast.arguments)
"""Kinds whose lists may hold None beside nodes."""


class _FieldTable(dict[type[ast.AST], tuple[str, ...]]):
    """The fields of each kind of node that may hold nodes."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        fields = () if issubclass(kind, _NO_NODES) else tuple(f for f in kind._fields if f not in _PLAIN)
        self[kind] = fields
        return fields


_FIELDS: Final = _FieldTable()


def children(node: ast.AST) -> list[ast.AST]:
    """Return the child nodes of a node."""
    found: list[ast.AST] = []
    for name in _FIELDS[node.__class__]:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += filter(None, value) if isinstance(node, _WITH_GAPS) else value
        elif value is not None:
            found.append(value)
    return found


def walk(root: ast.AST) -> list[ast.AST]:
    """Return a node and all below it, level by level."""
    found = [root]
    for node in found:  # as `children`, without a call a node, which is faster
        for name in _FIELDS[node.__class__]:
            value = getattr(node, name, None)
            if value.__class__ is list:
                found += filter(None, value) if isinstance(node, _WITH_GAPS) else value
            elif value is not None:
                found.append(value)
    return found


_PREDEFINED: Final = BUILT_IN.union(
    ("__name__", "__file__", "__doc__", "__builtins__", "__spec__", "__package__", "__class__")
)
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
    """The undefined names of a program, and its top-level names."""

    undefined: tuple[tuple[str, int], ...]
    """Names that nothing defines, each with the line of its use, in the order of lines."""
    top: frozenset[str]
    """Names that the module itself binds."""


def names(tree: ast.Module) -> Names:
    """Return the undefined names, and those that the module binds.

    Scopes are Python's, with two liberties taken for speed: a name that a scope binds anywhere is bound everywhere in
    it, and a star import defines all. A use before the assignment is not found.
    """
    scopes = _Walk(tree)
    return Names(scopes.undefined(), frozenset(scopes.module.bound))


class _Walk:
    def __init__(self, tree: ast.Module) -> None:
        self._loads: list[tuple[str, int, _Scope]] = []
        self._scopes: list[_Scope] = []
        self._star = False
        self.module = self._open(None)
        self._stack: list[tuple[ast.AST, _Scope]] = [(node, self.module) for node in tree.body]
        while self._stack:
            node, scope = self._stack.pop()
            if not isinstance(node, _SILENT):
                self._see(node, scope)

    def undefined(self) -> tuple[tuple[str, int], ...]:
        """Return the names that no enclosing scope binds."""
        if self._star:
            return ()
        lost = {(name, line) for name, line, scope in self._loads if name not in _PREDEFINED and not scope.knows(name)}
        for scope in self._scopes:
            own = scope.bound | scope.elsewhere
            lost |= {(name, line) for name, line in scope.added_to.items() if scope.function and name not in own}
        return tuple(sorted(lost, key=lambda each: (each[1], each[0])))

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
                    self.module.bound |= set(node.names)

    def _enter(self, node: ast.AST, scope: _Scope) -> None:
        """Enter a node with its own scope; its defaults, decorators and annotations are of the enclosing one."""
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
        hints = (argument.annotation for argument in own)
        self._stack += [(outer, scope) for outer in (*hints, *given.defaults, *given.kw_defaults) if outer]


def _bases(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[ast.expr]:
    """Return the other expressions of a definition's head: the return type, or the bases."""
    if isinstance(node, ast.ClassDef):
        return [*node.bases, *(word.value for word in node.keywords)]
    return [node.returns] if node.returns else []


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
_ITERATORS: Final = frozenset("filter map zip reversed enumerate iter".split())


def kinds(  # noqa: PLR0911  one case a kind of node
    node: ast.expr, variables: Mapping[str, Kinds], depth: int = 0
) -> Kinds:
    """Return the kinds that an expression may have; empty if one of them is unknown."""
    if depth > 20:
        return NONE
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in _ITERATORS:
            return frozenset({"iterator"})
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
    """Return the kind of value that a function or method of a name returns."""
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


def variables_of(nodes: Sequence[ast.AST], parameters: Mapping[str, Kinds]) -> dict[str, Kinds]:
    """Return the kinds of the variables of a function with these nodes, by their assignments."""
    found = dict(parameters)
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
