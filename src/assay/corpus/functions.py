"""A file of code to its functions, each in one piece, those of small types and inside long functions too.

Chunks will not do for that: they merge what is tiny and cut what is long.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.corpus import blocks
from assay.corpus.grammars import GRAMMARS
from assay.corpus.languages import language_of

_FUNCTIONS = frozenset(("function", "method", "constructor", "test", "macro"))
_LONG = 120
"""Lines of a function that is looked into for others."""


def functions(path: str, text: str) -> list[tuple[int, int, str]]:
    """Return first line, last line and full name of every function, in order; none where there is no grammar for it."""
    return [(first, last, name) for first, last, name, kind in declarations(path, text) if kind in _FUNCTIONS]


def declarations(path: str, text: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield first line, last line, full name and kind of all that a file of code declares."""
    language = language_of(path, text)
    if language not in GRAMMARS:
        return
    from assay.corpus.units import ParserFailed, units

    lines = blocks.lines_of(text)
    try:
        found, _ = units(text, len(lines), language, _LONG, small=0)
    except (ParserFailed, UnicodeEncodeError):
        return
    for unit in found:
        if unit.symbol:
            yield unit.start + 1, unit.end, unit.path, unit.kind
