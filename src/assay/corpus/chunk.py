"""Cut a file into chunks: units of code by grammar, prose by heading, notebooks by cell, the rest by lines.

Chunks of a file never share a line, and every line with text is in one. The parser runs in a module of its own,
which is loaded when the first file of code is met.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.corpus import blocks, documents
from assay.corpus.grammars import CODE, GRAMMARS
from assay.corpus.languages import language_of
from assay.corpus.long_lines import FittedText, fitted
from assay.corpus.parts import is_literate, is_mixed
from assay.corpus.unit import ParserFailed
from assay.corpus.walked_files import MINIFIABLE
from assay.values import Chunk


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The chunks of a file in order; `note` says why they are blocks of lines, and what was cut, if so."""

    chunks: tuple[Chunk, ...]
    note: str = ""
    facts: tuple[str, ...] = ()
    """What each chunk defines and calls (`assay.corpus.references`), where that was asked for and can be read."""


def parse(path: str, text: str, sizes: blocks.Sizes = blocks.Sizes(), *, linked: bool = False) -> ParsedFile:  # noqa: B008  frozen
    """Cut one file into chunks that cover every non-blank line once; generated long lines are shortened.

    With `linked`, say also what each chunk defines and calls.
    """
    language = language_of(path, text)
    lines = blocks.lines_of(text)
    if language in documents.LANGUAGES:
        sections = documents.sections(path, lines, language, sizes)
        return ParsedFile(sections, facts=_facts_inside(path, text, language, sections) if linked else ())
    fit = fitted(text, lines) if is_code(language) or language in MINIFIABLE else FittedText(text, lines)
    reason = fit.unfit if language in GRAMMARS or is_mixed(language) else ""
    if language == "notebook":
        try:
            cells = documents.cells(path, text)
            return ParsedFile(cells, facts=_facts_inside(path, text, language, cells) if linked else ())
        except (ValueError, RecursionError) as error:
            language, reason = "json", f"not read as a notebook: {error}"
    elif is_code(language) and not reason:
        from assay.corpus import code

        try:
            chunks, parts = code.chunks(path, fit.text, fit.lines, language, sizes)
            return ParsedFile(chunks, fit.note, code.facts(chunks, parts, len(lines)) if linked else ())
        except ParserFailed as error:
            reason = str(error)
    return ParsedFile(blocks.blocks(path, fit.lines, language, sizes), "; ".join(filter(None, (fit.note, reason))))


def _facts_inside(path: str, text: str, language: str, chunks: tuple[Chunk, ...]) -> tuple[str, ...]:
    """Return the facts of the code in a document or a notebook, for each of its chunks."""
    if not is_literate(path, language):
        return ()
    from assay.corpus import code, units

    try:
        return code.facts(chunks, units.read_parts(path, text, language), text.count("\n") + 1)
    except ParserFailed:
        return ()


def is_code(language: str) -> bool:
    """Say whether the units of a language have names: it has a grammar, or parts in languages that have one."""
    return language in CODE or is_mixed(language)
