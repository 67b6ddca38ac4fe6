from __future__ import annotations

from itertools import permutations
from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.measure.agreement import Estimate, against, alpha, kappa, majority
from assay.measure.compare import interval, interval_of
from assay.measure.proportions import wilson

LABELS = st.sampled_from([0, 1, 2, None])
TWO = st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=30)


def crossed(counts: dict[tuple[object, object], int]) -> tuple[list[object], list[object]]:
    pairs = [pair for pair, times in counts.items() for _ in range(times)]
    return [a for a, _ in pairs], [b for _, b in pairs]


def told(text: str) -> list[int | None]:
    return [None if mark == "*" else int(mark) for mark in text]


KRIPPENDORFF = [
    told("*****34121133*3"),
    told("1*213343*******"),
    told("**21344*21133*4"),
]
"""Three coders whose nominal alpha, 0.691, is worked out by hand in the article on it in Wikipedia."""
FOUR = [told("123321412***"), told("1233224125*3"), told("*3332342251*"), told("12332441251*")]
"""Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), part C: four observers, twelve units, 0.743."""


def columns(rows):
    width = max(map(len, rows))
    return [[row[at] if at < len(row) else None for row in rows] for at in range(width)]


def test_the_published_examples_of_alpha():
    assert alpha(columns(KRIPPENDORFF)).value == pytest.approx(0.691, abs=5e-4)
    assert alpha(columns(FOUR)).value == pytest.approx(0.743, abs=5e-4)


def test_two_observers_of_ten_and_twelve_articles():
    """Krippendorff (2011), part A (binary, 0.095) and part B (nominal, 0.692)."""
    binary = [told("0100000000"), told("1110010100")]
    assert alpha(columns(binary)).value == pytest.approx(0.095, abs=5e-4)
    names = ["aabbdcccedda", "babbbccceddd"]
    assert alpha([list(pair) for pair in zip(*names, strict=True)]).value == pytest.approx(0.692, abs=5e-4)


def test_the_published_example_of_kappa():
    """Cohen (1960), tables 1 and 2: 200 patients, three diagnoses, kappa 0.492."""
    table = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
    a, b = crossed({(row, column): table[row][column] for row in range(3) for column in range(3)})
    assert kappa(a, b).value == pytest.approx(0.492, abs=5e-4)


def test_kappas_of_the_same_accuracy_and_other_margins():
    """Two tables of 100 with 60 agreements: 0.1304 and 0.2593 (the example of Wikipedia)."""
    one = crossed({(1, 1): 45, (1, 0): 15, (0, 1): 25, (0, 0): 15})
    two = crossed({(1, 1): 25, (1, 0): 35, (0, 1): 5, (0, 0): 35})
    assert kappa(*one).value == pytest.approx(0.1304, abs=5e-5)
    assert kappa(*two).value == pytest.approx(0.2593, abs=5e-5)


def test_an_annotator_beside_the_truth():
    true, said = crossed({(1, 1): 6, (1, 0): 2, (0, 1): 3, (0, 0): 4, (1, None): 5, (None, 1): 7})
    found = against(true, said)
    assert (found.decided, found.open) == (15, 5)
    assert found.accuracy.value == pytest.approx(10 / 15)
    assert found.of_all.value == pytest.approx(10 / 20)
    assert found.precision.value == pytest.approx(6 / 9)
    assert found.recall.value == pytest.approx(6 / 8)
    assert found.f1.value == pytest.approx(2 * 6 / (8 + 9))
    assert found.kappa.value == pytest.approx((15 * 10 - (8 * 9 + 7 * 6)) / (15**2 - (8 * 9 + 7 * 6)))
    for figure in (found.accuracy, found.of_all, found.precision, found.recall, found.f1, found.kappa):
        assert figure.low < figure.value < figure.high


@pytest.mark.parametrize(
    ("true", "said", "name"),
    [([0, 0], [0, 0], "precision"), ([0, 0], [1, 0], "recall"), ([1, 1], [1, 1], "kappa"), ([1], [None], "accuracy")],
)
def test_what_is_not_defined_is_not_a_number(true, said, name):
    figure = getattr(against(true, said), name)
    assert all(map(isnan, (figure.value, figure.low, figure.high)))


def test_nothing_labelled_has_no_figures():
    assert isnan(against([], []).accuracy.value)
    assert isnan(alpha([[1, None], [None, None]]).value)
    assert isnan(alpha([[1, 1], [1, 1]]).value)


def test_labels_that_do_not_pair_up_are_refused():
    with pytest.raises(InputError, match="do not pair up"):
        kappa([1, 0], [1])


