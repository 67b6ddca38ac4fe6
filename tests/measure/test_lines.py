"""Figures of line ranges: a worked example from outside, and what must hold of any run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.measure.lines import Entry, Span, gains, hit, lines_in, ndcg, recall, reciprocal_rank

# The worked example that octocode's retrieval benchmark is described with.
TRUTH = [Entry(Span("fileA", 10, 50), 2), Entry(Span("fileB", 20, 30), 1)]
FOUND = [Span("fileC", 1, 10), Span("fileA", 30, 60), Span("fileB", 25, 35)]

SPANS = st.builds(
    lambda path, start, length: Span(path, start, start + length),
    st.sampled_from(["a", "b"]),
    st.integers(1, 30),
    st.integers(0, 30),
)
TRUTHS = st.lists(st.builds(Entry, SPANS, st.integers(1, 3)), max_size=5)
RUNS = st.lists(SPANS, max_size=12)


def test_the_worked_example_comes_out_as_written():
    earned = gains(FOUND, TRUTH)
    assert earned == [0, 2, 1]
    assert hit(earned, 5) == 1
    assert reciprocal_rank(earned) == 0.5
    assert ndcg(earned, TRUTH, 10) == pytest.approx(0.67, abs=0.005)
    assert recall(earned, TRUTH, 10) == 1


def test_only_the_first_k_count():
    earned = gains(FOUND, TRUTH)
    assert hit(earned, 1) == recall(earned, TRUTH, 1) == ndcg(earned, TRUTH, 1) == 0
    assert recall(earned, TRUTH, 2) == 0.5
    assert hit(earned, 0) == recall(earned, TRUTH, 0) == ndcg(earned, TRUTH, 0) == 0
    assert [lines_in(FOUND, k) for k in (0, 1, 2, 9)] == [0, 10, 41, 52]


@pytest.mark.parametrize(
    ("start", "end", "touches"), [(1, 9, False), (1, 10, True), (20, 20, True), (50, 99, True), (51, 99, False)]
)
def test_two_ranges_overlap_when_they_share_a_line(start, end, touches):
    assert Span("fileA", start, end).overlaps(TRUTH[0].span) is touches
    assert TRUTH[0].span.overlaps(Span("fileA", start, end)) is touches
    assert not Span("fileB", start, end).overlaps(TRUTH[0].span)


def test_an_entry_is_answered_once():
    assert gains([FOUND[1], FOUND[1], Span("fileA", 1, 99)], TRUTH) == [2, 0, 0]


def test_one_long_hit_answers_one_entry_the_best():
    truth = [Entry(Span("a", 1, 5), 1), Entry(Span("a", 20, 25), 3), Entry(Span("a", 40, 45), 2)]
    assert gains([Span("a", 1, 1000)] * 4, truth) == [3, 2, 1, 0]


def test_equal_entries_are_two():
    assert gains([FOUND[1]] * 3, [TRUTH[0], TRUTH[0]]) == [2, 2, 0]


def test_nothing_to_find_and_nothing_found_are_nought():
    assert gains(FOUND, []) == [0, 0, 0]
    assert ndcg([0, 0, 0], [], 10) == recall([0, 0, 0], [], 10) == 0
    assert ndcg([], TRUTH, 10) == recall([], TRUTH, 10) == reciprocal_rank([]) == hit([], 10) == 0


@given(RUNS, TRUTHS, st.integers(0, 12))
def test_no_figure_leaves_nought_to_one(found, truth, k):
    earned = gains(found, truth)
    assert len(earned) == len(found)
    figures = (ndcg(earned, truth, k), recall(earned, truth, k), reciprocal_rank(earned), hit(earned, k))
    assert all(0 <= figure <= 1 + 1e-12 for figure in figures)
    assert bool(figures[1]) == bool(figures[0]) == bool(figures[3])


@given(TRUTHS, st.integers(1, 12))
def test_the_truth_itself_best_first_is_perfect(truth, k):
    best = sorted(truth, key=lambda entry: -entry.grade)
    distinct = [
        Entry(Span(f"{n}{entry.span.path}", entry.span.start, entry.span.end), entry.grade)
        for n, entry in enumerate(best)
    ]
    earned = gains([entry.span for entry in distinct], distinct)
    assert ndcg(earned, distinct, k) == pytest.approx(1 if truth else 0)
    assert recall(earned, distinct, k) == (min(k, len(truth)) / len(truth) if truth else 0)


@given(RUNS, TRUTHS)
def test_a_hit_earns_no_less_further_up(found, truth):
    earned = gains(found, truth)
    assert reciprocal_rank(earned) <= reciprocal_rank(gains(sorted(found, key=lambda s: not _right(s, truth)), truth))


def _right(span, truth):
    return any(entry.span.overlaps(span) for entry in truth)
