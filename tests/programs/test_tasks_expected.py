"""The program that finds out expected values, on references of our own, and the tests that are made of them."""

from __future__ import annotations

import ast
import json
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.programs.tasks import answering
from assay.programs.tasks.task_file import evalplus_test as made_of
from assay.values import Call, Script

NUMBERS = st.integers() | st.floats(allow_nan=False) | st.complex_numbers(allow_nan=False, allow_infinity=False)
PLAIN = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text() | st.binary() | st.sets(st.integers()),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@pytest.fixture
def answers(capsys: pytest.CaptureFixture[str]):
    def run(reference: str, *inputs: list, contract: str = "", entry_point: str = "f") -> list[object]:
        task = {"reference": reference, "entry_point": entry_point, "contract": contract, "inputs": inputs}
        digits = sys.get_int_max_str_digits()
        try:
            answering.main(json.dumps(task))
        finally:
            sys.set_int_max_str_digits(digits)  # it is a process of its own
        lines = capsys.readouterr().out.splitlines()
        return [ast.literal_eval(line) if line.startswith("(") else line for line in lines]

    return run


@settings(max_examples=50)
@given(PLAIN)
def test_plain_data_reads_back_the_same_and_another_value_says_so(plain):
    assert ast.literal_eval(answering.literal_of(plain)) == plain
    for value, name in ((object(), "object"), (float("nan"), "nan"), (iter([]), "list_iterator")):
        with pytest.raises(TypeError, match=f"returns {name}"):
            answering.literal_of([value])


def test_each_input_is_answered_by_the_reference_where_the_contract_allows_it(answers):
    told = answers("def f(a, b=1): return a / b", [4, 2], [1, 0], [3])
    assert told == [((4, 2), 2.0), "the reference fails: ZeroDivisionError", ((3,), 3.0)]
    told = answers("def f(a):\n    return a", [1], [0], contract='\n    assert a, "invalid" # $\n')
    assert told == [((1,), 1), "the contract does not hold: AssertionError"]


def test_a_value_that_is_too_long_loses_nothing_after_it_and_arguments_are_those_before_the_call(answers):
    assert answers("def f(a): return 'x' * a", [10**6], [1]) == [answering.TOO_LONG, ((1,), "x")]
    assert answers("def f(a): return a.pop()", [[1, 2]]) == [(([1, 2],), 2)]


def test_the_contract_or_the_reference_tells_the_shape_of_arguments(answers):
    pairs = "and all(isinstance(each, tuple) for each in a)"
    for contract, given_, shaped in (
        ("assert isinstance(a, tuple)", [[1, [2]]], (1, [2])),
        (f"assert isinstance(a, list) {pairs}", [[[1], [2]]], [(1,), (2,)]),
        (f"assert isinstance(a, tuple) {pairs}", [[[1], [2]]], ((1,), (2,))),
        ("assert isinstance(a, complex)", ["1j"], 1j),
        ("assert isinstance(a, float)", ["0"], 0.0),
        ("assert isinstance(a, list)", [[[1]]], [[1]]),
    ):
        assert answers("def f(a): return 1", given_, contract=contract) == [((shaped,), 1)], contract
    assert answers("def f(a): return {each: 1 for each in a}", [[[1, 2]]]) == [(([(1, 2)],), {(1, 2): 1})]


def test_tests_compare_as_evalplus_does_and_its_oracles_take_every_right_answer():
    assert made_of("f", (1,), 2, 0.0) == Call((1,), 2, 0.0)
    assert made_of("f", (1,), [2.5], 0.0) == Call((1,), [2.5], 1e-6)
    assert made_of("f", (1,), 2.5, 1e-3) == Call((1,), 2.5, 1e-3)
    for name, args, expected, right, wrong in (
        ("Diff", ([1, 2], [2]), [1, 3], "lambda a, b: (3, 1)", "lambda a, b: [1]"),
        ("check_str", ("a",), True, "lambda a: True", "lambda a: None"),
        ("check_str", ("a",), None, "lambda a: None", "lambda a: 'x'"),
        ("find_zero", ([-6, 11, -6, 1],), 1.0, "lambda xs: 2.0", "lambda xs: 2.1"),
    ):
        test = made_of(name, args, expected, 0.0)
        assert isinstance(test, Script)
        exec(test.source, {name: eval(right)})
        with pytest.raises(AssertionError):
            exec(test.source, {name: eval(wrong)})

    for name, args, other in (
        ("sum_div", (8,), 0),
        ("surface_Area", (3, 4), 35),
        ("digit_distance_nums", (12345, 9), 14),
    ):
        test = made_of(name, args, -1, 0)  # the other reading of its prompt is right too
        assert isinstance(test, Script)
        for answer in (-1, other):
            exec(test.source, {name: lambda *_, answer=answer: answer})
        with pytest.raises(AssertionError):
            exec(test.source, {name: lambda *_, other=other: other + 1})
