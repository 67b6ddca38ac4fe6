"""Scored queries in, weights that tell answerable from foreign ones out: the other part of training that needs torch.

Logistic loss; the questions that were answered weigh as much as all that nothing answers. Inputs are standardized for
fitting, and the weights given back are those of the raw features.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from assay.search.fit_ranking import LEAST_DEVIATION
from assay.search.lexical import Array
from assay.search.ranking import RELEVANCE_FEATURES, RankingWeights, relevance_row
from assay.search.ranking_figures import ScoredExample
from assay.search.ranking_train_settings import RankingTrainSettings

_ANSWERED = 5  # first candidates of which one is right


def relevance_rows(scored: Sequence[ScoredExample]) -> Array:
    """Return what tells whether a corpus answers, shape `(queries, len(RELEVANCE_FEATURES))`."""
    rows = [relevance_row(one.example.query_row, one.example.rows, one.scores) for one in scored]
    return np.array(rows, dtype=np.float32).reshape(len(scored), len(RELEVANCE_FEATURES))


def is_answered(one: ScoredExample) -> bool:
    """Say whether one of the first five candidates is right."""
    return bool(one.example.targets[np.argsort(-one.scores, kind="stable")[:_ANSWERED]].any())


def fit_relevance(answered: Array, foreign: Array, weights: Array, settings: RankingTrainSettings) -> RankingWeights:
    """Fit one network to rows of answered queries and of foreign ones; `weights` says what each foreign one counts."""
    rows = torch.tensor(np.concatenate((answered, foreign)))
    right = torch.cat((torch.ones(len(answered)), torch.zeros(len(foreign))))
    counted = torch.cat((torch.ones(len(answered)) / len(answered), torch.tensor(weights / weights.sum())))
    mean, deviation = rows.mean(0), rows.std(0, correction=0)
    scale = (deviation > LEAST_DEVIATION) / (deviation + 1e-6)
    torch.manual_seed(settings.seed)
    features, width = rows.shape[1], settings.relevance_hidden
    linear, bias = torch.zeros(features, requires_grad=True), torch.zeros(width, requires_grad=True)
    hidden = (torch.randn(features, width) * 0.1).requires_grad_()
    output = (torch.randn(width) * 0.1).requires_grad_()
    optimizer = torch.optim.Adam([linear, hidden, bias, output], lr=settings.relevance_rate)
    standard = (rows - mean) * scale
    for _ in range(settings.relevance_steps):
        scores = standard @ linear + torch.relu(standard @ hidden + bias) @ output
        loss = torch.nn.functional.binary_cross_entropy_with_logits(scores, right, counted, reduction="sum") / 2
        size = (linear**2).sum() + (hidden**2).sum() + (output**2).sum()
        optimizer.zero_grad()
        (loss + settings.relevance_decay * size).backward()
        optimizer.step()
    parts = [part.detach() for part in (linear, hidden, bias, output)]
    inward = parts[1] * scale[:, None]
    bias = parts[2] - mean @ inward
    return RankingWeights((parts[0] * scale).numpy(), inward.numpy(), bias.numpy(), parts[3].numpy())
