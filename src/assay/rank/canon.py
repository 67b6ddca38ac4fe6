"""Convert a syntax tree to a normal form, in which equivalent programs are alike: labels and parents of nodes.

Names go: a parameter is its position, another variable is what it was made of. So do ways of writing: `a > b` is
`b < a`, `x += 1` is `x = x + 1`, a comprehension is the loop that appends, `if`/`else` is the conditional expression.
Docstrings, annotations, imports, and code that the entry point never reaches are left out. The labels are plain
strings.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from assay.rank.syntax import BUILT_IN, children, walk

MAX_NODES: Final = 6000
"""Nodes of one program that are looked at."""
_MAX_TEXT_CHARS: Final = 50_000
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
_FLIPPED: Final = {"Gt": "Lt", "GtE": "LtE"}
_ORDERED: Final = frozenset({"Sub", "Div", "FloorDiv", "Mod", "Pow", "LShift", "RShift", "MatMult"})
_SYMMETRIC: Final = frozenset({"Eq", "NotEq", "Is", "IsNot"})
_EMITS: Final = frozenset({"append", "add"})
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_IMPLIED_BY_PARENT = (
    ast.expr_context,
    ast.operator,
    ast.cmpop,
    ast.boolop,
    ast.unaryop,
    ast.alias,
    ast.Import,
    ast.ImportFrom,
)

_UNWRITTEN = (ast.Pass, ast.Import, ast.ImportFrom)
_Child = tuple[ast.AST, int, str]
"""A node to be written, the place of its parent, and how it hangs there."""
_Shape = tuple[str, bool, tuple[tuple[str, str], ...]]
"""Label, whether the edge goes before it, and its fields with the edge of each."""
_SHAPES: Final[Mapping[type[ast.AST], _Shape]] = {
    ast.While: ("While", False, (("test", "?"), ("body", ""), ("orelse", ""))),
    ast.Assign: ("Assign", False, (("targets", "="), ("value", ""))),
    ast.AnnAssign: ("Assign", False, (("target", "="), ("value", ""))),
    ast.Lambda: ("Lambda", False, (("body", ""),)),
    ast.Yield: ("Emit", False, (("value", ""),)),
    ast.Subscript: ("[]", True, (("value", ""), ("slice", "@"))),
    ast.Slice: (":", True, (("lower", "from "), ("upper", "to "), ("step", "by "))),
}


@dataclass(frozen=True, slots=True)
class Canon:
    """A program as labeled nodes in the order of a walk, each with the position of its parent (the root's its own)."""

    labels: tuple[str, ...]
    parents: tuple[int, ...]


def canon(roots: Sequence[ast.stmt], entry: str = "", nodes: Sequence[ast.AST] = ()) -> Canon:
    """Return the normal form of statements; `entry` is the name of the requested function.

    `nodes` are all of theirs, root by root, for whoever walked them already.
    """
    return _Writer(roots, entry, nodes or [node for root in roots for node in walk(root)]).canon


class _Writer:
    """One walk over a tree, without recursion: trees may be deep."""

    def __init__(self, roots: Sequence[ast.stmt], entry: str, nodes: Sequence[ast.AST]) -> None:
        self._labels: list[str] = ["Root"]
        self._parents: list[int] = [0]
        self._names = _names(nodes, entry)
        stack: list[_Child] = [(root, 0, "") for root in reversed(roots)]
        while stack and len(self._labels) < MAX_NODES:
            stack += reversed(self._write(*stack.pop()))
        self.canon = Canon(tuple(self._labels), tuple(self._parents))

    def _add(self, label: str, parent: int) -> int:
        self._labels.append(label)
        self._parents.append(parent)
        return len(self._labels) - 1

    def _write(  # noqa: C901, PLR0911  one case a kind of node
        self, node: ast.AST, parent: int, edge: str
    ) -> list[_Child]:
        """Add a node, and return its children with the parent and the edge of each."""
        leaf = self._leaf(node)
        if leaf:
            self._add(edge + leaf, parent)
            return []
        if isinstance(node, _UNWRITTEN) or _says_nothing(node):
            return []
        if type(node) in _SHAPES:
            return self._shaped(node, _SHAPES[type(node)], parent, edge)
        match node:
            case ast.Expr():
                return [(node.value, parent, edge)]
            case ast.Call():
                return self._call(node, parent, edge)
            case ast.BinOp():
                return self._binary(node.op, node.left, node.right, parent, edge)
            case ast.AugAssign():
                at = self._add("Assign", parent)
                return [(node.target, at, "="), *self._binary(node.op, node.target, node.value, at, "")]
            case ast.If() | ast.IfExp():
                return self._choice(node, parent, edge)
            case ast.For() | ast.AsyncFor():
                return self._loop(node, parent)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node, parent)
            case _:
                return self._other(node, parent, edge)

    def _leaf(self, node: ast.AST) -> str:
        """Return the label of a node without children; empty for any other."""
        if isinstance(node, ast.Name):
            return self._names.get(node.id, node.id if node.id in BUILT_IN else "name")
        if isinstance(node, ast.Constant):
            return _constant(node.value)
        match node:
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
                return f"-{_constant(value)}"
            case _:
                return ""

    def _shaped(self, node: ast.AST, shape: _Shape, parent: int, edge: str) -> list[_Child]:
        label, keeps_edge, fields = shape
        at = self._add(edge + label if keeps_edge else label, parent)
        return [(child, at, word) for name, word in fields for child in _listed(getattr(node, name))]

    def _choice(self, node: ast.If | ast.IfExp, parent: int, edge: str) -> list[_Child]:
        at = self._add(f"{edge}If", parent)
        body, other = _listed(node.body), _listed(node.orelse)
        otherwise = self._add("Else", at) if other else at
        return [(node.test, at, "?"), *_under(body, at), *_under(other, otherwise)]

    def _loop(self, node: ast.For | ast.AsyncFor, parent: int) -> list[_Child]:
        at = self._add("Loop", parent)
        last = _under(node.orelse, self._add("LoopElse", at)) if node.orelse else []
        return [(node.iter, at, "in "), *_under(node.body, at), *last]

    def _other(self, node: ast.AST, parent: int, edge: str) -> list[_Child]:
        match node:
            case ast.Compare():
                return self._compare(node, parent, edge)
            case ast.Attribute():
                return [(node.value, self._add(f"{edge}.{node.attr}", parent), "")]
            case ast.UnaryOp():
                return [(node.operand, self._add(edge + type(node.op).__name__, parent), "")]
            case ast.BoolOp():
                return _under(node.values, self._add(edge + type(node.op).__name__, parent))
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                at = self._add(self._names.get(node.name, "Def"), parent)
                return [*((default, at, "default ") for default in node.args.defaults), *_under(node.body, at)]
            case _:
                at = self._add(edge + type(node).__name__, parent)
                return _under((each for each in children(node) if not isinstance(each, _IMPLIED_BY_PARENT)), at)

    def _call(self, node: ast.Call, parent: int, edge: str) -> list[_Child]:
        func = node.func
        given = [(argument, "") for argument in node.args] + [(word.value, f"{word.arg}=") for word in node.keywords]
        if isinstance(func, ast.Name):
            name = self._names.get(func.id, func.id)
            if name == "range" and len(given) == 2 and isinstance(given[0][0], ast.Constant) and given[0][0].value == 0:
                given = given[1:]
            at = self._add(f"{edge}{name}()", parent)
            if name == "range":
                given = [(argument, f"{len(given)}.{place} ") for place, (argument, _) in enumerate(given)]
            return [(argument, at, word) for argument, word in given]
        if isinstance(func, ast.Attribute):
            emits = func.attr in _EMITS and len(given) == 1
            at = self._add("Emit" if emits else f"{edge}.{func.attr}()", parent)
            return [(func.value, at, "of "), *((argument, at, word) for argument, word in given)]
        at = self._add(f"{edge}()", parent)
        return [(func, at, "of "), *((argument, at, word) for argument, word in given)]

    def _binary(self, op: ast.operator, left: ast.expr, right: ast.expr, parent: int, edge: str) -> list[_Child]:
        name = type(op).__name__
        at = self._add(edge + name, parent)
        return [(left, at, "l "), (right, at, "r ")] if name in _ORDERED else [(left, at, ""), (right, at, "")]

    def _compare(self, node: ast.Compare, parent: int, edge: str) -> list[_Child]:
        """Add a chain as separate comparisons, all in one direction."""
        if len(node.ops) > 1:
            parent, edge = self._add(f"{edge}And", parent), ""
        written: list[_Child] = []
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            name = type(op).__name__
            at = self._add(edge + _FLIPPED.get(name, name), parent)
            first, second = ("", "") if name in _SYMMETRIC else ("r ", "l ") if name in _FLIPPED else ("l ", "r ")
            written += [(left, at, first), (right, at, second)]
            left = right
        return written

    def _comprehension(self, node: ast.AST, parent: int) -> list[_Child]:
        assert isinstance(node, _COMPREHENSIONS)
        written: list[_Child] = []
        for each in node.generators:
            parent = self._add("Loop", parent)
            written.append((each.iter, parent, "in "))
            for test in each.ifs:
                parent = self._add("If", parent)
                written.append((test, parent, "?"))
        at = self._add("Emit", parent)
        made = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        return [*written, *((part, at, "") for part in made)]


