"""What a model said and what is true to a loss: classes, lines, and the order of programs of one task."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def class_loss(logits: Tensor, classes: Tensor, weights: Tensor) -> Tensor:
    """Return the weighted sum of cross-entropies."""
    return (functional.cross_entropy(logits, classes, reduction="none") * weights).sum()


def line_loss(logits: Tensor, newlines: Tensor, wanted: Tensor, weights: Tensor) -> Tensor:
    """Return the weighted sum of cross-entropies over newline tokens; `wanted` is the token of the right one."""
    logits = logits.masked_fill(~newlines, float("-inf"))
    return (functional.cross_entropy(logits, wanted, reduction="none") * weights).sum()


def ranking_loss(kind: str, logits: Tensor, right: Tensor, tasks: Tensor) -> Tensor:
    """Return how badly right programs stand above wrong ones of their task, the mean over what can be compared.

    `pairwise` is the logistic loss of each pair; `listwise` the cross-entropy of picking each right program from among
    itself and all wrong ones. Both compare log-odds of being right.
    """
    odds = logits[:, 0] - torch.logsumexp(logits[:, 1:], dim=1)
    rivals = (tasks[:, None] == tasks[None, :]) & right[:, None] & ~right[None, :]
    if not rivals.any():
        return logits.sum() * 0.0
    if kind == "pairwise":
        return functional.softplus(odds[None, :] - odds[:, None])[rivals].mean()
    against = torch.where(rivals, odds[None, :], float("-inf"))
    both = torch.logsumexp(torch.cat((odds[:, None], against), dim=1), dim=1)
    return (both - odds)[rivals.any(1)].mean()
