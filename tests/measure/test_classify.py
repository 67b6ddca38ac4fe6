"""Confusion and F1 against scikit-learn's definitions, counted by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.measure.classify import confusion, lines

LABELS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc"), st.integers(1, 3)), min_size=1, max_size=12)


@given(LABELS)
def test_macro_f1_is_the_mean_over_classes_that_occur(rows: list[tuple[str, str, int]]):
    single = [(true, guess) for true, guess, n in rows for _ in range(n)]
    scores = []
    for label in {label for pair in single for label in pair}:
        hits = sum(true == guess == label for true, guess in single)
        wrong = sum(guess == label != true for true, guess in single)
        missed = sum(true == label != guess for true, guess in single)
        scores.append(2 * hits / (2 * hits + wrong + missed))
    found = confusion([r[0] for r in rows], [r[1] for r in rows], labels="abcd", n=[r[2] for r in rows])
    assert found.macro_f1 == pytest.approx(sum(scores) / len(scores))
    assert found.total == len(single)
    assert found.accuracy == pytest.approx(sum(true == guess for true, guess in single) / len(single))


def test_a_class_has_precision_recall_and_support():
    found = confusion(["a", "a", "b"], ["a", "b", "b"])
    a, b = found.classes
    assert (a.precision, a.recall, a.support, a.predicted) == (1.0, 0.5, 2, 1)
    assert (b.precision, b.recall, b.support, b.predicted) == (0.5, 1.0, 1, 2)
    assert found.counts.tolist() == [[1, 1], [0, 1]]
    assert found.record()["classes"]["b"]["f1"] == pytest.approx(2 / 3)


def test_nothing_to_count_is_no_crash_and_what_does_not_pair_is_an_error():
    assert confusion([], [], labels="ab").macro_f1 == 0.0
    with pytest.raises(InputError, match="do not pair"):
        confusion(["a"], [])
    with pytest.raises(InputError, match="'z' is none of"):
        confusion(["z"], ["a"], labels="ab")


def test_lines_count_programs_that_break_apart():
    found = lines([-1, 3, 4, -1], [-1, 3, 5, 2], n=[4, 1, 1, 2])
    assert found.accuracy == pytest.approx(5 / 8)
    assert found.found == pytest.approx(1 / 2)
    assert (found.programs, found.broken) == (8, 2)
