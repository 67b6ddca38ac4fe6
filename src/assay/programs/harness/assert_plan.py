"""Rewrite the asserts of test code so that they report their operands, and compile it once per task.

Each assert announces itself, passes the operands that matter through `@seen`, and fails through `@failed`; names with
an `@` cannot clash. Operands are evaluated once, in their own order, so that a rewritten test does what it did.
Which operand is the program's is known from the names in it (`tainted_names`); where both or neither are, `recorder`
decides.

Tests can go on after an assert that fails: `@spared` says whether. Where the tests themselves may catch what an assert
raises, in a `try` or a `with`, they are `@guarded`, and it is raised as ever; so it is in coroutines, which may be
gathered.

It is made outside the cage and travels as JSON to the judge alone: a copy in the fork server's memory would be
inherited by every program. The code goes along as marshal, which the judge takes because it comes from us, and only
where it runs the same Python; else it compiles the source.
"""

from __future__ import annotations

import ast
import base64
import json
import marshal
import warnings
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from importlib.util import MAGIC_NUMBER
from types import CodeType
from typing import Any, Final, cast

from assay.programs.harness import codec
from assay.programs.harness.source_analysis import (
    MODULES,
    Outline,
    called_names,
    first_line,
    free_names,
    imported_names,
    imports,
    is_plain,
    is_pure,
    libraries_in,
    name_of,
    needs_objects,
    open_main,
    outline,
    plainly_attributed,
    tainted_names,
    uses,
    uses_library,
)

BEGIN, SEEN, FAILED, SPARED, GUARDED = "@begin", "@seen", "@failed", "@spared", "@guarded"
GOT, EXPECTED = 0, 1
OF_MODULE, OF_NONE = 0, -1

_DISTANCE: Final = frozenset({"abs", "fabs", "norm", "dist"})
_ONE_VALUE: Final = frozenset(
    "round sorted set list tuple dict str int float bool len sum max min map filter frozenset repr format pow divmod"
    " reversed enumerate range next iter type array asarray Counter".split()
)
"""Functions whose other arguments are no expected value."""
_QUANTIFIERS: Final = frozenset({"all", "any"})
_SWAPPED: Final = {"eq": "ne", "ne": "eq", "in": "ne", "true": "false", "false": "true"}
_RELATIONS: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "eq", ast.Is: "eq", ast.NotEq: "ne", ast.IsNot: "ne", ast.NotIn: "ne", ast.In: "in",
}  # fmt: skip
_UNITTEST: Final = {
    f"assert{name}": relation
    for relation, names in {
        "true": "True", "false": "False", "none": "IsNone", "unknown": "IsNotNone", "in": "In", "type": "IsInstance",
        "ne": "NotIn NotEqual IsNot", "order": "Less LessEqual Greater GreaterEqual",
    }.items()
    for name in names.split()
}  # fmt: skip


@dataclass(slots=True)
class Site:
    """A comparison in an assert of the program's value with the expected one."""

    actual: ast.expr
    expected: ast.expr | None
    relation: str
    """eq, ne, order, in (one of), contains, true, false, none, type, unknown; any: either side may be actual."""
    direct: bool = True
    """Whether `actual` is the program's own value, rather than one made of it."""


def rewrite(tree: ast.Module, names: frozenset[str]) -> tuple[list[tuple[int, str, int]], list[tuple[str, bool]]]:
    """Rewrite every assert of the tests in place; `names` are those that may hold the program's values.

    Return line, text and owner of each assert, and the relation of each site with whether it is direct. The owner of an
    assert that is reached wherever a function, or the module, comes to its end is the line of that function,
    `OF_MODULE` for the module; any other has `OF_NONE`.
    """
    writer = _Writer(names)
    writer.visit(tree)
    ast.fix_missing_locations(tree)
    return writer.asserts, writer.sites


