"""Write reports as text: aligned tables for a terminal, and Markdown that escapes untrusted text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from assay.errors import printable
from assay.report import document as doc

_MARKS = re.compile(r"[\\|`<\[*]")
_MAX_TEXT_CHARS = 500
_MISSING = "\N{EN DASH}"


def cell_text(cell: doc.Cell) -> str:
    """Return a cell as words: `0.767 [0.70-0.83]`, `1,234`, `12 ms`."""
    if isinstance(cell, doc.Count):
        return f"{cell.value:,}"
    if isinstance(cell, doc.Number):
        shown = value_text(cell)
        span = f" [{interval_text(cell)}]" if interval_text(cell) else ""
        return f"{shown}{span}{f' ({cell.remark})' if cell.remark else ''}"
    badges = "".join(f" \N{MIDDLE DOT} {badge}" for badge in (*cell.badges, *cell.warnings))
    inner = f" {'; '.join(cell.lines)}" if cell.lines else ""
    return f"{cell.text}{badges}{f' ({cell.remark})' if cell.remark else ''}{inner}".strip()


def value_text(number: doc.Number) -> str:
    """Return a number without its interval."""
    if number.value is None:
        return _MISSING
    if number.least and number.value < number.least:
        return f"< {number.least:g}"
    unit = "" if not number.unit else number.unit if number.unit == "%" else f" {number.unit}"
    return f"{_rounded(number, number.value, number.digits)}{unit}"


def interval_text(number: doc.Number, to: str = "-") -> str:
    """Return the ends of the interval of a number, empty where it has none."""
    if number.low is None or number.high is None or number.value is None:
        return ""
    digits = number.digits if number.signed or number.digits < 3 else number.digits - 1
    low, high = (_rounded(number, end, digits) for end in (number.low, number.high))
    return f"{low}{to}{high}" if number.low >= 0 and not number.signed else f"{low}, {high}"


def _rounded(number: doc.Number, value: float, digits: int) -> str:
    return f"{round(value, digits) + 0.0:{'+' if number.signed else ''},.{digits}f}"  # never -0.000


def table_lines(table: doc.Table, indent: str = "  ") -> Iterator[str]:
    """Yield the lines of a table with aligned columns; an empty column is left out."""
    every = [[printable(cell_text(row[at])) for row in table.rows] for at in range(len(table.columns))]
    shown = [at for at, cells in enumerate(every) if not at or {*cells} - {"", _MISSING}]
    titles = [_title(table.columns[at]) for at in shown]
    right = [all(_is_bare(row[at]) for row in table.rows) for at in shown]
    widths = [max(map(len, (title, *every[at]))) for at, title in zip(shown, titles, strict=True)]
    for row in (titles, *zip(*(every[at] for at in shown), strict=True)):
        yield (indent + "  ".join(map(_fit, row, widths, right))).rstrip()


def rows_as_lines(heads: Iterable[str], rows: Iterable[Iterable[object]], indent: str = "") -> Iterator[str]:
    """Yield the lines of an aligned table of these rows."""
    return table_lines(doc.table("", heads, rows), indent)


def _is_bare(cell: doc.Cell) -> bool:
    """Say whether a cell is only a number, which is aligned to the right."""
    return isinstance(cell, doc.Count) or (isinstance(cell, doc.Number) and cell.low is None and not cell.remark)


def _title(column: doc.Column) -> str:
    return ": ".join(filter(None, (column.over, column.title)))


def _fit(text: str, width: int, right: bool) -> str:  # noqa: FBT001  # the column's own
    return text.rjust(width) if right else text.ljust(width)


def as_text(report: doc.Report) -> str:
    """Return the words and tables of a report for a terminal."""
    return "\n".join(line for part in _sections(report, printable, _text) for line in part).strip("\n") + "\n"


def as_markdown(report: doc.Report) -> str:
    """Return the words and tables of a report as Markdown."""
    lines = [f"# {plain(report.title)}", "", plain(" \N{MIDDLE DOT} ".join(report.facts))]
    lines += [line for part in _sections(report, lambda title: f"## {plain(title)}", _markdown) for line in part]
    return "\n".join(lines) + "\n"


def _sections(
    report: doc.Report, title: Callable[[str], str], leaf: Callable[[doc.Leaf], Iterator[str]]
) -> Iterator[Iterable[str]]:
    for section in report.sections:
        head = [] if section.untitled else ["", title(section.title)]
        lines = [line for block in section.blocks for each in _leaves(block) for line in leaf(each)]
        if any(lines):
            yield [*head, *lines]


def _leaves(block: doc.Block) -> Iterable[doc.Leaf]:
    if isinstance(block, doc.Panels):
        return [leaf for panel in block.panels for leaf in panel.blocks]
    return () if isinstance(block, doc.Entries) else (block,)


def _text(block: doc.Leaf) -> Iterator[str]:
    if isinstance(block, doc.Table):
        if block.title:
            yield f"  {printable(block.title)}"
        yield from table_lines(block)
        if block.note:
            yield f"  {printable(block.note)}"
    elif isinstance(block, doc.Paragraph):
        yield f"  {printable(str(block))}"
    elif isinstance(block, doc.Bullets):
        yield from (f"{printable(block.title)}: {printable(str(item))}" for item in block.items)
    elif isinstance(block, doc.Verbatim):
        yield from (f"    {shown_line(line)}" for line in block.text.splitlines())


def _markdown(block: doc.Leaf) -> Iterator[str]:
    yield ""
    if isinstance(block, doc.Table):
        if block.title:
            yield from (f"{plain(block.title)}:", "")
        yield from markdown_table(block)
        if block.note:
            yield from ("", plain(block.note))
    elif isinstance(block, doc.Paragraph):
        yield "".join(verbatim(part.text) if part.code else plain(part.text, strip=False) for part in block.parts)
    elif isinstance(block, doc.Bullets):
        yield from (f"> **{plain(block.title)}**: {plain(str(item))}.\n" for item in block.items)
    elif isinstance(block, doc.Verbatim):
        yield verbatim(block.text)


def markdown_table(table: doc.Table) -> Iterator[str]:
    """Yield the rows of a table as Markdown."""
    yield f"| {' | '.join(plain(_title(column)) for column in table.columns)} |"
    yield "|" + "---|" * len(table.columns)
    for row in table.rows:
        yield f"| {' | '.join(map(_markdown_cell, row))} |"


def _markdown_cell(cell: doc.Cell) -> str:
    shown = cell_text(cell) if isinstance(cell, doc.Number | doc.Count) else plain(cell_text(cell))
    return f"**{shown}**" if cell.mark == "best" else shown


def plain(text: str, *, strip: bool = True) -> str:
    """Return untrusted text as one line, without Markdown, HTML or invisible characters."""
    line = _cut(text) if strip else printable(f".{text}.")[1:-1]
    return _MARKS.sub(lambda mark: f"\\{mark[0]}", line)


def verbatim(text: str) -> str:
    """Return untrusted text as inline code, between more backticks than it contains."""
    line = _cut(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    return f"{fence} {line} {fence}" if "`" in line else f"{fence}{line}{fence}"


def shown_line(line: str) -> str:
    """Return a line of code without control characters."""
    return "".join(letter if letter.isprintable() else "\N{MIDDLE DOT}" for letter in line.expandtabs(4))


def _cut(text: str) -> str:
    return printable(text if len(text) <= _MAX_TEXT_CHARS else f"{text[:_MAX_TEXT_CHARS]} …")
