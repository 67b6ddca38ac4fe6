"""Make tables of plain values, and print them; and make what is not a number null in JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from assay.report.document import Cell, Column, Count, Number, Phrase, Table
from assay.report.plain_text import table_lines

if TYPE_CHECKING:
    from assay.measure.agreement import Estimate
    from assay.measure.passk import AtK


def table(heads: Sequence[str], rows: Iterable[Sequence[Cell | str | int]], title: str = "") -> Table:
    """Return a table; its first column and those of texts alone stand to the left; a whole number is a count."""
    every = [tuple(row) for row in rows]
    texts = [not at or all(isinstance(row[at], str) for row in every) for at in range(len(heads))]
    columns = tuple(Column(head, words=words) for head, words in zip(heads, texts, strict=True))
    return Table(title, columns, tuple(tuple(map(_cell, row)) for row in every))


def lines(heads: Sequence[str], rows: Iterable[Sequence[Cell | str | int]], indent: str = "") -> Iterator[str]:
    """Yield such a table as lines for a terminal."""
    return table_lines(table(heads, rows), indent)


def estimate(one: Estimate | AtK) -> Number:
    """Return the cell of a value with its interval; what is not defined has none."""
    return Number(None) if isnan(one.value) else Number(one.value, one.low, one.high)


def nulled(value: Any) -> Any:
    """Return plain data in which what is not a number is null."""
    if isinstance(value, dict):
        return {key: nulled(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [nulled(inner) for inner in value]
    return None if isinstance(value, float) and isnan(value) else value


def _cell(value: Cell | str | int) -> Cell:
    return Phrase(value) if isinstance(value, str) else Count(value) if isinstance(value, int) else value
