"""A program's tree in, every small edit of one kind out: the operators of the mutator.

An operator looks at a tree and returns its edits; an edit changes that tree where it stands, once. Operators follow
what models get wrong: bounds, names, returns, indices, loops, arguments, what was forgotten. Some edits change nothing
about what a program does; only running it tells.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from assay.rank.mutation.edits import (
    ARITHMETIC,
    BOUNDS,
    OPPOSITES,
    RELATED,
    Edit,
    call,
    constants,
    functions,
    is_call,
    putting,
    removing,
    setting,
    setting_all,
    statements,
    variables,
)

Operator = Callable[[ast.Module], Iterator[Edit]]


def arithmetic(tree: ast.Module) -> Iterator[Edit]:
    """Take another arithmetic operator."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp):
            for other in ARITHMETIC.get(type(node.op), ()):
                yield setting(node, "op", other())


def accumulation(tree: ast.Module) -> Iterator[Edit]:
    """Take another operator in an assignment that accumulates, or assign instead."""
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign):
            for other in ARITHMETIC.get(type(node.op), ()):
                yield setting(node, "op", other())
    for body, place, statement in statements(tree):
        if isinstance(statement, ast.AugAssign):
            yield putting(body, place, ast.Assign([statement.target], statement.value, lineno=0))


def bound(tree: ast.Module) -> Iterator[Edit]:
    """Let a comparison hold at its bound where it did not, or the other way round."""
    yield from _comparisons(tree, BOUNDS)


def opposite(tree: ast.Module) -> Iterator[Edit]:
    """Turn a comparison round."""
    yield from _comparisons(tree, OPPOSITES)


def connective(tree: ast.Module) -> Iterator[Edit]:
    """Take `or` for `and`, and the other way round."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BoolOp):
            yield setting(node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())


def negated_condition(tree: ast.Module) -> Iterator[Edit]:
    """Negate a condition, or forget its `not`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            test = node.test
            is_not = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
            yield setting(node, "test", test.operand if is_not else ast.UnaryOp(ast.Not(), test))  # type: ignore[attr-defined]
    for comprehension in (node for node in ast.walk(tree) if isinstance(node, ast.comprehension) and node.ifs):
        yield setting(comprehension, "ifs", comprehension.ifs[:-1])


def half_condition(tree: ast.Module) -> Iterator[Edit]:
    """Forget one part of a compound condition."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BoolOp) and len(node.values) > 1:
            for place in range(len(node.values)):
                yield setting(node, "values", [*node.values[:place], *node.values[place + 1 :]])


def off_by_one(tree: ast.Module) -> Iterator[Edit]:
    """Add one to a number or take one away."""
    for node, value in constants(tree, int):
        for step in (1, -1):
            yield setting(node, "value", value + step)


def other_constant(tree: ast.Module) -> Iterator[Edit]:
    """Take another constant: nothing for a number or a text, the other truth value."""
    for node, value in constants(tree, (int, float)):
        if value not in {0, 1}:
            yield setting(node, "value", 0)
    for node, value in constants(tree, bool):
        yield setting(node, "value", not value)
    for node, value in constants(tree, str):
        yield setting(node, "value", "" if value else " ")
        if value.swapcase() != value:
            yield setting(node, "value", value.swapcase())


def other_name(tree: ast.Module) -> Iterator[Edit]:
    """Read another variable of the same function."""
    for function in functions(tree):
        known = sorted(variables(function))
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in known:
                yield from (setting(node, "id", other) for other in known if other != node.id)


def misspelt_name(tree: ast.Module) -> Iterator[Edit]:
    """Read a variable that is not there."""
    for function in functions(tree):
        known = variables(function)
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in known:
                yield setting(node, "id", f"{node.id}s" if not node.id.endswith("s") else node.id[:-1] or "x")


def misspelt_attribute(tree: ast.Module) -> Iterator[Edit]:
    """Ask a value for what it has not."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield setting(node, "attr", {"append": "push", "add": "append"}.get(node.attr, f"{node.attr}s"))


