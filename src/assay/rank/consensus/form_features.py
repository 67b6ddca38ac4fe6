"""A tree to numbers about its form: how its functions end, what is written twice, how large it is."""

from __future__ import annotations

import ast
import sys
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import log1p
from typing import Final, cast

from assay.rank.consensus.inferred import Kinds, kinds
from assay.rank.consensus.syntax_nodes import children, walk

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
_OWN_SCOPE = (*DEFINITIONS, ast.Lambda)
_BODIED: Final = frozenset(
    kind for kind in vars(ast).values() if isinstance(kind, type) and "body" in getattr(kind, "_fields", ())
) - {ast.Lambda, ast.IfExp, ast.Expression}
"""Kinds of node that hold statements."""
_SIDED: Final = frozenset({ast.Compare, ast.BinOp})
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_KNOWN: Final = frozenset(sys.stdlib_module_names)
_METHODS: Final = {kind.__name__: frozenset(dir(kind)) for kind in (str, int, float, bool, list, tuple, dict, set)}
_SHARED: Final = {"dict": frozenset(dir(Counter)) | frozenset(dir(OrderedDict)) | frozenset(dir(defaultdict))}
"""What dictionaries of the library have, too."""
_SIZES: Final = {
    "loops": _LOOPS, "ifs": (ast.If, ast.IfExp), "calls": (ast.Call,), "tries": (ast.Try,), "slices": (ast.Slice,),
    "compares": (ast.Compare,), "arithmetic": (ast.BinOp, ast.AugAssign), "constants": (ast.Constant,),
    "yields": (ast.Yield, ast.YieldFrom),
}  # fmt: skip
_READS: Final = frozenset({"input", "stdin", "open"})


@dataclass(frozen=True, slots=True)
class Relevant:
    """The part of a program that answers the task."""

    main: ast.FunctionDef | ast.AsyncFunctionDef | None
    """The function that is asked for; None where the whole program is."""
    roots: tuple[ast.stmt, ...]
    nodes: tuple[ast.AST, ...]
    """Every node of the roots, root by root."""
    main_nodes: tuple[ast.AST, ...] = ()
    """Those of the function that is asked for."""


def relevant(tree: ast.Module, entry: str) -> Relevant:
    """Return the function of a name with what it reaches at the top of the program, else all of the program."""
    main = _main(tree, entry) if entry else None
    if main is None:
        return Relevant(None, tuple(tree.body), tuple(chain.from_iterable(map(walk, tree.body))))
    at_top = {name: node for node in tree.body for name in _defines(node)}
    reached: dict[int, list[ast.AST]] = {}
    todo: list[ast.stmt] = [main]
    while todo:
        node = todo.pop()
        if id(node) in reached:
            continue
        reached[id(node)] = below = walk(node)
        used = {each.id for each in below if isinstance(each, ast.Name)}
        todo += [at_top[name] for name in sorted(used) if name in at_top and at_top[name] is not main]
    parts = sorted(reached.values(), key=lambda nodes: cast("ast.stmt", nodes[0]).lineno)
    roots = tuple(cast("ast.stmt", nodes[0]) for nodes in parts)
    return Relevant(main, roots, tuple(chain.from_iterable(parts)), tuple(reached[id(main)]))


