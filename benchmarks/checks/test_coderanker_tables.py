"""Every table of CodeRanker by its command, on little data: real rankers, trained, compared and drawn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from assay.rank.datasets import Example, write
from assay.values import LogProbability

for library in ("torch", "transformers", "matplotlib"):
    pytest.importorskip(library, reason="the hf and bench extras are not installed")

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "coderanker" / "tables.py"
TRAINING = ("--", *(word for each in ("steps=2", "batch=9", "window=80", "code_least=20", "evaluate_every=1")
                    for word in ("--set", each)))  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, examples: list[Example]) -> Path:
    """Return a folder with the programs of two models, one task of which is for testing."""
    rows = [
        replace(each, model=model, config=config, split="test" if each.task_id == "t11" else each.split)
        for each in examples
        for model, config in (("large", "T 0.2"), ("large", "T 0.8"), ("small", "T 0.8"))
    ]
    write(
        tmp_path / "learn.jsonl",
        [replace(each, program_id=f"{n}", logprob=LogProbability(-n, 9)) for n, each in enumerate(rows)],
    )
    write(tmp_path / "other.jsonl", [replace(each, task_id=f"o{each.task_id}", split="") for each in rows])
    return tmp_path


def ran(home: Path, *words: str, status: int = 0) -> tuple[str, str]:
    """Return what the command prints."""
    command = [sys.executable, str(SCRIPT), *words]
    done = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout, done.stderr


def test_every_table_is_made_and_no_ranker_is_trained_twice(home: Path, bases: dict[str, Path]):
    words = ("--learn", "learn.jsonl", "--task", "T", "--task", "E+L", "--test", "HumanEval=other.jsonl")
    models = ("--base", f"encoder={bases['encoder']}", "--base", f"decoder={bases['decoder']}")
    more = ("--test", "MBPP=other.jsonl", "--beside", "consensus", "--beside", "consensus+{}")
    out, _ = ran(home, "all", *words, *models, *more, *TRAINING)
    assert out.count("$ assay rank train") == 4 + 4 + 1 + 1 + 3  # tasks, mixes, decoder, without tests, fewer tasks
    page = (home / "coderanker" / "tables.html").read_text()
    made = {file.stem for file in (home / "coderanker").glob("*.json")}
    assert made == {word.split("\t")[0] for word in ran(home, "needs")[0].splitlines()}
    assert all(f'id="{name}"' in page for name in made)
    assert page.count("<svg") == 5
    assert ">Table 16</h2>" in page
    assert "generation probability" in out
    (row, *_) = json.loads((home / "coderanker" / "table6.json").read_text())["sections"][0]["blocks"][1]["rows"]
    assert [cell["text"] for cell in row[:2]] == ["large", "large T"]
    again, _ = ran(home, "table15", "figure5", *words, *models, *TRAINING)
    assert "$ assay rank train" not in again
    assert "learned from" in again


def test_a_task_with_fewer_samples_than_k_leaves_its_cells_empty(home: Path, bases: dict[str, Path]):
    first = {each["task_id"]: each for each in map(json.loads, (home / "other.jsonl").read_text().splitlines())}
    (home / "few.jsonl").write_text("".join(json.dumps(each) + "\n" for each in first.values()))
    words = ("table8", "table9", "table11", "--learn", "learn.jsonl", "--together", "--task", "T")
    sets = ("--test", "HumanEval=few.jsonl", "--test", "MBPP=few.jsonl", "--base", str(bases["encoder"]))
    out, _ = ran(home, *words, *sets, *TRAINING)
    assert "nan" not in out
    held = json.loads((home / "coderanker" / "table9.json").read_text(), parse_constant=pytest.fail)
    assert None in {
        cell.get("value") for cell in held["sections"][0]["blocks"][1]["rows"][0] if cell["kind"] == "number"
    }


def test_what_cannot_be_made_is_told_in_a_line(home: Path, bases: dict[str, Path]):
    words = ("table8", "table11", "table17", "table7", "--learn", "learn.jsonl", "--base", str(bases["encoder"]))
    out, err = ran(home, *words, "--together", "--task", "T", *TRAINING, status=2)
    lines = [line for line in err.splitlines() if line.startswith("assay: t")]
    assert [line.split(":")[1].split()[0] for line in lines] == ["table8", "table11", "table17"]
    assert "Test tasks" in out
    _, err = ran(home, *words, "--together", "--task", "T", *TRAINING, "--set", "seed=1", status=2)
    assert "trained.jsonl holds the training of another run: more differ" in err
    _, err = ran(home, "table6", "--learn", "nothing.jsonl", status=1)
    assert "no such file: 'nothing.jsonl'" in err
    _, err = ran(home, "table8", "--learn", "learn.jsonl", "--test", "HumanEval=learn.jsonl", status=1)
    assert "--test HumanEval: rankers learn from 9 tasks of learn.jsonl, like t0" in err
    _, err = ran(home, "table6", "--learn", "learn.jsonl", "--model", "huge", status=2)
    assert "no programs of 'huge'; known: large, small" in err


def test_data_are_mixed_again_where_what_they_are_of_is_not_as_before(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(SCRIPT.parent)
    study = import_module("study")
    given = study.Study(home / "learn.jsonl", {}, {}, (), (), False, (), "", home / "out")
    file = study.part(given, "large")
    first, written = len(file.read_text().splitlines()), file.stat().st_mtime_ns
    assert study.part(given, "large") == file
    assert file.stat().st_mtime_ns == written
    fewer = home / "fewer.jsonl"
    fewer.write_text("".join(line for line in given.learn.read_text().splitlines(keepends=True) if "T 0.8" in line))
    os.utime(fewer, (1, 1))  # older than what was made of another
    study.part(replace(given, learn=fewer), "large")
    assert len(file.read_text().splitlines()) == first / 2
    study.part(given, "large", "--train", "0.5", called="half")
    study.part(given, "large", "--train", "0.2", called="half")
    rows = (given.out / "data" / "large-half.jsonl").read_text().splitlines()
    study.part(given, "large", "--train", "0.5", called="half")
    assert len((given.out / "data" / "large-half.jsonl").read_text().splitlines()) > len(rows)


def test_needs_and_a_dry_run_run_nothing(home: Path):
    assert "192 GPU hours" in ran(home, "needs")[0]
    out, _ = ran(home, "table16", "--learn", "learn.jsonl", "--dry-run")
    assert out.count("$ assay rank train") == 20
    assert not (home / "coderanker" / "rankers").exists()
