"""The drawings: the same for the same figures, in the page's colours, names as they are."""

from __future__ import annotations

import re
from math import inf, nan
from xml.etree import ElementTree as ET

import pytest

pytest.importorskip("matplotlib", reason="the bench extra is not installed")

from assay.report.document import (
    Bars,
    CurvePanel,
    Curves,
    DotRow,
    Dots,
    Figure,
    Heat,
    ItemPair,
    Mean,
    Scatter,
    Series,
    WinsAndLosses,
)
from assay.report.drawing import svg

FIGURES = (Mean(0.5, 0.4, 0.6), Mean(0.52, 0.42, 0.61), Mean(0.51, 0.4, 0.6))
CROWD = tuple(Series(f"system {at}", at, (1.0 + at / 50,), (FIGURES[at % 3],)) for at in range(9))
LINES = (Series("one $x", 0, (1.0, 5.0), FIGURES[:2]), Series("two", 1, (1.0, 5.0), FIGURES[:2]))


def wins(*differences: float) -> WinsAndLosses:
    return WinsAndLosses("wins", "", (ItemPair("one", "two", differences),), "queries")


DRAWN: dict[str, tuple[Figure, str]] = {
    "latency": (Scatter("latency", "", CROWD, "ms", "MRR"), "system 8"),
    "measures": (Dots("dots", "", ("MRR",), (DotRow("one", 0, (FIGURES[:2],)),)), "MRR"),
    "differences": (wins(0.5, 0.0, -0.2, 0.1), "2 won · 1 equal · 1 lost"),
    "training": (
        Curves("training", "", (CurvePanel("loss", LINES), CurvePanel("pass@1", LINES[:1])), "step"),
        "one $x",
    ),
    "bars": (Bars("bars", "", ("0", "1"), (1200, 3), "matches", "queries"), "1,200"),
    "heat": (Heat("heat", "", ("one $x", "two"), ("set",), ((0.25,), (None,))), "0.25"),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_drawing_says_what_it_shows_the_same_each_time(name: str):
    figure, word = DRAWN[name]
    drawing = svg(figure)
    assert word in drawing
    assert drawing == svg(figure)
    ET.fromstring(drawing.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))
    assert not re.search(r"#[0-9a-f]{6}\b", drawing), "it has no colours of its own"
    assert "width=" not in drawing.partition(">")[0]
    assert "<metadata" not in drawing
    assert "<image" not in drawing
    assert "var(--c0)" in drawing


def test_names_are_text_whatever_they_hold_and_figures_keep_their_decimals():
    names = ["$x^2$ <i> & ]]>", "\\frac{", "日本語 \x07", "a" * 80]
    points = tuple(Series(name, at, (1.0 + at,), (FIGURES[0],)) for at, name in enumerate(names))
    told = "".join(ET.fromstring(svg(Scatter("", "", points, "ms", "MRR"))).itertext())
    for name in ("$x^2$ <i> & ]]>", "\\frac{", "日本語  ", "a" * 25 + "…"):
        assert name in told
    drawing = svg(Curves("curves", "", (CurvePanel("MRR 0.12345", LINES),), "step", log=True))
    assert ">MRR 0.12345<" in drawing
    assert not re.search(r"<[^>]*\d\.\d{3}[^>]*>", drawing)
    assert "0 won · 1 equal · 0 lost" in svg(wins(0.0)), "one query and no difference can be drawn"


def test_what_is_not_finite_is_not_drawn():
    lost = Series("lost", 0, (1.0, 2.0), (Mean(nan, nan, nan), Mean(inf, 0.0, inf)))
    assert "0 won · 0 equal · 0 lost" in svg(wins(nan))
    assert ">0.25<" in svg(Heat("", "", ("row",), ("a", "b"), ((nan, 0.25),)))
    assert "MRR" in svg(Scatter("", "", (lost,), "ms", "MRR"))
    assert "loss" in svg(Curves("", "", (CurvePanel("loss", (lost, *LINES)),), "step", log=True))
    assert "MRR" in svg(Dots("", "", ("MRR",), (DotRow("one", 0, (lost.figures, (Mean(nan, 0, 1),))),)))
