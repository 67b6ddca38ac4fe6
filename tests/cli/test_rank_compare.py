"""`assay rank compare`: a matrix file to a table with its drawings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.bench.ranking_matrix import RankerSpec, load
from assay.bench.ranking_plots import LoggedValue, relative, smoothed, training_logs
from assay.errors import InputError
from json_lines import write_lines

MATRIX = """
k = [1, 2]

[sets.all]
data = "set.jsonl"
by = ["model"]
prompts = ["whole", "stripped"]

[sets.valid]
data = "set.jsonl"
split = "valid"

[rankers.default]
spec = "consensus"
log = "log.jsonl"
"""


SOURCES = {"correct": "def f(x):\n    return x + 1\n", "NameError": "def f(x):\n    return y + 1\n"}
ROWS = [
    {"task_id": f"t{n}", "program_id": f"{n}", "prompt": "Add 1.\nassert f(1) == 2", "source": source, "fault": fault}
    | {"line": 2 if fault == "NameError" else -1, "model": "ab"[n % 2], "split": "valid" if n > 3 else "train"}
    for n in range(6)
    for fault, source in SOURCES.items()
]


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    write_lines(tmp_path / "set.jsonl", ROWS)
    steps = [{"step": 1, "loss": 2.0}, {"step": 10, "pass@1": 0.2, "exec@1": 0.5}, {"step": 20, "pass@1": 0.4}]
    write_lines(tmp_path / "log.jsonl", steps)
    (tmp_path / "matrix.toml").write_text(MATRIX)
    return tmp_path / "matrix.toml"


def test_each_ranker_is_measured_on_each_column(assay, matrix: Path, tmp_path: Path):
    pytest.importorskip("matplotlib", reason="the bench extra is not installed")
    ran = assay("rank", "compare", matrix, "--out", tmp_path / "out", "--format", "json")
    assert ran.status == 0, ran.err
    cells = json.loads(ran.out)["cells"]
    columns = ["all / a", "all / b", "all / a / stripped", "all / b / stripped", "valid"]
    assert [cell["set"] for cell in cells if cell["system"] == "default"] == columns
    means = {(cell["system"], cell["figures"]["task"]["pass@1"][0]) for cell in cells}
    assert means == {("unranked", 0.5), ("default", 1.0)}
    names = ".gitignore results.json RESULTS.md report.html runs"
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(names.split())
    page = (tmp_path / "out/report.html").read_text()
    assert "pass@1 of each ranker, relative" in page
    assert "Exponential means over steps." in page
    assert "14 tasks" in page
    assert "quer" not in (tmp_path / "out/RESULTS.md").read_text()


def test_orders_are_reused_and_gates_decide_the_status(undrawn, matrix: Path, tmp_path: Path):
    out = tmp_path / "out"
    command = ("rank", "compare", matrix, "--out", out)
    ran = undrawn(*command, "--fail-under", "pass@1=0.9")
    assert ran.status == 0, ran.err
    orders = (out / "runs" / "default.jsonl").read_text()
    assert len(orders.splitlines()) == 12  # six tasks, whole and stripped; a pool that two sets share is ranked once
    held = json.loads((out / "results.json").read_text())
    assert held["manifest"]["kind"] == "ranking"
    cell = next(each for each in held["cells"] if (each["set"], each["system"]) == ("valid", "default"))
    assert cell["values"]["task"]["pass@1"] == [1.0, 1.0]
    assert {(pair["a"], pair["b"]) for pair in held["comparisons"]} == {("default", "unranked")}
    again = json.loads(undrawn(*command, "--format", "json").out)["cells"]
    assert (out / "runs" / "default.jsonl").read_text() == orders
    assert next(each["timings"]["warm_p50_ms"] for each in again if each["system"] == "default") > 0
    ran = undrawn(*command, "--fail-under", "unranked:pass@1=0.9")
    assert (ran.status, "valid: unranked has pass@1 0.500, below 0.9" in ran.err) == (1, True)
    assert undrawn(*command, "--fail-under", "Hit@5=0.9").status == 2
    assert undrawn(*command, "--fresh").status == 0
    assert (out / "runs.old" / "default.jsonl").read_text() == orders


def test_a_ranker_that_got_worse_fails_against_a_baseline(undrawn, matrix: Path, tmp_path: Path):
    many = [{**row, "task_id": f"{n}-{row['task_id']}"} for n in range(3) for row in ROWS]
    swapped = [{**row, "source": SOURCES["NameError" if row["fault"] == "correct" else "correct"]} for row in many]
    matrix.write_text(MATRIX.replace('by = ["model"]\nprompts = ["whole", "stripped"]', ""))
    compare = ("rank", "compare", matrix, "--out", tmp_path / "out")
    write_lines(tmp_path / "set.jsonl", many)
    assert undrawn(*compare).status == 0
    (tmp_path / "before.json").write_bytes((tmp_path / "out" / "results.json").read_bytes())
    write_lines(tmp_path / "set.jsonl", swapped)
    ran = undrawn(*compare, "--baseline", tmp_path / "before.json", "--fail-if-worse")
    assert ran.status == 1
    assert "significantly worse than the baseline: all: default pass@1 1.000 -> 0.000 over 18 tasks" in ran.err


def test_a_wrong_matrix_is_refused_and_rankers_may_be_called_systems(matrix: Path):
    text, before = matrix.read_text(), load(matrix)
    for old, new, why in (
        ('spec = "consensus"', 'spec = ""', "names no spec"),
        ("[rankers.default]", "[ranker.default]", "did you mean 'rankers'"),
        ('by = ["model"]', 'by = ["models"]', "did you mean 'model'"),
        ("k = [1, 2]", "k = [0]", "wanted a list of numbers"),
        ('split = "valid"', 'split = "val"', "did you mean 'valid'"),
        ('data = "set.jsonl"\nby', "by", "wants samples"),
        ('log = "log.jsonl"', 'trained_on = "al"', "did you mean 'all'"),
        ("k = [1, 2]", "k = [", "not TOML"),
        ("k = [1, 2]", "kind = 'retrieval'", "wanted .ranking.; assay bench reads it"),
    ):
        matrix.write_text(text.replace(old, new))
        with pytest.raises(InputError, match=why):
            load(matrix)
    matrix.write_text('kind = "ranking"\n' + text.replace("[rankers.", "[systems."))
    assert load(matrix) == before


def test_columns_are_relative_and_curves_come_from_training_logs(matrix: Path):
    rankers = [RankerSpec("a", "a", "one"), RankerSpec("b", "b", "two"), RankerSpec("c", "c")]
    table = relative(rankers, ["one", "two", "x"], [[0.5, 0.2, 0.3], [0.25, 0.4, 0.6], [1, 0, 0]])
    assert table == [[1, 0.5, 0.5], [0.5, 1, 1], [2, 0, 0]]
    curves = {"pass@1": [(10, 0.2), (20, 0.4)], "exec@1": [(10, 0.5)], "loss": [(1, 2.0)]}
    assert training_logs(load(matrix).rankers) == {"default": curves}
    assert smoothed([LoggedValue(1, 0.0), LoggedValue(2, 1.0)], 0.5) == [(1, 0.0), (2, 0.5)]
    assert smoothed([]) == []
