"""Figures in, drawings as SVG text out, made to stand inside a page.

Drawn with stand-in colours that become CSS variables, so that one drawing serves light and dark; text stays text. The
same figures give the same bytes: no dates, no random ids. A system has its colour and its marker everywhere.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from assay.bench.page.parts import COLOURS
from assay.bench.page.study import Figure

_MARKERS = "osD^v<>ph"
_INK, _MUTED, _RULE, _PAPER = "#101010", "#202020", "#303030", "#404040"
_VARIABLES = {_INK: "currentColor", _MUTED: "var(--muted)", _RULE: "var(--rule)", _PAPER: "var(--paper)"} | {
    f"#50000{place}": f"var(--c{place})" for place in range(COLOURS)
}
_STYLE = {
    "axes.edgecolor": _RULE,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": _MUTED,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": _INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.unicode_minus": True,
    "figure.facecolor": "none",
    "font.family": ["DejaVu Sans"],
    "font.size": 10.0,
    "grid.color": _RULE,
    "grid.linewidth": 0.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "assay",
    "text.color": _INK,
    "text.parse_math": False,
    "xtick.color": _MUTED,
    "xtick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.color": _MUTED,
    "ytick.major.size": 0,
    "ytick.minor.size": 0,
}
_LONGEST = 26
_WIDTH = 7.2


@dataclass(frozen=True, slots=True)
class Line:
    """One system's figures, each at a place on the axis: a latency, a rank, a number of tokens."""

    system: str
    place: int
    """Its place among all systems, which says its colour and marker."""
    xs: tuple[float, ...]
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One system's figures by measure, one for each role."""

    system: str
    place: int
    figures: Mapping[str, Mapping[str, Figure]]


@dataclass(frozen=True, slots=True)
class Pair:
    """How much more one system scored than another, query by query."""

    a: str
    b: str
    differences: tuple[float, ...]


def against_latency(points: Sequence[Line], measure: str) -> str:
    """Draw quality over the time a query takes, on a logarithmic axis."""
    with mpl.rc_context(_STYLE):
        drawing, axes = _canvas(4.6)
        for point in points:
            _dot(axes, point.xs[0], point.figures[0], point.place)
        axes.set_xscale("log")
        xs = [point.xs[0] for point in points]
        axes.set_xlim(min(xs) / 2.2, max(xs) * 3.2)
        axes.xaxis.set_major_locator(LogLocator(subs=(1,) if max(xs) > 30 * min(xs) else (1, 2, 5)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _time(value)))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("a warm query, median (log scale); left is faster")
        axes.set_ylabel(measure)
        axes.margins(y=0.12)
        _label(axes, [(point.system, point.xs[0], point.figures[0], point.place) for point in points])
        return _svg(drawing)


def measures(rows: Sequence[Row], names: Sequence[str], roles: Sequence[str]) -> str:
    """Draw one panel a measure and one row a system; of two roles the first is filled, the second hollow."""
    with mpl.rc_context(_STYLE):
        drawing, grid = _grid(1, len(names), 0.9 + 0.36 * len(rows), width=2 * _WIDTH)
        for axes, name in zip(grid, names, strict=True):
            _panel(axes, rows, name, roles)
            axes.set_yticks(range(len(rows)), [_short(row.system) for row in rows] if axes is grid[0] else [])
        return _svg(drawing)


def differences(pairs: Sequence[Pair], measure: str) -> str:
    """Draw the queries of each pair from the greatest loss to the greatest win, and count them."""
    with mpl.rc_context(_STYLE):
        drawing, grid = _grid(len(pairs), 1, 2.0 * len(pairs) + 0.6)
        for axes, pair in zip(grid, pairs, strict=True):
            _bars(axes, pair)
        grid[-1].set_xlabel(f"queries, sorted by the difference in {measure}")
        return _svg(drawing)


def curves(families: Mapping[str, Sequence[Line]]) -> str:
    """Draw how measures grow with what a reader is willing to read, one panel a family."""
    with mpl.rc_context(_STYLE):
        drawing, grid = _grid(1, len(families), 3.9)
        for axes, (name, lines) in zip(grid, families.items(), strict=True):
            for line in lines:
                means = [figure.mean for figure in line.figures]
                axes.plot(line.xs, means, color=_colour(line.place), marker=_marker(line.place), markersize=4.5, lw=1.6)
            axes.set_title(name)
            axes.set_xscale("log")
            axes.set_xticks(sorted({x for line in lines for x in line.xs}))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.xaxis.set_minor_formatter(NullFormatter())
        drawing.draw_without_rendering()
        for axes, lines in zip(grid, families.values(), strict=True):
            _ends(axes, lines)
        return _svg(drawing)


