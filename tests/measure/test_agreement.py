"""Agreement against published examples and its definitions; confusion and F1 counted by hand."""

from __future__ import annotations

from itertools import permutations
from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.measure.agreement import against, alpha, confusion, kappa, lines, majority
from assay.measure.compare import interval, interval_of, sample_size, wilson

LABELS = st.sampled_from([0, 1, 2, None])
FEW = settings(max_examples=40)
FIGURES = ("accuracy", "of_all", "precision", "recall", "f1", "kappa")


def crossed(counts: dict[tuple[object, object], int]) -> tuple[list[object], list[object]]:
    pairs = [pair for pair, times in counts.items() for _ in range(times)]
    return [a for a, _ in pairs], [b for _, b in pairs]


def columns(*rows: str) -> list[list[str | None]]:
    """Return the labels of each unit; a star is none."""
    width = max(map(len, rows))
    padded = (row.ljust(width, "*") for row in rows)
    return [[None if mark == "*" else mark for mark in unit] for unit in zip(*padded, strict=True)]


def test_the_published_examples_of_alpha():
    """Krippendorff (2011), parts A, B and C; three coders of Wikipedia's article on alpha."""
    for units, wanted in (
        (columns("0100000000", "1110010100"), 0.095),
        (columns("aabbdcccedda", "babbbccceddd"), 0.692),
        (columns("123321412***", "1233224125*3", "*3332342251*", "12332441251*"), 0.743),
        (columns("*****34121133*3", "1*213343*******", "**21344*21133*4"), 0.691),
    ):
        assert alpha(units).value == pytest.approx(wanted, abs=5e-4)


def test_the_published_examples_of_kappa():
    """Cohen (1960), tables 1 and 2; two tables of the same accuracy and other margins, of Wikipedia's article."""
    table = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
    patients = {(row, column): table[row][column] for row in range(3) for column in range(3)}
    assert kappa(*crossed(patients)).value == pytest.approx(0.492, abs=5e-4)
    for counts, wanted in (((45, 15, 25, 15), 0.1304), ((25, 35, 5, 35), 0.2593)):
        both = dict(zip([(1, 1), (1, 0), (0, 1), (0, 0)], counts, strict=True))
        assert kappa(*crossed(both)).value == pytest.approx(wanted, abs=5e-5)


def test_an_annotator_beside_the_truth():
    true, said = crossed({(1, 1): 6, (1, 0): 2, (0, 1): 3, (0, 0): 4, (1, None): 5, (None, 1): 7})
    found = against(true, said)
    assert (found.decided, found.open) == (15, 5)
    by_chance = 8 * 9 + 7 * 6
    wanted = (10 / 15, 10 / 20, 6 / 9, 6 / 8, 12 / 17, (15 * 10 - by_chance) / (15**2 - by_chance))
    assert [getattr(found, name).value for name in FIGURES] == pytest.approx(wanted)
    assert all(each.low < each.value < each.high for each in (getattr(found, name) for name in FIGURES))


@given(st.lists(st.tuples(st.sampled_from([0, 1, None]), st.sampled_from([0.1, 0.5, 0.9, None])), min_size=1))
@settings(max_examples=20)
def test_the_area_is_how_often_a_right_unit_is_above_a_wrong_one(units: list[tuple[int | None, float | None]]):
    right, wrong = ([chance for label, chance in units if label == wanted and chance is not None] for wanted in (1, 0))
    above = [(a > b) + 0.5 * (a == b) for a in right for b in wrong]
    labels, chances = zip(*units, strict=True)
    found = against(labels, labels, chances=chances).auc
    assert found.value == pytest.approx(float(np.mean(above)) if above else nan, nan_ok=True)
    assert found.low <= found.value <= found.high or isnan(found.value)


def test_what_is_not_defined_is_not_a_number():
    for figure in (
        against([0, 0], [0, 0]).precision,
        against([0, 0], [1, 0]).recall,
        against([1, 1], [1, 1]).kappa,
        against([1], [None]).accuracy,
        against([], []).accuracy,
        alpha([[1, None], [None, None]]),
        alpha([[1, 1], [1, 1]]),
    ):
        assert all(map(isnan, (figure.value, figure.low, figure.high)))


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=30))
@FEW
def test_kappa_is_what_its_definition_says(pairs):
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    seen = sum(a == b for a, b in both) / len(both) if both else nan
    chance = sum(a == b for a, _ in both for _, b in both) / len(both) ** 2 if both else nan
    wanted = nan if not both or chance == 1 else (seen - chance) / (1 - chance)
    found = kappa([a for a, _ in pairs], [b for _, b in pairs])
    assert found.value == pytest.approx(wanted, abs=1e-12, nan_ok=True)


@given(st.lists(st.lists(LABELS, min_size=4, max_size=4), max_size=12), st.randoms())
@FEW
def test_alpha_is_what_its_definition_says_in_any_order(units, random):
    """Observed over expected disagreement, by listing every pair of labels within units and of all units."""
    rows = [[label for label in row if label is not None] for row in units]
    rows = [row for row in rows if len(row) > 1]
    everything = [label for row in rows for label in row]
    within = sum(sum(a != b for a, b in permutations(row, 2)) / (len(row) - 1) for row in rows)
    across = sum(a != b for a, b in permutations(everything, 2))
    wanted = 1 - within * (len(everything) - 1) / across if across else nan
    mixed = [random.sample(row, 4) for row in random.sample(units, len(units))]
    assert alpha(mixed).value == pytest.approx(wanted, abs=1e-12, nan_ok=True)


def test_the_majority_decides_and_a_tie_does_not():
    told = [majority(each) for each in ([1, 1, 0], [0, None, None], [1, 0], [None], [], [2, 2, 1, 1, 0])]
    assert told == [1, 0, None, None, None, None]


def test_the_interval_of_a_mean_is_the_interval_of_its_sums():
    values = np.random.default_rng(3).integers(0, 2, 400).astype(float)
    parts = np.stack([values, np.ones(400)], axis=1)
    assert interval_of(parts, lambda sums: sums[:, 0] / sums[:, 1]) == pytest.approx(interval(values), abs=0.01)


def test_the_size_of_a_sample_is_that_of_the_paired_t_test():
    assert sample_size(np.array([0.0, 0.5, -0.5, 0.5, -0.5] * 20), 0.1) == 159  # (1.960 + 0.842)**2 * 0.202 / 0.01
    assert sample_size(np.zeros(1), 0.1) == 2


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


PREDICTED = st.tuples(st.sampled_from("abc"), st.sampled_from("abc"), st.integers(1, 3))


@given(st.lists(PREDICTED, min_size=1, max_size=12))
@FEW
def test_macro_f1_is_the_mean_over_classes_that_occur(rows: list[tuple[str, str, int]]):
    """As scikit-learn has it, with programs that were sampled several times counted so often."""
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
    assert confusion([], [], labels="ab").macro_f1 == 0.0


def test_labels_that_do_not_pair_up_or_are_unknown_are_refused():
    for count, said in (
        (lambda: kappa([1, 0], [1]), "2 labels of one and 1 of the other: they do not pair up"),
        (lambda: confusion(["a"], []), "do not pair"),
        (lambda: confusion(["z"], ["a"], labels="ab"), "'z' is none of a, b"),
    ):
        with pytest.raises(InputError, match=said):
            count()


def test_lines_count_programs_that_break_apart():
    found = lines([-1, 3, 4, -1], [-1, 3, 5, 2], n=[4, 1, 1, 2])
    assert (found.accuracy, found.found) == pytest.approx((5 / 8, 1 / 2))
    assert (found.programs, found.broken) == (8, 2)
