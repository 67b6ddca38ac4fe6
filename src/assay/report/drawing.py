"""Draw figures with matplotlib: SVG for a page or PNG for a file, the same bytes for the same figure."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir
from contextvars import ContextVar
from io import BytesIO, StringIO
from typing import Any

from assay.report import document as doc

_LONGEST = 26

_Box = tuple[float, float, float, float]


def label_points(axes: Any, points: Sequence[doc.Series], color: Callable[[int], str], line: str) -> None:
    """Write names beside points, each at the nearest place where it covers nothing; a far one gets a line."""
    drawing: Any = axes.figure
    drawing.draw_without_rendering()
    scale = drawing.dpi / 72
    taken: list[_Box] = []
    for x, figure in ((point.xs[0], point.figures[0]) for point in points):
        (px, low), (_, high) = axes.transData.transform([(x, figure.low), (x, figure.high)])
        middle = axes.transData.transform((x, figure.mean))[1]
        taken += [(px - 6, middle - 6, px + 6, middle + 6), (px - 2, low, px + 2, high)]
    left, bottom, right, top = axes.get_window_extent().extents
    for point in sorted(points, key=lambda point: -point.figures[0].mean):
        x, figure, words = point.xs[0], point.figures[0], short(point.name)
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
            color=color(point.place),
            fontweight="bold",
            fontsize=9.5,
            arrowprops={"arrowstyle": "-", "color": line, "lw": 0.7, "shrinkB": 5} if far else None,
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


def label_ends(axes: Any, lines: Sequence[doc.Series], color: Callable[[int], str], rule: str) -> None:
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
            short(line.name, 18),
            (line.xs[-1], line.figures[-1].mean),
            (1.04, height),
            textcoords=axes.get_yaxis_transform(),
            va="center",
            color=color(line.place),
            fontsize=9,
            arrowprops={"arrowstyle": "-", "color": rule, "lw": 0.8, "shrinkA": 0, "shrinkB": 4},
            annotation_clip=False,
        )


def short(name: str, longest: int = _LONGEST) -> str:
    """Return a name that has room in a drawing."""
    plain = "".join(letter if letter.isprintable() else " " for letter in name)
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"


with chdir("/"):  # a matplotlibrc in the current folder may be a stranger's, and can start LaTeX
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.patches import Rectangle
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter


_MARKERS = "osD^v<>ph"
_STAND_IN = {"ink": "#101010", "muted": "#202020", "rule": "#303030", "paper": "#404040"} | {
    f"c{place}": f"#50000{place}" for place in range(doc.COLORS)
}
_LIGHT = {"ink": "#1c1d1f", "muted": "#5d6067", "rule": "#dddcd7", "paper": "#ffffff"} | {
    f"c{place}": color
    for place, color in enumerate("#0b66b0 #bd4b08 #0a7d5a #b04a86 #8f6a00 #1b78ad #6b55b8 #5a5d63".split())
}
_colors: ContextVar[Mapping[str, str]] = ContextVar("colors", default=_STAND_IN)
_WIDTH = 7.2


def svg(figure: doc.Figure) -> str:
    """Return a drawing as an element of a page: ids of its own, colours of the page, no size but its proportions."""
    held = StringIO()
    _save(figure, held, "svg", metadata={"Date": None})
    return _cleaned(held.getvalue())


def png(figure: doc.Figure) -> bytes:
    """Return a drawing as a picture in the colours of a light page."""
    held, before = BytesIO(), _colors.set(_LIGHT)
    try:
        _save(figure, held, "png", dpi=150, facecolor="white")
    finally:
        _colors.reset(before)
    return held.getvalue()


def _save(figure: doc.Figure, to: Any, form: str, **how: Any) -> None:
    with mpl.rc_context(_style()), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a glyph missing here: text is set by the browser's fonts
        _DRAWN[type(figure)](figure).savefig(to, format=form, **how)


_STYLE = {
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.unicode_minus": True,
    "figure.facecolor": "none",
    "font.family": ["DejaVu Sans"],
    "font.size": 10.0,
    "grid.linewidth": 0.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "assay",
    "text.parse_math": False,
    **{f"{axis}tick.{kind}.size": 0 for axis in "xy" for kind in ("major", "minor")},
}
_COLORED = {
    "rule": ("axes.edgecolor", "grid.color"),
    "muted": ("axes.labelcolor", "xtick.color", "ytick.color"),
    "ink": ("axes.titlecolor", "text.color"),
}


def _style() -> dict[str, Any]:
    return {**_STYLE, **{key: _color(name) for name, keys in _COLORED.items() for key in keys}}


def _scatter(figure: doc.Scatter) -> Drawing:
    """Draw figures over the time a query takes, on a logarithmic axis."""
    drawing, (axes,) = _grid(1, 1, 4.6)
    for point in figure.points:
        (x, *_), (mean, *_) = point.xs, point.figures
        color = _series(point.place)
        axes.plot([x, x], [mean.low, mean.high], color=color, lw=1.4, alpha=0.5, solid_capstyle="round")
        how: dict[str, Any] = {"markersize": 8, "markeredgecolor": _color("paper"), "markeredgewidth": 1}
        axes.plot(x, mean.mean, _marker(point.place), color=color, **how)
    xs = [point.xs[0] for point in figure.points]
    axes.set_xscale("log")
    axes.set_xlim(min(xs) / 2.2, max(xs) * 3.2)
    axes.xaxis.set_major_locator(LogLocator(subs=(1,) if max(xs) > 30 * min(xs) else (1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _time(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(figure.x)
    axes.set_ylabel(figure.y)
    axes.margins(y=0.12)
    label_points(axes, figure.points, _series, _color("muted"))
    return drawing


def _dots(figure: doc.Dots) -> Drawing:
    """Draw one panel a measure and one row a name; of two groups the first is filled, the second hollow."""
    drawing, grid = _grid(1, len(figure.panels), 0.9 + 0.36 * len(figure.rows), width=2 * _WIDTH)
    for at, (axes, name) in enumerate(zip(grid, figure.panels, strict=True)):
        _dot_panel(axes, [(row, row.figures[at]) for row in figure.rows], name)
        axes.set_yticks(range(len(figure.rows)), [short(row.name) for row in figure.rows] if axes is grid[0] else [])
    return drawing


def _dot_panel(axes: Axes, rows: Sequence[tuple[doc.DotRow, Sequence[doc.Mean | None]]], name: str) -> None:
    for at, (row, groups) in enumerate(rows):
        shift = 0.16 if len(groups) > 1 else 0.0
        for turn, figure in enumerate(groups):
            if figure is not None:
                y, color = at + (shift if turn else -shift), _series(row.place)
                axes.plot([figure.low, figure.high], [y, y], color=color, lw=1.3, alpha=0.55, solid_capstyle="round")
                fill = _color("paper") if turn else color
                axes.plot(figure.mean, y, _marker(row.place), color=color, markersize=5.5, markerfacecolor=fill)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_title(name)
    axes.grid(visible=False, axis="y")
    axes.locator_params(axis="x", nbins=4)


def _wins(figure: doc.WinsAndLosses) -> Drawing:
    """Draw the items of each pair from the greatest loss to the greatest win, and count them."""
    drawing, grid = _grid(len(figure.pairs), 1, 2.0 * len(figure.pairs) + 0.6)
    for axes, pair in zip(grid, figure.pairs, strict=True):
        _pair(axes, pair)
    grid[-1].set_xlabel(figure.x)
    return drawing


def _pair(axes: Axes, pair: doc.ItemPair) -> None:
    ordered = sorted(pair.differences)
    losses, wins = sum(value < 0 for value in ordered), sum(value > 0 for value in ordered)
    edges = list(range(len(ordered) + 1))
    for color, low, high in ((_series(1), 0, losses), (_series(0), len(ordered) - wins, len(ordered))):
        if high > low:
            axes.stairs(ordered[low:high], edges[low : high + 1], fill=True, color=color, alpha=0.85)
    axes.axhline(0, color=_color("muted"), lw=0.8)
    axes.set_xlim(0, len(ordered))
    most = max((abs(value) for value in ordered), default=0) or 1
    axes.set_ylim(-most * 1.08, most * 1.08)
    axes.grid(visible=False, axis="x")
    axes.locator_params(axis="y", nbins=3)
    axes.set_title(f"{short(pair.a)} against {short(pair.b)}")
    count = f"{wins} won · {len(ordered) - wins - losses} equal · {losses} lost"
    axes.text(1, 1.04, count, transform=axes.transAxes, ha="right", va="bottom", color=_color("muted"))


def _curves(figure: doc.Curves) -> Drawing:
    """Draw how figures grow, one panel a measure; names stand at the ends of their lines."""
    drawing, grid = _grid(1, len(figure.panels), 3.9, width=_WIDTH * max(1.0, len(figure.panels) / 2))
    for axes, panel in zip(grid, figure.panels, strict=True):
        for line in panel.lines:
            how: dict[str, Any] = {"marker": _marker(line.place), "markersize": 4.5} if figure.log else {}
            axes.plot(line.xs, [each.mean for each in line.figures], color=_series(line.place), lw=1.6, **how)
        axes.set_title(panel.title)
        axes.set_xlabel(figure.x)
        if figure.log:
            axes.set_xscale("log")
            axes.set_xticks(sorted({x for line in panel.lines for x in line.xs}))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.xaxis.set_minor_formatter(NullFormatter())
        else:
            axes.locator_params(axis="x", nbins=4)
    drawing.draw_without_rendering()
    for axes, panel in zip(grid, figure.panels, strict=True):
        label_ends(axes, panel.lines, _series, _color("rule"))
    return drawing


def _heat(figure: doc.Heat) -> Drawing:
    """Draw a table as a map: the greater a number, the stronger its place."""
    width, height = 2.4 + 1.1 * len(figure.columns), 1.0 + 0.42 * len(figure.rows)
    drawing, (axes,) = _grid(1, 1, height, width=max(width, _WIDTH))
    known = [value for row in figure.values for value in row if value is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    for y, row in enumerate(figure.values):
        for x, value in enumerate(row):
            if value is not None:
                alpha = 0.08 + 0.47 * ((value - low) / (high - low) if high > low else 1)
                axes.add_patch(Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, color=_series(0), alpha=alpha, lw=0))
                axes.text(x, y, f"{value:.2f}", ha="center", va="center")
    axes.set_xticks(range(len(figure.columns)), [short(name) for name in figure.columns], rotation=20, ha="right")
    axes.set_yticks(range(len(figure.rows)), [short(name) for name in figure.rows])
    axes.set_xlim(-0.5, len(figure.columns) - 0.5)
    axes.set_ylim(len(figure.rows) - 0.5, -0.5)
    axes.grid(visible=False)
    return drawing


def _bars(figure: doc.Bars) -> Drawing:
    most = max((len(panel.names) for panel in figure.panels), default=0)
    drawing, grid = _grid(1, len(figure.panels), max(3.6, 1.0 + 0.2 * most), width=9)
    for axes, panel in zip(grid, figure.panels, strict=True):
        _bar_panel(axes, panel, figure)
    if len(figure.groups) > 1:
        grid[0].legend(frameon=False)
    return drawing


def _bar_panel(axes: Axes, panel: doc.BarPanel, figure: doc.Bars) -> None:
    height = 0.8 / max(len(figure.groups), 1)
    for place, (group, values) in enumerate(zip(figure.groups, panel.values, strict=True)):
        at = [number + place * height for number in range(len(panel.names))]
        axes.barh(at, values, height, color=_series(place), label=group)
    axes.set_yticks([number + 0.4 - height / 2 for number in range(len(panel.names))], panel.names)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(figure.x)
    axes.set_title(panel.title)


def _grid(rows: int, columns: int, height: float, *, width: float = _WIDTH) -> tuple[Drawing, list[Axes]]:
    drawing = Drawing(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.08))
    return drawing, [*drawing.subplots(rows, columns, squeeze=False).flat]


def _color(name: str) -> str:
    return _colors.get()[name]


def _series(place: int) -> str:
    return _color(f"c{place % doc.COLORS}")


def _marker(place: int) -> str:
    return _MARKERS[place % len(_MARKERS)]


def _time(value: float) -> str:
    return f"{value:g} ms" if value < 1000 else f"{value / 1000:g} s"


_DRAWN: Mapping[type, Callable[[Any], Drawing]] = {
    doc.Scatter: _scatter,
    doc.Dots: _dots,
    doc.WinsAndLosses: _wins,
    doc.Curves: _curves,
    doc.Heat: _heat,
    doc.Bars: _bars,
}

_NOISE = re.compile(
    r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->"
    r"|; font-family: 'DejaVu Sans'| transform=\"rotate\(-0 [^\"]*\"",
    re.DOTALL,
)
_TAG = re.compile(r"<[^>]*>")
_DECIMALS = re.compile(r"(\d\.\d\d)\d+")
_ID = re.compile(r' id="([^"]*)"')
_REFERENCE = re.compile(r'(?:xlink:href="#|url\(#)([^")]*)')


_VARIABLES = {color: "currentColor" if name == "ink" else f"var(--{name})" for name, color in _STAND_IN.items()}


def _cleaned(markup: str) -> str:
    markup = _NOISE.sub("", markup[markup.index("<svg") :])
    used = set(_REFERENCE.findall(markup))
    markup = _ID.sub(lambda match: match[0] if match[1] in used else "", markup)
    markup = re.sub(r'<svg [^>]*?viewBox="([^"]*)"[^>]*>', r'<svg viewBox="\1" role="img">', markup, count=1)
    while "<g></g>" in (markup := re.sub(r"\s*<g/>\s*|(?<=>)\s+(?=<)", "", markup)):
        markup = markup.replace("<g></g>", "")
    markup = _TAG.sub(lambda tag: _DECIMALS.sub(r"\1", tag[0]), markup)  # of places, never of figures that are read
    markup = markup.replace(" \n", " ").replace("xlink:href", "href")
    return re.sub(r"#(?:[1-4]0){3}|#50000\d", lambda match: _VARIABLES[match[0]], markup).strip()