def _panel(axes: Axes, rows: Sequence[Row], name: str, roles: Sequence[str]) -> None:
    shift = 0.16 if len(roles) > 1 else 0.0
    for at, row in enumerate(rows):
        for turn, role in enumerate(roles):
            figure = row.figures.get(role, {}).get(name)
            if figure is not None:
                y, colour = at + (shift if turn else -shift), _colour(row.place)
                axes.plot([figure.low, figure.high], [y, y], color=colour, lw=1.3, alpha=0.55, solid_capstyle="round")
                fill = _PAPER if turn else colour
                axes.plot(figure.mean, y, _marker(row.place), color=colour, markersize=5.5, markerfacecolor=fill)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_title(name)
    axes.grid(visible=False, axis="y")
    axes.locator_params(axis="x", nbins=4)


def _bars(axes: Axes, pair: Pair) -> None:
    ordered = sorted(pair.differences)
    losses, wins = sum(value < 0 for value in ordered), sum(value > 0 for value in ordered)
    edges = list(range(len(ordered) + 1))
    for colour, low, high in ((_colour(1), 0, losses), (_colour(0), len(ordered) - wins, len(ordered))):
        if high > low:
            axes.stairs(ordered[low:high], edges[low : high + 1], fill=True, color=colour, alpha=0.85)
    axes.axhline(0, color=_MUTED, lw=0.8)
    axes.set_xlim(0, len(ordered))
    most = max((abs(value) for value in ordered), default=0) or 1
    axes.set_ylim(-most * 1.08, most * 1.08)
    axes.grid(visible=False, axis="x")
    axes.locator_params(axis="y", nbins=3)
    axes.set_title(f"{_short(pair.a)} against {_short(pair.b)}")
    ties = len(ordered) - wins - losses
    told = f"{wins} won · {ties} equal · {losses} lost"
    axes.text(1, 1.04, told, transform=axes.transAxes, ha="right", va="bottom", color=_MUTED)


def _dot(axes: Axes, x: float, figure: Figure, place: int) -> None:
    colour = _colour(place)
    axes.plot([x, x], [figure.low, figure.high], color=colour, lw=1.4, alpha=0.5, solid_capstyle="round")
    axes.plot(x, figure.mean, _marker(place), color=colour, markersize=8, markeredgecolor=_PAPER, markeredgewidth=1)


_Box = tuple[float, float, float, float]


def _label(axes: Axes, points: Sequence[tuple[str, float, Figure, int]]) -> None:
    """Write names beside points, each at the nearest place where it covers nothing; a far one gets a line."""
    drawing = axes.figure
    drawing.draw_without_rendering()
    scale = drawing.dpi / 72
    taken: list[_Box] = []
    for _, x, figure, _ in points:
        (px, low), (_, high) = axes.transData.transform([(x, figure.low), (x, figure.high)])
        middle = axes.transData.transform((x, figure.mean))[1]
        taken += [(px - 6, middle - 6, px + 6, middle + 6), (px - 2, low, px + 2, high)]
    left, bottom, right, top = axes.get_window_extent().extents
    for name, x, figure, place in sorted(points, key=lambda point: -point[2].mean):
        words = _short(name)
        px, py = axes.transData.transform((x, figure.mean))
        width, height = 6.3 * len(words) * scale, 12 * scale
        boxes = [(dx, dy, _box(px, py, dx * scale, dy * scale, (width, height))) for dx, dy in _places()]
        inside = [each for each in boxes if _within(each[2], (left, bottom, right, top))] or boxes
        dx, dy, box = next((each for each in inside if not any(_meet(each[2], other) for other in taken)), inside[0])
        taken.append(box)
        far = abs(dy) > 14 or abs(dx) > 14
        axes.annotate(
            words,
            (x, figure.mean),
            (dx, dy),
            textcoords="offset points",
            ha="left" if dx > 0 else "right",
            va="center",
            color=_colour(place),
            fontweight="bold",
            fontsize=9.5,
            arrowprops={"arrowstyle": "-", "color": _MUTED, "lw": 0.7, "shrinkB": 5} if far else None,
        )


