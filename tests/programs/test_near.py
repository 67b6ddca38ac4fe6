"""What counts as the same answer: values with a tolerance, printed numbers, and `pytest.approx`."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from assay.programs.harness.near import near
from assay.programs.harness.printed import differs

NUMBERS = [0.0, -3.5, 7, True, 1e300, inf, -inf, nan]


@pytest.mark.parametrize("got", NUMBERS)
@pytest.mark.parametrize("expected", [number for number in NUMBERS if isinstance(number, float)])
def test_numbers_are_near_as_numpy_has_it(got, expected):
    with np.errstate(invalid="ignore"):
        close = bool(np.allclose(got, expected, rtol=1e-7, atol=1e-6))
    other = float(repr(expected))  # not the same object, as in two processes
    assert near(got, other, 1e-6) is near([{"a": (got,)}], [{"a": (other,)}], 1e-6) is close


@pytest.mark.parametrize(
    ("got", "expected", "right"),
    [
        (complex(1, inf), complex(2, inf), False),
        (complex(1, inf), complex(1, inf), True),
        (5, complex(0, inf), False),
        (complex(inf, 0), inf, False),
        (complex(1, 1e-9), 1.0, False),
        (1.0, complex(1, 1e-9), True),
        (10**400, inf, False),
        ([1.0, 5.0], [1.0, inf], False),
        ({1: 5.0}, {1: -inf}, False),
        (((inf,),), ((inf,),), True),
        (1e308, -1e308, False),
    ],
)
def test_an_infinity_is_near_to_itself_alone(got, expected, right):
    assert near(got, expected, 1e-6) is right


@pytest.mark.parametrize(
    ("got", "expected", "right"),
    [
        (np.int64(4), 4, True),
        (np.float64(2.5), 2.5, True),
        (np.bool_(True), True, True),
        ([np.int64(4), (np.float32(0.5),)], [4, (0.5,)], True),
        ({"a": np.int64(4)}, {"a": 4}, True),
        (np.array([1, 2]), np.array([1, 2]), True),
        ([np.array([1.0])], [np.array([1.0])], True),
        (np.int64(4), [4], False),
        (np.array([[[4]]]), [4], False),
        (np.array([4]), [4], False),
        (np.array(4), 4, False),
        ([np.int64(4)], [[4]], False),
        (np.bool_(True), [True], False),
        (np.array(["aa"]), "aa", False),
        (np.array([1, 2]), np.array([1, 3]), False),
        (np.array([1, 2]), np.array([[1, 2]]), False),
        (complex(4, 0), 4.0, False),
        ([complex(4, 0)], [4.0], False),
        ({complex(4, 0)}, {4}, False),
        (np.complex128(4), 4, False),
        (4, complex(4, 0), True),
    ],
)
def test_arrays_are_equal_to_arrays_and_scalars_are_plain_numbers(got, expected, right):
    assert near(got, expected, 0.0) is near(got, expected, 1e-6) is right


@pytest.mark.parametrize(
    ("printed", "expected", "right"),
    [
        ("123456000.0", "123456789", False),
        ("123456789.0", "123456789", True),
        ("1.23456789e8", "123456789", True),
        ("5.0", "5", True),
        ("5.00000000001", "5", False),
        ("0.0", "0", True),
        ("1e-9", "0", False),
        ("12345678901234567890.0", "12345678901234567890", True),
        ("12345678901234567891.0", "12345678901234567890", False),
        ("1e400", "1" + "0" * 399, False),
        ("nan", "5", False),
        ("inf", "5", False),
        ("5", "5.0", True),
        ("123456000", "123456789.0", True),
        ("0.333333", "0.3333333333", True),
        ("inf", "Infinity", True),
        ("1e500", "inf", False),
        ("1e500", "1e501", False),
        ("-inf", "inf", False),
        ("nan", "nan", True),
        ("nan", "1.5", False),
        ("\u0665\uff16", "56", False),
        ("\u0665.\uff16", "5.6", False),
    ],
)
def test_printed_numbers(printed, expected, right):
    assert (differs(printed, expected) is None) is right
