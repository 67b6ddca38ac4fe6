"""A prompt in code and the tests to the helpers that tests take from the prompt, as setup for where the tests run.

HumanEval/32, 38 and 50 define a function above the one to be written, and their tests call it. A program brings it
along, and could bring another one. So what stands in the prompt before the function under test is run with the tests,
where a program cannot change it, and tests call that. What a helper itself does not define comes from the program.
"""

from __future__ import annotations

import ast
from warnings import catch_warnings


def helpers_of(prompt: str, entry: str, *tests: str) -> str:
    """Return the code of a prompt before the function under test, empty where the tests call no function of it."""
    tree = _parsed(prompt)
    places = [place for place, node in enumerate(tree.body) if getattr(node, "name", "") == entry]
    before = tree.body[: places[-1]] if places and entry else []
    helpers = {node.name for node in before if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    used = {node.id for test in tests for node in ast.walk(_parsed(test)) if isinstance(node, ast.Name)}
    return "\n".join(map(ast.unparse, before)) if helpers & used else ""


def _parsed(source: str) -> ast.Module:
    try:
        with catch_warnings(action="ignore"):
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module(body=[], type_ignores=[])
