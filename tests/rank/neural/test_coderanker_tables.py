"""Every table of CodeRanker by its command, on little data: real rankers, trained, compared and drawn."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from assay.rank.dataset.dataset_formats import write
from assay.rank.dataset.examples import Example
from assay.report.document import load_report

for library in ("torch", "transformers", "matplotlib"):
    pytest.importorskip(library, reason="the hf and bench extras are not installed")

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "coderanker" / "tables.py"
TRAINING = ("--", *(word for each in ("steps=4", "batch=9", "window=80", "code_least=20", "evaluate_every=2")
                    for word in ("--set", each)))  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, examples: list[Example]) -> Path:
    """Return a folder with the programs of two models, one task of which is for testing."""
    rows = [
        replace(each, model=model, config=config, split="test" if each.task_id == "t11" else each.split)
        for each in examples
        for model, config in (("large", "T 0.2"), ("large", "T 0.8"), ("small", "T 0.8"))
    ]
    write(tmp_path / "learn.jsonl", [replace(each, program_id=f"{n}") for n, each in enumerate(rows)])
    write(tmp_path / "other.jsonl", [replace(each, task_id=f"o{each.task_id}", split="") for each in rows])
    return tmp_path


def ran(home: Path, *words: str, status: int = 0) -> tuple[str, str]:
    """Return what the command prints."""
    command = [sys.executable, str(SCRIPT), *words]
    done = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout, done.stderr


def test_a_table_trains_measures_and_is_not_made_twice(home: Path, bases: dict[str, Path]):
    words = ("table6", "--learn", "learn.jsonl", "--base", str(bases["encoder"]), "--task", "B", "--task", "T")
    out, _ = ran(home, *words, *TRAINING)
    assert out.count("$ assay rank train") == 4
    assert "At the paper's size: 20 rankers" in out
    assert "Here: 4 rankers, each of at most 108 programs, 16 steps" in out
    report = load_report(home / "coderanker" / "table6.json")
    assert report.sections[0].key == "table6"
    assert "<table" in (home / "coderanker" / "tables.html").read_text()
    again, _ = ran(home, *words, *TRAINING)
    assert "$ assay rank train" not in again
    assert again.partition("How the best")[2] == out.partition("How the best")[2]
