# ruff: noqa: E402  what may be missing is asked for before it is imported
from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
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


def test_a_base_model_that_cannot_be_had_is_told_before_anything_is_loaded(
    examples: list[Example], tmp_path: Path
) -> None:
    write(tmp_path / "rows.jsonl", examples)
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *"-m assay rank train rows.jsonl --base nobody/nothing --out r".split()],
        cwd=tmp_path,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("assay: no model 'nobody/nothing': not in the cache of the hub")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "r").exists()
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert ended.ru_utime - began.ru_utime + ended.ru_stime - began.ru_stime < 3


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"prompt": "add", "code": "x"}], "holds no row that can be used: rows.parquet:1: no field 'fault'"),
        ([{"fault": "correct", "task_id": "t"}], "rows.parquet:1: no field 'source'"),
    ],
)
def test_a_parquet_file_of_something_else_is_refused(
    bases: dict[str, Path], tmp_path: Path, rows: list[dict[str, str]], said: str
) -> None:
    parquet = pytest.importorskip("assay.io.parquet", reason="pyarrow is not installed")
    parquet.write(tmp_path / "rows.parquet", rows)
    asked = [
        "rank",
        "train",
        str(tmp_path / "rows.parquet"),
        "--base",
        str(bases["encoder"]),
        "--out",
        str(tmp_path / "r"),
    ]
    done = CliRunner().invoke(assay, asked)
    assert isinstance(done.exception, InputError)
    assert said in str(done.exception)
    assert str(done.exception).endswith("'assay rank data' writes such rows")
    assert not (tmp_path / "r" / "tokens").exists()


def test_a_recipe_stands_before_single_settings(
    bases: dict[str, Path], examples: list[Example], tmp_path: Path
) -> None:
    write(tmp_path / "rows.jsonl", examples)
    asked = ["rank", "train", str(tmp_path / "rows.jsonl"), "--base", f"hf:{bases['encoder']}", "--recipe", "paper"]
    small = ["--set", "window=80", "--set", "code_least=20", "--set", "steps=2", "--set", "batch=9"]
    done = CliRunner().invoke(assay, [*asked, *small, "--out", str(tmp_path / "r")])
    assert done.exit_code == 0, done.output
    settings = json.loads((tmp_path / "r" / "manifest.json").read_text())["settings"]
    assert (settings["even_tasks"], settings["patience"], settings["line_head"]) == (False, 0, "vector")
    assert (settings["window"], settings["batch"], settings["base"]) == (80, 9, str(bases["encoder"]))
