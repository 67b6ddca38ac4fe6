"""Turn the doctests in a text into tests.

A call of plain values becomes a call; any other expression becomes an assert for the sandbox, after the statements that
stand before it. An example that raises, or prints something other than a value, makes no test.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Final

from assay.programs.tasks.task_file import parsed
from assay.programs.text_literals import ATOL, MAX_EXAMPLES, literal, value_at
from assay.values import Call, Script

PROMPT: Final = ">>>"
_MAX_EXAMPLE_CHARS: Final = 2000


def doctests_in(text: str, name: str) -> tuple[str, list[Call | Script]]:
    """Return the text without its doctests, and their tests."""
    found: list[Call | Script] = []
    setup: list[str] = []
    rest: list[str] = []
    for source, wanted in _parts(text, rest):
        tree = parsed(source[: _MAX_EXAMPLE_CHARS + 1])
        if len(source) > _MAX_EXAMPLE_CHARS or not tree.body or len(found) >= MAX_EXAMPLES:
            continue
        if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
            test = _test(tree.body[0].value, wanted, name, setup)
            found += [test] if test else []
        elif not wanted:
            setup.append(source)
    return "\n".join(rest), found


def _parts(text: str, rest: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the code of each prompt and the output below it; other lines are appended to the rest."""
    lines = text.splitlines()
    place = 0
    while place < len(lines):
        line = lines[place].strip()
        place += 1
        if not line.startswith(PROMPT):
            rest.append(lines[place - 1])
            continue
        source, wanted = [line[len(PROMPT) :].strip()], list[str]()
        while place < len(lines) and lines[place].lstrip().startswith("..."):
            source.append(lines[place].lstrip()[4:])
            place += 1
        while place < len(lines) and (below := lines[place].strip()) and not below.startswith((PROMPT, '"""', "'''")):
            wanted.append(below)
            place += 1
        yield "\n".join(source), "\n".join(wanted)


def _test(tree: ast.expr, expected: str, name: str, setup: list[str]) -> Call | Script | None:
    if not any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree)):
        return None
    if isinstance(tree, ast.Compare) and expected in {"", "True"}:
        return _compared(tree, name, setup)
    value = _value(expected)
    if isinstance(tree, ast.Call) and getattr(tree.func, "id", "") == "print" and len(tree.args) == 1 and expected:
        return _script(f"str({ast.unparse(tree.args[0])})", expected, setup)
    if value is None:
        return None
    args = literal_arguments(tree, name)
    return _script(ast.unparse(tree), value[0], setup) if args is None else Call(args, value[0], ATOL)


def _compared(tree: ast.Compare, name: str, setup: list[str]) -> Call | Script:
    """Return the test of an expression that is a comparison."""
    args, right = literal_arguments(tree.left, name), literal(ast.unparse(tree.comparators[0]))
    if args is not None and right and len(tree.ops) == 1 and isinstance(tree.ops[0], ast.Eq):
        return Call(args, right[0], ATOL)
    return Script("\n".join([*setup, f"assert {ast.unparse(tree)}"]))


def _value(expected: str) -> tuple[Any, int] | None:
    """Return the value below a prompt: the whole text, its first line, or the value that it begins with."""
    first, _, _ = expected.partition("\n")
    found = literal(expected) or literal(first)
    if found or not expected:
        return found
    begun = value_at(expected, 0)
    behind = expected[begun[1] :].lstrip(" \t") if begun else ""
    return begun if behind.startswith(("#", "\n", "(", "//")) else None


def literal_arguments(tree: ast.AST, name: str) -> tuple[Any, ...] | None:
    """Return the arguments of a call of a function; None for another expression or arguments that are not literals."""
    if not isinstance(tree, ast.Call) or getattr(tree.func, "id", "") != name or tree.keywords:
        return None
    try:
        found = tuple(map(ast.literal_eval, tree.args))
        repr(found)  # a whole number of thousands of digits cannot be written
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return found


def _script(expression: str, value: Any, setup: list[str]) -> Script:
    return Script("\n".join([*setup, f"assert {expression} == {value!r}"]))
