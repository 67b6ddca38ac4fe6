from __future__ import annotations

import json
import signal
from dataclasses import replace

import pytest

from assay.cage.job import Ended
from assay.cage.limits import Limits
from assay.errors import InputError
from assay.faults import Fault, binary, execution, execution_line, intent, ternary
from assay.programs.verdict import SpecCache, job_of, outcome_of
from assay.values import Call, Outcome, Program, Pytest, Script, Stdin, Task

TASK = Task("task", "", "f", (Script("assert f(1) == 2"),))
PROGRAM = Program("task", "def f(x): return 2", id="program")
GONE = {"fault": None, "detail": "the channel was closed", "gone": True, "tests_run": 3}


def told(**changes: object) -> bytes:
    verdict = {"fault": "correct", "detail": "", "got": "", "expected": "", "line": -1, "missing": "", "tests_run": 1}
    more = {"doubtful": False, "test": -1, "ran_all": None, "shared": False, "passed": [], "gone": False}
    return json.dumps({**verdict, **more, **changes}).encode()


def outcome(**of_ended: object) -> Outcome:
    return outcome_of(TASK, PROGRAM, Ended("program", **of_ended))


def test_without_a_verdict_it_is_the_program_s_fault():
    gone = json.dumps(GONE).encode()
    for ended, fault, detail in (
        ({"ended": "cpu", "cpu_s": 5.0}, "timeout", "more processor time than it may"),
        ({"ended": "wall", "wall_s": 15.0}, "timeout", "more time than it may"),
        ({"ended": "memory"}, "other execution error", "more memory"),
        ({"ended": "output"}, "other execution error", "printed more"),
        ({"ended": "processes"}, "other execution error", "more processes"),
        ({}, "other execution error", "ended before its tests did, with status 0"),
        ({"status": 3 << 8}, "other execution error", "status 3"),
        ({"ended": "signal", "status": int(signal.SIGSEGV)}, "other execution error", "SIGSEGV"),
        ({"status": 60}, "other execution error", "ended by "),
        ({"verdict": b"{broken"}, "other execution error", "ended before its tests did"),
        ({"verdict": b"[1]"}, "other execution error", "ended before its tests did"),
        ({"verdict": gone}, "other execution error", "the channel was closed"),
        ({"verdict": gone, "ended": "cpu"}, "timeout", "processor"),
    ):
        seen = outcome(**ended)
        assert (str(seen.fault), detail in seen.detail) == (fault, True), (ended, seen)


def test_nothing_that_the_program_writes_makes_it_correct_and_a_sandbox_that_broke_decides_nothing():
    assert outcome(stdout=told(), reports=told(), stderr=told()).fault is Fault.EXECUTION_OTHER
    seen = outcome(ended="broken", detail="no space left", verdict=told())
    assert (seen.fault, "no space left" in seen.detail) == (None, True)


def test_a_verdict_is_the_outcome_and_text_of_it_can_be_written():
    seen = outcome(
        verdict=told(fault="KeyError", line=3, detail="KeyError: 1", tests_run=2), stdout=b"\xff", peak_mb=5.0
    )
    assert (seen.fault, seen.line, seen.tests_run, seen.stdout, seen.peak_mb) == (Fault.KEY_ERROR, 3, 2, "\ufffd", 5.0)
    seen = outcome(verdict=told(fault="other intent error", got="\ud800", expected="\udfff", detail="\ud800"))
    assert (seen.got, seen.expected, seen.detail) == ("\\ud800", "\\udfff", "\\ud800")


def test_an_outcome_has_five_labels_and_a_line_of_execution_faults_only():
    found = [outcome(verdict=told(fault=fault, line=3)) for fault in ("OutputTypeError", "TypeError")]
    labels = [[of(each.fault) for of in (binary, ternary, intent, execution)] for each in found]
    assert labels[0] == ["wrong", "intent error", "OutputTypeError", "intent error"]
    assert labels[1] == ["wrong", "execution error", "execution error", "TypeError"]
    assert [execution_line(each.fault, each.line) for each in found] == [("intent error", -1), ("TypeError", 3)]
    assert [of(Fault.CORRECT) for of in (binary, ternary, intent, execution)] == ["correct"] * 4


