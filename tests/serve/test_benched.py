"""Reports as data: what report.html says, as text, and drawings that stand alone."""

from __future__ import annotations

import json
import os
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from assay.bench.bench_report import title
from assay.bench.results import Experiment, read_results
from assay.errors import InputError
from assay.serve import report_data
from assay.serve.report_data import DamagedReport, Reports, ReportSource, StillDrawing
from assay.serve.session import NotServed

_SPEC = spec_from_file_location("made", Path(__file__).parents[1] / "bench" / "page" / "conftest.py")
assert _SPEC
assert _SPEC.loader
_MADE = module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MADE)
FEW = {"assay": 0.7, "bm25": 0.42, "ripgrep $x^2$ <i>": 0.2, "semble": 0.66}


def put(folder: Path, **how: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(_MADE.make_results(**{"systems": FEW, "queries": 5, **how})))
    return folder


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    """Return a report that nobody changes, drawn once."""
    root = tmp_path_factory.mktemp("kept") / "click"
    return Reports([ReportSource("click", put(root / "assay-bench"), root)])


def test_the_newest_comes_first_and_each_has_a_name(tmp_path: Path):
    folders = [put(tmp_path / name / "assay-bench") for name in ("a", "b", "c")]
    (tmp_path / "b" / "assay-bench" / "results.json").write_text("{")
    for at, folder in enumerate(folders):
        os.utime(folder / "results.json", (at, at))
    sources = [ReportSource("same name", folder, folder) for folder in (*folders, tmp_path / "none")]
    listed = Reports(sources).listed().reports
    assert [each.name for each in listed] == ["same_name-3", "same_name-2", "same_name"]
    assert (listed[0].systems, listed[0].sets) == ([*FEW], [*_MADE.SETS])
    assert listed[0].written == "1970-01-01T00:00:02+00:00"
    assert "is not a results.json" in listed[1].error
    assert not listed[1].systems


def test_a_report_says_what_the_page_says_and_what_strangers_wrote_is_text(kept: Reports):
    report = kept.report("click")
    results = json.loads((kept.sources[0].folder / "results.json").read_text())
    assert report.verdict[0] == title(Experiment(read_results(results, "it")))
    for said in ("95% interval", "chosen on test"):
        assert any(said in line for line in report.verdict)
    titles = [table.title for table in report.tables]
    assert titles[0] == "Quality: mean and 95% interval"
    assert any(title.startswith("Cost, over 4 sets") for title in titles)
    assert any("Pairs of systems by nDCG@10" in title for title in titles)
    quality = report.tables[0]
    assert (quality.columns[0], quality.columns[1].endswith("nDCG@10")) == ("System", True)
    for table in report.tables:
        assert all(len(row) == len(table.columns) for row in table.rows), table.title
    mean, low, high = results["cells"][0]["figures"]["line"]["nDCG@10"]
    assert any(f"{mean:.3f} [{low:.2f}-{high:.2f}]" in cell for t in report.tables for row in t.rows for cell in row)
    told = json.dumps([report.verdict, [(t.title, t.columns, t.rows) for t in report.tables]])
    assert "ripgrep $x^2$ <i>" in told
    assert "&lt;" not in told
    assert "<span" not in told


def test_a_plot_stands_alone_and_does_not_wait_long_for_another(kept: Reports, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(report_data, "_PATIENCE_S", 0.01)
    report_data._drawn.cache_clear()
    with report_data._drawing, pytest.raises(StillDrawing, match="ask again"):
        kept.plot("click", 0)
    plots = kept.report("click").plots
    assert plots[0].src == "/api/bench/click/plots/0.svg"
    assert all(plot.title and plot.alt for plot in plots)
    for number in range(len(plots)):
        drawing = kept.plot("click", number)
        root = ET.fromstring(drawing)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert "prefers-color-scheme: dark" in drawing
        assert "<script" not in drawing
        assert not [each for each in root.iter() if each.tag.endswith(("image", "foreignObject"))]
    with pytest.raises(NotServed, match=f"has {len(plots)} plots"):
        kept.plot("click", len(plots))


def test_a_report_is_as_its_file_is_now_and_what_is_none_is_refused(tmp_path: Path):
    root = tmp_path / "click"
    file = put(root / "assay-bench") / "results.json"
    reports = Reports([ReportSource("click", root / "assay-bench", root)])
    before = reports.report("click").tables
    put(root / "assay-bench", seed=5, sets={"click": "dev"})
    assert reports.report("click").tables != before
    with pytest.raises(NotServed, match="no report 'other'"):
        reports.report("other")
    results = json.loads(file.read_text())
    file.write_text(json.dumps({**results, "cells": results["cells"][:1] * 501}))
    with pytest.raises(DamagedReport, match=r"501 cells.*open its report\.html"):
        reports.report("click")
    file.write_text('{"format": 1}')
    with pytest.raises(DamagedReport, match=r"is not a results\.json"):
        reports.report("click")
    assert issubclass(DamagedReport, InputError)
    os.truncate(file, 100_000_001)
    assert "100 MB" in reports.listed().reports[0].error


@pytest.mark.parametrize("linked", ["folder", "file"])
def test_a_link_out_of_the_root_is_no_report(tmp_path: Path, linked: str):
    other, root = put(tmp_path / "other"), tmp_path / "root"
    folder = root / "assay-bench"
    if linked == "folder":
        root.mkdir()
        folder.symlink_to(other)
    else:
        folder.mkdir(parents=True)
        (folder / "results.json").symlink_to(other / "results.json")
    assert Reports([ReportSource("root", folder, root)]).listed().reports == []


def test_nothing_measured_is_a_report_too(tmp_path: Path):
    put(tmp_path / "empty", sets={}, systems={})
    report = Reports([ReportSource("empty", tmp_path / "empty", tmp_path)]).report("empty")
    assert (report.verdict, report.tables, report.plots) == (["Nothing was measured"], [], [])
