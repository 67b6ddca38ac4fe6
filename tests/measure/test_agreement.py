"""Agreement, intervals and tests: against published examples, scipy, their definitions, and by hand."""

from __future__ import annotations

from itertools import permutations, product
from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.measure.agreement import against, alpha, confusion, kappa, lines, majority
from assay.measure.compare import (
    compare,
    holm,
    interval,
    interval_of,
    outside,
    randomisation,
    sample_size,
    sign_test,
    t_test,
    wilson,
)

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


def test_the_published_examples_of_alpha_and_kappa():
    """Krippendorff (2011), parts A, B and C; three coders of Wikipedia's article on alpha."""
    for units, wanted in (
        (columns("0100000000", "1110010100"), 0.095),
        (columns("aabbdcccedda", "babbbccceddd"), 0.692),
        (columns("123321412***", "1233224125*3", "*3332342251*", "12332441251*"), 0.743),
        (columns("*****34121133*3", "1*213343*******", "**21344*21133*4"), 0.691),
    ):
        assert alpha(units).value == pytest.approx(wanted, abs=5e-4)
    # Cohen (1960), tables 1 and 2; two tables of the same accuracy and other margins, of Wikipedia's article.
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
    found = against(labels, labels, probabilities=chances).auc
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


def test_intervals_of_means_and_of_few_labels_and_sizes_of_samples():
    values = np.random.default_rng(3).integers(0, 2, 400).astype(float)
    parts = np.stack([values, np.ones(400)], axis=1)
    assert interval_of(parts, lambda sums: sums[:, 0] / sums[:, 1]) == pytest.approx(interval(values), abs=0.01)
    found = against([1] * 10 + [0] * 10, [1] * 10 + [0] * 10)
    assert found.precision.value == found.precision.high == 1
    assert found.precision.low == pytest.approx(wilson(10, 10)[0])
    assert found.accuracy.low == pytest.approx(wilson(20, 20)[0])
    assert sample_size(np.array([0.0, 0.5, -0.5, 0.5, -0.5] * 20), 0.1) == 159  # (1.960 + 0.842)**2 * 0.202 / 0.01
    assert sample_size(np.zeros(1), 0.1) == 2


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


def test_a_class_has_precision_recall_and_support_and_unknown_labels_are_refused():
    for count, said in (
        (lambda: kappa([1, 0], [1]), "2 labels of one and 1 of the other: they do not pair up"),
        (lambda: confusion(["a"], []), "do not pair"),
        (lambda: confusion(["z"], ["a"], labels="ab"), "'z' is none of a, b"),
    ):
        with pytest.raises(InputError, match=said):
            count()
    found = confusion(["a", "a", "b"], ["a", "b", "b"])
    a, b = found.classes
    assert (a.precision, a.recall, a.support, a.predicted) == (1.0, 0.5, 2, 1)
    assert (b.precision, b.recall, b.support, b.predicted) == (0.5, 1.0, 1, 2)
    assert found.counts.tolist() == [[1, 1], [0, 1]]
    assert found.record()["classes"]["b"]["f1"] == pytest.approx(2 / 3)
    assert confusion([], [], labels="ab").macro_f1 == 0.0


def test_the_majority_decides_and_lines_count_programs_that_break_apart():
    found = lines([-1, 3, 4, -1], [-1, 3, 5, 2], n=[4, 1, 1, 2])
    assert (found.accuracy, found.found) == pytest.approx((5 / 8, 1 / 2))
    assert (found.programs, found.broken) == (8, 2)
    told = [majority(each) for each in ([1, 1, 0], [0, None, None], [1, 0], [None], [], [2, 2, 1, 1, 0])]
    assert told == [1, 0, None, None, None, None]


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


def test_randomisation_is_near_the_count_of_all_flips_and_finds_a_difference():
    for differences in ([1, 2, 3, 4], [3, -1, 2, 5, -2, 4, 1], [0, 0, 1, 1, 1, -1], [1, -1]):
        values = np.array(differences, dtype=float)
        flips = np.array(list(product((1, -1), repeat=len(values)))) @ values
        exact = float(np.mean(np.abs(flips) >= abs(values.sum())))
        assert randomisation(values, np.zeros(len(values))) == pytest.approx(exact, abs=0.02)
    a = np.array([0.1, 0.2, -0.3, 0.7, -0.1, -0.6, 0.3, 0.6, -0.9])
    assert a.sum() != 0, "but for the last digit these add up to nothing, so that any flip is as large"
    assert randomisation(a, np.zeros(len(a))) == 1
    draws = np.random.default_rng(2)
    a = draws.random(200)
    assert (randomisation(a, a), randomisation(a + 0.1 + draws.normal(0, 0.1, 200), a)) == (1, 1 / 10_001)
    same = [randomisation(draws.random(60), draws.random(60), seed=n) for n in range(100)]
    assert np.mean(np.array(same) < 0.05) < 0.12
    assert np.mean(same) == pytest.approx(0.5, abs=0.12)


def test_an_interval_is_seeded_holds_the_mean_and_covers_the_truth_as_often_as_it_says():
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
    # Of many queries and of ten, of which plain percentiles cover the mean 90 times of 100.
    draws = np.random.default_rng(4)
    bounds = [interval(draws.beta(2, 5, 80), level=0.9, seed=n) for n in range(300)]
    assert 0.84 < np.mean([low <= 2 / 7 <= high for low, high in bounds]) < 0.95
    draws = np.random.default_rng(8)
    bounds = [interval(draws.beta(4, 2, 10), seed=n) for n in range(600)]
    assert np.mean([low <= 2 / 3 <= high for low, high in bounds]) > 0.93


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