def related_function(tree: ast.Module) -> Iterator[Edit]:
    """Call a related function or method: `max` for `min`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in RELATED:
            yield setting(node.func, "id", RELATED[node.func.id])
        elif isinstance(node, ast.Attribute) and node.attr in RELATED:
            yield setting(node, "attr", RELATED[node.attr])


def swapped_arguments(tree: ast.Module) -> Iterator[Edit]:
    """Change the order of two arguments, or of the two sides of an operator where it matters."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for place in range(len(node.args) - 1):
                args = [*node.args]
                args[place], args[place + 1] = args[place + 1], args[place]
                yield setting(node, "args", args)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div | ast.FloorDiv | ast.Mod | ast.Pow):
            yield setting_all(node, left=node.right, right=node.left)


def missing_argument(tree: ast.Module) -> Iterator[Edit]:
    """Forget an argument of a call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for name in ("args", "keywords"):
                given = getattr(node, name)
                yield from (setting(node, name, [*given[:place], *given[place + 1 :]]) for place in range(len(given)))


def index(tree: ast.Module) -> Iterator[Edit]:
    """Look one place beside."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice | ast.Tuple):
            if isinstance(node.slice, ast.Constant) and not isinstance(node.slice.value, int):
                continue
            for operator in (ast.Add(), ast.Sub()):
                yield setting(node, "slice", ast.BinOp(node.slice, operator, ast.Constant(1)))


def slice_bound(tree: ast.Module) -> Iterator[Edit]:
    """Forget a bound of a slice, or move it by one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Slice):
            for name in ("lower", "upper", "step"):
                held = getattr(node, name)
                if held is not None:
                    yield setting(node, name, None)
                    yield setting(node, name, ast.BinOp(held, ast.Add(), ast.Constant(1)))


def range_bound(tree: ast.Module) -> Iterator[Edit]:
    """Begin or end a range one too early or too late."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range" and node.args:
            last = 0 if len(node.args) == 1 else 1
            for operator in (ast.Add(), ast.Sub()):
                moved = [*node.args]
                moved[last] = ast.BinOp(moved[last], operator, ast.Constant(1))
                yield setting(node, "args", moved)
            start = ast.Constant(1) if last == 0 else ast.BinOp(node.args[0], ast.Add(), ast.Constant(1))
            yield setting(node, "args", [start, *node.args[last:]])


def no_value(tree: ast.Module) -> Iterator[Edit]:
    """Return nothing, by forgetting the value or the whole statement."""
    for body, place, statement in statements(tree):
        if isinstance(statement, ast.Return) and statement.value is not None:
            yield setting(statement, "value", None)
            yield putting(body, place, ast.Expr(statement.value))


def other_value(tree: ast.Module) -> Iterator[Edit]:
    """Return another variable of the function."""
    for function in functions(tree):
        known = sorted(variables(function))
        for node in ast.walk(function):
            if isinstance(node, ast.Return) and node.value is not None:
                same = node.value.id if isinstance(node.value, ast.Name) else ""
                yield from (setting(node, "value", ast.Name(name, ast.Load())) for name in known if name != same)


def other_type(tree: ast.Module) -> Iterator[Edit]:
    """Return the value as text, in a list, or printed."""
    for body, place, statement in statements(tree):
        if isinstance(statement, ast.Return) and statement.value is not None:
            value = statement.value
            yield setting(statement, "value", ast.List([value], ast.Load()))
            for name in ("str", "bool"):
                yield setting(statement, "value", call(name, value))
            yield putting(body, place, ast.Expr(call("print", value)))


