from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="the train extra is not installed")

from assay.encode.question_lists import QuestionList
from assay.search.fit_blend import ReadList, fit_blend, read_list


def lists(skill: float, count: int = 300) -> list[ReadList]:
    """Return lists whose right text a ranking of some skill and a reranker of another know of."""
    random = np.random.default_rng(0)
    found = []
    for _ in range(count):
        targets = np.zeros(10)
        targets[random.integers(10)] = 1
        logits = random.normal(size=10) + targets * 1.5 - 2
        found.append(read_list(_list(targets, logits), (random.normal(size=10) + skill * targets).tolist()))
    return found


def _list(targets, logits) -> QuestionList:
    return QuestionList("q", ("t",) * 10, tuple(targets), tuple(logits), "s", "judged")


def test_a_reranker_weighs_as_much_as_it_knows():
    weights = [fit_blend(lists(skill)).weight for skill in (0.0, 1.0, 3.0)]
    assert weights[0] == pytest.approx(0, abs=0.12)
    assert weights[0] < weights[1] < weights[2]


def test_probabilities_are_calibrated_on_the_sum():
    read = lists(1.5)
    blend = fit_blend(read)
    sums = np.concatenate([one.logits + blend.weight * one.opinions for one in read])
    right = np.concatenate([one.targets for one in read])
    probabilities = 1 / (1 + np.exp(-(blend.scale * sums + blend.offset)))
    assert probabilities.mean() == pytest.approx(right.mean(), abs=0.01)
    assert blend.scale > 0


def test_opinions_are_standardized_and_those_of_one_mind_say_nothing():
    assert read_list(_list(np.zeros(10), np.zeros(10)), [2.0] * 10).opinions.tolist() == [0.0] * 10
    opinions = read_list(_list(np.zeros(10), np.zeros(10)), list(range(10))).opinions
    assert (opinions.mean(), opinions.std()) == pytest.approx((0, 1))
