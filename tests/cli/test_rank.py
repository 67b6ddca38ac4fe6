"""`assay rank` from the command line: the order of candidates, and every pool that is odd."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from json_lines import read_lines, write_lines

GOOD = "def add(a, b):\n    return a + b\n"
ALSO = "def add(x, y):\n    total = x + y\n    return total\n"
BROKEN = "def add(a, b:\n    return a + b\n"
UNDEFINED = "def add(a, b):\n    return a + c\n"
JAVA = "public class Add {\n  int add(int a, int b) { return a + b; }\n}\n"
TASK = {"id": "add", "prompt": 'def add(a, b):\n    """Add.\n    >>> add(1, 2)\n    3\n    """\n', "entry_point": "add"}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def samples() -> Path:
    codes = (BROKEN, GOOD, UNDEFINED, ALSO)
    return write("s.jsonl", *({"task_id": "add", "id": str(n), "code": code} for n, code in enumerate(codes)))


def write(name: str, *rows: object) -> Path:
    return write_lines(name, rows)


def test_possibly_right_programs_come_before_broken_ones(assay, samples: Path):
    ran = assay("rank", samples, "--format", "jsonl")
    assert ran.status == 0, ran.err
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert [row["rank"] for row in rows] == [1, 2, 3, 4]
    assert {row["id"] for row in rows[:2]} == {"1", "3"}
    (broken,) = (row for row in rows if row["id"] == "0")
    assert (broken["fault"], broken["line"]) == ("SyntaxError", 1)
    assert rows[0].keys() == {"task_id", "rank", "id", "score", "probability", "fault", "line", "n", "why", "source"}
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)


def test_order_is_the_default_command(assay, refuses, samples: Path):
    named = assay("rank", "order", samples, "--format", "json")
    assert assay("rank", samples, "--format", "json") == named
    assert assay("rank", "--format", "json", samples) == named
    assert json.loads(named.out)["ranker"] == "consensus"
    assert "COMMAND" in assay("rank").out + assay("rank").err
    refuses([
        ("rank nosuch", "no file or folder 'nosuch', and no command of that name; known: order, eval, "),
        ("rank evl", "no file or folder 'evl', and no command of that name; did you mean 'eval'?"),
        ("rank nowhere.jsonl", "no such file"),
        ("rank s.jsonl --ranker concensus", "did you mean 'consensus'"),
        ("rank s.jsonl --ranker ''", "ranker"),
    ])  # fmt: skip
    samples.rename("plain")
    assert assay("rank", "plain").status == 0


def test_columns_are_aligned_and_the_rest_is_counted(assay, samples: Path):
    ran = assay("rank", samples, "--order", "probability", "--format", "jsonl")
    chances = [json.loads(line)["probability"] for line in ran.out.splitlines()]
    assert chances == sorted(chances, reverse=True)
    assert "this ranker gives none" in assay("rank", samples, "--order", "probability", "--ranker", "gate").err
    ran = assay("rank", samples, "--k", "3", "--out", "order.jsonl")
    assert re.match(r"add: 4 programs\n  rank +score  probability  id  predicted +why\n +1  ", ran.out)
    dim = assay("--color", "always", "rank", samples).out.splitlines()[-1]
    assert re.search(r"\x1b\[2m  (Syntax|Name)Error line [12] *\x1b\[0m  ", dim)
    assert ran.out.rstrip().endswith("1 more")
    assert len(read_lines("order.jsonl")) == 3
    assert "written to" in ran.err
    rows = (
        {"task_id": "add", "id": "x", "code": UNDEFINED, "n": 120_000},
        {"task_id": "add", "id": "a-long-name", "code": GOOD},
        {"task_id": "add", "id": "yy", "code": BROKEN},
        {"task_id": "other", "id": "a-name-that-is-longer-still", "code": GOOD},
    )
    first, other = assay("rank", write("s.jsonl", *rows)).out.split("other: 1 program\n")
    shown = first.splitlines()[2:]
    assert len(shown) == 3
    for column in (r" (x|a-long-name|yy) ", r" [a-z]+ -?\d+\.\d\d,"):
        assert len({re.search(column, row).start() for row in shown}) == 1, column
    assert re.search(r" a-name-that-is-longer-still  [a-z]+ ", other)


def test_odd_pools_are_ranked_whole_with_a_note(assay):
    for codes, note in (((BROKEN, JAVA, "", "\0"), ""), ((BROKEN, JAVA, "\0"), "none of 3 programs parses as Python")):
        path = write("s.jsonl", *({"task_id": "add", "code": code} for code in codes))
        ran = assay("rank", path, "--format", "json")
        assert (ran.status, len(json.loads(ran.out)["programs"]), note in ran.err) == (0, len(codes), True), ran.err
    ran = assay("rank", write("s.jsonl", {"task_id": "a"}))
    assert (ran.status, "s.jsonl:1: no program" in ran.err, ran.err.count("\n")) == (2, True, 1), ran.err


def test_programs_run_only_where_that_is_allowed(assay, samples: Path):
    tasks = write("tasks.jsonl", {**TASK, "tests": [{"args": [2, 2], "expected": 4}]})
    order = ("rank", samples, "--tasks", tasks, "--ranker", "examples+consensus", "--format", "json")
    refused = assay(*order)
    assert (refused.status, "--allow-execution" in refused.err) == (2, True)
    ran = assay(*order, "--allow-execution")
    assert ran.status == 0, ran.err
    assert "programs run in the sandbox" in ran.err
    rows = json.loads(ran.out)["programs"]
    assert {row["id"] for row in rows[:2]} == {"1", "3"}
    assert {row["id"]: row["fault"] for row in rows}["2"] == "NameError"
