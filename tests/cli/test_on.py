"""What `--on` refuses before anything starts, each in a line that says what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

TASK = {"id": "one", "entry_point": "one", "prompt": "", "reference": "def one(): return 1", "tests": [{"expected": 1}]}
EXEC = ("exec", "tasks.jsonl", "--reference")
ORDER = ("rank", "order", "samples.jsonl", "--tasks", "tasks.jsonl")
JUDGE = ("judge", "run", "pairs.jsonl", "--judge", "signals")


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ((*EXEC, "--on", "dask"), "--on dask: wanted ray, or ray:HOST:PORT"),
        ((*EXEC, "--on", "ray://head:10001"), "Ray Client is not supported"),
        ((*EXEC, "--patience", "5"), "--patience is for --on ray"),
        ((*EXEC, "--on", "ray", "--install"), "--install does not reach the machines of a cluster"),
        ((*ORDER, "--on", "ray"), "--on is for rankers that run programs"),
        ((*ORDER, "--ranker", "examples", "--on", "ray"), "--on is for rankers that run programs"),
        (
            ("index", ".", "--on", "ray"),
            "--on ray has nothing to do for one repository and the encoder 'static:default'",
        ),
        (("index", ".", "--gpus", "1"), "--gpus is for --on ray"),
        (("index", ".", "--describe", "ollama:x", "--on", "ray"), "describe without --on"),
        ((*JUDGE, "--on", "ray"), "--on is for code that a judge runs, and this one runs none"),
    ],
)
def test_a_place_that_makes_no_sense_is_one_line(
    assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], wanted: str
):
    monkeypatch.chdir(tmp_path)
    Path("tasks.jsonl").write_text(json.dumps(TASK | {"tests": [{"args": [], "expected": 1}]}))
    Path("samples.jsonl").write_text(json.dumps({"task_id": "one", "code": "def one(): return 1"}))
    Path("pairs.jsonl").write_text(
        json.dumps({"query_id": "1", "query": "one", "code_id": "1", "code": "def one(): 1"})
    )
    ran = assay(*command)
    assert (ran.status, len(ran.err.splitlines()), wanted in ran.err) == (2, 1, True), ran.err
