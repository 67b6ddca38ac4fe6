"""What a report's functions write, markup of our own making, to what it says: tables of text, captions, drawings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from html.parser import HTMLParser

_LEAD = re.compile(r'<p class="lead">(.*?)</p>', re.DOTALL)
_FIGURE = re.compile(
    r"<figure[^>]*><h4>(?P<title>.*?)</h4>.*?(?P<svg><svg .*?</svg>).*?<figcaption>(?P<told>.*?)</figcaption>",
    re.DOTALL,
)
_TAG = re.compile(r"<[^>]*>")
_VOID = frozenset(("br", "wbr", "input", "col"))


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text."""

    title: str
    columns: list[str]
    rows: list[list[str]]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A plot with its title and caption."""

    title: str
    told: str
    svg: str


def lead_in(markup: str) -> list[str]:
    """Return the sentences at the top of a report."""
    return [_plain(found) for found in _LEAD.findall(markup)]


def drawings_in(markup: str) -> Iterator[Drawing]:
    """Yield the figures of a report."""
    for found in _FIGURE.finditer(markup):
        yield Drawing(_plain(found["title"]), _plain(found["told"]), found["svg"])


def tables_in(markup: str) -> list[Table]:
    """Return the tables of a report in order; where a heading stands above several, it is part of their titles."""
    reader = _Reader()
    reader.feed(markup)
    return reader.tables


def _plain(markup: str) -> str:
    return " ".join(unescape(_TAG.sub("", markup)).split())


def _plainly(caption: str) -> str:
    """Return a caption without what it says of how a page looks."""
    return caption.replace("mean, and its 95% interval below", "mean [95% interval]").partition(": bold where")[0]


class _Reader(HTMLParser):
    """Reads tables; an interval is put into brackets, and what only a screen reader is told is left out."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[Table] = []
        self._heading = self._caption = ""
        self._open: list[tuple[str, bool]] = []  # the tag, and whether what is in it is left out
        self._text: list[str] = []
        self._over: list[str] = []
        self._row: list[tuple[str, int]] = []
        self._rows: list[list[str]] = []
        self._columns: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in _VOID:
            return
        quiet = given.get("class") == "unseen" or (bool(self._open) and self._open[-1][1])
        self._open.append((tag, quiet))
        if tag in {"h3", "caption", "td", "th"}:
            self._text = []
            self._span = int(given.get("colspan") or 1)
        elif tag == "table":
            self._columns, self._over, self._rows = [], [], []
        elif tag == "small":
            self._text.append(" [")
        elif tag == "span" and given.get("class") == "badge":
            self._text.append(" · ")

    def handle_endtag(self, tag: str) -> None:
        self._open.pop()
        if tag == "small":
            self._text.append("]")
        elif tag in {"td", "th"}:
            self._row.append((self._said(), self._span))
        elif tag == "caption":
            self._caption = self._said()
        elif tag == "h3":
            self._heading = self._said()
        elif tag == "tr":
            self._end_row()
        elif tag == "table":
            told = ": ".join(filter(None, (self._heading, _plainly(self._caption))))
            self.tables.append(Table(told, self._columns, self._rows))

    def handle_data(self, data: str) -> None:
        if not (self._open and self._open[-1][1]):
            self._text.append(data)

    def _said(self) -> str:
        return " ".join("".join(self._text).split())

    def _end_row(self) -> None:
        cells, self._row = self._row, []
        if not any(tag == "thead" for tag, _ in self._open):
            self._rows.append([said for said, _ in cells])
            return
        wide = [said for said, span in cells for _ in range(span)]
        above = self._columns or [""] * len(wide)
        self._columns = [": ".join(filter(None, pair)) for pair in zip(above, wide, strict=False)]
