"""Names beside what is drawn, where they cover nothing: at points of a plot, and at the ends of its lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from assay.report.figure import Series

_LONGEST = 26

_Box = tuple[float, float, float, float]


def label_points(axes: Any, points: Sequence[Series], color: Callable[[int], str], line: str) -> None:
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


def label_ends(axes: Any, lines: Sequence[Series], color: Callable[[int], str], rule: str) -> None:
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
