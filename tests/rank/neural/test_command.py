# ruff: noqa: E402  what may be missing is asked for before it is imported
"""`assay rank train`: rows to a ranker, what is told of bad rows and bases, and what is loaded for that."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

for library in ("torch", "transformers"):
    pytest.importorskip(library, reason="the hf extra is not installed")

from assay.rank.datasets import write
from assay.rank.neural_ranker import NeuralRanker
from assay.values import Program, Task

SMALL = [word for each in ("window=80", "code_least=20", "steps=2", "batch=9") for word in ("--set", each)]


def test_a_file_of_rows_becomes_a_ranker_and_a_recipe_stands_before_single_settings(assay, bases, examples, tmp_path):
    rows, out = tmp_path / "rows.jsonl", tmp_path / "ranker"
    write(rows, examples)
    with rows.open("a") as file:
        file.write('{"task_id": "t0"}\n' * 7)
    done = assay("rank", "train", rows, "--out", out, "--base", bases["encoder"], "--task", "B", *SMALL)
    assert done.status == 0, done.err
    told = done.out + done.err
    for said in ("held out: pass@1", "rows.jsonl:73: ", "2 more problems (-v shows them)", f"--ranker neural:{out}"):
        assert said in told
    (ranked,) = NeuralRanker(str(out)).rank(Task("t", "add"), [Program("t", "def f(a): return a")])
    assert set(ranked.why) == {"correct", "wrong"}
    base = f"hf:{bases['encoder']}"
    done = assay("rank", "train", rows, "--base", base, "--recipe", "paper", *SMALL, "--out", tmp_path / "r")
    assert done.status == 0, done.err
    settings = json.loads((tmp_path / "r" / "manifest.json").read_text())["settings"]
    assert (settings["even_tasks"], settings["patience"], settings["line_head"]) == (False, 0, "vector")
    assert (settings["window"], settings["batch"], settings["base"]) == (80, 9, str(bases["encoder"]))


def test_rows_of_something_else_are_refused(assay, bases, tmp_path):
    parquet = pytest.importorskip("assay.io.parquet", reason="pyarrow is not installed")
    rows = tmp_path / "rows.parquet"
    asked = ("rank", "train", rows, "--base", bases["encoder"], "--out", tmp_path / "r")
    for row, said in (
        ({"prompt": "add", "code": "x"}, "has no usable row: rows.parquet:1: no field 'fault'"),
        ({"fault": "correct", "task_id": "t"}, "rows.parquet:1: no field 'source'"),
    ):
        parquet.write(rows, [row])
        done = assay(*asked)
        assert (done.status, said in done.err) == (2, True), done.err
        assert done.err.endswith("'assay rank data' writes such rows\n")


UNLOADED = """
import sys
from assay.cli.main import run
status = run(sys.argv[1:])
print(status, {"torch", "transformers"} & set(sys.modules))
"""


def test_a_base_model_that_cannot_be_had_is_told_before_anything_is_loaded(examples, tmp_path):
    write(tmp_path / "rows.jsonl", examples)
    done = subprocess.run(
        [sys.executable, "-c", UNLOADED, *"rank train rows.jsonl --base nobody/nothing --out r".split()],
        cwd=tmp_path,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "2 set()\n"
    assert done.stderr.startswith("assay: no model 'nobody/nothing': not in the cache of the hub")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "r").exists()
