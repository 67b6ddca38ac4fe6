"""`assay exec` on small files of our own, in the sandbox that this machine gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.io.lock import alone

TASKS = [
    {"id": "add", "prompt": "def add(a, b):\n", "entry_point": "add", "tests": [{"args": [1, 2], "expected": 3}]},
    {"id": "echo", "prompt": "", "tests": [{"stdin": "7\n", "stdout": "7\n"}]},
]
SAMPLES = [
    {"task_id": "add", "completion": "    return a + b\n\nprint(1 / 0)\n", "n": 3},
    {"task_id": "add", "code": "def add(a, b):\n    return None\n"},
    {"task_id": "echo", "code": "print(input())\n"},
    {"task_id": "echo", "code": "print(inputs())\n"},
    {"task_id": "echo", "code": ""},
    {"task_id": "echo", "code": "\0"},
]


@pytest.fixture
def files(tmp_path: Path):
    def make(tasks: list, samples: list) -> tuple[Path, Path]:
        for name, rows in (("tasks.jsonl", tasks), ("samples.jsonl", samples)):
            (tmp_path / name).write_text(
                "".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in rows)
            )
        return tmp_path / "tasks.jsonl", tmp_path / "samples.jsonl"

    return make


@pytest.fixture
def execute(assay, tmp_path: Path):
    return lambda *arguments: assay("exec", *arguments, "--workers", "1", "--out", tmp_path / "outcomes.jsonl")


def outcomes(tmp_path: Path) -> list[dict]:
    return [json.loads(line) for line in (tmp_path / "outcomes.jsonl").read_text().splitlines()]


def test_each_program_gets_its_fault_and_counts_as_often_as_it_was_sampled(execute, files, tmp_path: Path):
    ran = execute(*files(TASKS, SAMPLES), "--k", "1,4", "--format", "json")
    assert ran.status == 0, ran.err
    told = json.loads(ran.out)
    assert {name: count for name, count in told["classes"].items() if count} == {
        "correct": 4,
        "NameError": 1,
        "SyntaxError": 1,
        "NoneError": 1,
        "EmptyError": 1,
    }
    assert (told["tasks"], told["programs"], told["undecided"]) == (2, 8, {})
    one, four = told["pass@k"]
    assert one["value"] == pytest.approx((3 / 4 + 1 / 4) / 2)
    assert four["value"] == 1.0
    assert told["exec@k"][0]["value"] == pytest.approx((4 / 4 + 2 / 4) / 2)
    assert [row["fault"] for row in outcomes(tmp_path)] == [
        "correct",
        "NoneError",
        "correct",
        "NameError",
        "EmptyError",
        "SyntaxError",
    ]
    assert json.loads((tmp_path / "outcomes.jsonl.manifest.json").read_text())["settings"]["stop"] == "human-eval"


def test_the_table_names_the_classes_that_occur(execute, files):
    ran = execute(*files(TASKS, SAMPLES))
    assert ran.out.startswith("8 programs of 2 tasks\n  correct")
    assert [line.split() for line in ran.out.splitlines()[1:4]] == [
        ["correct", "4", "50.0%"],
        ["NameError", "1", "12.5%"],
        ["SyntaxError", "1", "12.5%"],
    ]
    assert "timeout" not in ran.out
    assert "note: 2 tasks with fewer than 10 samples, not in @10: add, echo" in ran.out


def test_references_run_and_a_task_without_one_is_told(execute, files):
    tasks = [{**TASKS[0], "reference": "def add(a, b): return a + b"}, TASKS[1]]
    ran = execute(files(tasks, [])[0], "--reference", "--k", "1")
    assert ran.status == 0
    assert "1 program of 1 task\n  correct" in ran.out
    assert "echo: it has no reference to run" in ran.err


def test_what_is_broken_is_told_and_the_rest_runs(execute, files):
    ran = execute(*files(["{", *TASKS], ["{", {"task_id": "nobody", "code": ""}, *SAMPLES]))
    assert ran.status == 0
    assert "tasks.jsonl:1: not JSON" in ran.err
    assert "samples.jsonl:1: not JSON" in ran.err
    assert "samples.jsonl:2: there is no task 'nobody'; known: add, echo" in ran.err
    assert "1 sample of tasks that are not in TASKS was not run" in ran.err


def test_nothing_decided_leaves_with_1(execute, files):
    tasks, samples = files([{"id": "a", "tests": []}], [{"task_id": "a", "code": "x = 1"}])
    ran = execute(tasks, samples)
    assert ran.status == 1
    assert "note: 1 undecided, counted as not passed: the task has no tests" in ran.out


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((), "give either SAMPLES or --reference"),
        (("--reference", "--k", "0"), "k is 0"),
        (("--reference", "--from", "humaneva"), "did you mean 'humaneval'"),
        (("--reference", "--sandbox", "weak"), "--allow-unsafe"),
        (("--reference", "--sandbox", "namespace"), "did you mean 'namespaces'"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_leaves_with_2(execute, files, arguments, what):
    tasks = [{**TASKS[0], "reference": "def add(a, b): return a + b"}]
    ran = execute(files(tasks, [])[0], *arguments)
    assert ran.status == 2
    assert what in ran.err


def test_a_second_run_adds_nothing_and_other_samples_are_refused(execute, files, tmp_path: Path):
    assert execute(*files(TASKS, SAMPLES)).status == 0
    before = (tmp_path / "outcomes.jsonl").read_bytes()
    assert execute(*files(TASKS, SAMPLES)).status == 0
    assert (tmp_path / "outcomes.jsonl").read_bytes() == before
    ran = execute(*files(TASKS, SAMPLES[:2]))
    assert ran.status == 2
    assert "samples differ; give another --out" in ran.err
    assert execute(*files(TASKS, SAMPLES[:2]), "--fresh").status == 0
    assert len(outcomes(tmp_path)) == 2


def test_two_runs_do_not_write_one_file(execute, files, tmp_path: Path):
    out = tmp_path / "outcomes.jsonl"
    assert execute(*files(TASKS, SAMPLES)).status == 0
    before = out.read_bytes()
    with alone(tmp_path / "outcomes.jsonl.lock"):
        ran = execute(*files(TASKS, SAMPLES), "--fresh")
    assert (ran.status, "another run writes to" in ran.err) == (2, True)
    assert out.read_bytes() == before


def test_only_the_first_tasks_run_when_asked(execute, files):
    ran = execute(*files(TASKS, SAMPLES), "--limit-tasks", "1", "--format", "json")
    assert json.loads(ran.out)["programs"] == 4
    assert "not in TASKS" not in ran.err


def test_expected_values_come_from_the_reference(execute, files):
    task = {
        "task_id": "Demo/1",
        "prompt": "def half(a):\n",
        "entry_point": "half",
        "canonical_solution": "    return a[0] / 2\n",
        "base_input": [[[1]], [[2]]],
        "plus_input": [[[3]], [[]]],
        "contract": "\n    assert isinstance(a, tuple)\n",
        "atol": 0,
    }
    samples = [
        {"task_id": "Demo/1", "solution": f"def half(a):\n    return {body}"} for body in ("a[0] * .5", "a[0] // 2")
    ]
    ran = execute(*files([task], samples), "--format", "json")
    assert ran.status == 0, ran.err
    told = json.loads(ran.out)["classes"]
    assert (told["correct"], told["IntSmallError"]) == (1, 1)
    assert "Demo/1: 1 inputs are no tests: the reference fails: IndexError" in ran.err


def test_tasks_that_are_not_there_are_told_before_what_else_is_missing(assay):
    ran = assay("exec", "nope.jsonl")
    assert (ran.status, "no such file or folder: 'nope.jsonl'" in ran.err) == (2, True)


def test_every_test_is_run_for_exec_at_k_unless_the_first_failure_ends_them(assay, files, tmp_path: Path):
    tests = [{"args": [1], "expected": 2}, {"args": [0], "expected": 2}]
    tasks = [{"id": "f", "prompt": "", "entry_point": "f", "tests": tests}]
    samples = [
        {"task_id": "f", "code": code} for code in ("def f(x): return 1 // x", "def f(x): return x + 2", "def f(")
    ]
    for more, value, what in (
        ((), 1 / 3, "on any test"),
        (("--first-failure",), 2 / 3, "up to the first wrong answer"),
    ):
        out = tmp_path / f"outcomes{len(more)}.jsonl"
        ran = assay("exec", *files(tasks, samples), "--k", "1", "--format", "json", "--out", out, *more)
        told = json.loads(ran.out)
        assert told["exec@k"][0]["value"] == pytest.approx(value)
        assert what in told["exec@k counts"]
        assert [json.loads(line)["fault"] for line in out.read_text().splitlines()] == [
            "IntSmallError",
            "IntSmallError",
            "SyntaxError",
        ]
