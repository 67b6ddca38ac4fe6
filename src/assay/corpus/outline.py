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
from assay.corpus.grammars import GRAMMARS
from assay.corpus.languages import language_of
from assay.corpus.long_lines import fitted
from assay.corpus.parts import is_mixed
from assay.corpus.unit import ParserFailed, Unit
from assay.corpus.units import file_units, read_parts
from assay.terms import composed
from assay.values import NamedSpan

_LOCAL = frozenset(("constant", "block"))
"""What is left out inside of a function or a constant."""
_LONG = 120
"""Lines of a function that is looked into for others."""


def functions(path: str, text: str) -> list[NamedSpan]:
    """Return every function, in order; empty without a grammar.

    Functions inside of others are those of some length alone.
    """
    found = named_units(path, text, language_of(path, text), every=False)
    return [NamedSpan(unit.start + 1, unit.end, unit.path) for unit in found if unit.kind in CALLABLES]


def declarations(path: str, text: str) -> Iterator[NamedSpan]:
    """Yield the declarations of a file of code."""
    for unit in named_units(path, text, language_of(path, text)):
        yield NamedSpan(unit.start + 1, unit.end, unit.path)


def named_units(path: str, text: str, language: str, *, every: bool = True) -> list[Unit]:
    """Return the declared units of a file of code, verbatim; none without a grammar."""
    lines = lines_of(text)
    fit = fitted(text, lines)
    if fit.unfit and (language in GRAMMARS or is_mixed(language)):
        return []
    try:
        found = file_units(read_parts(path, fit.text, language), len(lines), _LONG, small=0, every=every)
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
    """Return the outline of a file, in order; empty if it has no grammar, no heading, or does not parse."""
    language = language_of(path, text)
    lines = lines_of(text)
    declared = list(_declared(named_units(path, text, language)))
    headings = _headings(lines, language) if language in documents.LANGUAGES else _of_cells(path, text, language)
    return sorted([*headings, *declared], key=lambda entry: entry.line) if headings else declared


def _of_cells(path: str, text: str, language: str) -> list[OutlineEntry]:
    """Return the headings in the cells of a notebook."""
    if language != "notebook":
        return []
    try:
        cells = [cell for cell in documents.cells(path, text) if cell.symbol and cell.language == "markdown"]
    except (ValueError, RecursionError):
        return []
    depths = (cell.parent.count(documents.ABOVE) + bool(cell.parent) for cell in cells)
    return [
        OutlineEntry(cell.start_line, cell.end_line, depth, "section", cell.symbol, cell.symbol)
        for cell, depth in zip(cells, depths, strict=True)
    ]


def _headings(lines: list[str], language: str) -> list[OutlineEntry]:
    entries: list[OutlineEntry] = []
    above: list[documents.Heading] = []
    found = documents.headings(lines, language)
    for at, one in enumerate(documents.nested(found, above)):
        after = (found[later].line for later in range(at + 1, len(found)) if found[later].level <= one.level)
        entries.append(OutlineEntry(one.line + 1, next(after, len(lines)), len(above), "section", one.title, one.title))
    return entries


def _declared(units: list[Unit]) -> Iterator[OutlineEntry]:
    around: list[Unit] = []
    for unit in units:
        while around and unit.start >= around[-1].end:
            around.pop()
        if not (around and unit.kind in _LOCAL and around[-1].kind in {*CALLABLES, "constant"}):
            signature = unit.signature or unit.symbol
            yield OutlineEntry(unit.start + 1, unit.end, len(around), unit.kind, unit.symbol, signature)
            around.append(unit)