class _Writer(ast.NodeTransformer):
    def __init__(self, names: frozenset[str]) -> None:
        self.finder = _Finder(names)
        self.asserts: list[tuple[int, str, int]] = []
        self.sites: list[tuple[str, bool]] = []
        self.coroutines = 0
        self.owner = OF_MODULE
        self.functions = 0

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
        """Visit a function; an inner one may run any number of times."""
        is_coroutine = isinstance(node, ast.AsyncFunctionDef)
        self.functions, self.coroutines = self.functions + 1, self.coroutines + is_coroutine
        self._visit_owned(node, first_line(node) if self.functions == 1 else OF_NONE)
        self.functions, self.coroutines = self.functions - 1, self.coroutines - is_coroutine
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815  as ast has them

    def _visit_owned(self, node: ast.stmt, owner: int) -> ast.stmt:
        before, self.owner = self.owner, owner
        self.generic_visit(node)
        self.owner = before
        return node

    def _visit_conditional(self, node: ast.stmt) -> ast.stmt:
        return self._visit_owned(node, OF_NONE)

    visit_If = visit_For = visit_AsyncFor = visit_While = visit_Match = _visit_conditional  # noqa: N815  as ast has them

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        begin = self._begin(node, node.test)
        found = self.finder.find(node.test) or _sides(node.test)
        test = self._watched(node.test, found)
        message = ast.Lambda(_NO_ARGUMENTS, node.msg or ast.Constant(None))
        fails = ast.Expr(_call(FAILED, message))
        return [begin, self._go_on_after(ast.copy_location(ast.If(ast.UnaryOp(ast.Not(), test), [fails], []), node))]

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | list[ast.stmt]:
        call = node.value
        name = name_of(call.func) if isinstance(call, ast.Call) else ""
        if not (isinstance(call, ast.Call) and name.startswith("assert") and call.args):
            return node
        begin = self._begin(node, call)
        if not name.startswith(("assertRaises", "assertWarns")):
            node.value = self._watched(call, self.finder.of_method(call, name))
        return [begin, self._go_on_after(node)]

    def visit_With(self, node: ast.With) -> ast.stmt | list[ast.stmt]:
        calls = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
        catches = any("raise" in name.lower() or name == "suppress" for name in (name_of(call.func) for call in calls))
        self._visit_owned(node, OF_NONE if catches else self.owner)
        node.items.insert(0, _guard())
        if any(name_of(call.func).startswith(("assertRaises", "assertWarns", "raises")) for call in calls):
            return [self._begin(node, calls[0]), node]
        return node

    def _visit_guarded(self, node: ast.stmt) -> ast.stmt:
        self._visit_conditional(node)
        return ast.copy_location(ast.With([_guard()], [node]), node)

    visit_Try = visit_TryStar = _visit_guarded  # noqa: N815  as ast has them

    def _go_on_after(self, node: ast.stmt) -> ast.stmt:
        """Wrap a statement so that the tests continue after an exception if the recorder says so."""
        if self.coroutines:
            return node
        ends = ast.If(ast.UnaryOp(ast.Not(), _call(SPARED)), [ast.Raise()], [])
        return ast.copy_location(ast.Try([node], [ast.ExceptHandler(None, None, [ends])], [], []), node)

    def _begin(self, node: ast.stmt, condition: ast.expr) -> ast.stmt:
        self.asserts.append((node.lineno, ast.unparse(condition)[:300], self.owner))
        return ast.copy_location(ast.Expr(_call(BEGIN, ast.Constant(len(self.asserts) - 1))), node)

    def _watched(self, test: ast.expr, sites: list[Site]) -> ast.expr:
        replaced: dict[ast.expr, ast.expr] = {}
        for site in sites:
            number = len(self.sites)
            self.sites.append((site.relation, site.direct))
            for role, operand in ((GOT, site.actual), (EXPECTED, site.expected)):
                if operand is not None and not isinstance(operand, ast.Starred) and operand not in replaced:
                    replaced[operand] = _call(SEEN, ast.Constant(number), ast.Constant(role), operand)
        return cast(ast.expr, _Replacer(replaced).visit(test))


class _Replacer(ast.NodeTransformer):
    """Replaces operands by calls that wrap them."""

    def __init__(self, replaced: dict[ast.expr, ast.expr]) -> None:
        self.replaced: dict[Any, Any] = replaced

    def visit(self, node: ast.AST) -> Any:
        inner = super().generic_visit(node)
        return self.replaced.get(node, inner)


