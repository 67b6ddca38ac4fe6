"""What `--on` refuses before anything starts, each in a line that says what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROWS = {
    "tasks.jsonl": {"id": "one", "entry_point": "one", "prompt": "", "reference": "def one(): return 1"}
    | {"tests": [{"args": [], "expected": 1}]},
    "samples.jsonl": {"task_id": "one", "code": "def one(): return 1"},
}


def test_a_place_that_makes_no_sense_is_refused_in_one_line(refuses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for name, row in ROWS.items():
        Path(name).write_text(json.dumps(row))
    run, order = "exec tasks.jsonl --reference --on", "rank order samples.jsonl --tasks tasks.jsonl --on ray"
    nothing = "--on ray has nothing to do for one repository: leave it out"
    refuses([
        (f"{run} dask", "--on dask: wanted ray, or ray:HOST:PORT"),
        (f"{run} ray://head:10001", "Ray Client is not supported"),
        ("exec tasks.jsonl --reference --patience 5", "--patience is for --on ray"),
        (f"{run} ray --install", "--install does not reach the machines of a cluster"),
        (order, "--on is for rankers that run programs"),
        (f"{order} --ranker examples", "--on is for rankers that run programs"),
        ("index . --on ray", nothing),
        ("index . --gpus 1", "--gpus is for --on ray"),
        ("index . --describe ollama:x --on ray", "leave out --on"),
    ])  # fmt: skip
