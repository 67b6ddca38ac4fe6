"""Cut documents into sections at their headings, and notebooks into cells.

Headings are those of Markdown, reStructuredText and AsciiDoc, each as its own rules find them. Short sections are
merged, long ones cut between paragraphs; a section is named by its heading, its parent is the headings above. A
notebook is scanned, not only decoded: lines of a cell are those of the JSON file, so that a line number opens the
right place.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.corpus import blocks
from assay.values import Chunk


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading on a line counted from 0; the outermost level is the smallest."""

    line: int
    level: int
    title: str


_FENCE = re.compile(r"^ {0,3}(?:>\s*)?(`{3,}|~{3,})(.*)$")
_ATX = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r"^ {0,3}(=+|-{2,})[ \t]*$")
_NO_PARAGRAPH = re.compile(r"^\s*(?:$|[#>|]|[-*+] |\d+[.)] |<)|^ {4}|^\t")
_HTML = re.compile(r"^\s*<h([1-6])\b[^>]*>(.*?)</h\1>", re.IGNORECASE)
_ADORNMENT = re.compile(r"^([!-/:-@\[-`{-~])\1{2,}\s*$")
_ASCIIDOC = re.compile(r"^(={1,6}|#{1,6})[ \t]+(\S.*)$")
_DELIMITER = re.compile(r"^(-{4,}|\.{4,}|\+{4,}|={4,}|\*{4,}|_{4,}|/{4,}|\|={3,}|`{3,}.*)$")
_ANCHOR = re.compile(r"^(?:\[\[?[^\]]*\]\]?|\([\w:.-]+\)=|\.\. _[^:]*:|<a [^>]*></a>)\s*$")
_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_MARKUP = re.compile(r"\s*\{[#.:][^}]*\}|</?\w[^>]*>|[`*]+|:[\w:]+:(?=`)|^_+|_+$|\s#+$")


def headings(lines: Sequence[str], language: str) -> list[Heading]:
    """Return the headings of a document in order."""
    return list(_FINDERS[language](lines))


def nested(flat: Iterable[Heading], above: list[Heading]) -> Iterator[Heading]:
    """Yield headings in order; `above` then holds those that the heading is under, outermost first."""
    for heading in flat:
        while above and above[-1].level >= heading.level:
            above.pop()
        yield heading
        above.append(heading)


def start_of(lines: Sequence[str], heading: Heading, after: int) -> int:
    """Return the first line of a section: its heading, or the anchors right above."""
    start = heading.line
    while start > after:
        above = start - 1
        if not lines[above].strip() and above > after and _ANCHOR.match(lines[above - 1]):
            above -= 1
        if not _ANCHOR.match(lines[above]):
            break
        start = above
    return start


def _plain(title: str) -> str:
    """Return a title without links, emphasis and attributes."""
    return " ".join(_MARKUP.sub("", _LINK.sub(r"\1", title)).split())[:200]


def _markdown(lines: Sequence[str]) -> Iterator[Heading]:
    fence = ""
    at = _front_matter(lines)
    for number in range(at, len(lines)):
        line = lines[number].rstrip("\r\n")
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark:
            fence = mark[1]
        elif found := _ATX.match(line):
            yield Heading(number, len(found[1]), _plain(found[2] or ""))
        elif found := _HTML.match(line):
            yield Heading(number, int(found[1]), _plain(found[2]))
        elif number > at and (found := _SETEXT.match(line)) and not _NO_PARAGRAPH.match(lines[number - 1]):
            yield Heading(number - 1, 1 if found[1][0] == "=" else 2, _plain(lines[number - 1]))


def _front_matter(lines: Sequence[str]) -> int:
    if not lines or lines[0].strip("\ufeff \t\r\n") != "---":
        return 0
    ends = (number + 1 for number in range(1, len(lines)) if lines[number].strip() in ("---", "..."))
    return next(ends, 0)


