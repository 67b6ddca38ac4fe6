"""`assay rank compare`: a matrix file to a table with its drawings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.rank.matrix import RankerSpec, load, relative, training

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


def rows() -> list[dict]:
    sources = {"correct": "def f(x):\n    return x + 1\n", "NameError": "def f(x):\n    return y + 1\n"}
    return [
        {
            "task_id": f"t{n}",
            "program_id": f"{n}",
            "prompt": "Add 1.\nassert f(1) == 2",
            "source": source,
            "fault": fault,
            "line": 2 if fault == "NameError" else -1,
            "model": "ab"[n % 2],
            "split": "valid" if n > 3 else "train",
        }
        for n in range(6)
        for fault, source in sources.items()
    ]


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows()))
    steps = [{"step": 1, "loss": 2.0}, {"step": 10, "pass@1": 0.2, "exec@1": 0.5}, {"step": 20, "pass@1": 0.4}]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(step) + "\n" for step in steps))
    (tmp_path / "matrix.toml").write_text(MATRIX)
    return tmp_path / "matrix.toml"


def test_each_ranker_is_measured_on_each_column(assay, matrix: Path, tmp_path: Path):
    pytest.importorskip("matplotlib", reason="the bench extra is not installed")
    ran = assay("rank", "compare", matrix, "--out", tmp_path / "out", "--format", "json")
    assert ran.status == 0, ran.err
    cells = json.loads(ran.out)["cells"]
    assert [cell["column"] for cell in cells[::2]] == [
        "all / a",
        "all / b",
        "all / a / stripped",
        "all / b / stripped",
        "valid",
    ]
    assert {cell["ranker"] for cell in cells} == {"unranked", "default"}
    assert all(cell["values"]["pass@1"]["value"] == (0.5 if cell["ranker"] == "unranked" else 1.0) for cell in cells)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"results.json", "RESULTS.md", "heat.svg", "curves.svg", "index.html"}
    page = (tmp_path / "out/index.html").read_text()
    assert page.count("<svg") == 2
    assert "http-equiv" not in page
    assert "| valid | default | 2 |" in (tmp_path / "out/RESULTS.md").read_text()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (('spec = "consensus"', 'spec = ""'), "names no spec"),
        (("[rankers.default]", "[ranker.default]"), "did you mean 'rankers'"),
        (('by = ["model"]', 'by = ["models"]'), "did you mean 'model'"),
        (("k = [1, 2]", "k = [0]"), "wanted a list of numbers"),
        (('split = "valid"', 'split = "val"'), "did you mean 'valid'"),
        (('data = "set.jsonl"\nby', "by"), "wants samples"),
        (('log = "log.jsonl"', 'trained_on = "al"'), "did you mean 'all'"),
        (("k = [1, 2]", "k = ["), "not TOML"),
    ],
)
def test_a_matrix_that_cannot_be_meant_is_an_error(matrix: Path, change: tuple[str, str], why: str):
    matrix.write_text(matrix.read_text().replace(*change))
    with pytest.raises(InputError, match=why):
        load(matrix)


def test_columns_are_relative_to_the_ranker_of_their_set():
    rankers = [RankerSpec("a", "a", "one"), RankerSpec("b", "b", "two"), RankerSpec("c", "c")]
    table = relative(rankers, ["one", "two", "x"], ["one", "two", "x"], [[0.5, 0.2, 0.3], [0.25, 0.4, 0.6], [1, 0, 0]])
    assert table == [[1, 0.5, 0.5], [0.5, 1, 1], [2, 0, 0]]


def test_curves_are_read_from_the_log_of_a_training(matrix: Path):
    assert training(load(matrix).rankers) == {
        "default": {"pass@1": [(10, 0.2), (20, 0.4)], "exec@1": [(10, 0.5)], "loss": [(1, 2.0)]}
    }