def test_a_module_that_a_program_misses_is_named_where_its_distribution_is_known(apart):
    ended = Ended("program", verdict=told(fault="other execution error", missing="yaml", line=1))
    for distribution, missing in (("PyYAML", "yaml"), ("", "")):
        seen = outcome_of(TASK, PROGRAM, ended, distribution_of={"yaml": distribution}.get)
        assert (seen.fault, seen.missing, seen.line) == (Fault.EXECUTION_OTHER, missing, 1)
    for source in ("import nosuchmodule.part\ndef f(x): pass", "def f(x):\n  import nosuchmodule"):
        program = Program("task", source)
        seen = outcome_of(TASK, program, apart(job_of(TASK, program)), distribution_of=lambda name: name)
        assert (seen.fault, seen.missing) == (Fault.EXECUTION_OTHER, "nosuchmodule")


def test_a_task_that_cannot_be_used_says_so():
    for task, why in (
        (Task("t", ""), "task t has no tests"),
        (Task("t", "", "f", (Script("assert ("),)), "test 0 of task t cannot be used"),
        (Task("t", "", "f", (Script("assert f(1)"), Pytest("\0"))), "test 1 of task t"),
        (Task("t", "", "f", (Call((object(),), 1),)), "an object of class object"),
        (Task("t", "", "", (Call((1,), 1),)), "no entry_point"),
        (Task("t", "", "", (Stdin("x" * (65 << 20), ""),)), "bytes"),
    ):
        with pytest.raises(InputError, match=why):
            job_of(task, PROGRAM)


def test_a_task_s_own_time_counts():
    assert job_of(TASK, PROGRAM).limits is None
    slow = Task("slow", "", "f", TASK.tests, timeout_s=20.0)
    limits = job_of(slow, PROGRAM, limits=Limits(memory_mb=77)).limits
    assert limits == Limits(cpu_s=20.0, wall_s=60.0, memory_mb=77)


def test_tests_are_read_once_in_whatever_order_programs_come():
    tasks = [replace(TASK, id=str(number)) for number in range(50)]
    first, second = ([job_of(task, PROGRAM).judge for task in tasks] for _ in range(2))
    assert all(one is other for one, other in zip(first, second, strict=True))


def test_what_judges_are_told_is_bounded_by_its_bytes():
    read = []

    def tests_of(task: Task) -> bytes:
        read.append(task.setup)
        return b"x" * 400

    cache, (a, b, c) = SpecCache(tests_of, 1000), (replace(TASK, setup=name) for name in "abc")
    for task in (a, b, a, c, a, b):
        assert cache.spec(task, b"head ") == b"head " + b"x" * 400
    assert read == list("abcb")
    assert cache.spec(b, b"another ") == b"another " + b"x" * 400
    assert cache.spec(replace(b, timeout_s=3.0), b"head ") == b"head " + b"x" * 400
    assert read == list("abcb")
    assert cache.spec(replace(b, entry_point="g"), b"head ")
    assert read == list("abcbb")


def test_a_judge_is_told_how_far_the_tests_go():
    for extent in ("first failure", "every test", "survey", "first failure"):
        told = json.loads(job_of(TASK, PROGRAM, extent=extent).judge or b"")
        goes = (extent == "survey", extent == "every test")
        assert (told["survey"], told["every_test"], len(told["tests"])) == (*goes, 1)


def test_what_is_expected_does_not_go_to_the_program_s_process():
    job = job_of(Task("t", "", "f", (Call((1,), 987654321),)), PROGRAM)
    assert b"987654321" not in job.candidate
    assert b"987654321" in (job.judge or b"")
