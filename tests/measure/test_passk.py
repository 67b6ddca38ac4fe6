from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb, isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.measure.passk import at_k, counted, ks_of, over_tasks


def exact(n: int, c: int, k: int) -> float:
    return float(1 - Fraction(comb(n - c, k), comb(n, k)))


def test_it_is_the_share_of_draws_that_hold_a_good_one():
    samples = [True, True, False, False, False, False]
    draws = list(combinations(samples, 3))
    assert at_k(6, 2, 3) == pytest.approx(sum(map(any, draws)) / len(draws), abs=1e-15)


def test_it_is_exact_for_every_small_number_of_samples():
    for n in range(1, 26):
        for c in range(n + 1):
            for k in range(1, n + 1):
                assert at_k(n, c, k) == pytest.approx(exact(n, c, k), abs=1e-14), (n, c, k)


@given(st.integers(1, 3_000).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_it_neither_overflows_nor_cancels(numbers):
    n, c, k = numbers
    assert at_k(n, c, k) == pytest.approx(exact(n, c, k), rel=1e-10, abs=1e-300)


def test_one_good_sample_of_a_million_is_not_lost():
    assert at_k(10**6, 1, 1) == pytest.approx(1e-6, rel=1e-12)


@pytest.mark.parametrize("numbers", [(0, 0, 1), (3, 4, 1), (3, -1, 1), (3, 1, 4), (3, 1, 0)])
def test_numbers_that_mean_nothing_are_refused(numbers):
    with pytest.raises(InputError, match="wanted 0 <= good"):
        at_k(*numbers)


def test_tasks_are_averaged_and_those_with_too_few_samples_told():
    one, two = over_tasks({"a": (4, 1), "b": (4, 4), "c": (1, 0)}, (1, 2))
    assert (one.value, one.tasks, one.few) == (pytest.approx((0.25 + 1 + 0) / 3), 3, ())
    assert (two.value, two.tasks, two.few) == (pytest.approx((0.5 + 1) / 2), 2, ("c",))
    assert one.low <= one.value <= one.high


def test_no_task_with_enough_samples_has_no_value():
    (found,) = over_tasks({"a": (1, 1)}, (10,))
    assert isnan(found.value)
    assert (found.tasks, found.few) == (0, ("a",))


def test_the_interval_is_the_same_each_time_and_narrows_with_tasks():
    few = over_tasks({str(i): (1, i % 2) for i in range(20)}, (1,))[0]
    many = over_tasks({str(i): (1, i % 2) for i in range(2_000)}, (1,))[0]
    assert few == over_tasks({str(i): (1, i % 2) for i in range(20)}, (1,))[0]
    assert many.high - many.low < (few.high - few.low) / 5


def test_programs_count_as_often_as_they_were_sampled():
    assert counted([("a", 3, True), ("b", 1, False), ("a", 2, False)]) == {"a": (5, 3), "b": (1, 0)}


def test_ks_are_read_once_each():
    assert ks_of("1,10,1") == (1, 10)
    for wrong in ("", "a", "0,1", "1,-1", "1.5"):
        with pytest.raises(InputError):
            ks_of(wrong)
