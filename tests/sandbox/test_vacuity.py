from __future__ import annotations

import pytest

from assay.sandbox import vacuity
from assay.types import Call, Script, Stdin, Task


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
    seen = vacuity.findings(task, [apart(job) for job in vacuity.jobs(task)])
    named = {each.test for each in seen}
    assert named == found
    assert vacuity.is_vacuous(seen) is ("" in named)


def test_an_input_for_which_nothing_is_expected_is_vacuous(apart):
    task = Task("task", "", "", (Stdin("1", ""), Stdin("2", "2")))
    seen = vacuity.findings(task, [apart(job) for job in vacuity.jobs(task)])
    assert {each.test for each in seen} == {"input 0"}
    assert not vacuity.is_vacuous(seen)


def test_stubs_have_names_and_no_content():
    stubs = vacuity.stubs(Task("task", "", "f", (Script("assert f(1)"),)))
    assert [stub.id.rpartition("-")[2] for stub in stubs] == ["raises", "none", "object", "empty"]
    assert stubs[-1].source == ""
