"""A program's text to its syntax tree, or to the line where it stops being Python.

A program is a stranger's text: what is too long, too deep or no text at all is not read, and is told from what is
merely wrong. Nothing is executed.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 50_000
"""Characters of a program that is read; a longer one is taken for no answer to a task."""


@dataclass(frozen=True, slots=True)
class ParsedProgram:
    """The tree of a program, or why there is none."""

    tree: ast.Module | None
    line: int = -1
    """Where it stops being Python, 1-based; -1 where that is nowhere, or not known."""
    unread: bool = False
    """It is too long or too deep to be read: whether it is Python is not known."""


def parsed(source: str) -> ParsedProgram:
    """Return the tree of a program; warnings of the compiler are the caller's to silence."""
    if len(source) > LONGEST:
        return ParsedProgram(None, unread=True)
    try:
        return ParsedProgram(ast.parse(source))
    except SyntaxError as error:
        lines = source.count("\n") + 1
        return ParsedProgram(None, min(error.lineno or _unprintable(source), lines))
    except ValueError:
        return ParsedProgram(None, _unprintable(source))
    except (RecursionError, MemoryError):
        return ParsedProgram(None, unread=True)


def _unprintable(source: str) -> int:
    """Return the line of the first character that no program can hold."""
    place = next((i for i, char in enumerate(source) if char == "\0" or "\ud800" <= char <= "\udfff"), 0)
    return source.count("\n", 0, place) + 1
