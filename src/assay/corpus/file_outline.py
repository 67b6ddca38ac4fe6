"""A file in, its declarations and headings in order out: what one reads before one reads the file.

Signatures are those of the units that chunks are made of, members of the smallest type included, so an outline and a
search agree on what a unit is called.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.corpus import blocks, headings
from assay.corpus.chunk import unfit
from assay.corpus.grammars import GRAMMARS
from assay.corpus.languages import language_of

_LONG = 120
"""Lines of a function that is looked into for others."""
_LOCAL = frozenset(("constant", "block"))
"""What is left out where it stands inside something."""


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
    lines = blocks.lines_of(text)
    if language in headings.LANGUAGES:
        return _headings(lines, language)
    if language in GRAMMARS and not unfit(text, lines):
        return list(_declared(text, len(lines), language))
    return []


def _headings(lines: list[str], language: str) -> list[OutlineEntry]:
    entries: list[OutlineEntry] = []
    above: list[headings.Heading] = []
    end_line = len(lines)
    found = headings.headings(lines, language)
    ends = [0] * len(found)
    for at in range(len(found) - 1, -1, -1):  # from the end: a section ends where one that is as high begins
        while above and above[-1].level > found[at].level:
            above.pop()
        ends[at] = above[-1].line if above else end_line
        above.append(found[at])
    above.clear()
    for one, end in zip(found, ends, strict=True):
        while above and above[-1].level >= one.level:
            above.pop()
        entries.append(OutlineEntry(one.line + 1, end, len(above), "section", one.title, one.title))
        above.append(one)
    return entries


def _declared(text: str, count: int, language: str) -> Iterator[OutlineEntry]:
    from assay.corpus.units import ParserFailed, units

    try:
        found, _ = units(text, count, language, _LONG, small=0)
    except (ParserFailed, UnicodeEncodeError):
        return
    open_until: list[int] = []
    for unit in found:
        while open_until and unit.start >= open_until[-1]:
            open_until.pop()
        if unit.symbol and not (open_until and unit.kind in _LOCAL):
            yield OutlineEntry(
                unit.start + 1, unit.end, len(open_until), unit.kind, unit.symbol, unit.signature or unit.symbol
            )
            open_until.append(unit.end)
