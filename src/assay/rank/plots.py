"""Figures of rankers in, drawings out as SVG or PNG by the name of the file; the owner of matplotlib here.

The drawings are those of Inala et al. 2022: how frequent each class is (figure 6), how a ranker does in training
(figures 4 and 7), and which data make a ranker good for which samples (figure 5). Equal figures give equal bytes.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from assay.errors import InputError, StorageError
from assay.faults import EXECUTION, INTENT, Fault
from assay.rank.rows.tables import Side

_STYLE = {
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 9.0,
    "grid.color": "#d9d9d9",
    "grid.linewidth": 0.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "assay",
    "text.parse_math": False,
}
_COLOURS = ("#2f6db5", "#d0722b", "#3f8f57", "#a33f4d", "#7a5fa8", "#7c6a52", "#c45fa0", "#6b7280")
FORMS = (".svg", ".png")

Curve = Sequence[tuple[float, float]]
"""Steps and what a measure was worth there."""


def check(path: Path) -> None:
    """Refuse a name whose form cannot be drawn, before anything is measured."""
    if path.suffix not in FORMS:
        raise InputError(f"'{path}' is no name of a drawing, wanted one that ends in {' or '.join(FORMS)}")


def classes(sides: Sequence[Side], path: Path) -> None:
    """Draw how frequent each class of errors is, as a share of all samples of a split."""
    with mpl.rc_context(_STYLE):
        drawing = Figure(figsize=(9, 3.6), layout="constrained")
        for axes, title, members in zip(
            drawing.subplots(1, 2), ("execution errors", "intent errors"), (EXECUTION, INTENT), strict=True
        ):
            _bars(axes, sides, [fault for fault in Fault if fault in members])
            axes.set_title(title)
        drawing.axes[0].legend(frameon=False)
        _save(drawing, path)


def curves(logs: Mapping[str, Mapping[str, Curve]], path: Path) -> None:
    """Draw measures over training steps, one panel a measure and one line a ranker."""
    names = list(dict.fromkeys(name for measures in logs.values() for name in measures))
    with mpl.rc_context(_STYLE):
        drawing = Figure(figsize=(4.2 * len(names), 3.4), layout="constrained")
        for axes, name in zip(drawing.subplots(1, len(names), squeeze=False).flat, names, strict=True):
            for place, (ranker, measures) in enumerate(logs.items()):
                if measures.get(name):
                    steps, values = zip(*measures[name], strict=True)
                    axes.plot(steps, values, color=_COLOURS[place % len(_COLOURS)], lw=1.4, label=ranker)
            axes.set_title(name)
            axes.set_xlabel("step")
        drawing.axes[0].legend(frameon=False)
        _save(drawing, path)


def heat(
    rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float]], title: str, path: Path
) -> None:
    """Draw a table as a heat map, each number in its place; nan stays blank."""
    table = np.array(values, dtype=np.float64)
    with mpl.rc_context(_STYLE | {"axes.grid": False}):
        size = (2.4 + 1.1 * len(columns), 1.4 + 0.42 * len(rows))
        drawing = Figure(figsize=size, layout="constrained")
        axes = drawing.add_subplot()
        axes.imshow(np.ma.masked_invalid(table), cmap="Blues", aspect="auto")
        axes.set_xticks(range(len(columns)), columns, rotation=20, ha="right")
        axes.set_yticks(range(len(rows)), rows)
        axes.set_title(title, loc="left", fontsize="medium")
        there = table[~np.isnan(table)]
        middle = (there.min() + there.max()) / 2 if len(there) else 0.0
        for row, column in zip(*np.nonzero(~np.isnan(table)), strict=True):
            value = table[row, column]
            axes.text(
                column, row, f"{value:.2f}", ha="center", va="center", color="white" if value > middle else "black"
            )
        _save(drawing, path)


def smoothed(curve: Curve, share: float = 0.4) -> list[tuple[float, float]]:
    """Return a curve as its exponential mean, as the paper draws it."""
    told: list[tuple[float, float]] = []
    for step, value in curve:
        told.append((step, value if not told else share * value + (1 - share) * told[-1][1]))
    return told


def _bars(axes: Axes, sides: Sequence[Side], faults: Sequence[Fault]) -> None:
    height = 0.8 / max(len(sides), 1)
    for place, side in enumerate(sides):
        shares = [100 * side.classes.get(fault, 0) / (side.samples or 1) for fault in faults]
        at = [number + place * height for number in range(len(faults))]
        axes.barh(at, shares, height, color=_COLOURS[place % len(_COLOURS)], label=side.name or "all")
    axes.set_yticks([number + 0.4 - height / 2 for number in range(len(faults))], [str(fault) for fault in faults])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("% of samples")


def _save(drawing: Figure, path: Path) -> None:
    check(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a glyph missing here: the viewer has its own fonts
            drawing.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error
