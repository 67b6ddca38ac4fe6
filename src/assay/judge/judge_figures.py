"""Probabilities and labels of pairs in, how well they agree out: ROC-AUC, accuracy and Brier score, with intervals.

Intervals are drawn over queries, since all code for one query is labelled with one reading of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.judge.fit_signals import Numbers, probability

_DRAWS = 300
_BINS = 10


@dataclass(frozen=True, slots=True)
class JudgeFigure:
    """A figure and its 95% interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True, slots=True)
class SourceFigures:
    """How a judge that learned from other sources does on one."""

    name: str
    pairs: int
    matches: float
    """The fraction of its pairs that are labelled a match."""
    roc_auc: JudgeFigure
    accuracy: JudgeFigure
    """At even odds."""
    brier: float
    """With the fraction of matches as the prior; the variance of the labels is what knowing that alone gives."""
    called: float
    """The fraction called a match with that prior."""
    plain: dict[str, float]
    """The ROC-AUC of plain orders, by their names."""


def auc(scores: Numbers, labels: Numbers, counts: Numbers | None = None) -> float:
    """Return the probability that a match scores higher than another pair; a draw counts half."""
    counts = np.ones(len(scores)) if counts is None else counts
    _, place = np.unique(scores, return_inverse=True)
    ones, zeros = np.bincount(place, counts * labels), np.bincount(place, counts * (1 - labels))
    below = np.cumsum(zeros) - zeros / 2
    whole = ones.sum() * zeros.sum()
    return float(ones @ below / whole) if whole else float("nan")


def figures_of(
    name: str, scores: Numbers, labels: Numbers, queries: Sequence[str], plain: dict[str, float]
) -> SourceFigures:
    """Return the figures of log-odds at even prior odds."""
    share = float(labels.mean())
    prior = probability(scores + np.log(share / (1 - share)))
    right = ((scores >= 0) == labels).astype(np.float64)
    draws = _draws(queries)
    aucs = [auc(scores, labels, counts) for counts in draws]
    means = [float(counts @ right / counts.sum()) for counts in draws]
    return SourceFigures(
        name, len(labels), share, _figure(auc(scores, labels), aucs), _figure(float(right.mean()), means),
        float(((prior - labels) ** 2).mean()), float((prior >= 0.5).mean()), plain,
    )  # fmt: skip


def reliability(chances: Numbers, labels: Numbers) -> list[tuple[float, float, int]]:
    """Return the mean probability, the fraction of matches and the number of pairs of each tenth of probability."""
    place = np.minimum((chances * _BINS).astype(np.intp), _BINS - 1)
    bins = [place == one for one in range(_BINS)]
    return [(float(chances[at].mean()), float(labels[at].mean()), int(at.sum())) for at in bins if at.any()]


def _draws(queries: Sequence[str]) -> list[Numbers]:
    """Return how often each pair comes in resamples of the queries."""
    _, place = np.unique(np.array(queries, dtype=object).astype(str), return_inverse=True)
    groups = int(place.max()) + 1
    random = np.random.default_rng(0)
    taken = [np.bincount(random.integers(groups, size=groups), minlength=groups) for _ in range(_DRAWS)]
    return [counts.astype(np.float64)[place] for counts in taken]


def _figure(value: float, draws: Sequence[float]) -> JudgeFigure:
    low, high = np.nanquantile(draws, (0.025, 0.975))
    return JudgeFigure(value, float(low), float(high))
