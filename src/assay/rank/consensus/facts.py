"""One program to what can be seen in it without running it: findings that are near certain, and numbers.

A finding is a fault with its line: no Python, a name that nothing defines, no function of the name that is asked for,
no value returned, or only such of another kind than the text shows. The numbers are what the trees of `consensus` are
grown on, in the order of `NAMES`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from math import log1p
from typing import Final

from assay.faults import Fault
from assay.rank.consensus import form_features
from assay.rank.consensus.canon import Canon, canon, of_text
from assay.rank.consensus.inferred import NONE, Kinds, kinds, variables_of
from assay.rank.consensus.parsing import parsed
from assay.rank.consensus.scopes import names
from assay.rank.consensus.syntax_nodes import walk
from assay.rank.consensus.task_wants import TaskWants, kind_of
from assay.terms import STOP_WORDS, terms

NAMES: Final = (
    "parses", "finding", "entry", "undefined", "returns", "falls", "stub", "arity", "kind", "kind_wrong",
    "method_wrong", "foreign", "endless", "unused_arguments", "unused_variables", "early", "unreachable", "same_sides",
    "same_branches", "n_returns", "yields", "prints", "reads", "nodes", "lines", "loops", "nested", "ifs", "calls",
    "constants", "strings", "tries", "functions", "outside", "longest_line", "comments", "ends", "words_shared",
    "words_covered", "numbers_shared", "numbers_covered", "recursive", "whole", "has_text", "returns_constant",
    "returns_argument", "slices", "compares", "arithmetic",
)  # fmt: skip
"""The numbers of a program, by name; -1 stands for what is not known."""
_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
_NUMBERS: Final = frozenset({int, float})
_SMALL: Final = frozenset({"0", "1", "2", "-1", "10"})


@dataclass(frozen=True, slots=True)
class Facts:
    """What can be seen in one program."""

    fault: Fault | None
    """How it surely fails; None where nothing says so."""
    line: int
    numbers: tuple[float, ...]
    """One for each of `NAMES`."""
    canon: Canon
    """Its normal form; where it cannot be parsed its words in a row."""
    arity: int = -1
    returned: Kinds = NONE


def facts(source: str, task: TaskWants) -> Facts:
    """Return what can be seen in a program that answers this task."""
    read = parsed(source)
    text = _of_text(source)
    if read.tree is None:
        fault = None if read.unread else Fault.SYNTAX_ERROR
        values = {**text, "finding": 1.0, "has_text": float(bool(task.text))}
        return Facts(fault, read.line, _row(values), of_text(source))
    return _Look(read.tree, task, text).facts


class _Look:
    """All looks at one tree."""

    def __init__(self, tree: ast.Module, task: TaskWants, text: Mapping[str, float]) -> None:
        self._tree, self._task = tree, task
        part = form_features.relevant(tree, task.entry)
        self._main = part.main
        self._names = names(tree)
        idle = _idle(tree, part)
        self._lost = [line for _, line in self._names.undefined if not any(line in lines for lines in idle)]
        nodes = part.nodes
        self._values = {
            **dict.fromkeys(NAMES, 0.0),
            **text,
            **form_features.size(nodes),
            **form_features.oddities(nodes),
        }
        self._values |= {
            "parses": 1.0,
            "nested": float(form_features.nested(part.main_nodes or nodes)),
            "foreign": float(form_features.foreign(walk(tree))),
        }
        self._arity, self._returned, method_line = -1, NONE, -1
        if part.main:
            method_line = self._function(part.main, part.main_nodes)
        self._module()
        self._shared(nodes)
        fault, line = self._finding(method_line)
        self._values["finding"] = float(fault is not None)
        self.facts = Facts(
            fault, line, _row(self._values), canon(part.roots, task.entry, part.nodes), self._arity, self._returned
        )

    def _module(self) -> None:
        task, names_, body = self._task, self._names, self._tree.body
        plain = (*form_features.DEFINITIONS, ast.Import, ast.ImportFrom)
        self._values |= {
            "entry": float(task.entry in names_.top or self._main is not None) if task.entry else -1.0,
            "undefined": float(len(self._lost)),
            "unused_arguments": names_.unused_arguments / max(names_.arguments, 1),
            "unused_variables": float(names_.unused_variables),
            "functions": log1p(sum(isinstance(node, form_features.DEFINITIONS) for node in body)),
            "outside": log1p(sum(not isinstance(node, plain) for node in body)),
            "whole": float(not task.entry),
            "has_text": float(bool(task.text)),
        }

    def _function(self, main: ast.FunctionDef | ast.AsyncFunctionDef, nodes: Sequence[ast.AST]) -> int:
        """Look at the function that is asked for, and return the line of the first wrong method."""
        arguments = [argument for argument in (*main.args.posonlyargs, *main.args.args) if argument.arg != "self"]
        self._arity = len(arguments)
        given = dict(zip((argument.arg for argument in arguments), self._task.given, strict=False))
        hints = {argument.arg: kind_of(argument.annotation) for argument in arguments}
        own = form_features.own_nodes(nodes)
        variables = variables_of(nodes, {name: _kinds(given.get(name) or hints[name]) for name in hints})
        wrong, line = form_features.methods_wrong(own, variables)
        self._values |= {
            "method_wrong": float(wrong),
            "falls": float(form_features.falls(main.body)),
            "stub": float(form_features.is_stub(main.body)),
            "arity": self._fits(main),
            "recursive": float(any(isinstance(node, ast.Name) and node.id == main.name for node in own)),
            "endless": float(_endless(main)),
        }
        self._returns(own, variables, hints)
        return line

    def _returns(self, own: Sequence[ast.AST], variables: Mapping[str, Kinds], arguments: Container[str]) -> None:
        """Look at what the function that is asked for returns."""
        returns = [node for node in own if isinstance(node, ast.Return)]
        valued = [node.value for node in returns if node.value is not None]
        yields = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own)
        found = [kinds(value, variables) for value in valued]
        self._returned = frozenset().union(*found)
        self._values |= {
            "returns": float(bool(valued) or yields),
            "n_returns": float(len(returns)),
            "returns_constant": sum(isinstance(value, ast.Constant) for value in valued) / max(len(valued), 1),
            "returns_argument": sum(getattr(value, "id", "") in arguments for value in valued) / max(len(valued), 1),
            **_kind_fits(found, self._task.returned),
        }

    def _fits(self, main: ast.FunctionDef | ast.AsyncFunctionDef) -> float:
        if self._task.arity < 0:
            return -1.0
        least = self._arity - len(main.args.defaults)
        return float(least <= self._task.arity and (self._arity >= self._task.arity or main.args.vararg is not None))

    def _shared(self, nodes: Sequence[ast.AST]) -> None:
        """Compare names and constants with the words and numbers of the task."""
        task = self._task
        words = {term for name in set(map(form_features.word_of, nodes)) for term in terms(name)} - STOP_WORDS
        numbers = _numbers(nodes) - _SMALL
        wanted = task.numbers - _SMALL
        self._values |= {
            "words_shared": _fraction(words, task.words) if task.text else -1.0,
            "words_covered": _fraction(task.words, words),
            "numbers_shared": _fraction(numbers, wanted) if task.text else -1.0,
            "numbers_covered": _fraction(wanted, numbers),
        }

    def _finding(self, method_line: int) -> tuple[Fault | None, int]:
        values = self._values
        if self._task.entry and self._main is None and self._task.entry not in self._names.top:
            return Fault.FUNCTION_NOT_FOUND, -1
        if self._lost:
            return Fault.NAME_ERROR, self._lost[0]
        if self._main is None:
            return None, -1
        wrong = (
            (values["arity"] == 0.0, Fault.TYPE_ERROR, self._main.lineno),
            (values["method_wrong"] > 0, Fault.EXECUTION_OTHER, method_line),
            (not values["returns"] and self._task.returned != {"None"}, Fault.NONE_ERROR, -1),
            (values["kind_wrong"] >= max(values["n_returns"], 1), Fault.OUTPUT_TYPE_ERROR, -1),
        )
        return next(((fault, line) for is_so, fault, line in wrong if is_so), (None, -1))


def _idle(tree: ast.Module, part: form_features.Relevant) -> list[range]:
    """Return the lines of functions that the one that is asked for never reaches: what is wrong there shows nowhere."""
    if part.main is None:
        return []
    used = set(map(id, part.roots))
    idle = [node for node in tree.body if isinstance(node, form_features.FUNCTIONS) and id(node) not in used]
    return [range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1) for node in idle]


def _fraction(some: frozenset[str] | set[str], others: frozenset[str] | set[str]) -> float:
    """Return how many of some are among others, -1 where there are none."""
    return len(some & others) / len(some) if some else -1.0


def _numbers(nodes: Sequence[ast.AST]) -> set[str]:
    values = (node.value for node in nodes if node.__class__ is ast.Constant)
    return {repr(value) for value in values if type(value) in _NUMBERS}


def _kinds(kind: str) -> Kinds:
    return frozenset({kind}) if kind else NONE


def _kind_fits(found: list[Kinds], wanted: Kinds) -> dict[str, float]:
    """Say whether what is returned is of the kinds that are asked for: how many returns are, how many are not."""
    if not wanted:
        return {"kind": -1.0, "kind_wrong": -1.0}
    if wanted & {"int", "float", "bool"}:
        wanted = wanted | {"int", "float"} | (frozenset({"bool"}) & wanted)
    known = [each for each in found if each]
    wrong = sum(not each & wanted for each in known)
    return {"kind": (len(known) - wrong) / max(len(found), 1), "kind_wrong": float(wrong)}


def _endless(main: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Say whether the first thing that a function surely does is to call itself."""
    if len(main.body) > 3:
        return False
    for node in main.body:
        if isinstance(node, ast.Return | ast.Assign | ast.Expr) and node.value is not None:
            if any(isinstance(each, ast.IfExp | ast.BoolOp | ast.Lambda) for each in walk(node)):
                return False
            if any(isinstance(each, ast.Call) and getattr(each.func, "id", "") == main.name for each in walk(node)):
                return True
        elif not isinstance(node, ast.Expr):
            return False
    return False


def _of_text(source: str) -> dict[str, float]:
    lines = source[:100_000].splitlines() or [""]
    return {
        "lines": log1p(len(lines)),
        "longest_line": log1p(max(map(len, lines))),
        "comments": log1p(sum(line.lstrip().startswith("#") for line in lines)),
        "ends": float(source[-1:] == "\n"),
    }


def _row(values: Mapping[str, float]) -> tuple[float, ...]:
    return tuple(float(values.get(name, 0.0)) for name in NAMES)
