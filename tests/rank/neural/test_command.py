# ruff: noqa: E402  what may be missing is asked for before it is imported
from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

for library in ("torch", "transformers", "onnx", "onnxruntime"):
    pytest.importorskip(library, reason="the hf and onnx extras are not installed")

from assay.cli.main import assay
from assay.errors import InputError
from assay.rank.dataset.dataset_formats import write
from assay.rank.dataset.examples import Example
from assay.rank.neural.neural_ranker import NeuralRanker
from assay.types import Program, Task


def test_a_file_of_rows_becomes_a_ranker(bases: dict[str, Path], examples: list[Example], tmp_path: Path) -> None:
    write(tmp_path / "rows.jsonl", examples)
    with (tmp_path / "rows.jsonl").open("a") as rows:
        rows.write('{"task_id": "t0"}\n' * 7)
    out = tmp_path / "ranker"
    given = ["--base", str(bases["encoder"]), "--task", "B", "--onnx", "--set", "window=80", "--set", "code_least=20"]
    steps = ["--set", "steps=2", "--set", "batch=9"]
    done = CliRunner().invoke(assay, ["rank", "train", str(tmp_path / "rows.jsonl"), "--out", str(out), *given, *steps])
    assert done.exit_code == 0, done.output
    assert "held out: pass@1" in done.output
    assert "rows.jsonl:73: " in done.output
    assert "2 more rows left out" in done.output
    assert f"--ranker neural:{out}" in done.output
    assert (out / "model.onnx").is_file()
    (ranked,) = NeuralRanker(str(out)).rank(Task("t", "add"), [Program("t", "def f(a): return a")])
    assert set(ranked.why) == {"correct", "wrong"}


def test_int8_is_about_onnx(tmp_path: Path) -> None:
    asked = ["rank", "train", str(tmp_path / "rows.jsonl"), "--out", str(tmp_path / "r"), "--int8"]
    done = CliRunner().invoke(assay, asked)
    assert isinstance(done.exception, InputError)
    assert "--onnx" in str(done.exception)
