from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from assay.cage.job import Ended, Job
from assay.cage.limits import Limits
from assay.errors import InputError
from assay.faults import Fault
from assay.programs.run_samples import ExecuteSettings, execute_to_file, load
from assay.programs.tasks.expected import with_expected_outputs
from assay.programs.tasks.task_file import Inputs, TaskFile
from assay.runs.record import manifest_of
from assay.values import Call, Program, Task

TASK = Task("t", "", "f", tests=(Call((1,), 2),))
SETTINGS = ExecuteSettings("tasks", "samples", "own", "none", "scripted", Limits())


class Scripted:
    """A sandbox that knows the verdict about each text of a program, and runs nothing."""

    name = "scripted"
    guarantees = ()

    def __init__(self, faults: dict[str, str | None] | None = None, stop_at: int = -1) -> None:
        self.faults = faults or {}
        self.stop_at = stop_at
        self.ran: list[str] = []

    def run(self, jobs: Iterable[Job]) -> Iterator[Ended]:
        for job in jobs:
            if len(self.ran) == self.stop_at:
                raise KeyboardInterrupt
            source = json.loads(job.candidate)["source"]
            self.ran.append(source)
            if self.faults.get(source, "TypeError") is None:
                yield Ended(job.id, ended="broken", detail="no cage")
            else:
                yield Ended(job.id, verdict=verdict(self.faults.get(source, "TypeError")), cpu_s=0.5)


def verdict(fault: str) -> bytes:
    told = {"fault": fault, "detail": "d", "got": "1", "expected": "2", "line": 1, "missing": "", "tests_run": 1}
    more = {"doubtful": False, "test": -1, "ran_all": None, "shared": False, "passed": [], "gone": False}
    return json.dumps({**told, **more}).encode()


def programs(*sources: str) -> list[Program]:
    return [Program("t", source, f"t#{number}") for number, source in enumerate(sources)]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "outcomes.jsonl"


COUNTED = (("correct", 1), ("TypeError", 1), ("correct", 1), ("TypeError", 5))


def test_outcomes_stand_in_the_order_of_programs_and_a_text_runs_once(out: Path):
    sandbox = Scripted({"right": "correct"})
    asked = [*programs("right", "wrong", "right"), Program("t", "wrong", "again", n=5)]
    rows = execute_to_file([TASK], asked, sandbox, out, settings=SETTINGS)
    assert sandbox.ran == ["right", "wrong"]
    found = {row.outcome.program_id: (str(row.outcome.fault), row.n) for row in rows}
    assert [*found.items()] == [*zip(("t#0", "t#1", "t#2", "again"), COUNTED, strict=True)]
    assert list(load(out)) == rows
    assert {row.outcome.sandbox for row in rows} == {"scripted"}
    other = Task("u", "", "f", tests=TASK.tests)  # for another task the same text runs again
    both = [Program("t", "x", "1"), Program("u", "x", "2")]
    execute_to_file([TASK, other], both, sandbox, out.with_name("both.jsonl"), settings=SETTINGS)
    assert sandbox.ran[2:] == ["x", "x"]


def test_a_campaign_that_was_stopped_goes_on_and_leaves_the_same_file(tmp_path: Path):
    asked = programs(*(f"{number % 150}" for number in range(300)))
    right = {str(number): "correct" for number in range(0, 150, 3)}
    whole = tmp_path / "whole.jsonl"
    execute_to_file([TASK], asked, Scripted(right), whole, settings=SETTINGS)
    for stop_at in (0, 1, 70, 149):
        cut, first, second = tmp_path / f"cut at {stop_at}.jsonl", Scripted(right, stop_at=stop_at), Scripted(right)
        with pytest.raises(KeyboardInterrupt):
            execute_to_file([TASK], asked, first, cut, settings=SETTINGS)
        cut.open("ab").write(b'{"task_id": "half a li')
        execute_to_file([TASK], asked, second, cut, settings=SETTINGS)
        assert cut.read_bytes() == whole.read_bytes()
        assert not set(first.ran) & set(second.ran)


def test_a_finished_campaign_runs_nothing_again_and_no_other_writes_over_its_outcomes(out: Path):
    execute_to_file([TASK], programs("a", "b"), Scripted(), out, settings=SETTINGS)
    before, again = out.read_bytes(), Scripted()
    assert len(execute_to_file([TASK], programs("a", "b"), again, out, settings=SETTINGS)) == 2
    assert (again.ran, out.read_bytes()) == ([], before)
    for changes, asked, what in (
        ({"stop": "human-eval"}, ("a", "b"), r"stop \(none, now human-eval\) differ"),
        ({"limits": Limits(cpu_s=1)}, ("a", "b"), r"limits \(cpu_s 5\.0, now 1\) differ"),
        ({"every_test": True}, ("a", "b"), r"every_test \(False, now True\) differ"),
        ({}, ("a",), "of another run: programs differ"),
    ):
        with pytest.raises(InputError, match=what):
            execute_to_file([TASK], programs(*asked), Scripted(), out, settings=replace(SETTINGS, **changes))
        assert out.read_bytes() == before


