"""Rows of evidence with labels in, the weights of a logistic model out, and where its probabilities are sure.

Evidence for a match may only count for it: with labels as noisy as people's, free signs fit the noise. Each source has
an intercept of its own, so that what differs between sources is not taken for what makes a match.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.judge.evidence import GROUPS

Numbers = NDArray[np.float64]

FREE = frozenset((*GROUPS["code"], *GROUPS["query"]))
"""Columns that may count either way."""
AGAINST = frozenset(("missing", "kind_missed"))
_Z = 1.96


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """Weights of the columns, and an intercept a source."""

    linear: Numbers
    intercepts: Numbers

    def scores(self, rows: Numbers) -> Numbers:
        """Return log-odds, with the mean intercept: that of a source not seen."""
        scores: Numbers = rows @ self.linear + self.intercepts.mean()
        return scores


def fit(  # noqa: PLR0913  each is one thing
    rows: Numbers,
    labels: Numbers,
    counts: Numbers,
    source: NDArray[np.intp],
    columns: Sequence[str],
    *,
    penalty: float,
    steps: int,
) -> LogisticFit:
    """Return the model of these columns, by accelerated projected gradient (Beck and Teboulle, 2009)."""
    counts = counts / counts.sum()
    middle = counts @ rows
    spread = np.sqrt(counts @ (rows - middle) ** 2) + 1e-6
    ones = (source[:, None] == np.unique(source)).astype(np.float64)
    scaled = np.hstack(((rows - middle) / spread, ones))
    low, high = _bounds(columns, ones.shape[1])
    shrunk = np.append(np.full(len(columns), penalty), np.zeros(ones.shape[1]))
    step = 1 / (np.linalg.eigvalsh((scaled * counts[:, None]).T @ scaled)[-1] / 4 + penalty)
    at = ahead = np.zeros(len(shrunk))
    speed = 1.0
    for _ in range(steps):
        slope = scaled.T @ (counts * (probability(scaled @ ahead) - labels)) + shrunk * ahead
        after = np.clip(ahead - step * slope, low, high)
        faster = (1 + np.sqrt(1 + 4 * speed**2)) / 2
        at, ahead, speed = after, after + (speed - 1) / faster * (after - at), faster
    linear = at[: len(columns)] / spread
    return LogisticFit(linear, at[len(columns) :] - linear @ middle)


def _bounds(columns: Sequence[str], intercepts: int) -> tuple[Numbers, Numbers]:
    """Return the least and the greatest weight of each column, and of each intercept."""
    free = [np.inf] * intercepts
    low = [-np.inf if column in FREE | AGAINST else 0.0 for column in columns]
    high = [0.0 if column in AGAINST else np.inf for column in columns]
    return np.array([*low, *(-each for each in free)]), np.array([*high, *free])


def balanced(labels: Numbers) -> Numbers:
    """Return how much each label counts for both to count half, all together 1."""
    ones = labels.sum()
    counts: Numbers = np.where(labels == 1, 0.5 / ones, 0.5 / (len(labels) - ones))
    return counts


def calibrate(scores: Numbers, labels: Numbers, counts: Numbers, steps: int = 50) -> tuple[float, float]:
    """Return the slope, 0 or more, and the offset that make probabilities of scores (Platt, 1999)."""
    both = np.column_stack((scores, np.ones(len(scores))))  # Newton's method
    counts = counts / counts.sum()
    at = np.array([1.0, 0.0])
    for _ in range(steps):
        chances = probability(both @ at)
        slope = both.T @ (counts * (chances - labels))
        curve = (both * (counts * chances * (1 - chances))[:, None]).T @ both + 1e-6 * np.eye(2)
        at -= np.linalg.solve(curve, slope)
    return max(float(at[0]), 0.0), float(at[1])


def thresholds(chances: Numbers, labels: Numbers, counts: Numbers, *, sure: float, least: int) -> tuple[float, float]:
    """Return up to which probability a no is sure and from which a yes is; -1 and 2 where nothing is."""
    order = np.argsort(chances, kind="stable")
    no = _most_sure(1 - labels[order], counts[order], sure, least)
    yes = _most_sure(labels[order][::-1], counts[order][::-1], sure, least)
    return float(chances[order[no - 1]]) if no else -1.0, float(chances[order[-yes]]) if yes else 2.0


def _most_sure(right: Numbers, counts: Numbers, sure: float, least: int) -> int:
    """Return how many of the most extreme pairs are enough in agreement: the most, by Wilson's lower bound.

    Pairs that count differently are as many as would say as much if all counted the same (Kish, 1965).
    """
    whole = counts.cumsum()
    share = np.clip((counts * right).cumsum() / whole, 0.0, 1.0)
    number = whole**2 / (counts**2).cumsum()
    width = _Z * np.sqrt(share * (1 - share) / number + _Z**2 / (4 * number**2))
    bound = (share + _Z**2 / (2 * number) - width) / (1 + _Z**2 / number)
    found = np.flatnonzero((bound >= sure) & (np.arange(1, len(right) + 1) >= least))
    return int(found[-1]) + 1 if len(found) else 0


def probability(scores: Numbers) -> Numbers:
    """Return probabilities of log-odds."""
    chances: Numbers = 1 / (1 + np.exp(-np.clip(scores, -50.0, 50.0)))
    return chances
