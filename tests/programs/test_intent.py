from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.faults import Fault
from assay.programs.intent import fault_of, fault_where

ROWS = [
    (None, 1, "NoneError"),
    (None, [], "NoneError"),
    ([], [1], "EmptyError"),
    ((), 3, "EmptyError"),
    ({}, {1: 2}, "EmptyError"),
    ([], (), "OutputTypeError"),
    ("", "abcd", "StringLargeError"),
    ("", "abc", "StringSmallError"),
    ("3", 3, "OutputTypeError"),
    ([1], (1,), "OutputTypeError"),
    (b"a", "a", "OutputTypeError"),
    (1, None, "OutputTypeError"),
    ({1}, frozenset({2}), "IntSmallError"),
    (Counter("a"), {"a": 2}, "IntSmallError"),
    ([1], [1, 2], "LengthError"),
    ({1: 2}, {}, "LengthError"),
    ({1, 2}, {3}, "LengthError"),
    (False, True, "IntSmallError"),
    (True, 12, "IntLargeError"),
    (3, 13, "IntSmallError"),
    (3, 14, "IntLargeError"),
    (2.5, 2.6, "IntSmallError"),
    (float("-inf"), 2.0, "IntLargeError"),
    (float("nan"), 2.0, "IntLargeError"),
    (10**400, 0.5, "IntLargeError"),
    (3 + 4j, 0, "IntSmallError"),
    ("ab", "cd", "StringSmallError"),
    ("abc", "abcdef", "StringSmallError"),
    ("abc", "abcdefg", "StringLargeError"),
    ([[2], [3]], [[1], [2]], "IntSmallError"),
    ([1, "a"], [1, "abcdefgh"], "StringLargeError"),
    ([1, None], [1, 2], "OutputTypeError"),
    ([[], 1], [[1], 1], "LengthError"),
    ({"a": [1]}, {"a": [50]}, "IntLargeError"),
    ({"a": 1}, {"b": 1}, "other intent error"),
    ({1, 2}, {3, 4}, "other intent error"),
    (object(), 1, "OutputTypeError"),
    (float("nan"), float("nan"), "IntLargeError"),
]


@pytest.mark.parametrize(("got", "expected", "fault"), ROWS, ids=[f"{got!r:.20} {want!r:.20}" for got, want, _ in ROWS])
def test_each_kind_of_difference(got, expected, fault):
    assert fault_of(got, expected) is Fault(fault)


@pytest.mark.parametrize(
    ("relation", "got", "expected", "fault"),
    [
        ("eq", 1, 2, "IntSmallError"),
        ("in", 7, ("a", 8), "IntSmallError"),
        ("in", None, (1, 2), "NoneError"),
        ("in", "x", "abc", "other intent error"),
        ("order", 50, 3, "IntLargeError"),
        ("order", 3, 3, "other intent error"),
        ("ne", 3, 3, "other intent error"),
        ("ne", None, None, "other intent error"),
        ("contains", [], 1, "EmptyError"),
        ("contains", None, 1, "NoneError"),
        ("true", 0, None, "IntSmallError"),
        ("true", None, None, "NoneError"),
        ("false", "x", None, "OutputTypeError"),
        ("none", 1, None, "OutputTypeError"),
        ("type", 1, None, "OutputTypeError"),
        ("type", None, None, "NoneError"),
        ("unknown", 3, None, "other intent error"),
    ],
)
def test_each_relation_of_an_assert(relation, got, expected, fault):
    assert fault_where(relation, got, expected) is Fault(fault)


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=6,
)


@given(PLAIN, PLAIN)
def test_any_two_values_have_an_intent_fault(got, expected):
    assert fault_of(got, expected).is_intent


def test_what_holds_itself_ends():
    left: list[object] = []
    right: list[object] = []
    left.append(left)
    right.append(right)
    assert fault_of(left, right).is_intent
    assert all(fault_of(*pair).is_intent for pair in pairwise([left, [right], [[left]]]))
