"""Intervals and tests: against scipy, by hand, and on samples whose answer is known."""

from __future__ import annotations

from itertools import product
from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.measure.compare import compare, holm, interval, outside, randomisation, sign_test, t_test, wilson


def test_the_t_test_is_that_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    for degrees in (*range(1, 40), 199, 200, 999, 1000, 20_603):
        for t in (0.0, 0.001, 0.1, 0.5, 1.0, 1.96, 2.5, 4.0, 8.0, 40.0, 1e6):
            assert outside(t, degrees) == pytest.approx(2 * stats.t.sf(t, degrees), abs=1e-10)
    draws = np.random.default_rng(1)
    for queries in (2, 3, 4, 5, 10, 45, 46, 500):
        a = draws.random(queries)
        b = a + draws.normal(0.02, 0.1, queries)
        assert t_test(a, b) == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=1e-10)
    one = np.array([0.25])  # the formula has no answer for one query and for equal differences
    assert (t_test(one, one + 1), t_test(np.repeat(one, 9), np.repeat(one, 9))) == (1, 1)
    assert t_test(np.repeat(one + 1, 9), np.repeat(one, 9)) == 0


def test_randomisation_is_near_the_count_of_all_flips():
    for differences in ([1, 2, 3, 4], [3, -1, 2, 5, -2, 4, 1], [0, 0, 1, 1, 1, -1], [1, -1]):
        values = np.array(differences, dtype=float)
        flips = np.array(list(product((1, -1), repeat=len(values)))) @ values
        exact = float(np.mean(np.abs(flips) >= abs(values.sum())))
        assert randomisation(values, np.zeros(len(values))) == pytest.approx(exact, abs=0.02)
    a = np.array([0.1, 0.2, -0.3, 0.7, -0.1, -0.6, 0.3, 0.6, -0.9])
    assert a.sum() != 0, "but for the last digit these add up to nothing, so that any flip is as large"
    assert randomisation(a, np.zeros(len(a))) == 1


def test_a_difference_is_found_and_a_likeness_is_not():
    draws = np.random.default_rng(2)
    a = draws.random(200)
    assert (randomisation(a, a), randomisation(a + 0.1 + draws.normal(0, 0.1, 200), a)) == (1, 1 / 10_001)
    same = [randomisation(draws.random(60), draws.random(60), seed=n) for n in range(100)]
    assert np.mean(np.array(same) < 0.05) < 0.12
    assert np.mean(same) == pytest.approx(0.5, abs=0.12)


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    """Of many queries and of ten, of which plain percentiles cover the mean 90 times of 100."""
    draws = np.random.default_rng(4)
    bounds = [interval(draws.beta(2, 5, 80), level=0.9, seed=n) for n in range(300)]
    assert 0.84 < np.mean([low <= 2 / 7 <= high for low, high in bounds]) < 0.95
    draws = np.random.default_rng(8)
    bounds = [interval(draws.beta(4, 2, 10), seed=n) for n in range(600)]
    assert np.mean([low <= 2 / 3 <= high for low, high in bounds]) > 0.93


def test_an_interval_is_seeded_holds_the_mean_and_widens_with_its_level():
    values = np.random.default_rng(5).random(40)
    low, high = interval(values)
    assert (low, high) == interval(values) != interval(values, seed=1)
    assert low < values.mean() < high
    wider = interval(values, level=0.99)
    assert wider[0] < low < high < wider[1]
    for few, wanted in (([0.5] * 7, (0.5, 0.5)), ([0.3], (0.3, 0.3)), ([0.0, 1.0], (0.0, 1.0))):
        assert interval(np.array(few)) == wanted
    with pytest.raises(InputError, match="at least one"):
        interval(np.array([]))


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_by_hand_keeps_the_order_and_never_lowers(chances):
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    adjusted = holm(chances)
    assert all(chance <= after <= 1 for chance, after in zip(chances, adjusted, strict=True))
    order = sorted(range(len(chances)), key=lambda n: chances[n])
    assert [adjusted[n] for n in order] == sorted(adjusted)


def test_systems_are_compared_each_with_each():
    draws = np.random.default_rng(7)
    base = draws.random(60)
    values = {"a": base + 0.2, "b": base + draws.normal(0, 0.05, 60), "c": base}
    found = compare(values, seed=3)
    assert [(one.a, one.b) for one in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [one.holm for one in found] == holm([one.randomisation for one in found])
    first, second, third = found
    assert first.queries == 60
    assert first.difference == pytest.approx(0.2, abs=0.03)
    assert first.low < first.difference < first.high
    assert (second.low, second.high) == pytest.approx((0.2, 0.2))
    assert second.holm < 0.001
    assert third.low < 0 < third.high
    assert third.t == pytest.approx(third.randomisation, abs=0.05)
    with pytest.raises(InputError, match="same queries"):
        compare({"a": np.zeros(3), "b": np.zeros(4)})


@given(st.integers(1, 900).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
@settings(max_examples=50)
def test_wilson_is_scipy_s(counts):
    stats = pytest.importorskip("scipy.stats")
    part, whole = counts
    ends = stats.binomtest(part, whole).proportion_ci(method="wilson")
    assert wilson(part, whole) == pytest.approx((ends.low, ends.high), abs=1e-9)


@pytest.mark.parametrize(("wins", "losses"), [(18, 2), (5, 5), (0, 7), (450, 448)])
def test_the_sign_test_is_that_of_scipy(wins: int, losses: int):
    stats = pytest.importorskip("scipy.stats")
    assert sign_test(wins, losses) == pytest.approx(stats.binomtest(wins, wins + losses).pvalue, rel=1e-6)
    assert sign_test(1_206, 794) < 1e-18, "CoSQA+, section V-A: 60.3% of 2,000"


def test_wilson_has_the_figures_of_a_published_study_and_an_answer_at_each_end():
    assert all(map(isnan, wilson(0, 0)))
    assert (wilson(0, 9)[0], wilson(9, 9)[1]) == (0.0, 1.0)
    low, high = wilson(1_206, 2_000)  # CoSQA+, section V-A: 60.3% of 2,000 codes that were found better
    assert (round(low, 3), round(high, 3)) == (0.581, 0.624)
    for counts in ((-1, 3), (4, 3)):
        with pytest.raises(InputError, match="wanted a count"):
            wilson(*counts)