@dataclass(frozen=True, slots=True)
class _Finder:
    """Finds the comparisons of the program's value with the expected one, at any depth of an expression."""

    names: frozenset[str]

    def find(self, node: ast.expr) -> list[Site]:
        """Return the sites of an expression that is true or false."""
        if not uses(node, self.names):
            return []
        match node:
            case ast.BoolOp(values=values):
                return [site for value in values for site in self.find(value)]
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return _negated(self.find(operand))
            case ast.Compare():
                return self._of_compare(node)
            case ast.Call():
                return self._of_call(node)
        return [self._alone(node, "true")]

    def of_method(self, call: ast.Call, name: str) -> list[Site]:
        """Return the sites of `self.assertEqual(a, b)` and its like."""
        relation = _UNITTEST.get(name, "eq")
        if relation in {"true", "false"}:
            found = self.find(call.args[0])
            return found if relation == "true" else _negated(found)
        if len(call.args) == 1 or relation in {"none", "unknown"}:
            return [self._alone(call.args[0], relation)]
        return [self._meeting(call.args[0], relation, call.args[1])]

    def _of_compare(self, node: ast.Compare) -> list[Site]:
        operands = [node.left, *node.comparators]
        found = []
        for left, op, right in zip(operands, node.ops, operands[1:], strict=False):
            if uses(left, self.names) or uses(right, self.names):
                found += self._deeper(left, op, right) or [
                    self._meeting(left, _RELATIONS.get(type(op), "order"), right)
                ]
        return found

    def _deeper(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> list[Site]:
        """Return the sites inside a side that is a distance, a type or a truth value."""
        if distance := self._distance(left) or self._distance(right):
            return [distance]
        if isinstance(left, ast.Call) and name_of(left.func) == "type" and len(left.args) == 1:
            return [self._alone(left.args[0], "type")]
        if isinstance(right, ast.Constant) and isinstance(right.value, bool) and self._is_truth(left):
            inner = self.find(left)
            same = isinstance(op, ast.Eq | ast.Is) == right.value
            return inner if same else _negated(inner)
        return []

    def _is_truth(self, node: ast.expr) -> bool:
        match node:
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                return True
            case ast.Call() if not self._is_program(node):
                return name_of(node.func) not in _ONE_VALUE
        return False

    def _distance(self, node: ast.expr) -> Site | None:
        """Find `a - b` under `abs`, a norm or a square: the distance to the expected value."""
        for outer in ast.walk(node):
            match outer:
                case ast.Call(func=function) if name_of(function) in _DISTANCE and not self._is_program(outer):
                    inside: list[ast.expr] = outer.args
                case ast.BinOp(left=base, op=ast.Pow()):
                    inside = [base]
                case _:
                    continue
            for part in inside:
                match part:
                    case ast.BinOp(left=left, op=ast.Sub(), right=right) if uses(part, self.names):
                        return self._meeting(left, "eq", right)
        return None

    def _of_call(self, node: ast.Call) -> list[Site]:
        name = name_of(node.func)
        if self._is_program(node):
            return [Site(node, None, "true")]
        if name in _QUANTIFIERS and len(node.args) == 1:
            return self._quantified(node.args[0])
        if name in {"isinstance", "issubclass"} and len(node.args) == 2:
            return [self._alone(node.args[0], "type")]
        if isinstance(node.func, ast.Attribute) and uses(node.func.value, self.names):
            return [self._alone(node.func.value, "unknown")]
        mine = [argument for argument in node.args if uses(argument, self.names)]
        if len(node.args) >= 2 and name not in _ONE_VALUE:
            first, second = node.args[:2]
            if uses(first, self.names) or uses(second, self.names):
                return [self._meeting(first, "eq", second)]
        return [self._alone(argument, "unknown") for argument in mine[:1]]

    def _quantified(self, node: ast.expr) -> list[Site]:
        """Return the sites of `all(… for … in …)`: of lists in `zip`, of the one iterated, or of each item."""
        if not isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp):
            return [self._alone(node, "unknown")]
        for loop in node.generators:
            match loop.iter:
                case ast.Call(func=ast.Name(id="zip"), args=[first, second, *_]) if uses(loop.iter, self.names):
                    return [self._meeting(first, "eq", second)]
                case source if uses(source, self.names):
                    return [self._alone(source, "unknown")]
        return self.find(node.elt)

    def _alone(self, node: ast.expr, relation: str) -> Site:
        return Site(node, None, relation, self._is_program(node))

    def _meeting(self, left: ast.expr, relation: str, right: ast.expr) -> Site:
        mine, other = uses(left, self.names), uses(right, self.names)
        if other and not mine:
            return Site(right, left, "contains" if relation == "in" else relation, self._is_program(right))
        if mine and not other:
            return Site(left, right, relation, self._is_program(left))
        return Site(left, right, f"any {relation}", self._is_program(left))

    def _is_program(self, node: ast.expr) -> bool:
        """Say whether the expression is a value of the program itself, not one computed from it."""
        match node:
            case ast.Name(id=name):
                return name in self.names
            case ast.Call(func=ast.Name(id=name)):
                return name in self.names
            case ast.Call(func=ast.Attribute(value=ast.Call() | ast.Name() as inner, attr=attr)):
                return not is_plain(attr) and self._is_program(inner)
        return False


def _sides(test: ast.expr) -> list[Site]:
    """Return the sides of a comparison without a name of the program."""
    match test:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return [Site(left, right, f"any {_RELATIONS.get(type(op), 'order')}", direct=False)]
    return []


def _negated(sites: list[Site]) -> list[Site]:
    for site in sites:
        prefix, relation = ("any ", site.relation[4:]) if site.relation.startswith("any ") else ("", site.relation)
        site.relation = prefix + _SWAPPED.get(relation, "unknown")
    return sites


def _guard() -> ast.withitem:
    return ast.withitem(ast.Name(GUARDED, ast.Load()))


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


