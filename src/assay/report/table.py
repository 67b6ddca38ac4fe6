"""A table as a value: typed cells, so that each number is written the same way wherever a table is shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Mark = Literal["", "best", "tied", "below", "bad", "good"]
"""What is known of a figure: the best of its column, not told apart from it, below it; or bad news, or good."""


class Mean(NamedTuple):
    """A mean with its 95% interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Number:
    """A figure, with its interval where it has one; None where nothing was measured."""

    value: float | None
    low: float | None = None
    high: float | None = None
    digits: int = 3
    unit: str = ""
    signed: bool = False
    least: float = 0.0
    """A value below this is written as less than this: no p value is 0."""
    mark: Mark = ""
    remark: str = ""
    kind: Literal["number"] = "number"


@dataclass(frozen=True, slots=True)
class Count:
    """How many there are."""

    value: int
    mark: Mark = ""
    kind: Literal["count"] = "count"


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words, perhaps of strangers; a system's name has the colour that its drawings have."""

    text: str
    color: int | None = None
    code: bool = False
    mark: Mark = ""
    badges: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """Badges that say what is wrong."""
    remark: str = ""
    lines: tuple[str, ...] = ()
    """Details, folded where a page can fold."""
    href: str = ""
    """A place of the same page, as `#errors`."""
    kind: Literal["phrase"] = "phrase"


Cell = Number | Count | Phrase
Rows = tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a column; `over` is a wider head that neighbours share."""

    title: str
    hint: str = ""
    words: bool = False
    """It holds words, which stand to the left."""
    over: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; the first cell of a row names it."""

    title: str
    columns: tuple[Column, ...]
    rows: Rows
    note: str = ""
    kind: Literal["table"] = "table"


def figure(mean: Mean | None, digits: int = 3, *, mark: Mark = "", signed: bool = False, remark: str = "") -> Number:
    """Return the cell of a mean."""
    if mean is None:
        return Number(None, remark=remark)
    return Number(mean.mean, mean.low, mean.high, digits, signed=signed, mark=mark, remark=remark)


def fraction(value: float | None, digits: int = 0, remark: str = "") -> Number:
    """Return the cell of a part of a whole."""
    return Number(None if value is None else 100 * value, digits=digits, unit="%", remark=remark)


def probability(value: float, *, mark: Mark = "") -> Number:
    """Return the cell of a p value."""
    return Number(value, least=0.001, mark=mark)


def milliseconds(value: float | None) -> Number:
    """Return the cell of a time that people wait for an answer."""
    if value is not None and value >= 10_000:
        return Number(value / 1000, digits=0, unit="s")
    return Number(value, digits=2 if value and value < 1 else 1 if value and value < 10 else 0, unit="ms")


def seconds(value: float | None) -> Number:
    """Return the cell of a time that people wait for an index."""
    return Number(value, digits=2 if value and value < 10 else 0, unit="s")


def megabytes(value: float | None) -> Number:
    """Return the cell of a size."""
    if value is not None and 0 < value < 0.1:
        return Number(1000 * value, digits=0, unit="kB")
    return Number(value, digits=1 if value and value < 10 else 0, unit="MB")


def listed(items: tuple[str, ...] | list[str], most: int = 3) -> str:
    """Return `a, b and c`, or `a, b, c and 4 more`."""
    if len(items) > most + 1:
        return f"{', '.join(items[:most])} and {len(items) - most} more"
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))
