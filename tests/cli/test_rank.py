"""`assay rank` from the command line: the order of candidates, and every pool that is odd."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

GOOD = "def add(a, b):\n    return a + b\n"
ALSO = "def add(x, y):\n    total = x + y\n    return total\n"
BROKEN = "def add(a, b:\n    return a + b\n"
UNDEFINED = "def add(a, b):\n    return a + c\n"
JAVA = "public class Add {\n  int add(int a, int b) { return a + b; }\n}\n"
TASKS = [
    {"id": "add", "prompt": 'def add(a, b):\n    """Add.\n    >>> add(1, 2)\n    3\n    """\n', "entry_point": "add"}
]
TASKS[0]["tests"] = [{"args": [2, 2], "expected": 4}]  # type: ignore[assignment]


@pytest.fixture
def write(tmp_path: Path):
    def make(name: str, *rows: object) -> Path:
        text = "".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in rows)
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return make


@pytest.fixture
def samples(write) -> Path:
    codes = (BROKEN, GOOD, UNDEFINED, ALSO)
    return write("s.jsonl", *({"task_id": "add", "id": str(n), "code": code} for n, code in enumerate(codes)))


def test_what_can_be_right_comes_before_what_cannot(assay, samples: Path):
    ran = assay("rank", samples, "--format", "jsonl")
    assert ran.status == 0, ran.err
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert [row["rank"] for row in rows] == [1, 2, 3, 4]
    assert {row["id"] for row in rows[:2]} == {"1", "3"}
    by_id = {row["id"]: row for row in rows}
    assert by_id["0"]["fault"] == "SyntaxError"
    assert by_id["0"]["line"] == 1
    assert rows[0].keys() == {"task_id", "rank", "id", "score", "fault", "line", "n", "why", "source"}
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)


def test_without_a_command_the_order_is_meant(assay, samples: Path, monkeypatch: pytest.MonkeyPatch):
    named = assay("rank", "order", samples, "--format", "json")
    assert assay("rank", samples, "--format", "json") == named
    assert assay("rank", "--format", "json", samples) == named
    assert json.loads(named.out)["ranker"] == "consensus"
    monkeypatch.chdir(samples.parent)
    assert assay("rank", "s.jsonl", "--format", "json").out == named.out
    assert "did you mean 'eval'" in assay("rank", "evl").err
    assert "no such file" in assay("rank", "nowhere.jsonl").err
    assert "COMMAND" in assay("rank").out + assay("rank").err


def test_what_is_neither_there_nor_a_command_is_told_as_both(assay, samples: Path, monkeypatch: pytest.MonkeyPatch):
    ran = assay("rank", "nosuch")
    assert ran.status == 2
    assert "no file or folder 'nosuch', and no command of that name; known: order, eval, " in ran.err
    assert "no file or folder 'evl', and no command of that name; did you mean 'eval'?" in assay("rank", "evl").err
    monkeypatch.chdir(samples.rename(samples.with_name("plain")).parent)
    assert assay("rank", "plain").status == 0


def test_columns_stand_below_one_another_within_a_task(assay, write):
    samples = (
        {"task_id": "add", "id": "x", "code": UNDEFINED, "n": 120_000},
        {"task_id": "add", "id": "a-long-name", "code": GOOD},
        {"task_id": "add", "id": "yy", "code": BROKEN},
        {"task_id": "other", "id": "a-name-that-is-longer-still", "code": GOOD},
    )
    first, other = assay("rank", write("s.jsonl", *samples)).out.split("other: 1 program\n")
    rows = first.splitlines()[1:]
    assert len(rows) == 3
    for column in (r" (x|a-long-name|yy) ", r" (correct|\w+Error) ", r" [a-z]+ -?\d+\.\d\d,"):
        assert len({re.search(column, row).start() for row in rows}) == 1, column
    assert re.search(r" a-name-that-is-longer-still  [\w-]+  [a-z]+ ", other)


def test_text_names_the_task_the_place_and_the_reason(assay, samples: Path, tmp_path: Path):
    ran = assay("rank", samples, "--k", "3", "--out", tmp_path / "order.jsonl")
    assert ran.out.startswith("add: 4 programs\n    1  ")
    assert ran.out.rstrip().endswith("1 more")
    assert len((tmp_path / "order.jsonl").read_text().splitlines()) == 3
    assert "written to" in ran.err


def test_equal_runs_give_equal_orders_whatever_the_order_of_the_file(assay, write):
    rows = [{"task_id": "t", "id": str(n), "code": f"def f(x):\n    return x + {n}\n"} for n in range(9)]
    one = assay("rank", write("a.jsonl", *rows), "--format", "json").out
    other = assay("rank", write("b.jsonl", *rows[::-1]), "--format", "json").out
    assert [row["id"] for row in json.loads(one)["programs"]] == [row["id"] for row in json.loads(other)["programs"]]


@pytest.mark.parametrize(
    ("codes", "note"),
    [
        ((GOOD,), "one program: it is scored"),
        ((GOOD,) * 5, "all 5 programs are the same text"),
        ((BROKEN, JAVA, "", "\0"), ""),
        ((BROKEN, JAVA, "\0"), "none of 3 programs is Python"),
        ((JAVA,), "one program"),
    ],
)
def test_odd_pools_are_ranked_whole_and_said_to_be_odd(assay, write, codes: tuple[str, ...], note: str):
    path = write("s.jsonl", *({"task_id": "add", "code": code} for code in codes))
    ran = assay("rank", path, "--format", "json")
    assert ran.status == 0, ran.err
    assert len(json.loads(ran.out)["programs"]) == len(codes)
    assert note in ran.err


@pytest.mark.parametrize(
    ("rows", "why"), [((), "is empty"), (("[]",), "holds no program"), (({"task_id": "a"},), "s.jsonl:1: no program")]
)
def test_no_program_at_all_is_an_error_that_says_why(assay, write, rows: tuple[object, ...], why: str):
    ran = assay("rank", write("s.jsonl", *rows))
    assert ran.status == 2
    assert why in ran.err
    assert ran.err.count("\n") == 1


def test_ten_thousand_candidates_are_an_order(assay, write):
    rows = ({"task_id": "t", "code": f"def f(x):\n    return x * {n % 700} + {n % 13}\n"} for n in range(10_000))
    ran = assay("rank", write("s.jsonl", *rows), "--k", "2", "--format", "json")
    assert ran.status == 0, ran.err
    assert len(json.loads(ran.out)["programs"]) == 2


def test_a_folder_of_files_is_one_tasks_candidates(assay, tmp_path: Path):
    (tmp_path / "tries").mkdir()
    for name, code in (("good", GOOD), ("bad", BROKEN)):
        (tmp_path / "tries" / f"{name}.py").write_text(code)
    ran = assay("rank", tmp_path / "tries", "--format", "json")
    assert [row["id"] for row in json.loads(ran.out)["programs"]] == ["good.py", "bad.py"]


def test_programs_run_only_where_that_is_allowed(assay, samples: Path, write):
    tasks = write("tasks.jsonl", *TASKS)
    refused = assay("rank", samples, "--tasks", tasks, "--ranker", "examples+consensus")
    assert refused.status == 2
    assert "--allow-execution" in refused.err
    ran = assay(
        "rank", samples, "--tasks", tasks, "--ranker", "examples+consensus", "--allow-execution", "--format", "json"
    )
    assert ran.status == 0, ran.err
    assert "programs run in the sandbox" in ran.err
    rows = json.loads(ran.out)["programs"]
    assert {row["id"] for row in rows[:2]} == {"1", "3"}
    assert {row["id"]: row["fault"] for row in rows}["2"] == "NameError"


def test_unknown_rankers_are_errors_with_the_nearest_name(assay, samples: Path):
    assert "did you mean 'consensus'" in assay("rank", samples, "--ranker", "concensus").err
    assert assay("rank", samples, "--ranker", "").status == 2
