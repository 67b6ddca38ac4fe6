"""Examples in, the weights of one stage or of both out: the part of training that needs torch.

Listwise softmax over the candidates of a query (Cao et al., 2007, *Learning to Rank: From Pairwise Approach to Listwise
Approach*), AdamW under a one-cycle schedule. Networks of several seeds are fitted side by side and averaged: the linear
parts by their mean, the hidden layers side by side. Inputs are standardized for fitting, and the weights given back are
those of the raw features.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import torch

from assay.errors import InputError
from assay.search.features import ALL_FEATURES, FEATURES
from assay.search.list_order import file_support
from assay.search.ranking import SECOND_STAGE, RankingName, RankingWeights
from assay.search.ranking_examples import RankingExample
from assay.search.ranking_train_settings import RankingTrainSettings

LEAST_DEVIATION = 1e-3  # a feature that never varied was not learned, and must not weigh when it does
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


def fit_stages(
    examples: Sequence[RankingExample], name: RankingName, settings: RankingTrainSettings, without: Collection[str] = ()
) -> Stages:
    """Fit the first stage to all candidates and the second to those that it lets through."""
    first = fit_stage(examples, FEATURES, name, settings, without)
    passed = [second_stage(one, first) for one in examples]
    return first, fit_stage(passed, ALL_FEATURES, name, settings, without)


def second_stage(example: RankingExample, first: RankingWeights) -> RankingExample:
    """Return an example with the candidates that the first stage lets through."""
    scores = first.scores(example.rows[:, : len(FEATURES)])
    support = file_support(scores, example.listed.files)
    example = replace(example, listed=replace(example.listed, support=support))
    return example.only((-scores).argsort(kind="stable")[: SECOND_STAGE[example.ranking]].tolist())


def fit_stage(
    examples: Sequence[RankingExample],
    features: Sequence[str],
    name: RankingName,
    settings: RankingTrainSettings,
    without: Collection[str] = (),
) -> RankingWeights:
    """Fit one stage to the examples that have an answer among their candidates."""
    answerable = [one for one in examples if one.targets.any()]
    if not answerable:
        raise InputError(f"none of {len(examples):,} queries has an answer among its candidates; give more of them")
    batch = _padded(answerable, len(features))
    there = batch.rows[batch.padding == 0]
    mean, deviation = there.mean(0), there.std(0, correction=0)
    used = torch.tensor([float(name not in without) for name in features]) * (deviation > LEAST_DEVIATION)
    scale = used / (deviation + 1e-6)
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


def _fitted(batch: RankingBatch, name: RankingName, settings: RankingTrainSettings, seed: int) -> list[torch.Tensor]:
    """Return linear part, hidden layer, its bias and its output of one network, for standardized features."""
    torch.manual_seed(seed)
    features, width = batch.rows.shape[2], settings.hidden(name)
    linear, bias = torch.zeros(features, requires_grad=True), torch.zeros(width, requires_grad=True)
    hidden = (torch.randn(features, width) * 0.15).requires_grad_()
    output = (torch.randn(width) * 0.15).requires_grad_()
    weights = [linear, hidden, bias, output]
    optimizer = torch.optim.AdamW(weights, lr=settings.rate, weight_decay=settings.decay(name))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, settings.rate, total_steps=settings.steps)
    for _ in range(settings.steps):
        chosen = torch.randperm(len(batch.rows))[: settings.batch]
        rows = batch.rows[chosen] * (torch.rand(len(chosen), 1, features) > settings.hide)
        scores = rows @ linear + torch.relu(rows @ hidden + bias) @ output + batch.padding[chosen]
        loss = -(batch.targets[chosen] * torch.log_softmax(scores, 1)).sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return [part.detach() for part in weights]
