"""A drawing as a value: what is drawn with its title and words; `drawing` makes a picture of it.

A series has a place among all that a report shows: its colour and its marker everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assay.report.table import Mean

COLORS = 8
"""How many colours a page has, `--c0` and so on; markers tell apart what shares one."""


@dataclass(frozen=True, slots=True)
class Series:
    """Figures of one name, each at a place of the axis: a latency, a rank, a step."""

    name: str
    place: int
    xs: tuple[float, ...]
    figures: tuple[Mean, ...]


@dataclass(frozen=True, slots=True)
class Scatter:
    """One figure a name over a time in milliseconds, on a logarithmic axis."""

    title: str
    caption: str
    points: tuple[Series, ...]
    x: str
    y: str
    kind: Literal["scatter"] = "scatter"


@dataclass(frozen=True, slots=True)
class DotRow:
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
class Heat:
    """A table as a map, each number in its place; None stays blank."""

    title: str
    caption: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    kind: Literal["heat"] = "heat"


@dataclass(frozen=True, slots=True)
class BarPanel:
    """Bars with their names; one value of each group for each."""

    title: str
    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars that lie, a panel a kind, a colour a group."""

    title: str
    caption: str
    groups: tuple[str, ...]
    panels: tuple[BarPanel, ...]
    x: str = ""
    kind: Literal["bars"] = "bars"


Figure = Scatter | Dots | WinsAndLosses | Curves | Heat | Bars
