"""Parse untrusted Python source without warnings about its escapes, one thread at a time."""

from __future__ import annotations

import ast
from threading import Lock
from warnings import catch_warnings

_parsing = Lock()
NO_TREE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What is raised for a Python text that has no tree."""


def python_tree(text: str) -> ast.Module:
    """Parse untrusted Python, without warnings about its escapes; raise one of `NO_TREE` if that fails.

    One thread at a time: Python 3.11 counts how deep a tree is where threads share it (python/cpython#106905), and
    warnings are silenced for all of them.
    """
    with _parsing, catch_warnings(action="ignore"):
        return ast.parse(text)


def parse_python(text: str) -> ast.Module | None:
    """Return the tree of untrusted Python; None if it does not parse."""
    try:
        return python_tree(text)
    except NO_TREE:
        return None
