"""Define the parts of a report: words, tables, figures, panels and entries; write them as JSON and read them back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, NamedTuple

from assay.io.fields import as_json
from assay.io.files import dumps

Mark = Literal["", "best", "tied", "below", "bad", "good"]
"""What is known of a figure: the best of its column, not told apart from it, below it; or bad news, or good."""


class Mean(NamedTuple):
    """A mean with its 95% interval."""

    mean: float
    low: float
    high: float


def _finite(value: Any) -> Any:
    """Return a value with None for a number that is not finite, and for a mean with such an end."""
    if isinstance(value, tuple):
        inner = tuple(map(_finite, value))
        return (None if None in inner else value) if isinstance(value, Mean) else inner
    return None if isinstance(value, float) and not isfinite(value) else value


class _Finite:
    """A base class that replaces each number that is not finite by None."""

    __slots__: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Replace numbers that are not finite in every field."""
        for name in self.__slots__:
            object.__setattr__(self, name, _finite(getattr(self, name)))


@dataclass(frozen=True, slots=True)
class Number(_Finite):
    """A number with its interval, if it has one; None if nothing finite was measured."""

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
    """Untrusted text; a system's name has the color of its drawings."""

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
    """Its cells are words, which are aligned left."""
    over: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; the first cell of a row names it."""

    title: str
    columns: tuple[Column, ...]
    rows: Rows
    note: str = ""
    kind: Literal["table"] = "table"


def columns(*titles: str) -> tuple[Column, ...]:
    """Return columns whose cells are words."""
    return tuple(Column(title, words=True) for title in titles)


def table(title: str, columns: Iterable[Any], rows: Iterable[Iterable[Any]], note: str = "") -> Table:
    """Return a table; a column may be its title, a cell its words or how many there are."""
    heads = tuple(Column(each) if isinstance(each, str) else each for each in columns)
    return Table(title, heads, tuple(tuple(map(_cell, row)) for row in rows), note)


def _cell(value: Cell | str | int) -> Cell:
    return Phrase(value) if isinstance(value, str) else Count(value) if isinstance(value, int) else value


def figure(mean: Mean | None, digits: int = 3, *, mark: Mark = "", signed: bool = False, remark: str = "") -> Number:
    """Return the cell of a mean."""
    if mean is None:
        return Number(None, remark=remark)
    return Number(mean.mean, mean.low, mean.high, digits, signed=signed, mark=mark, remark=remark)


def fraction(value: float | None, digits: int = 0, remark: str = "") -> Number:
    """Return the cell of a fraction."""
    return Number(None if value is None else 100 * value, digits=digits, unit="%", remark=remark)


def probability(value: float, *, mark: Mark = "") -> Number:
    """Return the cell of a p value."""
    return Number(value, least=0.001, mark=mark)


def milliseconds(value: float | None) -> Number:
    """Return the cell of a time in milliseconds."""
    if value is not None and value >= 10_000:
        return Number(value / 1000, digits=0, unit="s")
    return Number(value, digits=2 if value and value < 1 else 1 if value and value < 10 else 0, unit="ms")


def seconds(value: float | None) -> Number:
    """Return the cell of a time in seconds."""
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


COLORS = 8
"""How many colours a page has, `--c0` and so on; markers tell apart what shares one."""


@dataclass(frozen=True, slots=True)
class Series:
    """Finite numbers of one name along an axis: latencies, ranks or steps."""

    name: str
    place: int
    xs: tuple[float, ...]
    figures: tuple[Mean, ...]

    def __post_init__(self) -> None:
        """Drop points that are not finite."""
        points = [each for each in zip(self.xs, self.figures, strict=False) if None not in _finite(each)]
        object.__setattr__(self, "xs", tuple(x for x, _ in points))
        object.__setattr__(self, "figures", tuple(each for _, each in points))


@dataclass(frozen=True, slots=True)
class Scatter:
    """A scatter plot: one number a name, over a time in milliseconds on a logarithmic axis."""

    title: str
    caption: str
    points: tuple[Series, ...]
    x: str
    y: str
    kind: Literal["scatter"] = "scatter"


@dataclass(frozen=True, slots=True)
class DotRow(_Finite):
    """One name's figures by panel, one for each group: the first is filled, the second hollow."""

    name: str
    place: int
    figures: tuple[tuple[Mean | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Dots:
    """A panel a measure, a row a name: means with their intervals."""

    title: str
    caption: str
    panels: tuple[str, ...]
    rows: tuple[DotRow, ...]
    kind: Literal["dots"] = "dots"


@dataclass(frozen=True, slots=True)
class ItemPair:
    """How much more one scored than another, item by item."""

    a: str
    b: str
    differences: tuple[float, ...]

    def __post_init__(self) -> None:
        """Drop items without a difference."""
        object.__setattr__(self, "differences", tuple(filter(isfinite, self.differences)))


@dataclass(frozen=True, slots=True)
class WinsAndLosses:
    """The items of each pair from the greatest loss to the greatest win."""

    title: str
    caption: str
    pairs: tuple[ItemPair, ...]
    x: str
    kind: Literal["wins"] = "wins"


@dataclass(frozen=True, slots=True)
class CurvePanel:
    """Lines that share their axes."""

    title: str
    lines: tuple[Series, ...]


@dataclass(frozen=True, slots=True)
class Curves:
    """How figures grow: a panel a measure, a line a name."""

    title: str
    caption: str
    panels: tuple[CurvePanel, ...]
    x: str = ""
    log: bool = False
    """Whether the horizontal axis is logarithmic, with a tick at each figure."""
    kind: Literal["curves"] = "curves"


@dataclass(frozen=True, slots=True)
class Heat(_Finite):
    """A table as a map, each number in its place; None stays blank."""

    title: str
    caption: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    kind: Literal["heat"] = "heat"


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar chart of counts."""

    title: str
    caption: str
    names: tuple[str, ...]
    counts: tuple[int, ...]
    x: str
    y: str
    kind: Literal["bars"] = "bars"


Figure = Scatter | Dots | WinsAndLosses | Curves | Heat | Bars


FORMAT = 1


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of phrases: the lead is emphasized, a note is muted."""

    parts: tuple[Phrase, ...]
    role: Literal["plain", "lead", "note", "heading"] = "plain"
    kind: Literal["paragraph"] = "paragraph"

    def __str__(self) -> str:
        """Return the words alone."""
        return "".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list under a heading; a warning is highlighted."""

    title: str
    items: tuple[Paragraph, ...]
    warning: bool = False
    kind: Literal["bullets"] = "bullets"


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A command or a program, printed verbatim."""

    text: str
    kind: Literal["verbatim"] = "verbatim"


@dataclass(frozen=True, slots=True)
class Fold:
    """A table behind a title that opens it."""

    title: str
    table: Table
    kind: Literal["fold"] = "fold"


@dataclass(frozen=True, slots=True)
class Choice:
    """One control of a switch or a filter; `options` pairs each value with its label."""

    name: str
    label: str
    options: Mapping[str, str]
    radio: bool = False


Leaf = Paragraph | Bullets | Verbatim | Fold | Table | Scatter | Dots | WinsAndLosses | Curves | Heat | Bars


@dataclass(frozen=True, slots=True)
class Panel:
    """The blocks shown for one state of the controls; a control that it does not name has no effect on it."""

    title: str
    subtitle: str
    state: Mapping[str, str]
    blocks: tuple[Leaf, ...]


@dataclass(frozen=True, slots=True)
class Panels:
    """Panels of which a switch shows some; without a script all stand one below another."""

    choices: tuple[Choice, ...]
    panels: tuple[Panel, ...]
    kind: Literal["panels"] = "panels"


@dataclass(frozen=True, slots=True)
class Detail:
    """A term with what belongs to it; `ordered` items are numbered."""

    term: Phrase
    items: tuple[Phrase, ...]
    ordered: bool = False
    more: int = 0
    """Items that are left out."""


@dataclass(frozen=True, slots=True)
class ListEntry:
    """A folded entry of a list: its line, and its content."""

    title: str
    about: str
    badges: tuple[str, ...]
    status: str
    """How it went, before the dots of whom that is of."""
    dots: tuple[Phrase, ...]
    state: Mapping[str, tuple[str, ...]]
    """By control of the filter, the values that it fits."""
    details: tuple[Detail, ...]
    text: str = ""
    """A program, or what else is to be read whole."""


@dataclass(frozen=True, slots=True)
class Entries:
    """A list of entries with a filter; `name` distinguishes its controls, `noun` says what is counted."""

    name: str
    noun: str
    choices: tuple[Choice, ...]
    entries: tuple[ListEntry, ...]
    kind: Literal["entries"] = "entries"


Block = Leaf | Panels | Entries


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report; `short` is its name in the contents, an untitled one begins a report."""

    key: str
    title: str
    blocks: tuple[Block, ...]
    short: str = ""
    untitled: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """A complete report."""

    title: str
    eyebrow: str
    facts: tuple[str, ...]
    sections: tuple[Section, ...]
    footer: str = ""
    format: int = FORMAT


def words(text: str, role: Literal["plain", "lead", "note", "heading"] = "plain") -> Paragraph:
    """Return a paragraph of one phrase."""
    return Paragraph((Phrase(text),), role)


def as_json_text(report: Report) -> str:
    """Write a report as JSON text."""
    return dumps(as_json(report)) + "\n"
