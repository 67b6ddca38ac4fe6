"""A code in, whether a test could call it and look at what comes back: the corpus filter of CoSQA+ (II-B).

Its rule is a function node "with at least one input parameter and a valid return statement". Taken as: a parameter,
`self` and `cls` too (figure 1 of the paper has `def clean(self)` among the candidates, whose object a test can make),
and a `return` of the function's own whose value is not `None`.
"""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from assay.judge.pairs import laid_out
from assay.types import Chunk

Kind = Literal["testable", "no Python 3", "no function", "no parameter", "no value returned"]
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class Filtered:
    """What a filter kept of a corpus, and how many codes are of each kind."""

    codes: tuple[Chunk, ...]
    kinds: dict[Kind, int]


def testable(codes: Sequence[Chunk]) -> Filtered:
    """Return the codes that can be tested, and why the others cannot."""
    kinds = [kind_of(code) for code in codes]
    kept = tuple(code for code, kind in zip(codes, kinds, strict=True) if kind == "testable")
    return Filtered(kept, dict(Counter(kinds).most_common()))


testable.__test__ = False  # type: ignore[attr-defined]  # its name is no reason to collect it


def kind_of(code: Chunk) -> Kind:
    """Say whether one function of a code can be tested; of several it is the best one that counts."""
    tree = _tree(code)
    if tree is None:
        return "no Python 3"
    functions = list(_functions(tree))
    if not functions:
        return "no function"
    with_input = [function for function in functions if _has_input(function)]
    if not with_input:
        return "no parameter"
    return "testable" if any(map(_returns_value, with_input)) else "no value returned"


def _tree(code: Chunk) -> ast.Module | None:
    if code.language not in ("", "python"):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # escapes in strings of other people's code
        try:
            return ast.parse(laid_out(code.text))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _functions(tree: ast.AST) -> Iterator[_Function]:
    """Yield the functions that somebody outside could call: not those within another one."""
    waiting = list(ast.iter_child_nodes(tree))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        elif isinstance(node, ast.stmt):
            waiting.extend(ast.iter_child_nodes(node))


def _has_input(function: _Function) -> bool:
    given = function.args
    return bool(given.posonlyargs or given.args or given.kwonlyargs or given.vararg or given.kwarg)


def _returns_value(function: _Function) -> bool:
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
            return True
        if not isinstance(node, _SCOPES):
            waiting.extend(ast.iter_child_nodes(node))
    return False


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None
