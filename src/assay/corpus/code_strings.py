"""Read the strings of code in any language, split at their holes for values; adjacent strings are joined."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_STRING = re.compile(
    r'"""(?P<long>(?:[^"\\]|\\[\s\S]|"(?!"")){0,2000})"""'
    r"|\"(?P<double>(?:[^\"\\\n]|\\[\s\S])*)\"|'(?P<single>(?:[^'\\\n]|\\[\s\S])*)'|`(?P<back>(?:[^`\\]|\\[\s\S])*)`"
)
_HOLE = re.compile(
    r"%\(\w+\)\w|%[-+ #0-9.*]*(?:hh|h|ll|l|j|z|t|L|q)?[a-zA-Z@]|[$#%]?\{[^{}]*\}|\\\([^()]*\)|\$\w+|<%.*?%>|<\w+>"
)
_ESCAPE = re.compile(r"\\(?:\r?\n\s*|[nrtabfv\"'`\\])")
_JOINT = re.compile(
    r"\s*\\?\s*(?:(?P<same>)|(?P<macro>[A-Z_][A-Z0-9a-z_]{2,40}\s*)|(?:[+.~&]|\.\.|<>|\+\+|\|\||<<|,\s*str\()\s*"
    r"(?P<value>[^\s+\"'`][^\n+\"'`;{}]{0,60}?\s*(?:[+.~&]|\.\.|<>|\+\+|\|\||<<)\s*)?)(?:[a-zA-Z]{1,2}(?=[\"'`]))?"
)
"""What stands between two strings that are one message: nothing, or operators, with a value between them if any."""
_MAX_JOINT_CHARS = 160


def pieces_of(text: str) -> list[str]:
    """Return the text between the holes of a string."""
    return _HOLE.split(text)


def joined_strings(text: str) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the start and the text between the holes of each string; adjacent strings count as one."""
    start, pieces, end, is_joined = 0, list[str](), -1, False
    for found in _STRING.finditer(text):
        own = pieces_of(_ESCAPE.sub(" ", found[found.lastgroup or 0]))
        yield found.start(), own
        joint = (
            _JOINT.fullmatch(text, end, found.start()) if pieces and found.start() - end < _MAX_JOINT_CHARS else None
        )
        if joint:
            pieces = (
                [*pieces, *own] if joint["value"] or joint["macro"] else [*pieces[:-1], pieces[-1] + own[0], *own[1:]]
            )
        else:
            if is_joined:
                yield start, pieces
            start, pieces = found.start(), own
        is_joined, end = bool(joint), found.end()
    if is_joined:
        yield start, pieces
