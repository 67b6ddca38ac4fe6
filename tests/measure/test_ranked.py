"""Ranked pass@k against all orders of small pools, and its intervals."""

from __future__ import annotations

from itertools import pairwise, permutations
from math import isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.measure.passk import at_k
from assay.measure.ranked import Judged, RankMeasure, at, gain, mean, measures, unranked, values

PROGRAMS = st.builds(
    Judged,
    score=st.sampled_from([0.0, 0.5, 1.0]),
    right=st.booleans(),
    ran=st.booleans(),
    n=st.integers(1, 2),
    text=st.sampled_from(["", "a", "b", "c"]),
)
POOLS = st.lists(PROGRAMS, min_size=1, max_size=4)


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


@given(pool=POOLS, k=st.integers(1, 5), good=st.sampled_from(["pass", "exec"]), unique=st.booleans())
def test_ties_are_averaged_over_all_their_orders(pool: list[Judged], k: int, good: str, *, unique: bool):
    measure = RankMeasure(k, good, unique)
    if sum(each.n for each in pool) < k:
        assert isnan(at(pool, measure))
    else:
        assert at(pool, measure) == pytest.approx(all_orders(pool, measure))


@given(POOLS, st.integers(1, 5))
def test_unranked_is_pass_at_k(pool: list[Judged], k: int):
    samples, right = sum(each.n for each in pool), sum(each.n for each in pool if each.right)
    if samples >= k:
        assert at(unranked(pool), RankMeasure(k)) == pytest.approx(at_k(samples, right, k))


def test_copies_of_one_program_do_not_fill_the_first_places_once_duplicates_are_removed():
    pool = [Judged(1.0, right=False, ran=True, n=5, text="a"), Judged(0.5, right=True, ran=True, text="b")]
    assert at(pool, RankMeasure(5)) == 0.0
    assert at(pool, RankMeasure(2, unique=True)) == 1.0


def test_without_duplicates_a_list_may_be_shorter_than_k():
    pool = [Judged(1.0, right=True, ran=True, n=9, text="a")]
    assert at(pool, RankMeasure(5, unique=True)) == 1.0
    assert isnan(at(pool, RankMeasure(10, unique=True)))


def test_a_score_that_is_no_number_is_an_error():
    with pytest.raises(InputError, match="nan"):
        at([Judged(nan, right=True, ran=True)], RankMeasure(1))
    with pytest.raises(InputError, match="k is 0"):
        at([Judged(1.0, right=True, ran=True)], RankMeasure(0))


def test_exec_never_stands_without_pass():
    for ks in ((1,), (1, 5), (10,)):
        names = [str(measure) for measure in measures(ks)]
        assert {name.replace("exec", "pass") for name in names if "exec" in name} <= set(names)
        assert names[0].startswith("pass")


def test_gains_are_paired_by_task_and_leave_out_tasks_that_one_side_lacks():
    plain = {"a": 0.0, "b": 0.5, "c": nan, "d": 1.0}
    better = {"a": 1.0, "b": 1.0, "c": 1.0, "e": 0.0}
    found = gain(better, plain)
    assert (found.tasks, found.value) == (2, 0.75)
    assert found.low <= 0.75 <= found.high
    assert gain({"a": 1.0}, {"b": 1.0}).tasks == 0


def test_a_constant_gain_has_no_width_whatever_the_tasks_are_like():
    plain = {str(place): place / 40 for place in range(30)}
    found = gain({task: value + 0.25 for task, value in plain.items()}, plain)
    assert (found.low, found.high) == (pytest.approx(0.25), pytest.approx(0.25))
    assert found.p < 0.001


def test_means_count_the_tasks_that_have_a_value():
    pools = {"a": [Judged(0, right=True, ran=True)], "b": [Judged(0, right=False, ran=True, n=2)]}
    two = mean(values(pools, RankMeasure(2)))
    assert (two.tasks, two.value) == (1, 0.0)
    assert isnan(mean({"a": nan}).value)
