"""Lists that a reranker was not trained on, with its scores, to what its opinion is worth beside the ranking's.

The weight is the likeliest under a softmax over each list, the ranking's logits at a temperature of their own; the
calibration is Platt's, on the first places of the order that comes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.encode.question_lists import QuestionList
from assay.search.calibrate import logistic
from assay.search.rerank import standardized
from assay.types import Blend

_FIRST = 10  # places that the calibration is of
_STEPS, _RATE = 400, 0.1
_LEAST_SCALE = 0.05  # too few lists may say that the better hits are the worse ones; the order stays

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ReadList:
    """A list with what the reranker thinks of its texts, standardized."""

    logits: Values
    opinions: Values
    targets: Values


def read_list(one: QuestionList, scores: Sequence[float]) -> ReadList:
    """Return a list with the scores of its texts."""
    return ReadList(np.array(one.scores), standardized(scores), np.array(one.targets))


def fit_blend(lists: Sequence[ReadList]) -> Blend:
    """Return the blend under which the right texts of the lists are likeliest."""
    answerable = [one for one in lists if one.targets.any() and not one.targets.all()]
    both = np.ones(2)
    for _ in range(_STEPS):  # two numbers of a convex loss: plain descent does
        both -= _RATE * np.mean([_gradient(one, both) for one in answerable], axis=0)
    weight = max(float(both[1] / max(both[0], 0.1)), 0.0)
    sums = [one.logits + weight * one.opinions for one in lists]
    first = [np.argsort(-each, kind="stable")[:_FIRST] for each in sums]
    scores = np.concatenate([each[top] for each, top in zip(sums, first, strict=True)])
    right = np.concatenate([one.targets[top] > 0 for one, top in zip(lists, first, strict=True)]).astype(float)
    scale, offset = logistic(scores, right)
    return Blend(weight, max(scale, _LEAST_SCALE), offset)


def _gradient(one: ReadList, both: Values) -> Values:
    """Return the slope of the loss of one list at temperature and weight."""
    inputs = np.stack((one.logits, one.opinions))
    scores = both @ inputs
    given = np.exp(scores - scores.max())
    return np.asarray(inputs @ (given / given.sum() - one.targets / one.targets.sum()))