def _places() -> Iterator[tuple[float, float]]:
    """Yield offsets in points, near ones first."""
    for far in (0, 10, 16, 26, 38, 52, 68, 86):
        for aside in (9, 16, 40) if far > 20 else (9,):
            for side in (1, -1):
                for up in (1, -1) if far else (1,):
                    yield side * aside, up * far


def _box(x: float, y: float, dx: float, dy: float, size: tuple[float, float]) -> _Box:
    left = x + dx if dx > 0 else x + dx - size[0]
    return left, y + dy - size[1] / 2, left + size[0], y + dy + size[1] / 2


def _within(box: _Box, frame: _Box) -> bool:
    return box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]


def _meet(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _ends(axes: Axes, lines: Sequence[Line]) -> None:
    """Write each name at the end of its line, pushed apart where ends lie close."""
    bottom, top = axes.get_ylim()
    step = 13 * axes.figure.dpi / 72 / axes.get_window_extent().height * (top - bottom)
    heights: list[float] = []
    ordered = sorted(lines, key=lambda line: line.figures[-1].mean)
    for line in ordered:
        end = line.figures[-1].mean
        heights.append(max(end, heights[-1] + step) if heights else end)
    over = max(0.0, heights[-1] - top) if heights else 0.0
    for at in range(len(heights) - 1, -1, -1):
        ceiling = heights[at + 1] - step if at + 1 < len(heights) else heights[at] - over
        heights[at] = min(heights[at], ceiling)
    for line, height in zip(ordered, heights, strict=True):
        axes.annotate(
            _short(line.system, 18),
            (line.xs[-1], line.figures[-1].mean),
            (1.04, height),
            textcoords=axes.get_yaxis_transform(),
            va="center",
            color=_colour(line.place),
            fontsize=9,
            arrowprops={"arrowstyle": "-", "color": _RULE, "lw": 0.8, "shrinkA": 0, "shrinkB": 4},
            annotation_clip=False,
        )


def _canvas(height: float) -> tuple[Drawing, Axes]:
    drawing = Drawing(figsize=(_WIDTH, height), layout="constrained")
    return drawing, drawing.add_subplot()


def _grid(rows: int, columns: int, height: float, *, width: float = _WIDTH) -> tuple[Drawing, list[Axes]]:
    drawing = Drawing(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.08))
    return drawing, [*drawing.subplots(rows, columns, squeeze=False).flat]


def _colour(place: int) -> str:
    return f"#50000{place % COLOURS}"


def _marker(place: int) -> str:
    return _MARKERS[place % len(_MARKERS)]


def _short(name: str, longest: int = _LONGEST) -> str:
    plain = "".join(letter if letter.isprintable() else " " for letter in name)
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"


def _time(value: float) -> str:
    return f"{value:g} ms" if value < 1000 else f"{value / 1000:g} s"


_NOISE = re.compile(
    r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->"
    r"|; font-family: 'DejaVu Sans'| transform=\"rotate\(-0 [^\"]*\"",
    re.DOTALL,
)
_ID = re.compile(r' id="([^"]*)"')
_REFERENCE = re.compile(r'(?:xlink:href="#|url\(#)([^")]*)')


def _svg(drawing: Any) -> str:
    """Return a drawing as an element: ids of its own, colours of the page, no size but its proportions."""
    held = StringIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a glyph missing here: text is set by the browser's fonts
        drawing.savefig(held, format="svg", metadata={"Date": None})
    markup = held.getvalue()
    markup = _NOISE.sub("", markup[markup.index("<svg") :])
    used = set(_REFERENCE.findall(markup))
    markup = _ID.sub(lambda match: match[0] if match[1] in used else "", markup)
    markup = re.sub(r'<svg [^>]*?viewBox="([^"]*)"[^>]*>', r'<svg viewBox="\1" role="img">', markup, count=1)
    while "<g></g>" in (markup := re.sub(r"\s*<g/>\s*|(?<=>)\s+(?=<)", "", markup)):
        markup = markup.replace("<g></g>", "")
    markup = re.sub(r"(\d\.\d\d)\d+", r"\1", markup).replace(" \n", " ").replace("xlink:href", "href")
    return re.sub(r"#(?:[1-4]0){3}|#50000\d", lambda match: _VARIABLES[match[0]], markup).strip()
