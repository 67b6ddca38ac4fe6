from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.faults import Fault
from assay.sandbox.answers import Answer, Input, answers_of, askable, job_of, questions
from assay.sandbox.harness.canonical import LONGEST, canonical, canonical_lines
from assay.sandbox.limits import Ended, Limits
from assay.sandbox.opening import open_sandbox
from assay.sandbox.pool import Sandbox
from assay.types import Program


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with open_sandbox(workers=1) as opened:
        yield opened


def asked(sandbox: Sandbox, source: str, *inputs: Input, entry: str = "f") -> tuple[Answer, ...]:
    job = job_of(questions(entry, inputs), Program("t", source), Limits(cpu_s=1, wall_s=5))
    (ended,) = sandbox.run([job])
    return answers_of(ended, len(inputs))


def test_answers_come_in_the_order_of_the_inputs(sandbox: Sandbox) -> None:
    source = "def f(x):\n    return None if x == 0 else [1.0 / x]\n"
    assert asked(sandbox, source, (2,), (0,), ("a",)) == (
        Answer("[0.5]"),
        Answer("None", says=False),
        Answer("raised TypeError", Fault.TYPE_ERROR, 2, says=False),
    )


def test_a_program_that_does_not_load_answers_nothing(sandbox: Sandbox) -> None:
    told = asked(sandbox, "def f(x)\n    return x\n", (1,), (2,))
    assert told == (Answer("failed SyntaxError", Fault.SYNTAX_ERROR, 1, says=False),) * 2
    assert {each.fault for each in asked(sandbox, "g = 1", (1,))} == {Fault.FUNCTION_NOT_FOUND}


def test_what_was_answered_before_the_end_counts(sandbox: Sandbox) -> None:
    slow = asked(sandbox, "def f(x):\n    while x:\n        pass\n    return 7\n", (0,), (1,), (2,))
    assert [(each.text, each.fault) for each in slow] == [("7", None), ("", Fault.TIMEOUT), ("", Fault.TIMEOUT)]
    gone = asked(sandbox, "import os\ndef f(x):\n    return x or os._exit(0)\n", (1,), (0,))
    assert [(each.text, each.fault) for each in gone] == [("1", None), ("", Fault.EXECUTION_OTHER)]


def test_an_object_of_the_program_is_no_answer(sandbox: Sandbox) -> None:
    told = asked(sandbox, "class A:\n    pass\ndef f(x):\n    return A()\n", (1,))
    assert told == (Answer("<A>", says=False),)


def test_whole_programs_answer_by_what_they_print(sandbox: Sandbox) -> None:
    source = "x = int(input())\nif x:\n    print(' ', x / 3)\n"
    assert asked(sandbox, source, "1\n", "0\n", "a\n", entry="") == (
        Answer("0.333333333"),
        Answer("", says=False),
        Answer("raised ValueError", Fault.VALUE_ERROR, 1, says=False),
    )


@pytest.mark.parametrize("verdict", [b"", b"null\n", b"[]\n", b"{}\n", b'["returned"]\n', b"\xff\n", b'"abcd"\n'])
def test_a_verdict_that_is_none_is_no_answer(verdict: bytes) -> None:
    (answer,) = answers_of(Ended("j", verdict), 1)
    assert answer.fault is Fault.EXECUTION_OTHER


def test_what_the_sandbox_broke_on_is_nobodys_fault() -> None:
    assert answers_of(Ended("j", ended="broken"), 2) == (Answer("", says=False),) * 2


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1, 1.0),
        (True, 1),
        (0.1 + 0.2, 0.3),
        ({1, 2, 3}, {3, 2, 1}),
        ({"a": 1, "b": [2.0]}, OrderedDict(b=[2], a=1)),
        ([(1, 2)], [(1.0, 2)]),
        (-0.0, 0),
    ],
)
def test_equal_values_have_one_text(left: object, right: object) -> None:
    assert canonical(left) == canonical(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [([1], (1,)), (1, "1"), ("a", b"a"), (None, "None"), (1, 2), (0.1, 0.1001), ([], ()), (math.inf, math.nan)],
)
def test_unequal_values_have_two(left: object, right: object) -> None:
    assert canonical(left) != canonical(right)


@given(st.lists(st.integers() | st.floats() | st.text(), max_size=60))
def test_texts_are_short_and_differ_with_the_values(values: list[object]) -> None:
    assert len(canonical(values)) <= LONGEST
    assert canonical(values) != canonical([*values, 0])


def test_words_and_lines_count_in_what_is_printed() -> None:
    assert canonical_lines(" 1  2.50\n\nyes \n") == canonical_lines("1 2.5\nyes")
    assert canonical_lines("1 2") != canonical_lines("1\n2")


def test_only_plain_data_can_be_asked() -> None:
    assert askable((1, [{"a": {2}}]))
    assert not askable((object(),))
