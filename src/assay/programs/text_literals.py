"""Parse literal values in a text, in the syntax of Python or JSON.

Nothing is evaluated: brackets and quotes are matched by hand, in one pass that gives up after `MAX_LITERAL_CHARS`, and
`ast.literal_eval` reads what they enclose. Prose writes `true`, `false` and `null` for the constants.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any, Final

MAX_LITERAL_CHARS: Final = 2000
"""Characters of one literal."""
MAX_EXAMPLES: Final = 50
"""Of one text."""
ATOL: Final = 1e-6
"""A text shows floats as they print."""
_CLOSES: Final = {"(": ")", "[": "]", "{": "}"}
_QUOTED: Final = re.compile(r"[bBrRuU]{0,2}(['\"])")
_STRING: Final = re.compile(
    r"""('{3}|"{3})(?:\\.|(?!\1)[^\\])*\1|(?!'{3}|"{3})(['"])(?:\\.|(?!\2)[^\\\n])*\2""", re.DOTALL
)
_PLAIN: Final = re.compile(r"[-+]?(?:\d[\d_]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?(?!\w)|\w+")
_CONSTANTS: Final = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}
_IN_JSON: Final = re.compile(r"\b(?:true|false|null)\b")

Found = tuple[Any, int]
"""A value and the place behind it."""


def value_at(text: str, start: int) -> Found | None:
    """Return the value that begins at a position; None without one."""
    char = text[start : start + 1]
    if char in _CLOSES or _QUOTED.match(text, start):
        end = closing(text, start)
        return _read(text[start:end], end) if end > 0 else None
    plain = _PLAIN.match(text, start, start + MAX_LITERAL_CHARS)
    if plain is None:
        return None
    if plain[0] in _CONSTANTS:
        return _CONSTANTS[plain[0]], plain.end()
    return _read(plain[0], plain.end()) if plain[0][-1].isdecimal() else None


def arguments_at(text: str, start: int) -> Found | None:
    """Return the arguments in the parentheses at a position, if all are literals."""
    end = closing(text, start)
    if end < 0:
        return None
    inner = text[start + 1 : end - 1].strip().rstrip(",")
    return _read(f"({inner},)" if inner else "()", end)


def closing(text: str, start: int) -> int:
    """Return the position behind the bracket or quote that opens at a position; -1 if it is not closed."""
    limit = min(len(text), start + MAX_LITERAL_CHARS)
    if quoted := _QUOTED.match(text, start):
        return _behind_string(text, quoted.start(1), limit)
    waiting: list[str] = []
    place = start
    while place < limit:
        char = text[place]
        if char in "'\"":
            if (place := _behind_string(text, place, limit)) < 0:
                return -1
            continue
        if char in _CLOSES:
            waiting.append(_CLOSES[char])
        elif char in ")]}" and (not waiting or waiting.pop() != char):
            return -1
        place += 1
        if not waiting:
            return place
    return -1


def literal(text: str) -> Found | None:
    """Return the value of a whole text; None if it is not a literal."""
    stripped = text.strip()
    return _read(stripped, len(text)) if stripped and len(stripped) <= MAX_LITERAL_CHARS else None


def _behind_string(text: str, start: int, limit: int) -> int:
    found = _STRING.match(text, start, limit)
    return found.end() if found else -1


def _read(source: str, end: int) -> Found | None:
    for form in (source, _IN_JSON.sub(lambda word: str(_CONSTANTS[word[0]]), source)):
        try:
            with warnings.catch_warnings(action="ignore"):
                return ast.literal_eval(form), end
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            continue
    return None