def test_outcomes_without_a_manifest_and_foreign_lines_are_refused(out: Path):
    execute_to_file([TASK], programs("a"), Scripted(), out, settings=SETTINGS)
    whole = out.read_text()
    out.write_text('{"fault": "no such"}\n')
    with pytest.raises(InputError, match=r"outcomes.jsonl:1: no outcome"):
        execute_to_file([TASK], programs("a"), Scripted(), out, settings=SETTINGS)
    out.write_text(whole)
    manifest_of(out).unlink()
    with pytest.raises(InputError, match="lacks their settings"):
        execute_to_file([TASK], programs("a"), Scripted(), out, settings=SETTINGS)


def test_what_the_machinery_failed_to_find_out_is_undecided(out: Path):
    asked = [*programs("a"), Program("u", "b", "u#0")]
    execute_to_file([TASK, Task("u", "")], asked, Scripted({"a": None}), out, settings=SETTINGS)
    found = [(row.outcome.fault, row.outcome.detail) for row in load(out)]
    assert found == [(None, "the sandbox broke: no cage"), (None, "the task has no tests that say anything")]


def test_programs_that_cannot_be_run_have_an_outcome_and_a_line(out: Path):
    sandbox = Scripted()
    asked = programs("x = 1\ny = '\0'", "ok", "a = 1\n\nb = '\ud800'", "#" * 12_000_001, "")
    execute_to_file([TASK], asked, sandbox, out, settings=SETTINGS)
    told = [(row.outcome.fault, row.outcome.line, row.outcome.detail) for row in load(out)]
    assert told[0] == (Fault.SYNTAX_ERROR, 2, "source code cannot contain null bytes")
    assert told[2] == (Fault.SYNTAX_ERROR, 3, "not UTF-8 text: surrogates not allowed")
    assert told[3] == (None, -1, "not run: 12.0 MB of text, more than 12 MB")
    assert sandbox.ran == ["ok", ""]


def test_the_manifest_says_what_decided_and_progress_is_told(out: Path):
    told, report = [], lambda *each: told.append(each)
    execute_to_file([TASK], programs("a", "a"), Scripted(), out, settings=SETTINGS, seed=7, report=report)
    manifest = json.loads(manifest_of(out).read_text())
    assert (manifest["settings"]["stop"], manifest["settings"]["limits"]["cpu_s"], manifest["seed"]) == ("none", 5.0, 7)
    assert {"python", "assay"} <= manifest["versions"].keys()
    assert told == [("programs", 1, 2), ("programs", 2, 2)]


class Answers(Scripted):
    """Prints the same for every job."""

    def __init__(self, printed: str, **how: object) -> None:
        super().__init__()
        self.ended = Ended("", stdout=printed.encode(), **how)

    def run(self, jobs: Iterable[Job]) -> Iterator[Ended]:
        for _ in jobs:
            yield self.ended


def with_inputs(*args: tuple) -> TaskFile:
    return TaskFile((Task("t", "", "f", reference="def f(a): return a"),), inputs={"t": Inputs(args)})


def test_what_the_reference_returns_is_expected_and_one_that_does_not_run_is_told():
    printed = "((1, ), 2)\n(([1, ], ), (1e999, ))\nthe contract does not hold: AssertionError\n((5, ), 'cut of"
    reading = with_expected_outputs(with_inputs((1,), ([1],), (0,), (5,)), Answers(printed, ended="cpu", cpu_s=60.0))
    assert reading.tasks[0].tests == (Call((1,), 2), Call(([1],), (float("inf"),), 1e-6))
    assert reading.tasks[0].timeout_s == 240.0
    assert [str(each) for each in reading.problems] == [
        "t: 1 inputs cannot be used as tests: the contract does not hold: AssertionError",
        "t: 1 inputs cannot be used as tests: the reference takes longer than 60 s for all inputs",
    ]
    reading = with_expected_outputs(with_inputs((1,)), Answers("", ended="broken", detail="no cage"))
    assert reading.tasks[0].tests == ()
    what = "1 inputs cannot be used as tests: running the reference ended by broken (no cage)"
    assert str(reading.problems[0]) == f"t: {what}"


def test_what_a_reference_answered_is_kept_unless_the_machinery_spoiled_it(tmp_path: Path):
    for ended in ("exit", "cpu"):
        asked, kept = with_inputs((1,), (2,)), tmp_path / ended
        answers = Answers("((1, ), 2)\n", ended=ended, cpu_s=60.0, reports=b"no")
        first = with_expected_outputs(asked, answers, cache=kept)
        assert with_expected_outputs(with_inputs((1,), (2,)), Scripted(stop_at=0), cache=kept) == first
        assert first.tasks[0].tests == (Call((1,), 2),)
        other = with_expected_outputs(with_inputs((1,)), Answers("((1, ), 3)\n"), cache=kept)
        assert other.tasks[0].tests == (Call((1,), 3),)
        assert len(list(kept.iterdir())) == 2
        with_expected_outputs(with_inputs((5,)), Answers("", ended="broken"), cache=kept)
        assert len(list(kept.iterdir())) == 2
        for file in kept.iterdir():
            file.write_bytes(b"half a fi")
        again = with_expected_outputs(with_inputs((1,)), Answers("((1, ), 4)\n"), cache=kept)
        assert again.tasks[0].tests == (Call((1,), 4),)