def _restructuredtext(lines: Sequence[str]) -> Iterator[Heading]:
    levels: dict[tuple[str, bool], int] = {}
    for number in range(1, len(lines)):
        under, title = _ADORNMENT.match(lines[number]), lines[number - 1].rstrip()
        if not under or not title or title[0].isspace() or _ADORNMENT.match(title):
            continue
        if len(lines[number].rstrip()) < min(len(title), 4):
            continue
        above = _ADORNMENT.match(lines[number - 2]) if number > 1 else None
        over = above is not None and above[1] == under[1]
        if not over and number > 1 and lines[number - 2].strip():
            continue
        level = levels.setdefault((under[1], over), len(levels) + 1)
        yield Heading(number - 2 if over else number - 1, level, _plain(title))


def _asciidoc(lines: Sequence[str]) -> Iterator[Heading]:
    inside = ""
    for number, line in enumerate(lines):
        stripped = line.rstrip()
        mark = _DELIMITER.match(stripped)
        if inside:
            if stripped == inside:
                inside = ""
        elif mark:
            inside = "```" if stripped.startswith("```") else stripped
        elif found := _ASCIIDOC.match(stripped):
            yield Heading(number, len(found[1]), _plain(found[2]))


_FINDERS: dict[str, Callable[[Sequence[str]], Iterator[Heading]]] = {
    "markdown": _markdown,
    "restructuredtext": _restructuredtext,
    "asciidoc": _asciidoc,
}
LANGUAGES = frozenset(_FINDERS)


MIN_SECTION_LINES = 4
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
    return tuple(
        blocks.chunk(lines, path, language, start, end, symbol=section.title, kind="section", parent=section.parent)
        for section in found
        for start, end in _pieces(section, lines, sizes)
    )


def _by_heading(lines: Sequence[str], flat: Sequence[Heading]) -> Iterator[_Section]:
    starts = [0]
    for heading in flat:
        starts.append(start_of(lines, heading, starts[-1]))
    ends = [*starts[1:], len(lines)]
    yield _Section(0, ends[0], 0, "", "")
    above: list[Heading] = []
    for heading, start, end in zip(nested(flat, above), starts[1:], ends[1:], strict=True):
        yield _Section(start, end, heading.level, heading.title, ABOVE.join(one.title for one in above if one.title))


def _merged(pieces: Sequence[_Section], lines: Sequence[str], longest: int) -> list[_Section]:
    """Merge a short section into its first subsection, or else into the one before if they are related."""
    kept: list[_Section] = []
    waiting: _Section | None = None
    for at, section in enumerate(pieces):
        if waiting is not None:
            section.start, waiting = waiting.start, None
        if sum(1 for line in lines[section.start : section.end] if line.strip()) >= MIN_SECTION_LINES:
            kept.append(section)
        elif at + 1 < len(pieces) and pieces[at + 1].level > section.level:
            waiting = section
        elif kept and section.parent in (kept[-1].parent, kept[-1].path) and section.end - kept[-1].start <= longest:
            _join(kept[-1], section)
        else:
            kept.append(section)
    return kept


def _join(before: _Section, section: _Section) -> None:
    before.end = section.end
    if section.parent != before.path and section.title:
        before.title = f"{before.title}, {section.title}".removeprefix(", ")[:300]


def _pieces(section: _Section, lines: Sequence[str], sizes: blocks.Sizes) -> Iterator[tuple[int, int]]:
    start, end = blocks.trimmed(lines, section.start, section.end)
    if end - start <= sizes.prose:
        if start < end:
            yield start, end
        return
    yield from blocks.even_spans(lines, start, end, sizes.prose, _paragraphs(lines, start, end))


def _paragraphs(lines: Sequence[str], start: int, end: int) -> dict[int, int]:
    """Return where paragraphs begin, with those inside fenced code as a second choice."""
    found: dict[int, int] = {}
    fenced = False
    for at in range(start, end):
        if at > start and not lines[at - 1].strip() and lines[at].strip():
            indented = lines[at][0].isspace()
            found[at] = 1 if fenced or indented else 0
        if lines[at].lstrip().startswith(("```", "~~~")):
            fenced = not fenced
    return found


_DECODER = json.JSONDecoder(strict=False)
_SPACE = re.compile(r"[ \t\r\n,:\ufeff]*")


