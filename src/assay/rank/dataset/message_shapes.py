"""The message of an exception to its shape: numbers, names and quoted values become placeholders.

Two programs that fail for the same reason then have the same text, whatever their variables are called. The type of
the exception stays: `TypeError: f() takes 2 positional arguments but 3 were given` becomes
`TypeError: NAME() takes N positional arguments but N were given`.
"""

from __future__ import annotations

import re

_LONGEST = 120
_PLACE = re.compile(r"\s*\([^()]*\bline \d+\)$")
_REPLACED = (
    (re.compile(r"(?<!\w)('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`)"), "'…'"),
    (re.compile(r"\[[^\[\]]*\]"), "[…]"),
    (re.compile(r"\{[^{}]*\}"), "{…}"),
    (re.compile(r"[\w.<>]+\(\)"), "NAME()"),
    (re.compile(r"U\+[0-9A-F]+"), "U+N"),
    (re.compile(r"(?<![\w.])-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?(?!\w)"), "N"),
)


def message_shape(message: str) -> str:
    """Return the shape of a message such as `IndexError: list index out of range`; empty where there is none."""
    first = next((line.strip() for line in message.splitlines() if line.strip()), "")
    shape = _PLACE.sub("", first)
    for pattern, placeholder in _REPLACED:
        shape = pattern.sub(placeholder, shape)
    return " ".join(shape.split())[:_LONGEST]