_NO_ARGUMENTS: Final = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


TESTS_FILE: Final = "<tests>"
MODULE: Final = "solution"
"""The name under which tests may import the program."""
_MAGIC: Final = MAGIC_NUMBER.hex()
_PLAIN_FIELDS: Final = (
    "asserts",
    "sites",
    "libraries",
    "uses_library",
    "objects",
    "pure",
    "attributed",
    "stars",
    "guarded",
)
"""Fields of a plan that JSON says as they are."""


@dataclass(frozen=True, slots=True)
class ScriptPlan:
    """Compiled test code, with what the harness needs to know about it."""

    code: CodeType
    asserts: Sequence[tuple[int, str, int]]
    """Line, text and owner of each (`asserts`)."""
    sites: Sequence[tuple[str, bool]]
    names: frozenset[str]
    """Names that the program must define."""
    called_names: frozenset[str]
    """Those of them that the tests call by name."""
    libraries: Sequence[tuple[str, str, Sequence[str]]]
    """Names that mean a library, whatever the program calls so (`libraries`)."""
    uses_library: bool
    """Whether the tests know classes of a library that is neither Python's own nor numpy."""
    outline: Outline
    objects: bool
    """Whether the tests handle objects that cannot leave the program's interpreter."""
    pure: bool
    """Whether they leave the process that they run in as it was."""
    attributed: Sequence[str]
    """Names of the program of which tests use what an attribute of plain data is called like, too."""
    stars: bool
    """Whether they import all names of the program."""
    guarded: Sequence[str]
    """Libraries that they import."""


def script_plan(source: str, entry: str) -> ScriptPlan:
    """Analyze and compile test code; raise SyntaxError if it does not parse."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(source, TESTS_FILE)
        open_main(tree)
        imported = imported_names(tree, MODULE)
        program = free_names(source, entry)
        called = called_names(tree)
        pure = is_pure(tree, program)
        libraries = libraries_in(tree, program - {entry})
        program -= {name for name, _, used in libraries if not used}
        values = program - (MODULES - called) | imported | ({entry} if entry else set())
        names = tainted_names(tree, values)
        objects = needs_objects(tree, values, names)
        wanted = program & (called & {entry} if _imports_all(tree) else called)
        known = uses_library(tree, [module for _, module, _ in libraries])
        found = outline(tree, names)
        attributed = plainly_attributed(tree, values, entry)
        stars = any((origin, alias.name) == (MODULE, "*") for origin, alias in imports(ast.walk(tree)))
        guarded = sorted({(origin or alias.name).partition(".")[0] for origin, alias in imports(ast.walk(tree))})
        asserts, sites = rewrite(tree, names)
        code = compile(tree, TESTS_FILE, "exec", dont_inherit=True)
    return ScriptPlan(
        code, asserts, sites, program, wanted, libraries, known, found, objects, pure, attributed, stars, guarded
    )


def packed(plan: ScriptPlan, source: str, entry: str) -> dict[str, Any]:
    """Return a plan as JSON."""
    return {
        **{name: getattr(plan, name) for name in _PLAIN_FIELDS},
        "kind": "script",
        "source": source,
        "entry": entry,
        "magic": _MAGIC,
        "code": base64.b64encode(marshal.dumps(plan.code)).decode(),
        "names": sorted(plan.names),
        "called": sorted(plan.called_names),
        "outline": astuple(plan.outline),
    }


def unpacked(spec: dict[str, Any]) -> ScriptPlan:
    """Return the plan in JSON, rebuilt from source if another Python version packed it."""
    if spec["magic"] != _MAGIC:
        return script_plan(spec["source"], spec["entry"])
    code = marshal.loads(base64.b64decode(spec["code"]))  # noqa: S302 - ours, see the module
    tests, helpers, calls, skips_by_program = spec["outline"]
    found = Outline(tuple(map(tuple, tests)), tuple(helpers), tuple(calls), skips_by_program)
    plain = {name: spec[name] for name in _PLAIN_FIELDS}
    return ScriptPlan(
        code, names=frozenset(spec["names"]), called_names=frozenset(spec["called"]), outline=found, **plain
    )


def packed_call(args: Sequence[Any], expected: object, atol: float) -> dict[str, Any]:
    """Return a call as JSON; raise NotPlainData for arguments that are not plain data."""
    arguments = json.dumps(codec.pack(list(args)), separators=(",", ":"))
    return {"kind": "call", "args": arguments, "expected": codec.pack(expected), "atol": atol}


def _imports_all(tree: ast.Module) -> bool:
    """Say whether the tests import all names of another module than the program."""
    return any(origin != MODULE and alias.name == "*" for origin, alias in imports(ast.walk(tree)))
