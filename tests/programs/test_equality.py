"""When two answers are the same, with a tolerance or printed, and which fault their difference is."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product
from math import inf, nan

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.faults import Fault
from assay.programs.harness.comparison import differs, fault_of, fault_where, near

NUMBERS = [0.0, -3.5, 7, True, 1e300, inf, -inf, nan]
INFINITIES = [
    *((complex(1, inf), complex(2, inf), False), (complex(1, inf), complex(1, inf), True)),
    *((5, complex(0, inf), False), (complex(inf, 0), inf, False), (complex(1, 1e-9), 1.0, False)),
    *((1.0, complex(1, 1e-9), True), (10**400, inf, False), ([1.0, 5.0], [1.0, inf], False)),
    *(({1: 5.0}, {1: -inf}, False), (((inf,),), ((inf,),), True), (1e308, -1e308, False)),
]
ARRAYS = [
    *((np.int64(4), 4, True), (np.float64(2.5), 2.5, True), (np.bool_(True), True, True)),
    *(([np.int64(4), (np.float32(0.5),)], [4, (0.5,)], True), ({"a": np.int64(4)}, {"a": 4}, True)),
    *((np.array([1, 2]), np.array([1, 2]), True), ([np.array([1.0])], [np.array([1.0])], True)),
    *((np.int64(4), [4], False), (np.array([[[4]]]), [4], False), (np.array([4]), [4], False)),
    *((np.array(4), 4, False), ([np.int64(4)], [[4]], False), (np.bool_(True), [True], False)),
    *((np.array(["aa"]), "aa", False), (np.array([1, 2]), np.array([1, 3]), False)),
    *((np.array([1, 2]), np.array([[1, 2]]), False), (complex(4, 0), 4.0, False), ([complex(4, 0)], [4.0], False)),
    *(({complex(4, 0)}, {4}, False), (np.complex128(4), 4, False), (4, complex(4, 0), True)),
]
PRINTED = [
    *(("123456000.0", "123456789", False), ("123456789.0", "123456789", True), ("1.23456789e8", "123456789", True)),
    *(("5.0", "5", True), ("5.00000000001", "5", False), ("0.0", "0", True), ("1e-9", "0", False)),
    ("12345678901234567890.0", "12345678901234567890", True),
    *(("12345678901234567891.0", "12345678901234567890", False), ("1e400", "1" + "0" * 399, False)),
    *(("nan", "5", False), ("inf", "5", False), ("5", "5.0", True), ("123456000", "123456789.0", True)),
    *(("2.00001", "2.0", True), ("2.00003", "2.0", False), ("0.000000009", "0.0", True), ("0.00000002", "0.0", False)),
    *(("0.333333", "0.3333333333", True), ("inf", "Infinity", True), ("1e500", "inf", False)),
    *(("1e500", "1e501", False), ("-inf", "inf", False), ("nan", "nan", True), ("nan", "1.5", False)),
    *(("\u0665\uff16", "56", False), ("\u0665.\uff16", "5.6", False)),
]
FAULTS = [
    *((None, 1, "NoneError"), (None, [], "NoneError"), ([], [1], "EmptyError"), ((), 3, "EmptyError")),
    *(({}, {1: 2}, "EmptyError"), ([], (), "OutputTypeError"), ("", "abcd", "StringLargeError")),
    *(("", "abc", "StringSmallError"), ("3", 3, "OutputTypeError"), ([1], (1,), "OutputTypeError")),
    *((b"a", "a", "OutputTypeError"), (1, None, "OutputTypeError"), ({1}, frozenset({2}), "IntSmallError")),
    *((Counter("a"), {"a": 2}, "IntSmallError"), ([1], [1, 2], "LengthError"), ({1: 2}, {}, "LengthError")),
    *(({1, 2}, {3}, "LengthError"), (False, True, "IntSmallError"), (True, 12, "IntLargeError")),
    *((3, 13, "IntSmallError"), (3, 14, "IntLargeError"), (2.5, 2.6, "IntSmallError")),
    *((float("-inf"), 2.0, "IntLargeError"), (float("nan"), 2.0, "IntLargeError"), (10**400, 0.5, "IntLargeError")),
    *((3 + 4j, 0, "IntSmallError"), ("ab", "cd", "StringSmallError"), ("abc", "abcdef", "StringSmallError")),
    *(("abc", "abcdefg", "StringLargeError"), ([[2], [3]], [[1], [2]], "IntSmallError")),
    *(([1, "a"], [1, "abcdefgh"], "StringLargeError"), ([1, None], [1, 2], "OutputTypeError")),
    *(([[], 1], [[1], 1], "LengthError"), ({"a": [1]}, {"a": [50]}, "IntLargeError")),
    *(({"a": 1}, {"b": 1}, "other intent error"), ({1, 2}, {3, 4}, "other intent error")),
    *((object(), 1, "OutputTypeError"), (float("nan"), float("nan"), "IntLargeError")),
]
RELATIONS = [
    *(("eq", 1, 2, "IntSmallError"), ("in", 7, ("a", 8), "IntSmallError"), ("in", None, (1, 2), "NoneError")),
    *(("in", "x", "abc", "other intent error"), ("order", 50, 3, "IntLargeError")),
    *(("order", 3, 3, "other intent error"), ("ne", 3, 3, "other intent error")),
    *(("ne", None, None, "other intent error"), ("contains", [], 1, "EmptyError")),
    *(("contains", None, 1, "NoneError"), ("true", 0, None, "IntSmallError"), ("true", None, None, "NoneError")),
    *(("false", "x", None, "OutputTypeError"), ("none", 1, None, "OutputTypeError")),
    *(("type", 1, None, "OutputTypeError"), ("type", None, None, "NoneError")),
    ("unknown", 3, None, "other intent error"),
]


def test_numbers_are_near_as_numpy_has_it():
    for got, expected in product(NUMBERS, [number for number in NUMBERS if isinstance(number, float)]):
        with np.errstate(invalid="ignore"):
            close = bool(np.allclose(got, expected, rtol=1e-7, atol=1e-6))
        other = float(repr(expected))  # not the same object, as in two processes
        assert near(got, other, 1e-6) is near([{"a": (got,)}], [{"a": (other,)}], 1e-6) is close, (got, expected)


def test_an_infinity_is_near_to_itself_alone_arrays_to_arrays_and_scalars_are_plain_numbers():
    edges = [(2.0, 2.0 + 1.1e-6, True), (2.0, 2.0 + 1.3e-6, False), ([0.0], [0.9e-6], True), ([0.0], [1.1e-6], False)]
    assert [row for row in [*INFINITIES, *edges] if near(row[0], row[1], 1e-6) is not row[2]] == []
    assert [row for row in ARRAYS if not near(row[0], row[1], 0.0) is near(row[0], row[1], 1e-6) is row[2]] == []


def test_printed_numbers():
    assert [row for row in PRINTED if (differs(row[0], row[1]) is None) is not row[2]] == []


def test_each_kind_of_difference_and_each_relation_of_an_assert_has_its_fault():
    assert [(*row, str(fault_of(*row[:2]))) for row in FAULTS if fault_of(*row[:2]) is not Fault(row[2])] == []
    assert [row for row in RELATIONS if fault_where(*row[:3]) is not Fault(row[3])] == []


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=50)
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
