"""Lines to blocks: how anything without a grammar is cut, at blank lines where there are any.

A line ends at a line feed and nowhere else, as editors and git count. What is not blank is covered once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.settings import IndexSettings
from assay.types import Chunk

BLOCK_LINES = 40
SMALLEST_BLOCK = 20
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
        """Lines of what has no structure."""
        return min(BLOCK_LINES, self.code)


def lines_of(text: str) -> list[str]:
    """Split at line feeds, which each line keeps; an empty text has no lines."""
    lines = text.split("\n")
    last = lines.pop()
    kept = [line + "\n" for line in lines]
    return [*kept, last] if last else kept


def spans(lines: Sequence[str], start: int, end: int, limit: int = BLOCK_LINES) -> Iterator[Span]:
    """Cut `[start, end)` into spans of about `limit` lines that begin and end on a line with text."""
    smallest = min(SMALLEST_BLOCK, max(1, limit // 2))
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
