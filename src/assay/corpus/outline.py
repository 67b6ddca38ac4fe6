"""List what a file declares, in order: its functions, or an outline of all its declarations and documents.

Names and signatures are those of the units that chunks are made of, but for members of the smallest type and what is
inside long functions, too: chunks merge what is tiny and cut what is long.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from assay.corpus import documents
from assay.corpus.blocks import lines_of
from assay.corpus.call_facts import CALLABLES
from assay.corpus.languages import GRAMMARS, language_of
from assay.corpus.long_lines import fitted
from assay.corpus.units import ParserFailed, Unit, units
from assay.terms import composed

_LOCAL = frozenset(("constant", "block"))
"""What is left out where it stands inside something."""
_LONG = 120
"""Lines of a function that is looked into for others."""


def functions(path: str, text: str) -> list[tuple[int, int, str]]:
    """Return first line, last line and full name of every function, in order; none where there is no grammar for it."""
    return [(first, last, name) for first, last, name, kind in declarations(path, text) if kind in CALLABLES]


def declarations(path: str, text: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield first line, last line, full name and kind of all that a file of code declares."""
    for unit in named_units(text, len(lines_of(text)), language_of(path, text)):
        yield unit.start + 1, unit.end, unit.path, unit.kind


def named_units(text: str, lines: int, language: str) -> list[Unit]:
    """Return what a file of code declares, each as it stands, none where there is no grammar for it."""
    if language not in GRAMMARS:
        return []
    fit = fitted(text, lines_of(text))
    if fit.unfit:
        return []
    try:
        found = units(fit.text, lines, language, _LONG, small=0)[0]
    except ParserFailed:
        return []
    return [replace(one, symbol=composed(one.symbol), parent=composed(one.parent)) for one in found if one.symbol]


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A declaration or a heading."""

    line: int
    end_line: int
    depth: int
    """How many others it stands in."""
    kind: str
    name: str
    signature: str


def outline(path: str, text: str) -> list[OutlineEntry]:
    """Return what a file declares, in order; nothing where it has no grammar, no heading, or does not parse."""
    language = language_of(path, text)
    lines = lines_of(text)
    if language in documents.LANGUAGES:
        return _headings(lines, language)
    return list(_declared(named_units(text, len(lines), language)))


def _headings(lines: list[str], language: str) -> list[OutlineEntry]:
    entries: list[OutlineEntry] = []
    above: list[documents.Heading] = []
    found = documents.headings(lines, language)
    for at, one in enumerate(documents.nested(found, above)):
        after = (found[later].line for later in range(at + 1, len(found)) if found[later].level <= one.level)
        entries.append(OutlineEntry(one.line + 1, next(after, len(lines)), len(above), "section", one.title, one.title))
    return entries


def _declared(found: list[Unit]) -> Iterator[OutlineEntry]:
    open_until: list[int] = []
    for unit in found:
        while open_until and unit.start >= open_until[-1]:
            open_until.pop()
        if not (open_until and unit.kind in _LOCAL):
            signature = unit.signature or unit.symbol
            yield OutlineEntry(unit.start + 1, unit.end, len(open_until), unit.kind, unit.symbol, signature)
            open_until.append(unit.end)
