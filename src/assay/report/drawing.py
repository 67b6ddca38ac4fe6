"""Draw figures with matplotlib: SVG in the colors of a page, the same bytes for the same figure."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import chdir
from contextvars import ContextVar
from io import BytesIO, StringIO
from typing import IO, Any

from assay.report import document as doc

_MAX_NAME_CHARS = 26


def short(name: str, longest: int = _MAX_NAME_CHARS) -> str:
    """Shorten a name to fit into a drawing."""
    plain = "".join(letter if letter.isprintable() else " " for letter in name)
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"


with chdir("/"):  # a matplotlibrc in the current folder may be a stranger's, and can start LaTeX
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.lines import Line2D
    from matplotlib.patches import Rectangle
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter


_MARKERS = "osD^v<>ph"
_STAND_IN = {"ink": "#101010", "muted": "#202020", "rule": "#303030", "paper": "#404040"} | {
    f"c{place}": f"#50000{place}" for place in range(doc.COLORS)
}
_COLORS: ContextVar[Mapping[str, str]] = ContextVar("colors", default=_STAND_IN)
_WIDTH = 7.2
MAX_NAMED = 30


def svg(figure: doc.Figure) -> str:
    """Return a drawing as an SVG element of a page: unique ids, the page's colors, proportions without a size."""
    held = StringIO()
    _save(figure, held, format="svg", metadata={"Date": None})
    return _cleaned(held.getvalue())


def png(figure: doc.Figure, colors: Mapping[str, str]) -> bytes:
    """Return a drawing as a PNG picture, in the given colors by their names in a page."""
    held, token = BytesIO(), _COLORS.set(colors)
    try:
        _save(figure, held, format="png", dpi=200, facecolor=_color("paper"))
    finally:
        _COLORS.reset(token)
    return held.getvalue()


def _save(figure: doc.Figure, to: IO[Any], **how: Any) -> None:
    with mpl.rc_context(_style()), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a glyph missing here: text is set by the browser's fonts
        _DRAWN[type(figure)](figure).savefig(to, **how)


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
    points = [each for each in figure.points if each.xs]
    for point in points:
        (x, *_), (mean, *_) = point.xs, point.figures
        color = _series(point.place)
        axes.plot([x, x], [mean.low, mean.high], color=color, lw=1.4, alpha=0.5, solid_capstyle="round")
        how: dict[str, Any] = {"markersize": 8, "markeredgecolor": _color("paper"), "markeredgewidth": 1}
        axes.plot(x, mean.mean, _marker(point.place), color=color, **how)
    xs = [point.xs[0] for point in points] or [1.0]
    axes.set_xscale("log")
    axes.set_xlim(min(xs) / 2.2, max(xs) * 3.2)
    axes.xaxis.set_major_locator(LogLocator(subs=(1,) if max(xs) > 30 * min(xs) else (1, 2, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _time(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(figure.x)
    axes.set_ylabel(figure.y)
    axes.margins(y=0.12)
    _legend(drawing, points)
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
    axes.set_xlim(0, len(ordered) or 1)
    most = max((abs(value) for value in ordered), default=0) or 1
    axes.set_ylim(-most * 1.08, most * 1.08)
    axes.grid(visible=False, axis="x")
    axes.locator_params(axis="y", nbins=3)
    axes.set_title(f"{short(pair.a)} against {short(pair.b)}")
    count = f"{wins} won · {len(ordered) - wins - losses} equal · {losses} lost"
    axes.text(1, 1.04, count, transform=axes.transAxes, ha="right", va="bottom", color=_color("muted"))


def _curves(figure: doc.Curves) -> Drawing:
    """Draw how figures grow, one panel a measure."""
    drawing, grid = _grid(1, len(figure.panels), 3.9, width=_WIDTH * max(1.0, len(figure.panels) / 2))
    for axes, panel in zip(grid, figure.panels, strict=True):
        for line in panel.lines:
            how: dict[str, Any] = {"marker": _marker(line.place), "markersize": 4.5, "color": _series(line.place)}
            axes.plot(line.xs, [each.mean for each in line.figures], lw=1.6, **how)
        axes.set_title(panel.title)
        axes.set_xlabel(figure.x)
        if figure.log:
            axes.set_xscale("log")
            axes.set_xticks(sorted({x for line in panel.lines for x in line.xs}))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.xaxis.set_minor_formatter(NullFormatter())
        else:
            axes.locator_params(axis="x", nbins=4)
    _legend(drawing, (line for panel in figure.panels for line in panel.lines))
    return drawing


def _heat(figure: doc.Heat) -> Drawing:
    """Draw a table as a heat map."""
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
    """Draw a bar a name, its count above it."""
    drawing, (axes,) = _grid(1, 1, 3.9)
    places = range(len(figure.names))
    bars = axes.bar(places, figure.counts, width=0.72, color=_series(0))
    if len(places) <= MAX_NAMED:
        axes.bar_label(bars, [f"{count:,}" for count in figure.counts], fontsize=8, color=_color("muted"), padding=2)
    step = -(-len(places) // MAX_NAMED)
    axes.set_xticks(places[::step], [short(name) for name in figure.names[::step]])
    axes.grid(visible=False, axis="x")
    axes.set_xlabel(figure.x)
    axes.set_ylabel(figure.y)
    return drawing


def _grid(rows: int, columns: int, height: float, *, width: float = _WIDTH) -> tuple[Drawing, list[Axes]]:
    drawing = Drawing(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.08))
    return drawing, [*drawing.subplots(rows, columns, squeeze=False).flat]


def _legend(drawing: Drawing, series: Iterable[doc.Series]) -> None:
    """Name each color and marker below the panels."""
    named = {each.name: each for each in series}.values()
    marks = [Line2D([], [], color=_series(each.place), marker=_marker(each.place), lw=1.6) for each in named]
    drawing.legend(marks, [short(each.name) for each in named], loc="outside lower center", ncols=3, frameon=False)


def _color(name: str) -> str:
    return _COLORS.get()[name]


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
