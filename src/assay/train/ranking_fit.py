"""Fit the stages of a ranking, what tells answerable queries from foreign ones, and the curve of probabilities.

Listwise softmax over the candidates of a query (Cao et al., 2007, *Learning to Rank: From Pairwise Approach to Listwise
Approach*), AdamW under a one-cycle schedule. Networks of several seeds are fitted side by side and averaged. Inputs are
standardized for fitting, and the weights returned are those of the raw features.

The log odds of a hit are *scale* · score + *offset* + relevance. Those of the best hit come out as what relevance says:
a ranking's scores compare the candidates of one query, and a high one says little about those of another. The curve
is fitted as if every second query were a foreign one, to scores of weights that saw neither repository nor writer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from assay.errors import InputError
from assay.search.features import FEATURES
from assay.search.list_order import file_support
from assay.search.ranking import SECOND_STAGE, RankingName, RankingWeights, no_weights
from assay.search.relevance import RELEVANCE_FEATURES, relevance_row
from assay.search.retrievers import Array
from assay.search.text_features import ALL_FEATURES
from assay.train.ranking_examples import RankingExample
from assay.train.ranking_figures import ScoredExample, Values
from assay.train.settings import RankingSettings

MIN_DEVIATION = 1e-3  # a feature that never varied was not learned, and must not weigh when it does
_NOT_THERE = -1e9  # the score of a place without a candidate


Stages = tuple[RankingWeights, RankingWeights]
"""The first and the second."""


@dataclass(frozen=True, slots=True)
class RankingBatch:
    """Examples side by side, padded to the longest."""

    rows: torch.Tensor
    """(queries, candidates, features)."""
    padding: torch.Tensor
    """(queries, candidates) 0 where a candidate is."""
    targets: torch.Tensor
    """(queries, candidates) adding up to 1 a query."""


def use_one_thread() -> None:
    """Have sums come out the same however many cores there are; more of them do not pay for matrices of this size."""
    torch.set_num_threads(1)


def fit_stages(examples: Sequence[RankingExample], name: RankingName, settings: RankingSettings) -> Stages:
    """Fit the first stage to all candidates and the second to those that it lets through."""
    first = fit_stage(examples, FEATURES, name, settings)
    passed = [second_stage(one, first) for one in examples]
    return first, fit_stage(passed, ALL_FEATURES, name, settings)


def second_stage(example: RankingExample, first: RankingWeights) -> RankingExample:
    """Return an example with the candidates that the first stage lets through."""
    scores = first.scores(example.rows[:, : len(FEATURES)])
    support = file_support(scores, example.listed.files)
    example = replace(example, listed=replace(example.listed, support=support))
    return example.only((-scores).argsort(kind="stable")[: SECOND_STAGE[example.ranking]].tolist())


def fit_stage(
    examples: Sequence[RankingExample], features: Sequence[str], name: RankingName, settings: RankingSettings
) -> RankingWeights:
    """Fit one stage to the examples that have an answer among their candidates."""
    answerable = [one for one in examples if one.targets.any()]
    if not answerable:
        raise InputError(f"none of {len(examples):,} queries has an answer among its candidates; give more of them")
    batch = _padded(answerable, len(features))
    there = batch.rows[batch.padding == 0]
    mean, deviation = there.mean(0), there.std(0, correction=0)
    scale = (deviation > MIN_DEVIATION) / (deviation + 1e-6)
    standard = RankingBatch((batch.rows - mean) * scale, batch.padding, batch.targets)
    parts = [_fitted(standard, name, settings, settings.seed + number) for number in range(settings.seeds)]
    linear, hidden, bias, output = zip(*parts, strict=True)
    inward = torch.cat(hidden, dim=1) * scale[:, None]
    return RankingWeights(
        linear=(torch.stack(linear).mean(0) * scale).numpy(),
        hidden=inward.numpy(),
        bias=(torch.cat(bias) - mean @ inward).numpy(),
        output=(torch.cat(output) / settings.seeds).numpy(),
    )


def _padded(examples: Sequence[RankingExample], features: int) -> RankingBatch:
    longest = max(len(one.rows) for one in examples)
    rows = torch.zeros(len(examples), longest, features)
    padding = torch.full((len(examples), longest), _NOT_THERE)
    targets = torch.zeros(len(examples), longest)
    for at, one in enumerate(examples):
        rows[at, : len(one.rows)] = torch.tensor(one.rows[:, :features])
        padding[at, : len(one.rows)] = 0
        targets[at, : len(one.rows)] = torch.tensor(one.targets / one.targets.sum())
    return RankingBatch(rows, padding, targets)


def _network(features: int, width: int, spread: float) -> list[torch.Tensor]:
    """Return linear part, hidden layer, its bias and its output, to be learned."""
    linear, bias = torch.zeros(features), torch.zeros(width)
    hidden = torch.randn(features, width) * spread
    output = torch.randn(width) * spread
    return [part.requires_grad_() for part in (linear, hidden, bias, output)]


def _scores(rows: torch.Tensor, weights: Sequence[torch.Tensor]) -> torch.Tensor:
    linear, hidden, bias, output = weights
    return rows @ linear + torch.relu(rows @ hidden + bias) @ output


def _fitted(batch: RankingBatch, name: RankingName, settings: RankingSettings, seed: int) -> list[torch.Tensor]:
    """Return linear part, hidden layer, its bias and its output of one network, for standardized features."""
    torch.manual_seed(seed)
    features, width = batch.rows.shape[2], settings.hidden(name)
    weights = _network(features, width, 0.15)
    optimizer = torch.optim.AdamW(weights, lr=settings.rate, weight_decay=settings.decay(name))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, settings.rate, total_steps=settings.steps)
    for _ in range(settings.steps):
        chosen = torch.randperm(len(batch.rows))[: settings.batch]
        rows = batch.rows[chosen] * (torch.rand(len(chosen), 1, features) > settings.hide)
        scores = _scores(rows, weights) + batch.padding[chosen]
        loss = -(batch.targets[chosen] * torch.log_softmax(scores, 1)).sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return [part.detach() for part in weights]


_ANSWERED = 5  # first candidates of which one is right


def relevance_rows(scored: Sequence[ScoredExample]) -> Array:
    """Return what tells whether a corpus answers, shape `(queries, len(RELEVANCE_FEATURES))`."""
    rows = [relevance_row(one.example.query_row, one.example.rows, one.scores) for one in scored]
    return np.array(rows, dtype=np.float32).reshape(len(scored), len(RELEVANCE_FEATURES))


def is_answered(one: ScoredExample) -> bool:
    """Say whether one of the first five candidates is right."""
    return bool(one.example.targets[np.argsort(-one.scores, kind="stable")[:_ANSWERED]].any())


def fit_relevance(answered: Array, foreign: Array, counts: Array, settings: RankingSettings) -> RankingWeights:
    """Fit one network to rows of answered queries and of foreign ones; `counts` says what each foreign one counts."""
    rows = torch.tensor(np.concatenate((answered, foreign)))
    right = torch.cat((torch.ones(len(answered)), torch.zeros(len(foreign))))
    counted = torch.cat((torch.ones(len(answered)) / len(answered), torch.tensor(counts / counts.sum())))
    mean, deviation = rows.mean(0), rows.std(0, correction=0)
    scale = (deviation > MIN_DEVIATION) / (deviation + 1e-6)
    torch.manual_seed(settings.seed)
    weights = linear, hidden, _, output = _network(rows.shape[1], settings.relevance_hidden, 0.1)
    optimizer = torch.optim.Adam(weights, lr=settings.relevance_rate)
    standard = (rows - mean) * scale
    for _step in range(settings.relevance_steps):
        scores = _scores(standard, weights)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(scores, right, counted, reduction="sum") / 2
        size = (linear**2).sum() + (hidden**2).sum() + (output**2).sum()
        optimizer.zero_grad()
        (loss + settings.relevance_decay * size).backward()
        optimizer.step()
    linear, hidden, bias, output = (part.detach() for part in weights)
    inward = hidden * scale[:, None]
    return RankingWeights((linear * scale).numpy(), inward.numpy(), (bias - mean @ inward).numpy(), output.numpy())


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
    tested: Sequence[ScoredExample], foreign: Sequence[ScoredExample], settings: RankingSettings
) -> Calibration:
    """Fit relevance and curve; without foreign queries, the curve alone."""
    own_query, scores, right = _first_hits(tested)
    best = _best(tested)
    answered = _answered_queries(tested)
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
        *(float(low[these].mean()) if these.any() else None for these in (~of_none, of_none)),
    )


def _relevance(
    tested: Sequence[ScoredExample], foreign: Sequence[ScoredExample], counted: Array, settings: RankingSettings
) -> tuple[RankingWeights, Array, Array]:
    """Return what tells answerable queries from foreign ones, and what it says of each of them where it saw neither."""
    answered = _answered_queries(tested)
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


def _answered_queries(tested: Sequence[ScoredExample]) -> NDArray[np.bool_]:
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
