"""A document to sections: cut at headings, short ones merged, long ones cut between paragraphs.

A section is named by its heading; its parent is the headings above.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.corpus import blocks, split
from assay.corpus.headings import Heading, headings, start_of
from assay.types import Chunk

SHORTEST = 4
ABOVE = " > "


@dataclass(slots=True)
class _Section:
    start: int
    end: int
    level: int
    title: str
    parent: str

    @property
    def path(self) -> str:
        return self.parent + ABOVE + self.title if self.parent and self.title else self.title or self.parent


def sections(path: str, lines: Sequence[str], language: str, sizes: blocks.Sizes) -> tuple[Chunk, ...]:
    """Cut a document into chunks of kind `section`."""
    found = _merged(list(_by_heading(lines, headings(lines, language))), lines, sizes.prose)
    pieces = ((section, start, end) for section in found for start, end in _pieces(section, lines, sizes))
    return tuple(
        blocks.chunk(lines, path, language, start, end, symbol=section.title, kind="section", parent=section.parent)
        for section, start, end in pieces
    )


def _by_heading(lines: Sequence[str], found: Sequence[Heading]) -> Iterator[_Section]:
    starts = [0]
    for heading in found:
        starts.append(start_of(lines, heading, starts[-1]))
    ends = [*starts[1:], len(lines)]
    yield _Section(0, ends[0], 0, "", "")
    above: list[Heading] = []
    for heading, start, end in zip(found, starts[1:], ends[1:], strict=True):
        while above and above[-1].level >= heading.level:
            above.pop()
        yield _Section(start, end, heading.level, heading.title, ABOVE.join(one.title for one in above if one.title))
        above.append(heading)


def _merged(found: Sequence[_Section], lines: Sequence[str], longest: int) -> list[_Section]:
    """Merge a short section with the first one inside it, else with the one before when they are kin."""
    kept: list[_Section] = []
    waiting: _Section | None = None
    for at, section in enumerate(found):
        if waiting is not None:
            section.start, waiting = waiting.start, None
        if _text_lines(section, lines) >= SHORTEST:
            kept.append(section)
        elif at + 1 < len(found) and found[at + 1].level > section.level:
            waiting = section
        elif kept and _are_kin(kept[-1], section, longest):
            _join(kept[-1], section)
        else:
            kept.append(section)
    return kept


def _are_kin(before: _Section, section: _Section, longest: int) -> bool:
    near = section.parent in (before.parent, before.path)
    return near and section.end - before.start <= longest


def _join(before: _Section, section: _Section) -> None:
    before.end = section.end
    if section.parent != before.path and section.title:
        before.title = f"{before.title}, {section.title}".removeprefix(", ")[:300]


def _text_lines(section: _Section, lines: Sequence[str]) -> int:
    return sum(1 for line in lines[section.start : section.end] if line.strip())


def _pieces(section: _Section, lines: Sequence[str], sizes: blocks.Sizes) -> Iterator[tuple[int, int]]:
    start, end = blocks.trimmed(lines, section.start, section.end)
    if end - start <= sizes.prose:
        if start < end:
            yield start, end
        return
    yield from split.spans(lines, start, end, sizes.prose, _paragraphs(lines, start, end))


def _paragraphs(lines: Sequence[str], start: int, end: int) -> dict[int, int]:
    """Return where paragraphs begin, those inside fenced code as second best."""
    found: dict[int, int] = {}
    fenced = False
    for at in range(start, end):
        if at > start and not lines[at - 1].strip() and lines[at].strip():
            indented = lines[at][0].isspace()
            found[at] = 1 if fenced or indented else 0
        if lines[at].lstrip().startswith(("```", "~~~")):
            fenced = not fenced
    return found
