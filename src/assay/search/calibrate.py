"""Cross-validated scores in, what makes probabilities of them out: relevance, Platt's curve, the floor.

The log odds of a hit are *scale* · score + *offset* + relevance. Those of the best hit come out as what relevance says:
a ranking's scores compare the candidates of one query, and a high one says little about those of another. The curve
is fitted as if every second query were a foreign one, to scores of weights that saw neither repository nor writer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.search.fit_relevance import fit_relevance, is_answered, relevance_rows
from assay.search.lexical import Array
from assay.search.ranking import RELEVANCE_FEATURES, RankingWeights, no_weights
from assay.search.ranking_figures import ScoredExample, Values
from assay.search.ranking_train_settings import RankingTrainSettings

_FIRST = 10  # hits of a query that the curve is fitted to
_SCORE, _ALWAYS = RELEVANCE_FEATURES.index("score"), RELEVANCE_FEATURES.index("always")


@dataclass(frozen=True, slots=True)
class Calibration:
    """What makes probabilities of the scores of one mode, and how well its floor tells foreign queries."""

    relevance: RankingWeights
    scale: float
    offset: float
    floor: float
    """When the best probability is below this, nothing relevant was found."""
    rejected: float | None = None
    """The fraction of queries put to a wrong repository that fall below the floor; None if there were none."""
    foreign_rejected: float | None = None
    """The same of queries that no repository answers."""


def calibrated(
    tested: Sequence[ScoredExample], foreign: Sequence[ScoredExample], settings: RankingTrainSettings
) -> Calibration:
    """Fit relevance and curve; without foreign queries, the curve alone."""
    own_query, scores, right = _first_hits(tested)
    best = _best(tested)
    answered = _answered(tested)
    if not foreign:
        scale, offset = logistic(scores, right)
        floor = float(np.quantile(scale * best[answered] + offset, settings.false_alarms))
        return Calibration(no_weights(len(RELEVANCE_FEATURES)), scale, offset, _probability(floor))
    counted = np.array([settings.strangers if one.example.judged.repository else 1.0 for one in foreign], np.float32)
    relevance, own_added, added = _relevance(tested, foreign, counted, settings)
    query, foreign_scores, wrong = _first_hits(foreign)
    below = np.concatenate((scores - best[own_query], foreign_scores - _best(foreign)[query]))
    columns = np.stack((below, np.concatenate((own_added[own_query], added[query]))), axis=1).astype(np.float64)
    weight = np.concatenate((np.ones(len(scores)) / len(tested), counted[query] / counted.sum()))
    scale, share, height = logistic(columns, np.concatenate((right, wrong)), weight * len(scores) / weight.sum())
    middle = float(best.mean())
    floor = float(np.quantile(share * own_added[answered] + height, settings.false_alarms))
    low = share * added + height < floor
    of_none = np.array([not one.example.judged.repository for one in foreign], dtype=bool)
    relevance = relevance.times(share).plus(_SCORE, -scale).plus(_ALWAYS, scale * middle)
    usual = float(relevance.scores(relevance_rows(tested)[answered]).mean())
    return Calibration(
        relevance.plus(_ALWAYS, -usual),  # code and documentation share the mean of what each adds: 0 where they answer
        scale,
        height - scale * middle + usual,
        _probability(floor),
        _fraction(low[~of_none]),
        _fraction(low[of_none]),
    )


def _relevance(
    tested: Sequence[ScoredExample], foreign: Sequence[ScoredExample], counted: Array, settings: RankingTrainSettings
) -> tuple[RankingWeights, Array, Array]:
    """Return what tells answerable queries from foreign ones, and what it says of each of them where it saw neither."""
    answered = _answered(tested)
    own_rows, rows = relevance_rows(tested), relevance_rows(foreign)
    own_fold = _folds([one.example.judged.group for one in tested], settings.folds)
    fold = _folds([one.example.judged.group for one in foreign], settings.folds)
    own_added, added = np.zeros(len(tested), np.float32), np.zeros(len(foreign), np.float32)
    for out in range(settings.folds):
        learn, learn_own = fold != out, (own_fold != out) & answered
        if learn.any() and learn_own.any():
            weights = fit_relevance(own_rows[learn_own], rows[learn], counted[learn], settings)
            own_added[own_fold == out] = weights.scores(own_rows[own_fold == out])
            added[fold == out] = weights.scores(rows[fold == out])
    return fit_relevance(own_rows[answered], rows, counted, settings), own_added, added


def _answered(tested: Sequence[ScoredExample]) -> NDArray[np.bool_]:
    """Return which queries are answered in the first hits; all, if none is."""
    answered = np.array([is_answered(one) for one in tested], dtype=bool)
    return answered if answered.any() else ~answered


def _folds(groups: Sequence[str], folds: int) -> NDArray[np.int64]:
    """Return the fold of each example: those of one group share it."""
    names = {name: at for at, name in enumerate(sorted(set(groups)))}
    return np.array([names[group] % folds for group in groups], dtype=np.int64)


def _first_hits(scored: Sequence[ScoredExample]) -> tuple[NDArray[np.intp], Values, Values]:
    """Return of the first hits of all queries the number of the query, the score, and whether it is right."""
    best = [np.argsort(-one.scores)[:_FIRST] for one in scored]
    query = np.repeat(np.arange(len(scored)), [len(top) for top in best])
    values = [one.scores[top] for one, top in zip(scored, best, strict=True)]
    right = [one.example.targets[top] > 0 for one, top in zip(scored, best, strict=True)]
    return query, np.concatenate((np.zeros(0), *values)), np.concatenate((np.zeros(0), *right))


def _best(scored: Sequence[ScoredExample]) -> Values:
    return np.array([one.scores.max(initial=-99.0) for one in scored], dtype=float)


def _probability(odds: float) -> float:
    return float(1 / (1 + np.exp(-odds)))


def _fraction(low: NDArray[np.bool_]) -> float | None:
    return float(low.mean()) if len(low) else None


def logistic(columns: Values, right: Values, counted: Values | None = None) -> tuple[float, ...]:
    """Return the slope of each column and the offset of the likeliest logistic curve, by Newton's method.

    `columns` has one number a row, or several; `counted` says what each row counts.
    """
    counted = np.ones(len(columns)) if counted is None else counted
    inputs = np.column_stack([columns, np.ones(len(columns))])
    weights = np.zeros(inputs.shape[1])
    for _ in range(50):
        probability = 1 / (1 + np.exp(-np.clip(inputs @ weights, -30, 30)))
        gradient = inputs.T @ (counted * (right - probability)) - 1e-3 * weights
        curvature = (inputs * (counted * probability * (1 - probability))[:, None]).T @ inputs
        weights += np.linalg.solve(curvature + 1e-3 * np.eye(len(weights)), gradient)
    return tuple(weights.tolist())
