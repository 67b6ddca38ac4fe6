from __future__ import annotations

import pytest

from assay.programs.drop_vacuous import drop_vacuous_tests, is_vacuous, stubs, survey
from assay.programs.tasks.task_file import TaskFile
from assay.types import Call, Script, Stdin, Task


class InTheOpen:
    """Runs jobs in this very process."""

    name, guarantees = "open", ()

    def __init__(self, apart) -> None:
        self.apart = apart

    def run(self, jobs):
        return map(self.apart, jobs)


@pytest.mark.parametrize(
    ("tests", "found"),
    [
        ((Script("assert f(1) == 2"),), set()),
        ((Script("assert True\nassert f(1) == 2"),), {"test 0: line 1: True"}),
        ((Script("assert f([]) is None\nassert f(1) == 2"),), {"test 0: line 1: f([]) is None"}),
        ((Script("assert f(1) != 3\nassert f(1) == 2"),), {"test 0: line 1: f(1) != 3"}),
        ((Call((1,), None), Call((2,), 3)), {"call 0: f(1)"}),
        ((Script("try:\n  f(1)\nexcept Exception:\n  assert True"),), {"", "test 0: line 4: True"}),
        ((Script("assert f(1)"),), {"", "test 0: line 1: f(1)"}),
        (
            (Script("def check(candidate):\n  assert candidate(1) == helper(2)"),),
            {"", "test 0: line 2: candidate(1) == helper(2)"},
        ),
    ],
    ids=range(8),
)
def test_what_a_stub_passes_is_named(apart, tests, found):
    task = Task("task", "", "f", tests)
    seen = survey([task], InTheOpen(apart))["task"]
    named = {each.test for each in seen}
    assert named == found
    assert is_vacuous(seen) is ("" in named)


def test_an_input_for_which_nothing_is_expected_is_vacuous(apart):
    task = Task("task", "", "", (Stdin("1", ""), Stdin("2", "2")))
    seen = survey([task], InTheOpen(apart))["task"]
    assert {each.test for each in seen} == {"input 0"}
    assert not is_vacuous(seen)


def test_stubs_have_names_and_no_content():
    named = stubs(Task("task", "", "f", (Script("assert f(1)"),)))
    assert [stub.id.rpartition("-")[2] for stub in named] == ["raises", "none", "object", "empty"]
    assert named[-1].source == ""


CAUGHT = "try:\n  f(1)\nexcept Exception:\n  pass\nassert True"


@pytest.fixture
def sounded(apart):
    return lambda *tests: drop_vacuous_tests(TaskFile((Task("t", "", "f", tests),)), InTheOpen(apart))


@pytest.mark.parametrize(
    ("tests", "kept", "problems", "notes"),
    [
        (
            (Script(CAUGHT), Call((1,), 2)),
            (Call((1,), 2),),
            ["t: test 0: line 5: True holds whatever is answered: left out"],
            [],
        ),
        (
            (Call((1,), None), Call((2,), 3)),
            (Call((1,), None), Call((2,), 3)),
            [],
            ["t: call 0: f(1) holds for a stub (none), and counts"],
        ),
        (
            (Script("assert f(1)"), Script("assert not f(2)")),
            (Script("assert f(1)"), Script("assert not f(2)")),
            [],
            [
                "t: test 1: line 1: not f(2) holds for a stub (none), and counts",
                "t: test 0: line 1: f(1) holds for a stub (object), and counts",
            ],
        ),
        (
            (Script("assert True\nassert f(1) == 2"), Call((2,), 3)),
            (Script("assert True\nassert f(1) == 2"), Call((2,), 3)),
            [],
            ["t: test 0: line 1: True holds for a stub (raises, none, object), and counts"],
        ),
        (
            (Script(CAUGHT),),
            (),
            ["t: a program that does nothing (raises, none, object) passes its tests: left out"],
            [],
        ),
    ],
    ids=["asks nothing", "None is honest", "truth is honest", "one of two asserts", "the whole task"],
)
def test_a_test_that_holds_whatever_is_answered_is_left_out_and_others_are_named(sounded, tests, kept, problems, notes):
    reading = sounded(*tests)
    assert reading.tasks[0].tests == kept
    assert [str(each) for each in reading.problems] == problems
    assert [str(each) for each in reading.notes] == notes


def test_a_task_of_which_all_tests_stay_keeps_the_very_same_for_they_are_known_by_identity(apart):
    task = Task("t", "", "f", (Script("assert f(1) == 2"), Script("assert f(2) == 3")))
    (kept,) = drop_vacuous_tests(TaskFile((task,)), InTheOpen(apart)).tasks
    assert kept is task
