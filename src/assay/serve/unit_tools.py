"""A place in a file in, the lines there out: a range, or a whole function, type or section, by a line or its name.

The file is read as it is now.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.corpus.blocks import lines_of
from assay.corpus.outline import OutlineEntry, outline
from assay.errors import InputError, nearest
from assay.serve.file_views import check_file_line, read_file
from assay.serve.responses import OVERHEAD, with_line_numbers
from assay.serve.search_tools import Page
from assay.serve.session import Session
from assay.terms import tokens

_LONGEST_LINE = 1000
"""Characters of a line that are shown."""
_AROUND = 20
"""Lines before and after one that stands in no unit."""


@dataclass(frozen=True, slots=True)
class UnitText:
    """Lines of a file."""

    __pydantic_config__: ClassVar[Mapping[str, bool]] = {"use_attribute_docstrings": True}

    root: str
    path: str
    start_line: int
    end_line: int
    lines: int
    """How many lines the file has."""
    text: str
    kind: str = ""
    """Of the unit, if the lines are those of one."""
    name: str = ""
    """The name of the unit below those around it."""
    complete: bool = True
    """False: the budget was not enough; the next line is the one after `end_line`."""


@dataclass(frozen=True, slots=True)
class LineSpan:
    """Lines that are wanted, and what they are."""

    first: int
    last: int
    kind: str = ""
    name: str = ""


def read(  # noqa: PLR0913  a place
    session: Session, path: str, *, line: int = 0, end_line: int = 0, name: str = "", page: Page
) -> UnitText:
    """Return some lines of a file, the unit around a line, the unit of a name, or without any of these all lines."""
    if name and (line or end_line):
        raise InputError("a name says which lines, and so do line and end_line: give one or the other")
    file = read_file(session, path)
    if line or file.text is None:
        check_file_line(file, path, line)
    inside, every = file.place.inside, lines_of(file.text or "")
    span = span_of(inside, file.text or "", (line, end_line, name), len(every))
    wanted = [_clip(line) for line in every[span.first - 1 : span.last]]
    shown = (
        [with_line_numbers(line, [at]) + "\n" for at, line in enumerate(wanted, span.first)] if page.is_text else wanted
    )
    count = _fitting(shown, page.budget - OVERHEAD)
    return UnitText(
        file.place.engine.name,
        inside,
        span.first,
        span.first + count - 1,
        len(every),
        "".join(wanted[:count]),
        span.kind,
        span.name,
        complete=count == len(wanted),
    )


def span_of(path: str, text: str, place: tuple[int, int, str], count: int) -> LineSpan:
    """Return the lines of a file of so many that a line, an end line and a name mean, of which any may be missing."""
    line, end_line, name = place
    if name:
        return _span_named(path, text, name)
    if end_line:
        if end_line < max(line, 1):
            raise InputError(f"end_line is {end_line}, before line {line}")
        return LineSpan(max(line, 1), min(end_line, count))
    if not line:
        return LineSpan(1, count)
    around = [each for each in _qualified_names(outline(path, text)) if each[1].line <= line <= each[1].end_line]
    if not around:
        return LineSpan(max(line - _AROUND, 1), min(line + _AROUND, count))
    full, entry = min(around, key=lambda each: each[1].end_line - each[1].line)
    return LineSpan(entry.line, entry.end_line, entry.kind, full)


def _span_named(path: str, text: str, name: str) -> LineSpan:
    every = _qualified_names(outline(path, text))
    wanted = name.lower()
    found = [each for each in every if f".{each[0].lower()}".endswith(f".{wanted}")]
    if not found:
        names = sorted({full for full, _ in every})
        raise InputError(f"'{path}' declares no '{name}'; {nearest(name, names) if names else 'it declares nothing'}")
    if len({full for full, _ in found}) > 1 and name not in {full for full, _ in found}:
        raise InputError(
            f"'{name}' is the name of several: {', '.join(f'{full} ({one.line})' for full, one in found[:5])}"
        )
    exact = [each for each in found if each[0] == name] or found
    full, entry = max(exact, key=lambda each: each[1].end_line - each[1].line)  # overloads have no body
    return LineSpan(entry.line, entry.end_line, entry.kind, full)


def _qualified_names(entries: Sequence[OutlineEntry]) -> list[tuple[str, OutlineEntry]]:
    """Return entries with their names below those that they stand in."""
    above: list[str] = []
    found = []
    for entry in entries:
        above[entry.depth :] = [entry.name]
        found.append((".".join(above), entry))
    return found


def _clip(line: str) -> str:
    """Return a line, of a long one its beginning and how much is missing."""
    end = "\n" * line.endswith("\n")
    more = len(line) - len(end) - _LONGEST_LINE
    return line if more <= 0 else f"{line[:_LONGEST_LINE]}… {more:,} more characters{end}"


def _fitting(lines: Sequence[str], budget: int) -> int:
    """Return how many of some lines a budget holds, one at least."""
    return max(bisect_right(range(1, len(lines) + 1), budget, key=lambda count: tokens("".join(lines[:count]))), 1)