def of_text(text: str) -> Canon:
    """Return the form of an unparsable text: its words and signs in a chain, each the parent of the next."""
    labels = ("Text", *_TOKEN.findall(text[:_MAX_TEXT_CHARS])[: MAX_NODES - 1])
    return Canon(labels, (0, *range(len(labels) - 1)))


def _says_nothing(node: ast.AST) -> bool:
    """Say whether a node has no effect: a docstring or another constant, or an empty yield."""
    return isinstance(node, ast.Expr | ast.Yield) and (
        node.value is None or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    )


def _constant(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return repr(value)[:24] if not isinstance(value, str) else repr(value[:24])


def _listed(value: ast.AST | Sequence[ast.AST] | None) -> Sequence[ast.AST]:
    return [value] if isinstance(value, ast.AST) else value or ()


def _under(body: Iterable[ast.AST], parent: int) -> list[_Child]:
    return [(node, parent, "") for node in body]


def _names(nodes: Sequence[ast.AST], entry: str) -> dict[str, str]:
    """Return the normal name of each name that a program defines: by its position, or by its first value."""
    called: dict[str, str] = {}
    for node in nodes:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                if not isinstance(node, ast.Lambda):
                    called[node.name] = "self" if node.name == entry else "Def"
                for place, argument in enumerate((*node.args.posonlyargs, *node.args.args)):
                    called.setdefault(argument.arg, f"p{place}")
            case ast.ClassDef():
                called[node.name] = "Class"
            case ast.Assign():
                for target in node.targets:
                    _call_target(called, target, node.value)
            case ast.AnnAssign() if node.value:
                _call_target(called, node.target, node.value)
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                _call_target(called, node.target, node.iter, "each ")
    return called


def _call_target(names: dict[str, str], target: ast.expr, value: ast.expr, word: str = "") -> None:
    if isinstance(target, ast.Name):
        names.setdefault(target.id, f"v{word}{_made_of(value)}")
    elif isinstance(target, ast.Tuple | ast.List):
        values = value.elts if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts) else None
        for place, part in enumerate(target.elts):
            _call_target(names, part, values[place] if values else value, word if values else f"{word}{place} ")


def _made_of(value: ast.expr) -> str:
    match value:
        case ast.Call(func=ast.Name(id=name)):
            return name if name in BUILT_IN else "()"
        case ast.Call(func=ast.Attribute(attr=name)):
            return f".{name}"
        case ast.Constant():
            return _constant(value.value)
        case ast.Name():
            return ""
        case ast.ListComp() | ast.GeneratorExp():
            return "List"
        case _:
            return type(value).__name__
