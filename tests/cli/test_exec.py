"""`assay exec` on small files in the sandbox that this machine gives; what it installs are wheels of a folder."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from assay.io.files import alone
from assay.runs.record import manifest_of

sys.path.append(str(Path(__file__).parent.parent / "programs"))

from wheels import wheel

from json_lines import read_lines, write_lines

TASKS = [
    {"id": "add", "prompt": "def add(a, b):\n", "entry_point": "add", "tests": [{"args": [1, 2], "expected": 3}]},
    {"id": "echo", "prompt": "", "tests": [{"stdin": "7\n", "stdout": "7\n"}]},
]
SAMPLES = [
    {"task_id": "add", "completion": "    return a + b\n\nprint(1 / \n", "n": 3},
    {"task_id": "add", "code": "def add(a, b):\n    return None\n"},
    {"task_id": "echo", "code": "print(input())\n"},
    {"task_id": "echo", "code": "print(inputs())\n"},
    {"task_id": "echo", "code": ""},
    {"task_id": "echo", "code": "\0"},
]


@pytest.fixture
def files(tmp_path: Path):
    def make(tasks: list, samples: list) -> tuple[Path, Path]:
        return write_lines(tmp_path / "tasks.jsonl", tasks), write_lines(tmp_path / "samples.jsonl", samples)

    return make


@pytest.fixture
def execute(assay, tmp_path: Path):
    return lambda *arguments: assay("exec", *arguments, "--workers", "1", "--out", tmp_path / "outcomes.jsonl")


def outcomes(tmp_path: Path) -> list[dict]:
    return read_lines(tmp_path / "outcomes.jsonl")


def faults(tmp_path: Path) -> list[str]:
    return [row["fault"] for row in outcomes(tmp_path)]


def test_each_program_gets_its_fault_and_counts_as_often_as_it_was_sampled(execute, files, tmp_path: Path):
    ran = execute(*files(TASKS, SAMPLES), "--k", "1,4", "--format", "json")
    assert ran.status == 0, ran.err
    told = json.loads(ran.out)
    every = {"correct": 4, "NameError": 1, "SyntaxError": 1, "NoneError": 1, "EmptyError": 1}
    assert {name: count for name, count in told["classes"].items() if count} == every
    assert (told["tasks"], told["programs"], told["undecided"]) == (2, 8, {})
    assert [each["value"] for each in told["pass@k"]] == pytest.approx([(3 / 4 + 1 / 4) / 2, 1.0])
    assert told["exec@k"][0]["value"] == pytest.approx((4 / 4 + 2 / 4) / 2)
    assert faults(tmp_path) == ["correct", "NoneError", "correct", "NameError", "EmptyError", "SyntaxError"]
    assert json.loads((tmp_path / "outcomes.jsonl.manifest.json").read_text())["settings"]["stop"] == "auto"
    assert "3 of 8 programs do not run as they were written: 3 cut at a stop sequence; --extract none runs" in ran.err
    assert outcomes(tmp_path)[0]["edits"] == ["cut at a stop sequence"]
    before = (tmp_path / "outcomes.jsonl").read_bytes()
    ran = execute(*files(TASKS, SAMPLES))
    assert (tmp_path / "outcomes.jsonl").read_bytes() == before, "a second run adds nothing"
    assert ran.out.startswith("8 programs of 2 tasks\n  correct")
    rows = [["correct", "4", "50.0%"], ["NameError", "1", "12.5%"], ["SyntaxError", "1", "12.5%"]]
    assert [line.split() for line in ran.out.splitlines()[1:4]] == rows
    assert "timeout" not in ran.out
    assert "note: 2 tasks with fewer than 10 samples, not in @10: add, echo" in ran.out
    ran = execute(*files(TASKS, SAMPLES[:2]))
    assert (ran.status, "samples differ; give another --out" in ran.err) == (2, True)
    with alone(tmp_path / "outcomes.jsonl.lock"):
        ran = execute(*files(TASKS, SAMPLES), "--fresh")
    assert (ran.status, "another run writes to" in ran.err) == (2, True)
    assert (tmp_path / "outcomes.jsonl").read_bytes() == before
    ran = execute(*files(TASKS, SAMPLES), "--limit-tasks", "1", "--format", "json", "--fresh")
    assert (json.loads(ran.out)["programs"], len(outcomes(tmp_path)), "not in TASKS" in ran.err) == (4, 2, False)


def test_answers_that_differ_by_tuples_and_lists_alone_are_counted(execute, files):
    task = {"id": "pair", "prompt": "", "entry_point": "f", "tests": [{"args": [1], "expected": [["a", 1]]}]}
    codes = [f"def f(x):\n    return {value}\n" for value in ("[('a', x)]", "[('a', 2)]", "[['a', x]]")]
    ran = execute(*files([task], [{"task_id": "pair", "code": code} for code in codes]), "--k", "1")
    assert "note: 1 wrong program gave what was expected but for tuples and lists" in ran.out


def test_references_run_and_a_task_without_one_is_reported(execute, files):
    tasks = [{**TASKS[0], "reference": "def add(a, b): return a + b"}, TASKS[1]]
    ran = execute(files(tasks, [])[0], "--reference", "--k", "1")
    assert ran.status == 0
    assert "1 program of 1 task\n  correct" in ran.out
    assert re.search(r"\n  task  passed.*\n  add   1/1\n", ran.out)
    assert "echo: it has no reference to run" in ran.err
    wrong = [{**tasks[0], "reference": "def add(a, b): return a - b"}]
    ran = execute(files(wrong, [])[0], "--reference", "--k", "1", "--fresh")
    assert "1 task that no program passes: add; often the test is wrong: " in ran.err


def test_bad_rows_are_reported_and_without_a_decision_the_status_is_1(execute, files):
    ran = execute(*files(["{", *TASKS], ["{", {"task_id": "nobody", "code": ""}, SAMPLES[1]]))
    assert ran.status == 0
    assert "tasks.jsonl:1: not JSON" in ran.err
    assert "samples.jsonl:1: not JSON" in ran.err
    assert "samples.jsonl:2: there is no task 'nobody'; known: add, echo" in ran.err
    assert "1 sample of tasks that are not in TASKS was not run" in ran.err
    ran = execute(*files([{"id": "a", "tests": []}], [{"task_id": "a", "code": "x = 1"}]), "--fresh")
    assert ran.status == 1
    assert "note: 1 undecided, counted as not passed: the task has no tests" in ran.out


def test_a_mistake_is_refused_in_one_line(refuses, files, tmp_path: Path):
    tasks, samples = files([{**TASKS[0], "reference": "def add(a, b): return a + b"}], SAMPLES)
    run = ("exec", tasks, "--out", tmp_path / "outcomes.jsonl")
    refuses([
        (run, "give either SAMPLES or --reference"),
        ((*run, "--reference", "--k", "0"), "k is 0"),
        ((*run, "--reference", "--from", "humaneva"), "did you mean 'humaneval'"),
        ((*run, "--reference", "--sandbox", "weak"), "--allow-unsafe"),
        ((*run, "--reference", "--sandbox", "namespace"), "did you mean 'namespaces'"),
        ((*run, samples, "--allow", "none.txt"), "give both"),
        (("exec", "nope.jsonl"), "no such file or folder: 'nope.jsonl'"),
    ])  # fmt: skip


def test_expected_values_come_from_the_reference(execute, files):
    task = {"task_id": "Demo/1", "prompt": "def half(a):\n", "entry_point": "half", "atol": 0}
    task |= {"canonical_solution": "    return a[0] / 2\n", "contract": "\n    assert isinstance(a, tuple)\n"}
    task |= {"base_input": [[[1]], [[2]]], "plus_input": [[[3]], [[]]]}
    codes = (f"def half(a):\n    return {body}" for body in ("a[0] * .5", "a[0] // 2"))
    ran = execute(*files([task], [{"task_id": "Demo/1", "solution": code} for code in codes]), "--format", "json")
    assert ran.status == 0, ran.err
    told = json.loads(ran.out)["classes"]
    assert (told["correct"], told["IntSmallError"]) == (1, 1)
    assert "Demo/1: 1 inputs cannot be used as tests: the reference fails: IndexError" in ran.err


def test_every_test_is_run_for_exec_at_k_unless_the_first_failure_ends_them(execute, files, tmp_path: Path):
    tests = [{"args": [1], "expected": 2}, {"args": [0], "expected": 2}]
    tasks = [{"id": "f", "prompt": "", "entry_point": "f", "tests": tests}]
    codes = ("def f(x): return 1 // x", "def f(x): return x + 2", "def f(")
    given = files(tasks, [{"task_id": "f", "code": code} for code in codes])
    for more, value, what in (([], 1 / 3, "on any test"), (["--first-failure"], 2 / 3, "up to the first wrong answer")):
        told = json.loads(execute(*given, "--k", "1", "--format", "json", "--fresh", *more).out)
        assert told["exec@k"][0]["value"] == pytest.approx(value)
        assert what in told["exec@k counts"]
        assert faults(tmp_path) == ["IntSmallError", "IntSmallError", "SyntaxError"]


TASK = {"id": "t", "entry_point": "f", "tests": [{"args": [], "expected": 42}]}
SOURCES = (
    "import tinything\ndef f(): return tinything.x",
    "import nosuchthing\ndef f(): return 42",
    "def f(): return 42",
)
NO_INSTALLER = not shutil.which("uv") and not any(map(importlib.util.find_spec, ("uv", "pip")))


@pytest.fixture
def install(execute, files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return what runs three programs, of which one needs a wheel that a folder has and one what nobody has."""
    if NO_INSTALLER:
        pytest.skip("no installer here")
    wheel(tmp_path / "index", "tiny_distribution", {"tinything.py": "x = 42\n"})
    for name in ("UV_FIND_LINKS", "PIP_FIND_LINKS"):
        monkeypatch.setenv(name, str(tmp_path / "index"))
    for name in ("UV_OFFLINE", "PIP_NO_INDEX"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    given = files([TASK], [{"task_id": "t", "code": source} for source in SOURCES])
    return lambda *more: execute(*given, "--k", "1", *more)


def test_allowed_modules_are_installed_and_named(install, tmp_path: Path):
    (tmp_path / "allow.txt").write_text("tinything = tiny.distribution\nnosuchthing\n")
    allowed = ("--install", "--allow", tmp_path / "allow.txt")
    ran = install(*allowed)
    assert ran.status == 0, ran.err
    assert faults(tmp_path) == ["correct", "other execution error", "correct"]
    assert "nosuchthing: nosuchthing cannot be installed: " in ran.err
    assert "no module nosuchthing: nosuchthing brings it" in ran.out
    out = tmp_path / "outcomes.jsonl"
    assert json.loads(manifest_of(out).read_text())["settings"]["installed"] == ["tiny-distribution==1.0"]
    before = out.read_bytes()
    shutil.rmtree(tmp_path / "index")
    assert install(*allowed).status == 0
    assert out.read_bytes() == before
    ran = install()
    assert (ran.status, "installed differ; give another --out" in ran.err) == (2, True)


def test_a_module_that_is_not_allowed_is_never_installed(install, execute, files, tmp_path: Path):
    ran = install("--install")
    assert faults(tmp_path) == ["other execution error", "other execution error", "correct"]
    assert "2 modules of no known distribution, not installed: nosuchthing, tinything; --allow FILE" in ran.err
    assert not (tmp_path / "cache" / "assay" / "overlays").exists()
    sources = ("import wx\ndef f(): return 42", "def f(): raise ModuleNotFoundError('x', name='wx')")
    ran = execute(*files([TASK], [{"task_id": "t", "code": source} for source in sources]), "--fresh")
    assert faults(tmp_path) == ["other execution error", "other execution error"]
    assert "no module wx: wxpython brings it, and --install installs what is allowed (1 program)" in ran.out
    assert outcomes(tmp_path)[0]["missing"] == "wx"


def test_a_failed_install_runs_nothing(install, tmp_path: Path):
    shutil.rmtree(tmp_path / "index")
    (tmp_path / "allow.txt").write_text("tinything = tiny.distribution\n")
    ran = install("--install", "--allow", tmp_path / "allow.txt")
    assert (ran.status, "tiny-distribution cannot be installed: " in ran.err) == (2, True)
    assert not (tmp_path / "outcomes.jsonl").exists()
