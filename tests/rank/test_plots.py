"""Drawings: text stays text, equal figures give equal bytes, and what cannot be drawn is an error."""

from __future__ import annotations

from math import nan
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="the bench extra is not installed")

from assay.errors import InputError
from assay.faults import Fault
from assay.rank import plots
from assay.rank.rows.data import Example
from assay.rank.rows.tables import sides

ROWS = [Example("t", "", "", "x", Fault.KEY_ERROR, 1, split="train"), Example("t", "", "", "y", Fault.CORRECT)]


def draw(path: Path, kind: str) -> None:
    if kind == "classes":
        plots.classes(sides(ROWS), path)
    elif kind == "heat":
        plots.heat(["one $x", "two"], ["set"], [[0.25], [nan]], "title", path)
    else:
        plots.curves({"one $x": {"pass@1": [(1, 0.1), (2, 0.2)]}, "b": {"loss": [(1, 3)]}}, path)


@pytest.mark.parametrize(("kind", "word"), [("classes", "KeyError"), ("heat", "0.25"), ("curves", "one $x")])
def test_drawings_say_what_they_show_and_are_the_same_every_time(tmp_path: Path, kind: str, word: str):
    draw(tmp_path / "a.svg", kind)
    draw(tmp_path / "b.svg", kind)
    assert word in (tmp_path / "a.svg").read_text()
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    draw(tmp_path / "a.png", kind)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="no name of a drawing"):
        draw(tmp_path / "a.doc", kind)


def test_a_smoothed_curve_begins_where_the_curve_does():
    assert plots.smoothed([(1, 0.0), (2, 1.0)], 0.5) == [(1, 0.0), (2, 0.5)]
    assert plots.smoothed([]) == []
