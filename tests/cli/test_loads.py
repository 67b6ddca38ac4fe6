"""A command starts as what it is: what it loads is what its start costs, so no search engine loads to print a line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PAIR = {"query_id": "q", "query": "add two numbers", "code_id": "c", "code": "def add(a, b):\n    return a + b\n"}
REPLY = {"name": "pair", "value": {"Yes": 0.99, "No": 0.01, "mass": 1}}
ROW = {"task_id": "t", "program_id": "p", "prompt": "", "source": "def f(): pass\n", "fault": "correct", "line": -1}


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, assay) -> None:
    monkeypatch.chdir(tmp_path)
    for name, row in (("pairs.jsonl", PAIR), ("replies.jsonl", REPLY), ("set.jsonl", ROW)):
        Path(name).write_text(json.dumps(row) + "\n")
    Path("set.csv").write_text("query,kind,result1\nsend it,standard,mail/send.py:6-12:2\n")
    judged = ("pairs.jsonl", "--chat", "scripted:replies.jsonl", "--config", "ps+fa", "--out", "records.jsonl")
    assert assay("judge", "run", *judged).status == 0


def loaded(line: str) -> tuple[int, set[str]]:
    """Return how many modules of Assay a command loads, and which of its rooms and which libraries."""
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "assay", *line.split()], capture_output=True, text=True, check=True
    )
    names = [told.rpartition("|")[2].strip() for told in ran.stderr.splitlines() if told.startswith("import time:")]
    own = [name.split(".")[1] for name in names if name.startswith("assay.")]
    return len(own), {*own, *(name for name in names if "." not in name)}


@pytest.mark.usefixtures("inputs")
@pytest.mark.parametrize(
    ("line", "most"),
    [
        ("exec --help", 10),
        ("rank mix set.jsonl --out mixed.jsonl", 37),
        ("truth check set.csv", 64),
    ],
)
def test_a_command_loads_what_it_needs(line: str, most: int):
    number, names = loaded(line)
    assert not {"operations", "search", "encode", "store", "numpy"} & names
    assert number <= most
