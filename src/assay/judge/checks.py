"""The test program generator: a pair to a program of test cases, and what such a program may not do (CoSQA+, IV-C b).

The code under judgment is no part of a test program: it lies in a module of its own, and a program that binds one of
its names anywhere is refused before it runs. So whoever writes or repairs tests cannot repair the code.
"""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from assay.judge.pairs import laid_out
from assay.judge.steps import PairSession

MODULE = "solution"
"""What tests call the module of the code."""
MOST_READINGS = 3
_LONGEST = 50_000
_MOST_CASES = 20
_HIDDEN_CALLS = frozenset("exec eval compile globals setattr delattr __import__".split())
_HIDDEN_PARTS = frozenset("__dict__ __code__ __globals__ __builtins__ import_module reload".split())
"""Ways to bind a name that reading does not find."""
_MADE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class TestProgram:
    """Tests of a code under one reading of a query, without the code."""

    __test__ = False

    reading: str
    setup: str
    """Runs before the code, in its module: what it needs and does not bring."""
    helpers: str
    """Runs before each case."""
    cases: tuple[str, ...]
    distributions: tuple[str, ...] = ()
    """What is installed for it."""
    readings: tuple[str, ...] = ()
    """What the query may mean, as far as whoever wrote the program says; the one that it tests is among them."""

    def text(self) -> str:
        """Return it as models read it, who need not know of other readings."""
        told = {name: value for name, value in asdict(self).items() if value and name != "readings"}
        return json.dumps(told, ensure_ascii=False, indent=1)

    def script(self, number: int) -> str:
        """Return one case behind the helpers."""
        return f"{self.helpers}\n{self.cases[number]}"


def generate(session: PairSession) -> TestProgram:
    """Ask a model for a test program under one plausible reading of the query; each vote is to take another one."""
    reply = session.ask("tests")
    readings = tuple(filter(str.strip, reply.get("readings", ())))[:MOST_READINGS]
    return TestProgram(reply["reading"], *parts_of(reply), readings=readings)


def parts_of(reply: Mapping[str, Any]) -> tuple[str, str, tuple[str, ...]]:
    """Return setup, helpers and cases of a reply; empty cases are none."""
    cases = tuple(case for case in reply.get("cases", ()) if case.strip())
    return reply.get("setup", ""), reply.get("helpers", ""), cases


