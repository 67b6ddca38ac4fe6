"""A number that is not finite is nowhere: an empty cell of a table, null in JSON, no point of a drawing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.bench import results, results_file
from assay.io import files
from assay.io.fields import read_value
from assay.report import document as doc
from assay.report.plain_text import as_markdown, as_text
from assay.runs import record

FLOATS = st.sampled_from([0.5, 2.0, -1e6, float("nan"), float("inf"), -float("inf")])
st.register_type_strategy(float, FLOATS)
st.register_type_strategy(int, st.integers(0, 9))
st.register_type_strategy(str, st.sampled_from(["", "word", "ü\udcff"]))
TABLES = st.lists(st.builds(doc.Number, FLOATS, FLOATS, FLOATS)).map(
    lambda cells: doc.table("", ["cell"], [[each] for each in cells])
)
VALUES = st.recursive(
    FLOATS | st.none() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@settings(max_examples=30)
@given(st.lists(TABLES | st.from_type(doc.Figure), max_size=3))
def test_a_report_is_read_back_as_it_was_written(blocks: list[doc.Block]):
    report = doc.Report("title", "", ("fact",), (doc.Section("key", "", tuple(blocks)),))
    held = json.loads(doc.as_json_text(report), parse_constant=pytest.fail)
    assert doc.as_json(read_value(doc.Report, held)) == held
    assert not {"nan", "inf", "-inf"} & {*(as_text(report) + as_markdown(report)).replace("[", " ").split()}


@settings(max_examples=30)
@given(VALUES)
def test_each_writer_of_json_writes_what_everybody_reads(tmp_path_factory: pytest.TempPathFactory, value: object):
    folder: Path = tmp_path_factory.mktemp("json")
    files.write_json(folder / "a", {"value": value})
    files.write_rows(folder / "b", [{"value": value}])
    record.append_lines(folder / "c", [{"value": value}])
    found = results.Results(1, results.RunManifest((), 1, 0, {}, "", details={"value": value}), {}, {}, {}, (), ())
    results_file.save(found, folder / "d")
    *rows, held = (json.loads((folder / name).read_text(), parse_constant=pytest.fail) for name in "abcd")
    assert rows == [rows[0]] * 3
    assert held["manifest"]["value"] == rows[0]["value"]
