"""Cut a file into chunks: units of code by grammar, prose by heading, notebooks by cell, the rest by lines.

Chunks of a file never share a line, and every line with text is in one. The parser runs in a module of its own,
which is loaded when the first file of code is met.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.corpus import blocks, documents
from assay.corpus.grammars import CODE
from assay.corpus.languages import language_of
from assay.corpus.parts import is_mixed, parts
from assay.corpus.unit import ParserFailed
from assay.values import Chunk

_LONGEST_LINE = 20_000
"""Characters; nobody writes such a line, and a parser has nothing to say about it."""
_UNCLOSED = {"/*": "*/", "<": ">"}
_MOST_UNCLOSED = 500
"""Far more than any file that compiles; from here the parser's time or memory grows with the square or worse."""


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The chunks of a file in order; `note` is empty, or why they are blocks of lines."""

    chunks: tuple[Chunk, ...]
    note: str = ""
    facts: tuple[str, ...] = ()
    """What each chunk defines and calls (`assay.corpus.references`), where that was asked for and can be read."""


def parse(path: str, text: str, sizes: blocks.Sizes = blocks.Sizes(), *, linked: bool = False) -> ParsedFile:  # noqa: B008  frozen
    """Cut one file into chunks that cover every non-blank line once.

    With `linked`, say also what each chunk defines and calls.
    """
    language = language_of(path, text)
    lines = blocks.lines_of(text)
    if language in documents.LANGUAGES:
        sections = documents.sections(path, lines, language, sizes)
        return ParsedFile(sections, facts=_facts_inside(path, text, language, sections) if linked else ())
    reason = unfit(text, lines) if is_code(language) else ""
    if language == "notebook":
        try:
            cells = documents.cells(path, text)
            return ParsedFile(cells, facts=_facts_inside(path, text, language, cells) if linked else ())
        except (ValueError, RecursionError) as error:
            language, reason = "json", f"not read as a notebook: {error}"
    elif is_code(language) and not reason:
        from assay.corpus import code

        try:
            chunks, parts = code.chunks(path, text, lines, language, sizes)
            return ParsedFile(chunks, facts=code.facts(chunks, parts, len(lines)) if linked else ())
        except ParserFailed as error:
            reason = str(error)
    return ParsedFile(blocks.blocks(path, lines, language, sizes), reason)


def _facts_inside(path: str, text: str, language: str, chunks: tuple[Chunk, ...]) -> tuple[str, ...]:
    """Return what the code in a document or a notebook defines and calls, for each of its chunks."""
    if not parts(path, text, language):
        return ()
    from assay.corpus import code, units

    try:
        return code.facts(chunks, units.read_parts(path, text, language), text.count("\n") + 1)
    except ParserFailed:
        return ()


def is_code(language: str) -> bool:
    """Say whether the units of a language have names: it has a grammar, or parts in languages that have one."""
    return language in CODE or is_mixed(language)


def unfit(text: str, lines: Sequence[str]) -> str:
    """Say why a file is not given to a parser, or nothing."""
    if max(map(len, lines), default=0) > _LONGEST_LINE:
        return "a line is too long for the parser"
    for opening, closing in _UNCLOSED.items():
        if text.count(opening) - text.count(closing) > _MOST_UNCLOSED:
            return f"it leaves {opening} open too often for the parser"
    return ""
