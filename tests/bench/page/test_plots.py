"""The drawings: the same for the same figures, in the page's colours, names as they are."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

pytest.importorskip("matplotlib")

from assay.bench.page import plots
from assay.bench.page.plots import Line, Pair, Row
from assay.bench.page.study import Figure

FIGURES = (Figure(0.5, 0.4, 0.6), Figure(0.52, 0.42, 0.61), Figure(0.51, 0.4, 0.6))
CROWD = [Line(f"system {at}", at, (1.0 + at / 50,), (FIGURES[at % 3],)) for at in range(9)]


def drawings() -> dict[str, str]:
    row = Row("one", 0, {"all test": {"MRR": FIGURES[0]}, "all dev": {"MRR": FIGURES[1]}})
    return {
        "latency": plots.against_latency(CROWD, "MRR"),
        "measures": plots.measures([row], ["MRR"], ["all test", "all dev"]),
        "differences": plots.differences([Pair("one", "two", (0.5, 0.0, -0.2, 0.1))], "MRR"),
        "curves": plots.curves(
            {"Hit@k": [Line("one", 0, (1.0, 5.0), FIGURES[:2]), Line("two", 1, (1.0, 5.0), FIGURES[:2])]}
        ),
    }


def test_a_drawing_is_the_same_each_time_and_has_no_size_or_colour_of_its_own():
    first = drawings()
    assert first == drawings()
    for name, drawing in first.items():
        ET.fromstring(drawing.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))
        assert not re.search(r"#[0-9a-f]{6}\b", drawing), name
        assert "width=" not in drawing.partition(">")[0]
        assert "<metadata" not in drawing
        assert "var(--c0)" in drawing


def test_names_are_text_whatever_they_hold():
    names = ["$x^2$ <i> & ]]>", "\\frac{", "日本語 \x07", "a" * 80]
    drawing = plots.against_latency(
        [Line(name, at, (1.0 + at,), (FIGURES[0],)) for at, name in enumerate(names)], "MRR"
    )
    told = "".join(ET.fromstring(drawing).itertext())
    for name in ("$x^2$ <i> & ]]>", "\\frac{", "日本語  ", "a" * 25 + "…"):
        assert name in told


def test_names_of_a_crowd_do_not_cover_each_other():
    drawing = plots.against_latency(CROWD, "MRR")
    names = re.findall(r'text-anchor: (start|end)[^>]* x="([\d.]+)" y="([\d.]+)"[^>]*>system', drawing)
    assert len(names) == 9
    boxes = [(float(x) - 48 * (side == "end"), float(y)) for side, x, y in names]
    for at, (left, base) in enumerate(boxes):
        for other_left, other_base in boxes[at + 1 :]:
            assert abs(base - other_base) > 9 or abs(left - other_left) > 48


def test_wins_and_losses_are_counted():
    assert "2 won · 1 equal · 1 lost" in drawings()["differences"]


def test_one_query_and_no_difference_can_be_drawn():
    assert "0 won · 1 equal · 0 lost" in plots.differences([Pair("one", "two", (0.0,))], "MRR")
