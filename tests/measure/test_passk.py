"""Pass@k against all draws, ranked pass@k against all orders of small pools, and their intervals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, permutations
from math import comb, isnan, nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.measure.passk import Judged, RankMeasure, at, at_k, counted, gain, ks_of, mean, measures, over_tasks, values


def exact(n: int, c: int, k: int) -> float:
    """Return the share of all draws of k that hold a good one."""
    return float(1 - Fraction(comb(n - c, k), comb(n, k)))


def test_it_is_exact_for_every_small_number_of_samples():
    for n in range(1, 11):
        for c in range(n + 1):
            for k in range(1, n + 1):
                assert at_k(n, c, k) == pytest.approx(exact(n, c, k), abs=1e-14), (n, c, k)


@given(st.integers(1, 3_000).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
@settings(max_examples=50)
def test_it_neither_overflows_nor_cancels(numbers):
    n, c, k = numbers
    assert at_k(n, c, k) == pytest.approx(exact(n, c, k), rel=1e-10, abs=1e-300)
    assert at_k(10**6, 1, 1) == pytest.approx(1e-6, rel=1e-12)


def test_numbers_that_mean_nothing_are_refused():
    for numbers in ((0, 0, 1), (3, 4, 1), (3, -1, 1), (3, 1, 4), (3, 1, 0)):
        with pytest.raises(InputError, match="wanted 0 <= good"):
            at_k(*numbers)
    for wrong in ("", "a", "0,1", "1,-1", "1.5"):
        with pytest.raises(InputError):
            ks_of(wrong)
    for score, k, said in ((nan, 1, "nan"), (1.0, 0, "k is 0")):
        with pytest.raises(InputError, match=said):
            at([Judged(score, right=True, ran=True)], RankMeasure(k))
    assert ks_of("1,10,1") == (1, 10)


def test_tasks_are_averaged_and_those_with_too_few_samples_told():
    one, two = over_tasks({"a": (4, 1), "b": (4, 4), "c": (1, 0)}, (1, 2))
    assert (one.value, one.tasks, one.few) == (pytest.approx((0.25 + 1 + 0) / 3), 3, ())
    assert (two.value, two.tasks, two.few) == (pytest.approx((0.5 + 1) / 2), 2, ("c",))
    assert one.low <= one.value <= one.high
    (found,) = over_tasks({"a": (1, 1)}, (10,))
    assert isnan(found.value)
    assert (found.tasks, found.few) == (0, ("a",))
    few, again, many = (over_tasks({str(i): (1, i % 2) for i in range(n)}, (1,))[0] for n in (20, 20, 2_000))
    assert few == again, "an interval is the same each time"
    assert many.high - many.low < (few.high - few.low) / 5


PROGRAMS = st.builds(
    Judged,
    score=st.sampled_from([0.0, 0.5, 1.0]),
    right=st.booleans(),
    ran=st.booleans(),
    n=st.integers(1, 2),
    text=st.sampled_from(["", "a", "b", "c"]),
)


def all_orders(pool: list[Judged], measure: RankMeasure) -> float:
    """Return the mean over every order of single samples in which no worse score stands before a better one."""
    if measure.unique:
        best: dict[object, Judged] = {}
        for place, each in enumerate(pool):
            key = each.text or place
            if key not in best or each.score > best[key].score:
                best[key] = each
        singles = list(best.values())
    else:
        singles = [each for each in pool for _ in range(each.n)]
    found = [
        any(each.right if measure.good == "pass" else each.ran for each in order[: measure.k])
        for order in permutations(singles)
        if all(a.score >= b.score for a, b in pairwise(order))
    ]
    return sum(found) / len(found)


@given(
    pool=st.lists(PROGRAMS, min_size=1, max_size=3),
    k=st.integers(1, 5),
    good=st.sampled_from(["pass", "exec"]),
    unique=st.booleans(),
)
def test_ties_are_averaged_over_all_their_orders(pool: list[Judged], k: int, good: str, *, unique: bool):
    measure = RankMeasure(k, good, unique)
    samples, right = sum(each.n for each in pool), sum(each.n for each in pool if each.right)
    if samples < k:
        assert isnan(at(pool, measure))
        return
    assert at(pool, measure) == pytest.approx(all_orders(pool, measure))
    unranked = [replace(each, score=0.0) for each in pool]
    assert at(unranked, RankMeasure(k)) == pytest.approx(at_k(samples, right, k))


def test_copies_take_places_unless_removed_and_exec_never_stands_without_pass():
    pool = [Judged(1.0, right=False, ran=True, n=5, text="a"), Judged(0.5, right=True, ran=True, text="b")]
    assert (at(pool, RankMeasure(5)), at(pool, RankMeasure(2, unique=True))) == (0.0, 1.0)
    pool = [Judged(1.0, right=True, ran=True, n=9, text="a")]
    assert at(pool, RankMeasure(5, unique=True)) == 1.0  # a list may be shorter than k
    assert isnan(at(pool, RankMeasure(10, unique=True)))
    for ks in ((1,), (1, 5), (10,)):
        names = [str(measure) for measure in measures(ks)]
        assert {name.replace("exec", "pass") for name in names if "exec" in name} <= set(names)
        assert names[0].startswith("pass")


def test_gains_are_paired_by_task_and_programs_count_as_often_as_sampled():
    found = gain({"a": 1.0, "b": 1.0, "c": 1.0, "e": 0.0}, {"a": 0.0, "b": 0.5, "c": nan, "d": 1.0})
    assert (found.tasks, found.value) == (2, 0.75)
    assert found.low <= 0.75 <= found.high
    assert gain({"a": 1.0}, {"b": 1.0}).tasks == 0
    plain = {str(place): place / 40 for place in range(30)}  # a constant gain has no width
    found = gain({task: value + 0.25 for task, value in plain.items()}, plain)
    assert (found.low, found.high) == pytest.approx((0.25, 0.25))
    assert found.p < 0.001
    pools = {"a": [Judged(0, right=True, ran=True)], "b": [Judged(0, right=False, ran=True, n=2)]}
    assert counted([("a", 3, True), ("b", 1, False), ("a", 2, False)]) == {"a": (5, 3), "b": (1, 0)}
    two = mean(values(pools, RankMeasure(2)))
    assert (two.tasks, two.value) == (1, 0.0)
    assert isnan(mean({"a": nan}).value)
