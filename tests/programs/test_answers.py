from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.cage.cage_pool import CagePool
from assay.cage.limits import Ended, Limits
from assay.cage.open_cage import open_sandbox
from assay.faults import Fault
from assay.programs.answers import Input, ProgramAnswer, answers, answers_of, askable
from assay.programs.harness.canonical import LONGEST, canonical, canonical_lines
from assay.types import Program


@pytest.fixture(scope="module")
def sandbox() -> Iterator[CagePool]:
    with open_sandbox(workers=1) as opened:
        yield opened


def asked(sandbox: CagePool, source: str, *inputs: Input, entry: str = "f") -> tuple[ProgramAnswer, ...]:
    limits = Limits(cpu_s=1, wall_s=5)
    (row,) = answers(entry, [Program("t", source)], inputs, sandbox, limits)
    return row


def test_answers_come_in_the_order_of_the_inputs(sandbox: CagePool) -> None:
    source = "def f(x):\n    return None if x == 0 else [1.0 / x]\n"
    assert asked(sandbox, source, (2,), (0,), ("a",)) == (
        ProgramAnswer("[0.5]"),
        ProgramAnswer("None", says=False),
        ProgramAnswer("raised TypeError", Fault.TYPE_ERROR, 2, says=False),
    )


def test_a_program_that_does_not_load_answers_nothing(sandbox: CagePool) -> None:
    told = asked(sandbox, "def f(x)\n    return x\n", (1,), (2,))
    assert told == (ProgramAnswer("failed SyntaxError", Fault.SYNTAX_ERROR, 1, says=False),) * 2
    assert {each.fault for each in asked(sandbox, "g = 1", (1,))} == {Fault.FUNCTION_NOT_FOUND}


def test_what_was_answered_before_the_end_counts(sandbox: CagePool) -> None:
    slow = asked(sandbox, "def f(x):\n    while x:\n        pass\n    return 7\n", (0,), (1,), (2,))
    assert [(each.text, each.fault) for each in slow] == [("7", None), ("", Fault.TIMEOUT), ("", Fault.TIMEOUT)]
    gone = asked(sandbox, "import os\ndef f(x):\n    return x or os._exit(0)\n", (1,), (0,))
    assert [(each.text, each.fault) for each in gone] == [("1", None), ("", Fault.EXECUTION_OTHER)]


def test_an_object_of_the_program_is_no_answer(sandbox: CagePool) -> None:
    told = asked(sandbox, "class A:\n    pass\ndef f(x):\n    return A()\n", (1,))
    assert told == (ProgramAnswer("<A>", says=False),)


def test_a_generator_that_raises_while_it_is_drawn_spoils_no_later_answer(sandbox: CagePool) -> None:
    source = "def f(x):\n    yield 1 / x\n    raise KeyError(x) if x > 1 else SystemExit\n"
    assert asked(sandbox, source, (2,), (1,), (0,)) == (
        ProgramAnswer("raised KeyError", Fault.KEY_ERROR, 3, says=False),
        ProgramAnswer("raised SystemExit", Fault.EXECUTION_OTHER, 3, says=False),
        ProgramAnswer("raised ZeroDivisionError", Fault.EXECUTION_OTHER, 2, says=False),
    )


def test_whole_programs_answer_by_what_they_print(sandbox: CagePool) -> None:
    source = "x = int(input())\nif x:\n    print(' ', x / 3)\n"
    assert asked(sandbox, source, "1\n", "0\n", "a\n", entry="") == (
        ProgramAnswer("0.333333333"),
        ProgramAnswer("", says=False),
        ProgramAnswer("raised ValueError", Fault.VALUE_ERROR, 1, says=False),
    )


@pytest.mark.parametrize("verdict", [b"", b"null\n", b"[]\n", b"{}\n", b'["returned"]\n', b"\xff\n", b'"abcd"\n'])
def test_a_verdict_that_is_none_is_no_answer(verdict: bytes) -> None:
    (answer,) = answers_of(Ended("j", verdict), 1)
    assert answer.fault is Fault.EXECUTION_OTHER


def test_what_the_sandbox_broke_on_is_nobodys_fault() -> None:
    assert answers_of(Ended("j", ended="broken"), 2) == (ProgramAnswer("", says=False),) * 2


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