def _main(tree: ast.Module, entry: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return the last function of a name at the top, else the first anywhere, as a method of a class."""
    at_top = [node for node in tree.body if isinstance(node, FUNCTIONS) and node.name == entry]
    if at_top:
        return at_top[-1]
    inside = (node for each in tree.body if isinstance(each, ast.ClassDef) for node in each.body)
    return next((node for node in inside if isinstance(node, FUNCTIONS) and node.name == entry), None)


def _defines(node: ast.stmt) -> tuple[str, ...]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.Assign(targets=targets):
            return tuple(target.id for target in targets if isinstance(target, ast.Name))
        case _:
            return ()


def falls(body: Sequence[ast.stmt]) -> bool:  # noqa: PLR0911  one case a kind of statement
    """Say whether control may reach the end of these statements."""
    if not body:
        return True
    match body[-1]:
        case ast.Return() | ast.Raise() | ast.Continue() | ast.Break():
            return False
        case ast.If(orelse=orelse) as node:
            return falls(node.body) or falls(orelse)
        case ast.While(test=ast.Constant(value=value)) as node if value:
            return any(isinstance(each, ast.Break) for each in walk(node))
        case ast.With() | ast.AsyncWith() as node:
            return falls(node.body)
        case ast.Try() as node:
            bodies = [[*node.body, *node.orelse], *(each.body for each in node.handlers)]
            return falls(node.finalbody) and any(map(falls, bodies))
        case ast.Match() as node:
            return any(falls(case.body) for case in node.cases) or not _catches_all(node.cases[-1])
        case _:
            return True


def _catches_all(case: ast.match_case) -> bool:
    return case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None


def own_nodes(nodes: Sequence[ast.AST]) -> Sequence[ast.AST]:
    """Return the nodes of a function, itself first, but those of functions and classes inside it."""
    every = nodes[1:]
    if not any(isinstance(node, _OWN_SCOPE) for node in every):
        return every
    found: list[ast.AST] = []
    todo = children(nodes[0])
    while todo:
        node = todo.pop()
        found.append(node)
        if not isinstance(node, _OWN_SCOPE):
            todo += children(node)
    return found


def is_stub(body: Sequence[ast.stmt]) -> bool:
    """Say whether a body does nothing: pass, a docstring, an ellipsis, or `raise NotImplementedError`."""
    for node in body:
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.Raise(exc=ast.Name(id="NotImplementedError")):
                pass
            case ast.Raise(exc=ast.Call(func=ast.Name(id="NotImplementedError"))) | ast.Import() | ast.ImportFrom():
                pass
            case _:
                return False
    return True


def methods_wrong(nodes: Sequence[ast.AST], variables: Mapping[str, Kinds]) -> tuple[int, int]:
    """Return how many attributes are asked of values that have none of that name, and the line of the first."""
    lines = []
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            of = kinds(node.value, variables)
            if of and all(
                kind in _METHODS and node.attr not in _METHODS[kind] | _SHARED.get(kind, frozenset()) for kind in of
            ):
                lines.append(node.lineno)
    return len(lines), min(lines, default=-1)


def foreign(nodes: Sequence[ast.AST]) -> int:
    """Return how many modules are imported that do not come with Python."""
    named = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    named += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return sum(name.partition(".")[0] not in _KNOWN for name in named)


def oddities(nodes: Sequence[ast.AST]) -> dict[str, float]:
    """Count what is written by mistake: code behind a return, equal sides or branches, a loop that ends at once."""
    count: Counter[str] = Counter()
    for node in nodes:
        if node.__class__ in _BODIED:
            bodies = (getattr(node, name, ()) for name in ("body", "orelse", "finalbody"))
            count["unreachable"] += sum(any(isinstance(each, _ENDS) for each in body[:-1]) for body in bodies)
        elif node.__class__ not in _SIDED:
            continue
        match node:
            case ast.For(body=body) | ast.While(body=body):
                count["early"] += not falls(body) and any(isinstance(each, ast.Return) for each in _last(body))
            case ast.If(body=body, orelse=[_, *_] as orelse):
                count["same_branches"] += len(body) == len(orelse) and _same(body, orelse)
            case ast.Compare(left=left, comparators=[right]) | ast.BinOp(left=left, right=right):
                plain = isinstance(left, ast.Name | ast.Subscript | ast.Attribute) and type(left) is type(right)
                count["same_sides"] += plain and not isinstance(node, ast.BinOp) and _same([left], [right])
    return dict(count)


def _last(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    node = body[-1]
    return [node, *(_last(node.body) if isinstance(node, ast.If) and node.body else [])]


def _same(left: Sequence[ast.AST], right: Sequence[ast.AST]) -> bool:
    if [node.__class__ for node in left] != [node.__class__ for node in right]:
        return False
    if all(node.__class__ is ast.Name for node in (*left, *right)):
        return list(map(word_of, left)) == list(map(word_of, right))
    return [ast.dump(node) for node in left] == [ast.dump(node) for node in right]


def size(nodes: Sequence[ast.AST]) -> dict[str, float]:
    """Count the nodes by what they are, as logarithms."""
    kinds_ = Counter(map(type, nodes))
    return {name: log1p(sum(kinds_[kind] for kind in types)) for name, types in _SIZES.items()} | {
        "nodes": log1p(len(nodes)),
        "strings": log1p(sum(n.__class__ is ast.Constant and isinstance(n.value, str) for n in nodes)),
        "reads": float(not _READS.isdisjoint(map(word_of, nodes))),
        "prints": float(any(n.__class__ is ast.Call and word_of(n.func) == "print" for n in nodes)),
    }


def word_of(node: ast.AST) -> str:
    """Return the name or the attribute that a node is; empty for any other."""
    if node.__class__ is ast.Name:
        return node.id
    return node.attr if node.__class__ is ast.Attribute else ""


def nested(nodes: Sequence[ast.AST]) -> int:
    """Return how many loops stand in one another."""
    loops = [node for node in nodes if isinstance(node, _LOOPS)]
    if len(loops) < 2:
        return len(loops)
    depth: dict[int, int] = {}
    for loop in reversed(loops):  # a walk meets what is outside first
        inside = [depth[id(node)] for node in walk(loop)[1:] if id(node) in depth]
        depth[id(loop)] = 1 + max(inside, default=0)
    return max(depth.values())
