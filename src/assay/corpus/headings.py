"""Lines of prose to headings: Markdown, reStructuredText and AsciiDoc, each as its own rules find them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass


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


def plain(title: str) -> str:
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
            yield Heading(number, len(found[1]), plain(found[2] or ""))
        elif found := _HTML.match(line):
            yield Heading(number, int(found[1]), plain(found[2]))
        elif number > at and (found := _SETEXT.match(line)) and not _NO_PARAGRAPH.match(lines[number - 1]):
            yield Heading(number - 1, 1 if found[1][0] == "=" else 2, plain(lines[number - 1]))


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
        yield Heading(number - 2 if over else number - 1, level, plain(title))


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
            yield Heading(number, len(found[1]), plain(found[2]))


_FINDERS: dict[str, Callable[[Sequence[str]], Iterator[Heading]]] = {
    "markdown": _markdown,
    "restructuredtext": _restructuredtext,
    "asciidoc": _asciidoc,
}
LANGUAGES = frozenset(_FINDERS)