def refused(program: TestProgram, code: str) -> str:
    """Return why a program may not or cannot run against a code, empty where it may."""
    if not program.cases:
        return "the test program has no cases"
    if len(program.cases) > _MOST_CASES or len(program.text()) > _LONGEST:
        return f"the test program is too long: at most {_MOST_CASES} cases and {_LONGEST:,} characters"
    names, methods = defined(code), _methods(code)
    trees = {}
    for what, text in _texts(program):
        try:
            trees[what] = _parsed(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return f"{what} cannot be read: {error}"
    for what, tree in trees.items():
        why = _binds(tree, names, methods) or ("" if what == "setup" else _takes_all(tree))
        if why:
            return f"{what} {why}"
    return _says_nothing(trees, names)


def _says_nothing(trees: Mapping[str, ast.Module], names: frozenset[str]) -> str:
    """Return which case can hold for any code, as far as reading shows."""
    helped = "helpers" in trees and _checks(trees["helpers"])
    for what, tree in trees.items():
        if what.startswith("case") and not helped and not _checks(tree):
            return f"{what} has no assert"
    used = {each for tree in trees.values() for each in _names(tree)}
    if names and not names & used:
        return f"no case uses what the code defines: {', '.join(sorted(names)[:5])}"
    return ""


def defined(code: str) -> frozenset[str]:
    """Return the names that a code gives: its functions and classes, or what it assigns where it has none."""
    try:
        tree = _parsed(laid_out(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    nodes = list(_outside_functions(tree))
    made = [node for node in nodes if isinstance(node, _MADE)]
    imports = (ast.Import, ast.ImportFrom)
    return frozenset(name for node in made or nodes if not isinstance(node, imports) for name in _bound(node))


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _texts(program: TestProgram) -> Iterator[tuple[str, str]]:
    yield "setup", program.setup
    yield "helpers", program.helpers
    for number, case in enumerate(program.cases, 1):
        yield f"case {number}", case


def _methods(code: str) -> frozenset[str]:
    """Return the names of the methods of a code's classes."""
    try:
        tree = _parsed(laid_out(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    return frozenset(node.name for each in classes for node in each.body if isinstance(node, _MADE))


def _takes_all(tree: ast.Module) -> str:
    """Return whether a text imports names that it does not name, of which one may be the code's."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            return f"line {node.lineno} imports *: name what is imported"
    return ""


def _binds(tree: ast.Module, names: frozenset[str], methods: frozenset[str]) -> str:
    """Return how a text binds one of these names, or might without it being seen."""
    for node in _binding(tree):
        own = isinstance(node, ast.ImportFrom) and node.module == MODULE
        bound = [name for name in _bound(node) if name in names]
        if own:
            renamed = [alias.asname for alias in getattr(node, "names", ()) if alias.asname not in (None, alias.name)]
            bound = [name for name in renamed if name in names]
        if bound:
            return f"line {getattr(node, 'lineno', 0)} binds '{bound[0]}', which is the code under judgment"
    for node in ast.walk(tree):
        why = _changes(node, names, methods)
        if why:
            return why
    return ""


def _changes(  # noqa: PLR0911  # each is one way
    node: ast.AST, names: frozenset[str], methods: frozenset[str]
) -> str:
    """Return how a node changes the code, or hides that it does."""
    where = f"line {getattr(node, 'lineno', 0)}"
    match node:
        case ast.Attribute(ctx=ast.Store() | ast.Del(), attr=attr) if attr in names | methods or _is_code(node, names):
            return f"{where} changes '{attr}' of the code under judgment, or of what bears its name"
        case ast.Subscript(ctx=ast.Store() | ast.Del(), slice=ast.Constant(value=key)) if key == MODULE:
            return f"{where} puts something in the place of the code under judgment"
        case ast.Call(
            func=ast.Attribute(attr="object"), args=[ast.expr() as whose, ast.Constant(value=str(attr)), *_]
        ) if attr in names | methods or _is_code(whose, names):
            return f"{where} patches '{attr}', which is the code under judgment"
        case ast.Constant(value=str(text)) if _patches(text, names):
            return f"{where} speaks of '{text}', as those do that patch the code under judgment"
        case ast.Name(id=name) if name in _HIDDEN_CALLS:
            return f"{where} uses {name}, by which the code under judgment could be changed unseen"
        case ast.Attribute(attr=name) | ast.Name(id=name) | ast.alias(name=name) if name in _HIDDEN_PARTS:
            return f"{where} uses {name}, by which the code under judgment could be changed unseen"
    return ""


def _is_code(node: ast.expr, names: frozenset[str]) -> bool:
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and (root.id in names or root.id == MODULE)


def _patches(text: str, names: frozenset[str]) -> bool:
    """Say whether a text is a dotted name inside the module of the code, as `mock.patch` takes it."""
    head, _, rest = text.partition(".")
    return head == MODULE and rest.partition(".")[0] in names


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
            case ast.ImportFrom(names=aliases) | ast.Import(names=aliases):
                yield from (alias.name for alias in aliases)


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in aliases)
        case ast.arg(arg=name):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
        case ast.Global(names=several) | ast.Nonlocal(names=several):
            yield from several


def _outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes whose names the module gets: not those inside functions and classes."""
    waiting = [tree]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            yield node
            if not isinstance(node, (*_MADE, ast.Lambda)):
                waiting.append(node)


def _binding(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that may bind a name outside a class: the methods of a stand-in are its own."""
    waiting = [tree]
    while waiting:
        above = waiting.pop()
        for node in ast.iter_child_nodes(above):
            if not (isinstance(above, ast.ClassDef) and isinstance(node, (*_MADE, ast.Assign, ast.AnnAssign))):
                yield node
            waiting.append(node)


def _checks(tree: ast.AST) -> bool:
    """Say whether a text checks anything: an assert, `assertEqual` and its like, or `pytest.raises`."""
    return any(isinstance(node, ast.Assert) for node in ast.walk(tree)) or any(
        name.startswith("assert") or name == "raises" for name in _names(tree)
    )
