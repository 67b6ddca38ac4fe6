"""Every table of CodeRanker by its command, on little data: real rankers, trained, compared and drawn."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from assay.bench.papers import study
from assay.bench.papers.coderanker import TABLES
from assay.rank.datasets import Example, write
from assay.values import LogProbability

for library in ("torch", "transformers", "matplotlib"):
    pytest.importorskip(library, reason="the hf and bench extras are not installed")

TRAINING = [f"--set={each}" for each in ("steps=2", "batch=9", "window=80", "code_least=20", "evaluate_every=1")]


@pytest.fixture
def home(tmp_path: Path, examples: list[Example]) -> Path:
    """Return a folder with the programs of two models, one task of which is for testing."""
    rows = [
        replace(each, model=model, config=config, split="test" if each.task_id == "t11" else each.split)
        for each in examples
        for model, config in (("large", "T 0.2"), ("large", "T 0.8"), ("small", "T 0.8"))
    ]
    known = [replace(each, program_id=f"{n}", logprob=LogProbability(-n, 9)) for n, each in enumerate(rows)]
    write(tmp_path / "learn.jsonl", known)
    write(tmp_path / "other.jsonl", [replace(each, task_id=f"o{each.task_id}", split="") for each in rows])
    return tmp_path


@pytest.fixture
def ran(home: Path, assay: Callable, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[str, str]]:
    """Return what runs `assay rank tables` and gives what it prints."""
    monkeypatch.chdir(home)

    def call(*words: str, status: int = 0) -> tuple[str, str]:
        done = assay("rank", "tables", *words)
        assert done.status == status, done.err
        return done.out, done.err

    return call


@pytest.mark.nightly
def test_every_table_is_made_and_no_ranker_is_trained_twice(ran: Callable, home: Path, bases: dict[str, Path]):
    words = ("--learn", "learn.jsonl", "--task", "T", "--task", "E+L", "--test", "HumanEval=other.jsonl")
    models = ("--base", f"encoder={bases['encoder']}", "--base", f"decoder={bases['decoder']}")
    more = ("--test", "MBPP=other.jsonl", "--beside", "consensus", "--beside", "consensus+{}")
    out, _ = ran("all", *words, *models, *more, *TRAINING)
    assert out.count("$ assay rank train") == 4 + 4 + 1 + 1 + 3  # tasks, mixes, decoder, without tests, fewer tasks
    page = (home / "coderanker" / "tables.html").read_text()
    made = {file.stem for file in (home / "coderanker").glob("*.json")}
    assert made == {*TABLES}
    assert all(f'id="{name}"' in page for name in made)
    assert page.count("<svg") == 5
    assert ">Table 16</h2>" in page
    assert "generation probability" in out
    (_, shown, told, *_) = json.loads((home / "coderanker" / "table20.json").read_text())["sections"][0]["blocks"]
    assert [column["title"] for column in shown["columns"]] == ["program", "how it fails", "T", "E+L"]
    assert all(re.fullmatch(r"[\w ]+ \d\.\d\d(, line \d+)?", cell["text"]) for row in shown["rows"] for cell in row[2:])
    assert "boom" in json.dumps(told)
    (row, *_) = json.loads((home / "coderanker" / "table6.json").read_text())["sections"][0]["blocks"][1]["rows"]
    assert [cell["text"] for cell in row[:2]] == ["large", "large T"]
    again, _ = ran("table15", "figure5", *words, *models, *TRAINING)
    assert "$ assay rank train" not in again
    assert "learned from" in again


def test_a_task_with_fewer_samples_than_k_leaves_its_cells_empty(ran: Callable, home: Path, bases: dict[str, Path]):
    first = {each["task_id"]: each for each in map(json.loads, (home / "other.jsonl").read_text().splitlines())}
    (home / "few.jsonl").write_text("".join(json.dumps(each) + "\n" for each in first.values()))
    words = ("table8", "table9", "table11", "--learn", "learn.jsonl", "--together", "--task", "T")
    sets = ("--test", "HumanEval=few.jsonl", "--test", "MBPP=few.jsonl", "--base", str(bases["encoder"]))
    out, _ = ran(*words, *sets, *TRAINING)
    assert "nan" not in out
    held = json.loads((home / "coderanker" / "table9.json").read_text(), parse_constant=pytest.fail)
    assert None in {
        cell.get("value") for cell in held["sections"][0]["blocks"][1]["rows"][0] if cell["kind"] == "number"
    }


def test_what_cannot_be_made_is_told_in_a_line(ran: Callable, bases: dict[str, Path]):
    words = ("table8", "table11", "table17", "table7", "--learn", "learn.jsonl", "--base", str(bases["encoder"]))
    out, err = ran(*words, "--together", "--task", "T", *TRAINING, status=2)
    lines = [line for line in err.splitlines() if line.startswith("assay: t")]
    assert [line.split(":")[1].split()[0] for line in lines] == ["table8", "table11", "table17"]
    assert "Test tasks" in out
    _, err = ran(*words, "--together", "--task", "T", *TRAINING, "--set", "seed=1", status=2)
    assert "trained.jsonl holds the training of another run: more differ" in err
    _, err = ran("table6", "--learn", "nothing.jsonl", status=2)
    assert "no such file: 'nothing.jsonl'" in err
    _, err = ran("table8", "--learn", "learn.jsonl", "--test", "HumanEval=learn.jsonl", status=2)
    assert "--test HumanEval: rankers learn from 9 tasks of learn.jsonl, like t0" in err
    _, err = ran("table6", "--learn", "learn.jsonl", "--model", "huge", status=2)
    assert "no programs of 'huge'; known: large, small" in err


def test_data_are_mixed_again_where_what_they_are_of_is_not_as_before(home: Path, assay: Callable):
    def run(words: Sequence[str]) -> None:
        assert assay(*words).status == 0

    learn, out = home / "learn.jsonl", home / "out"
    given = study.Study(run, nullcontext, learn, {}, {}, (), (), together=False, beside=(), logprob="", out=out)
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


def test_a_list_and_a_dry_run_run_nothing(ran: Callable, home: Path):
    assert "192 GPU hours" in ran()[0]
    out, _ = ran("table16", "--learn", "learn.jsonl", "--dry-run")
    assert out.count("$ assay rank train") == 20
    assert not (home / "coderanker" / "rankers").exists()
