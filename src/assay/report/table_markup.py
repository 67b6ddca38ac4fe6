"""Tables and their cells to markup: a mean with its interval quietly below, a mark that is seen and heard."""

from __future__ import annotations

from itertools import groupby

from assay.report.document import COLORS, Cell, Column, Count, Number, Phrase, Table
from assay.report.markup import Html, join, stranger_text, tag
from assay.report.plain_text import interval_text, value_text

_LONG_HEAD = 12
_NAME = 60
"""Characters of a name that are shown."""
_MARKS = {
    "tied": ("\N{ALMOST EQUAL TO}", "not told apart from the best"),
    "below": ("\N{BLACK DOWN-POINTING SMALL TRIANGLE}", "below the best"),
}


def table_html(table: Table) -> Html:
    """Return a table with a caption that scrolls by itself where it is too wide."""
    above = [_above(table.columns)] if any(column.over for column in table.columns) else []
    head = tag("thead", *above, tag("tr", *map(_head, table.columns)))
    rows = [
        tag("tr", tag("th", cell_html(first), scope="row"), *map(_data, rest, table.columns[1:]))
        for first, *rest in table.rows
    ]
    body = tag("table", tag("caption", tag("span", table.title)), head, tag("tbody", *rows))
    note = [tag("p", table.note, class_="note")] if table.note else []
    return join([tag("div", body, class_="scroll", tabindex=0, role="region", aria_label=table.title), *note])


def _above(columns: tuple[Column, ...]) -> Html:
    """Return the row of wider heads; what stands in brackets is said quietly."""
    cells = []
    for over, group in groupby(columns, key=lambda column: column.over):
        name, _, quiet = over.partition(" [")
        parts = [name, *([tag("small", quiet.removesuffix("]"))] if quiet else [])]
        span = len(list(group))
        cells.append(
            tag("th", *parts, scope="colgroup", colspan=span, class_="over") if over else tag("td", colspan=span)
        )
    return tag("tr", *cells)


def _head(column: Column) -> Html:
    parts = column.title.split("@")
    title = join(parts, Html("@<wbr>" if len(column.title) > _LONG_HEAD else "@"))
    return tag("th", title, scope="col", title=column.hint or None, class_="words" if column.words else None)


def _data(cell: Cell, column: Column) -> Html:
    classes: list[str] = [cell.mark] if cell.mark in {"best", "bad", "good"} else []
    if isinstance(cell, Number) and cell.value is None:
        classes.append("none")
    if column.words:
        classes.append("words")
    return tag("td", cell_html(cell), class_=" ".join(classes) or None)


def cell_html(cell: Cell) -> Html:
    """Return what stands in a cell."""
    if isinstance(cell, Count):
        return Html(f"{cell.value:,}")
    return _number(cell) if isinstance(cell, Number) else inline(cell)


def _number(number: Number) -> Html:
    mean = tag("span", _signs(value_text(number)), class_="mean")
    span = interval_text(number, "\N{EN DASH}").replace(", ", " to ")
    small = [tag("small", _signs(part)) for part in (span, number.remark) if part]
    if number.mark == "best":
        return join([tag("span", "(best) ", class_="unseen"), mean, *small])
    if number.mark not in _MARKS:
        return join([mean, *small])
    sign, meaning = _MARKS[number.mark]
    seen, heard = tag("span", sign, aria_hidden="true"), tag("span", f"({meaning}) ", class_="unseen")
    return join([tag("span", seen, heard, class_=number.mark), mean, *small])


def _signs(shown: str) -> str:
    return shown.replace("-", "\N{MINUS SIGN}")


def inline(phrase: Phrase) -> Html:
    """Return words with their dot, their badges, and what is folded behind them."""
    words = _words(phrase)
    badges = [
        *(tag("span", badge, class_="badge") for badge in phrase.badges),
        *(tag("span", warning, class_="badge bad") for warning in phrase.warnings),
    ]
    remark = [tag("span", f" {phrase.remark}", class_="remark")] if phrase.remark else []
    if phrase.lines:
        lines = [tag("div", stranger_text(line, "code")) for line in phrase.lines]
        return tag("details", tag("summary", words, *badges, *remark), *lines)
    return join([words, *badges, *remark])


def _words(phrase: Phrase) -> Html:
    if phrase.href:
        return tag("a", phrase.text, href=phrase.href)
    if phrase.color is not None:
        dot = tag("i", class_=f"dot c{phrase.color % COLORS}", aria_hidden="true")
        return tag("span", dot, stranger_text(phrase.text, longest=_NAME), class_="system")
    if phrase.code:
        return stranger_text(phrase.text, "code")
    return tag("span", phrase.text, class_=phrase.mark) if phrase.mark else stranger_text(phrase.text)
