"""Cut a file into chunks: units of code by grammar, prose by heading, notebooks by cell, the rest by lines.

Chunks of a file never share a line, and every line with text is in one. The parser runs in a module of its own,
which is loaded when the first file of code is met.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.corpus import blocks, documents
from assay.corpus.languages import GRAMMARS, language_of
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
        return ParsedFile(documents.sections(path, lines, language, sizes))
    reason = unfit(text, lines) if language in GRAMMARS else ""
    if language == "notebook":
        try:
            return ParsedFile(documents.cells(path, text))
        except (ValueError, RecursionError) as error:
            language, reason = "json", f"not read as a notebook: {error}"
    elif language in GRAMMARS and not reason:
        from assay.corpus import code, units

        try:
            chunks, root = code.chunks(path, text, lines, language, sizes)
            return ParsedFile(chunks, facts=code.facts(chunks, root, text, len(lines)) if linked else ())
        except units.ParserFailed as error:
            reason = str(error)
    return ParsedFile(blocks.blocks(path, lines, language, sizes), reason)


def unfit(text: str, lines: Sequence[str]) -> str:
    """Say why a file is not given to a parser, or nothing."""
    if max(map(len, lines), default=0) > _LONGEST_LINE:
        return "a line is too long for the parser"
    for opening, closing in _UNCLOSED.items():
        if text.count(opening) - text.count(closing) > _MOST_UNCLOSED:
            return f"it leaves {opening} open too often for the parser"
    return ""
