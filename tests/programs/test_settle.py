"""Tests that fail on what a program returned: the program's fault where somebody passes them, else undecided."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import permutations
from pathlib import Path

import pytest

from assay.cage.job import Ended, Job
from assay.cage.limits import Limits
from assay.cage.open_cage import open_sandbox
from assay.faults import Fault
from assay.programs.execute import execute, settle
from assay.programs.run_samples import ExecuteSettings, execute_to_file, load
from assay.values import Call, Outcome, Program, Script, Task

SWALLOWS = "try:\n  f()\nexcept Exception:\n  pass\nassert True"
SHAPES = [
    ("assert sorted(f()) == [1, 2]", "[2, 1]", "[1, 'a']", "OutputTypeError"),
    ("assert sum(f()) == 3", "[1, 2]", "[None]", "OutputTypeError"),
    ("assert ' '.join(f()) == 'a b'", "['a', 'b']", "['a', 1]", "OutputTypeError"),
    ("assert {1: 'a'}[f()] == 'a'", "1", "[1]", "OutputTypeError"),
    ("assert '%d' % f() == '1'", "1", "'x'", "OutputTypeError"),
    ("assert int(f()) == 3", "'3'", "'abc'", "other intent error"),
    ("import json\nassert json.loads(f()) == {}", "'{}'", "''", "other intent error"),
    ("assert 10 / f() == 5", "2", "0", "other intent error"),
    ("assert f().encode() == b'a'", "'a'", "'\\ud800'", "other intent error"),
    ("assert f() < 2", "1", "__import__('decimal').Decimal('sNaN')", "other intent error"),
    ("import math\nassert math.sqrt(f()) == 2", "4", "-4", "other intent error"),
    ("assert 'abc'[f()] == 'a'", "0", "9", "other intent error"),
    ("import re\nassert re.match(f(), 'a')", "'a'", "'('", "other intent error"),
    ("assert bytes(f()) == b'1'", "[49]", "[300]", "other intent error"),
    ("assert list(zip(*f(), strict=True)) == [(1, 2)]", "[[1], [2]]", "[[1], [2, 3]]", "other intent error"),
    ("assert max(f()) == 1", "[1]", "[]", "EmptyError"),
    ("for a, b in f(): assert a < b", "[(1, 2)]", "[]", "EmptyError"),
    ("for a, b in f(): assert a < b", "[(1, 2)]", "[(1, 2, 3)]", "LengthError"),
    (SWALLOWS, "1", "__import__('os')._exit(0)", "other execution error"),
]  # fmt: skip


def program(task: str, value: str, name: str) -> Program:
    return Program(task, f"def f(): return {value}", f"{task}#{name}")


def test_a_test_that_somebody_passes_fails_by_the_program_s_fault():
    """A reference, another program or nobody passes the test of each shape."""
    tasks, programs = [], []
    for number, (test, right, wrong, _) in enumerate(SHAPES):
        for how in ("reference", "other", "nobody"):
            name = f"{number} {how}"
            reference = program(name, right, "reference").source if how == "reference" else ""
            tasks.append(Task(name, "", "f", (Script(test),), reference=reference))
            programs.append(program(name, wrong, "wrong"))
            programs += [program(name, right, "right")] * (how == "other")
    with open_sandbox(workers=2) as sandbox:
        shown = {outcome.program_id: outcome for outcome in execute(tasks, programs, sandbox)}
    for number, (test, *_, fault) in enumerate(SHAPES):
        for how in ("reference", "other"):
            outcome = shown[f"{number} {how}#wrong"]
            assert (str(outcome.fault), outcome.suspected) == (fault, None), (test, outcome)
        assert shown[f"{number} other#right"].fault is Fault.CORRECT, test
        alone = shown[f"{number} nobody#wrong"]
        assert fault in {str(alone.fault), str(alone.suspected)}, test
        assert (alone.fault is None) is (alone.suspected is not None), test


def test_arrays_on_which_tests_fail(outcome):
    for test, value, fault in (
        ("assert numpy.max(f(1)) == 1", "numpy.array([])", "other intent error"),
        ("assert f(1) == [1, 2]", "numpy.array([1, 2])", "OutputTypeError"),
        ("assert numpy.max(f(1)) == 1", "numpy.zeros(2, 'i4,i4')", "OutputTypeError"),
    ):
        seen = outcome(f"import numpy\ndef f(x): return {value}", f"import numpy\n{test}")
        assert fault in {str(seen.fault), str(seen.suspected)}, seen


def found(name: str, fault: Fault | None, test: int, suspected: Fault | None = None) -> Outcome:
    return Outcome("t", name, fault, test=test, suspected=suspected)


def test_what_is_decided_does_not_depend_on_the_order():
    outcomes = [
        found("suspect", None, 1, Fault.LENGTH_ERROR),
        found("earlier", Fault.TYPE_ERROR, 0),
        found("same", None, 1, Fault.NONE_ERROR),
        found("later", Fault.INTENT_OTHER, 2),
        found("latest", None, 2, Fault.NONE_ERROR),
    ]
    for some in permutations(outcomes):
        faults = {each.program_id: each.fault for each in settle([], some, lambda _: [])}
        assert (faults["suspect"], faults["same"]) == (Fault.LENGTH_ERROR, Fault.NONE_ERROR)
        assert faults["latest"] is None, "nobody passed it"


def test_a_reference_runs_only_where_no_program_decides():
    asked = []

    def run(programs):
        asked.extend(each.task_id for each in programs)
        return [Outcome(each.task_id, each.id, Fault.CORRECT) for each in programs]

    tasks = [Task(name, "", reference="right") for name in "tuv"]
    suspects = [Outcome(task, "p", None, suspected=Fault.NONE_ERROR, test=-1) for task in "tu"]
    decided = settle(tasks, [*suspects, Outcome("u", "q", Fault.CORRECT), Outcome("v", "r", None)], run)
    assert [each.fault for each in decided] == [Fault.NONE_ERROR, Fault.NONE_ERROR, Fault.CORRECT, None]
    assert asked == ["t"]


class Doubting:
    """A sandbox whose tests fail on the text `suspect`, and which may be interrupted."""

    name, guarantees = "doubting", ()

    def __init__(self, stop_at: int = -1) -> None:
        self.stop_at = stop_at

    def run(self, jobs: Iterable[Job]) -> Iterator[Ended]:
        for number, job in enumerate(jobs):
            if number == self.stop_at:
                raise KeyboardInterrupt
            doubtful = json.loads(job.candidate)["source"].startswith("suspect")
            told = {"fault": "LengthError" if doubtful else "correct", "doubtful": doubtful, "test": -1 + doubtful}
            rest = {"detail": "", "got": "", "expected": "", "line": -1, "missing": "", "tests_run": 1, "ran_all": None}
            yield Ended(job.id, verdict=json.dumps({**told, **rest}).encode())


def test_a_run_that_is_cut_off_leaves_the_same_file(tmp_path: Path):
    tasks = [Task("t", "", "f", (Call((1,), 2),)), Task("u", "", "f", (Call((1,), 2),))]
    sources = {"t": ("suspect 1", "right", "suspect 2"), "u": ("suspect 1", "suspect 2")}
    programs = [Program(task, source, f"{task}#{source}") for task in "tu" for source in sources[task]]
    settings = ExecuteSettings("tasks", "samples", "own", "none", "doubting", Limits())
    whole = tmp_path / "whole.jsonl"
    execute_to_file(tasks, programs, Doubting(), whole, settings=settings)
    for stop_at in range(len(programs) + 1):
        cut = tmp_path / f"cut at {stop_at}.jsonl"
        if stop_at < len(programs):
            with pytest.raises(KeyboardInterrupt):
                execute_to_file(tasks, programs, Doubting(stop_at), cut, settings=settings)
        for _ in range(2):
            execute_to_file(tasks, programs, Doubting(), cut, settings=settings)
            assert cut.read_bytes() == whole.read_bytes(), stop_at
    faults = {row.outcome.program_id: (row.outcome.fault, row.outcome.suspected) for row in load(whole)}
    assert faults["t#suspect 1"] == faults["t#suspect 2"] == (Fault.LENGTH_ERROR, None)
    assert faults["u#suspect 1"] == (None, Fault.LENGTH_ERROR)
