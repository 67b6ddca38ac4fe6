"""Cut lines into blocks: at the best borders of a syntax tree, or at blank lines without a grammar.

A line ends at a line feed and nowhere else, as editors and git count. What is not blank is covered once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.settings import IndexSettings
from assay.values import Chunk

BLOCK_LINES = 40
MIN_BLOCK_LINES = 20
_BLANK_LINE_COST = 99
_USUAL = IndexSettings()

Span = tuple[int, int]
"""First line and the line after the last one, counted from 0."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How long chunks may be, in lines."""

    code: int = _USUAL.chunk_lines
    prose: int = _USUAL.section_lines

    @property
    def block(self) -> int:
        """Lines of a block of text without structure."""
        return min(BLOCK_LINES, self.code)


def lines_of(text: str) -> list[str]:
    """Split at line feeds, which each line keeps; an empty text has no lines."""
    lines = text.split("\n")
    last = lines.pop()
    kept = [line + "\n" for line in lines]
    return [*kept, last] if last else kept


def blanked(text: str) -> str:
    """Replace every character but line ends by a blank."""
    return re.sub(r"[^\n]", " ", text)


def spans(lines: Sequence[str], start: int, end: int, limit: int = BLOCK_LINES) -> Iterator[Span]:
    """Cut `[start, end)` into spans of about `limit` lines that begin and end on a line with text."""
    smallest = min(MIN_BLOCK_LINES, max(1, limit // 2))
    while (start := trimmed(lines, start, end)[0]) < end:
        cut = min(end, start + limit)
        if cut < end:
            cut = next((at for at in range(cut, start + smallest, -1) if not lines[at - 1].strip()), cut)
        yield trimmed(lines, start, cut)
        start = cut


def chunk(lines: Sequence[str], path: str, language: str, start: int, end: int, **fields: str) -> Chunk:
    """Make the chunk of the lines `[start, end)`, counted from 0."""
    name = f"{path}:{start + 1}-{end}"
    return Chunk(name, "".join(lines[start:end]), language, path, start + 1, end, **fields)


def blocks(path: str, lines: Sequence[str], language: str, sizes: Sizes) -> tuple[Chunk, ...]:
    """Cut a whole file into blocks."""
    found = spans(lines, 0, len(lines), sizes.block)
    return tuple(chunk(lines, path, language, start, end, kind="block") for start, end in found)


def trimmed(lines: Sequence[str], start: int, end: int) -> Span:
    """Return a span without the blank lines around it."""
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return start, end


def even_spans(lines: Sequence[str], start: int, end: int, limit: int, depths: Mapping[int, int]) -> Iterator[Span]:
    """Cut `[start, end)` into the fewest spans of at most `limit` lines, of about one size, at good borders."""
    while end - start > limit:
        pieces = -(-(end - start) // limit)
        ideal = start + -(-(end - start) // pieces)
        earliest = start + max(1, (ideal - start) // 2)
        borders = range(earliest, min(start + limit, end - 1) + 1)
        cut = min(borders, key=lambda line: (_cost(line, lines, depths), abs(line - ideal)))
        span = trimmed(lines, start, cut)
        if span[0] < span[1]:
            yield span
        start = trimmed(lines, cut, end)[0]
    if start < end:
        yield start, end


def _cost(line: int, lines: Sequence[str], depths: Mapping[int, int]) -> int:
    """Return the depth of a border; any line after a blank one is better than the middle of a text."""
    if line in depths:
        return depths[line]
    return _BLANK_LINE_COST if line and not lines[line - 1].strip() else _BLANK_LINE_COST + 1