@given(TWO)
def test_kappa_is_what_its_definition_says(pairs):
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    seen = sum(a == b for a, b in both) / len(both) if both else nan
    chance = sum(a == b for a, _ in both for _, b in both) / len(both) ** 2 if both else nan
    wanted = nan if not both or chance == 1 else (seen - chance) / (1 - chance)
    found = kappa([a for a, _ in pairs], [b for _, b in pairs])
    assert found.value == pytest.approx(wanted, abs=1e-12, nan_ok=True)


@given(st.lists(st.lists(LABELS, min_size=4, max_size=4), max_size=12))
def test_alpha_is_what_its_definition_says(units):
    """Observed over expected disagreement, by listing every pair of labels within units and of all units."""
    rows = [[label for label in row if label is not None] for row in units]
    rows = [row for row in rows if len(row) > 1]
    everything = [label for row in rows for label in row]
    within = sum(sum(a != b for a, b in permutations(row, 2)) / (len(row) - 1) for row in rows)
    across = sum(a != b for a, b in permutations(everything, 2))
    wanted = 1 - within * (len(everything) - 1) / across if across else nan
    assert alpha(units).value == pytest.approx(wanted, abs=1e-12, nan_ok=True)


@given(st.lists(st.lists(LABELS, min_size=3, max_size=3), min_size=1, max_size=12), st.randoms())
def test_alpha_does_not_depend_on_who_says_what_first(units, random):
    mixed = [random.sample(row, 3) for row in random.sample(units, len(units))]
    assert alpha(mixed).value == pytest.approx(alpha(units).value, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    ("labels", "wanted"),
    [([1, 1, 0], 1), ([0, None, None], 0), ([1, 0], None), ([None], None), ([], None), ([2, 2, 1, 1, 0], None)],
)
def test_the_majority_decides_and_a_tie_does_not(labels, wanted):
    assert majority(labels) == wanted


def test_the_interval_of_a_mean_is_the_interval_of_its_sums():
    values = np.random.default_rng(3).integers(0, 2, 400).astype(float)
    parts = np.stack([values, np.ones(400)], axis=1)
    assert interval_of(parts, lambda sums: sums[:, 0] / sums[:, 1]) == pytest.approx(interval(values), abs=0.01)


def test_intervals_hold_the_truth_as_often_as_they_say():
    """Accuracy of a fair annotator of 120 pairs, 300 times."""
    draws = np.random.default_rng(11)
    held = 0
    for _ in range(300):
        said = (draws.random(120) < 0.8).astype(int).tolist()
        figure = against([1] * 120, said).accuracy
        held += figure.low <= 0.8 <= figure.high
    assert 0.91 <= held / 300 <= 0.99


def test_few_labels_that_are_all_right_are_not_sure_to_be():
    found = against([1] * 10 + [0] * 10, [1] * 10 + [0] * 10)
    assert found.precision.value == found.precision.high == 1
    assert found.precision.low == pytest.approx(wilson(10, 10)[0])
    assert found.accuracy.low == pytest.approx(wilson(20, 20)[0])


def test_codes_of_one_query_are_drawn_together():
    """Twenty pairs of each query that fall together say as much as one."""
    true, said, groups = [], [], []
    for query in range(30):
        true += [1] * 20
        said += [query % 3 > 0] * 20
        groups += [query] * 20
    alone, together = (against(true, said, groups=group).accuracy for group in ((), groups))
    assert alone.value == together.value == pytest.approx(2 / 3)
    assert together.high - together.low > 3 * (alone.high - alone.low)


def test_drawing_together_does_not_change_the_values():
    draws = np.random.default_rng(5)
    true, said, groups = (draws.integers(0, size, 200).tolist() for size in (2, 3, 40))
    said = [None if label == 2 else label for label in said]
    alone, together = (against(true, said, groups=group) for group in ((), groups))
    assert (alone.decided, alone.open) == (together.decided, together.open)
    for name in ("accuracy", "of_all", "precision", "recall", "f1", "kappa"):
        assert getattr(alone, name).value == pytest.approx(getattr(together, name).value, abs=1e-12)
    assert kappa(true, said).value == pytest.approx(kappa(true, said, groups=groups).value, abs=1e-12)
    rows = list(zip(true, said, strict=True))
    assert alpha(rows).value == pytest.approx(alpha(rows, groups=groups).value, abs=1e-12)


def test_the_same_seed_gives_the_same_interval():
    units = columns(FOUR)
    assert alpha(units, seed=1) == alpha(units, seed=1) != alpha(units, seed=2)
    assert isinstance(alpha(units), Estimate)