def negated_value(tree: ast.Module) -> Iterator[Edit]:
    """Return the opposite."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Compare | ast.BoolOp):
            yield setting(node, "value", ast.UnaryOp(ast.Not(), node.value))
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.Name | ast.BinOp):
            yield setting(node, "value", ast.UnaryOp(ast.USub(), node.value))


def early_return(tree: ast.Module) -> Iterator[Edit]:
    """Return in the first round of a loop what should be returned behind it."""
    for body, place, statement in statements(tree):
        behind = body[place + 1] if place + 1 < len(body) else None
        if isinstance(statement, ast.For | ast.While) and isinstance(behind, ast.Return):
            yield setting(statement, "body", [*statement.body, behind])


def loop_exit(tree: ast.Module) -> Iterator[Edit]:
    """Leave a loop after one round, or take `continue` for `break`."""
    for body, place, statement in statements(tree):
        if isinstance(statement, ast.For | ast.While):
            yield setting(statement, "body", [*statement.body, ast.Break()])
        elif isinstance(statement, ast.Break):
            yield putting(body, place, ast.Continue())
        elif isinstance(statement, ast.Continue):
            yield putting(body, place, ast.Break())


def endless_loop(tree: ast.Module) -> Iterator[Edit]:
    """Let a loop go on for ever."""
    for node in ast.walk(tree):
        if isinstance(node, ast.While) and not isinstance(node.test, ast.Constant):
            yield setting(node, "test", ast.Constant(True))


def missing_statement(tree: ast.Module) -> Iterator[Edit]:
    """Forget a statement."""
    for body, place, statement in statements(tree):
        if isinstance(statement, ast.Assign | ast.AugAssign | ast.For | ast.While | ast.If) or is_call(statement):
            yield removing(body, place)


def missing_import(tree: ast.Module) -> Iterator[Edit]:
    """Forget an import, or one name of it."""
    for body, place, statement in statements(tree):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield removing(body, place)


def missing_branch(tree: ast.Module) -> Iterator[Edit]:
    """Forget the other branch of a condition, or change the two."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and node.orelse:
            yield setting(node, "orelse", [])
            yield setting_all(node, body=node.orelse, orelse=node.body)
        elif isinstance(node, ast.IfExp):
            yield setting_all(node, body=node.orelse, orelse=node.body)


def start_value(tree: ast.Module) -> Iterator[Edit]:
    """Begin with another value: a dictionary for a list, 1 for 0."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for other in _starts(node.value):
                yield setting(node, "value", other)


def other_function(tree: ast.Module) -> Iterator[Edit]:
    """Call the function by another name than the one asked for, or give it a parameter less or more."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield setting(node, "name", f"{node.name}_{'2' if node.name.endswith('1') else '1'}")
            yield setting(node.args, "args", [*node.args.args, ast.arg("extra")])
            if len(node.args.args) > 1 and not node.args.defaults:
                yield setting(node.args, "args", node.args.args[:-1])


def _comparisons(tree: ast.Module, others: Mapping[type[ast.cmpop], type[ast.cmpop]]) -> Iterator[Edit]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for place, operator in enumerate(node.ops):
                if type(operator) in others:
                    yield setting(node, "ops", [*node.ops[:place], others[type(operator)](), *node.ops[place + 1 :]])


def _starts(value: ast.expr) -> Iterator[ast.expr]:
    if isinstance(value, ast.List) and not value.elts:
        yield ast.Dict([], [])
        yield ast.Constant("")
    elif isinstance(value, ast.Dict) and not value.keys:
        yield ast.List([], ast.Load())
    elif isinstance(value, ast.Constant):
        yield ast.Constant(None)
        if isinstance(value.value, int) and value.value in {0, 1}:
            yield ast.Constant(1 - int(value.value))


OPERATORS: Mapping[str, Operator] = {
    operator.__name__.replace("_", "-"): operator
    for operator in (
        arithmetic,
        accumulation,
        bound,
        opposite,
        connective,
        negated_condition,
        half_condition,
        off_by_one,
        other_constant,
        other_name,
        misspelt_name,
        misspelt_attribute,
        related_function,
        swapped_arguments,
        missing_argument,
        index,
        slice_bound,
        range_bound,
        no_value,
        other_value,
        other_type,
        negated_value,
        early_return,
        loop_exit,
        endless_loop,
        missing_statement,
        missing_import,
        missing_branch,
        start_value,
        other_function,
    )
}
"""Every operator by its name."""