def cells(path: str, text: str) -> tuple[Chunk, ...]:
    """Return one chunk per cell with text; raise `ValueError` if the file is not a notebook."""
    spots = _members(text, _skip(text, 0))
    if "cells" not in spots:
        raise ValueError("it has no cells")
    language = _kernel(text, spots)
    ends = [match.start() for match in re.finditer("\n", text)]
    chunks: list[Chunk] = []
    above: list[Heading] = []
    for at in _elements(text, spots["cells"]):
        cell = _members(text, at)
        source, end = _source(text, cell)
        if not source.strip():
            continue
        is_code = _value(text, cell, "cell_type") == "code"
        found = [] if is_code else headings(source.split("\n"), "markdown")
        around = [ABOVE.join(one.title for one in above) for _ in nested(found, above)]
        symbol = found[0].title if found else ""
        parent = around[0] if found else ABOVE.join(one.title for one in above)
        first, last = bisect_right(ends, cell["source"] - 1) + 1, bisect_right(ends, end - 1) + 1
        name, kind = f"{path}:{first}-{last}", language if is_code else "markdown"
        _add(chunks, Chunk(name, source, kind, path, first, last, symbol, "cell", parent))
    return tuple(chunks)


def code_of_cells(text: str) -> tuple[str, str]:
    """Return the language of a notebook and the code of its cells, on the same lines as in the file.

    A cell is read that has its lines one by one, as every program writes them. Raise `ValueError` for no notebook.
    """
    spots = _members(text, _skip(text, 0))
    if "cells" not in spots:
        raise ValueError("it has no cells")
    ends = [match.start() for match in re.finditer("\n", text)]
    lines = [""] * (len(ends) + 1)
    for at in _elements(text, spots["cells"]):
        cell = _members(text, at)
        if _value(text, cell, "cell_type") != "code" or text[cell.get("source", 0)] != "[":
            continue
        for place in _elements(text, cell["source"]):
            line = _DECODER.raw_decode(text, place)[0]
            if isinstance(line, str) and not line.startswith(("%", "!")):
                lines[bisect_right(ends, place - 1)] = line.rstrip("\r\n").replace("\n", " ")
    return _kernel(text, spots), "\n".join(lines)


def _add(chunks: list[Chunk], chunk: Chunk) -> None:
    """Add a chunk; join it to the last one if both are on one line, as in a file without line breaks."""
    if not chunks or chunks[-1].end_line < chunk.start_line:
        chunks.append(chunk)
        return
    last = chunks[-1]
    name, text = f"{last.path}:{last.start_line}-{chunk.end_line}", f"{last.text}\n\n{chunk.text}"
    chunks[-1] = replace(last, id=name, text=text, end_line=chunk.end_line, symbol=last.symbol or chunk.symbol)


def _skip(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too


def _after(text: str, at: int) -> int:
    """Return the next position behind a value that is not white space."""
    return _skip(text, _DECODER.raw_decode(text, at)[1])


def _members(text: str, at: int) -> dict[str, int]:
    """Return where the value of each key of an object begins."""
    found: dict[str, int] = {}
    if text[at : at + 1] != "{":
        raise ValueError("it is not a JSON object")
    at = _skip(text, at + 1)
    while text[at : at + 1] == '"':
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        found[key] = at
        at = _after(text, at)
    return found


def _elements(text: str, at: int) -> Iterator[int]:
    """Yield where each element of an array begins."""
    if text[at : at + 1] != "[":
        raise ValueError('"cells" is not an array')
    at = _skip(text, at + 1)
    while text[at : at + 1] not in ("]", ""):
        yield at
        at = _after(text, at)


def _value(text: str, spots: dict[str, int], key: str) -> Any:
    return _DECODER.raw_decode(text, spots[key])[0] if key in spots else None


def _source(text: str, cell: dict[str, int]) -> tuple[str, int]:
    if "source" not in cell:
        return "", 0
    value, end = _DECODER.raw_decode(text, cell["source"])
    parts: Sequence[Any] = value if isinstance(value, list) else [value]
    return "".join(part for part in parts if isinstance(part, str)), end


def _kernel(text: str, spots: dict[str, int]) -> str:
    metadata = _value(text, spots, "metadata")
    for section, key in (("kernelspec", "language"), ("language_info", "name")):
        part = metadata.get(section) if isinstance(metadata, dict) else None
        name = part.get(key) if isinstance(part, dict) else None
        if isinstance(name, str):
            return name.lower()
    return "python"
