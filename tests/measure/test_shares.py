from __future__ import annotations

from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from assay.errors import InputError
from assay.measure.proportions import sign_test, wilson

COUNTS = st.integers(0, 900).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
"""More trials than that, and scipy says 0 of counts that have a chance of 1e-290 still."""


@given(COUNTS)
def test_both_are_what_scipy_says(counts):
    part, whole = counts
    if whole:
        test = binomtest(part, whole)
        interval = test.proportion_ci(method="wilson")
        assert wilson(part, whole) == pytest.approx((interval.low, interval.high), abs=1e-9)
        assert sign_test(part, whole - part) == pytest.approx(test.pvalue, rel=1e-6)


def test_nothing_shows_nothing():
    assert all(map(isnan, wilson(0, 0)))
    assert sign_test(0, 0) == 1.0


def test_the_ends_stay_within():
    assert wilson(0, 9)[0] == 0.0
    assert wilson(9, 9)[1] == 1.0


def test_the_published_study_is_no_accident():
    """CoSQA+, section V-A: 60.3% of 2,000 codes that were found better."""
    low, high = wilson(1_206, 2_000)
    assert (round(low, 3), round(high, 3)) == (0.581, 0.624)
    assert sign_test(1_206, 794) < 1e-18


@pytest.mark.parametrize("counts", [(-1, 3), (4, 3)])
def test_counts_that_mean_nothing_are_refused(counts):
    with pytest.raises(InputError, match="wanted a count"):
        wilson(*counts)
