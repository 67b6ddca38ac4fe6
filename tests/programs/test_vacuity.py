from __future__ import annotations

import pytest

from assay.programs.run_samples import drop_vacuous_tests, is_vacuous, stubs, survey
from assay.programs.tasks.task_file import TaskFile
from assay.values import Call, Script, Stdin, Task


class InTheOpen:
    """Runs jobs in this very process."""

    name, guarantees = "open", ()

    def __init__(self, apart) -> None:
        self.apart, self.ran = apart, 0

    def run(self, jobs):
        for job in jobs:
            self.ran += 1
            yield self.apart(job)


@pytest.fixture
def kept(apart):
    return lambda *tests: drop_vacuous_tests(TaskFile((Task("t", "", "f", tests),)), InTheOpen(apart))


def test_what_a_stub_passes_is_named(apart):
    cases = [
        ((Script("assert f(1) == 2"),), set()),
        ((Script("assert f([]) is None\nassert f(1) == 2"),), {"test 0: line 1: f([]) is None"}),
        ((Script("assert f(1) != 3\nassert f(1) == 2"),), {"test 0: line 1: f(1) != 3"}),
        ((Call((1,), None), Call((2,), 3)), {"call 0: f(1)"}),
        ((Script("try:\n  f(1)\nexcept Exception:\n  assert True"),), {"", "test 0: line 4: True"}),
        ((Script("assert f(1)"),), {"", "test 0: line 1: f(1)"}),
        ((Script("def check(c):\n  assert c(1) == helper(2)"),), {"", "test 0: line 2: c(1) == helper(2)"}),
    ]
    tasks = [Task(str(number), "", "f", tests) for number, (tests, _) in enumerate(cases)]
    seen = survey([*tasks, Task("inputs", "", "", (Stdin("1", ""), Stdin("2", "2")))], InTheOpen(apart))
    for task, (_, found) in zip(tasks, cases, strict=True):
        assert {each.test for each in seen[task.id]} == found, task
        assert is_vacuous(seen[task.id]) is ("" in found), task
    assert {each.test for each in seen["inputs"]} == {"input 0"}
    assert not is_vacuous(seen["inputs"])
    named = stubs(Task("task", "", "f", (Script("assert f(1)"),)))
    assert [stub.id.rpartition("-")[2] for stub in named] == ["raises", "none", "object", "empty"]
    assert named[-1].source == ""


CAUGHT = Script("try:\n  f(1)\nexcept Exception:\n  pass\nassert True")


def test_a_test_that_holds_whatever_is_answered_is_left_out_and_others_are_named(kept):
    none, three = Call((1,), None), Call((2,), 3)
    true, false, one_of_two = Script("assert f(1)"), Script("assert not f(2)"), Script("assert True\nassert f(1) == 2")
    half_honest = Script("assert True\nassert f(1) is None")
    falsehood, truth = "test 1: line 1: not f(2)", "test 0: line 1: f(1)"
    always, held = (
        "test 0: line 1: True holds for a stub (raises, none, object)",
        "f(1) is None holds for a stub (none)",
    )
    for tests, notes in (
        ((none, three), ["call 0: f(1) holds for a stub (none)"]),
        ((true, false), [f"{falsehood} holds for a stub (none)", f"{truth} holds for a stub (object)"]),
        ((one_of_two, three), [always]),
        ((half_honest, three), [always, f"test 0: line 2: {held}"]),
    ):
        reading = kept(*tests)
        assert (reading.tasks[0].tests, reading.problems) == (tests, ())
        assert [str(each) for each in reading.notes] == [f"t: {note}, and counts" for note in notes]
    for tests, left, problem in (
        ((CAUGHT, three), (three,), "test 0: line 5: True holds whatever is answered: left out"),
        ((CAUGHT,), (), "a program that does nothing (raises, none, object) passes its tests: left out"),
    ):
        reading = kept(*tests)
        assert (reading.tasks[0].tests, reading.notes) == (left, ())
        assert [str(each) for each in reading.problems] == [f"t: {problem}"]


def test_tests_that_cannot_be_read_or_expect_nothing_are_left_out_and_a_task_that_keeps_all_is_the_very_same(apart):
    task = Task("t", "", "f", (Script("assert f(1) == 2"), Script("assert f(2) == 3")))
    (kept,) = drop_vacuous_tests(TaskFile((task,)), InTheOpen(apart)).tasks
    assert kept is task, "they are known by identity"
    broken = Task("broken", "", "f", tests=(Script("assert ("),))
    silent = Task("silent", "", tests=(Stdin("1", " \n"), Stdin("1", "2")))
    reading = drop_vacuous_tests(TaskFile((broken, silent)), InTheOpen(apart))
    assert [task.tests for task in reading.tasks] == [(), (Stdin("1", "2"),)]
    assert str(reading.problems[0]).startswith("broken: test 0 of task broken cannot be used")
    assert str(reading.problems[1]) == "silent: 1 of 2 inputs expect nothing: left out"


def test_what_was_tried_is_not_tried_again(apart, tmp_path):
    telling, silent, some = Script("assert f(1) == 2"), Script("assert f"), Script("assert f(0) is None")
    tasks = (Task("a", "", "f", (telling, silent)), Task("b", "", "f", (some,)), Task("c", "", "f", (silent,)))
    first, again, more = (InTheOpen(apart) for _ in range(3))
    found = drop_vacuous_tests(TaskFile(tasks), first, cache=tmp_path)
    assert drop_vacuous_tests(TaskFile(tasks), again, cache=tmp_path) == found
    assert [task.tests for task in found.tasks] == [(telling,), (), ()]
    drop_vacuous_tests(TaskFile((*tasks, Task("d", "", "f", (telling,)))), more, cache=tmp_path)
    assert (first.ran > 0, again.ran, more.ran) == (True, 0, 4)
