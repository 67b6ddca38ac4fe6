"""The loss of each kind of example, from sentence-transformers: softmax over a batch and its wrong texts, or cosine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from accelerate import PartialState
from sentence_transformers import SentenceTransformer

try:
    from sentence_transformers.sentence_transformer.losses import (
        CachedMultipleNegativesRankingLoss,
        CoSENTLoss,
        MultipleNegativesRankingLoss,
    )
except ModuleNotFoundError:  # where they stood before version 6
    from sentence_transformers.losses import (
        CachedMultipleNegativesRankingLoss,
        CoSENTLoss,
        MultipleNegativesRankingLoss,
    )

from assay.encode.tune_settings import TuneSettings


def losses_of(
    model: SentenceTransformer, rows: Mapping[str, Sequence[object]], settings: TuneSettings
) -> dict[str, torch.nn.Module]:
    """Return the loss of each kind of example."""
    scale = 1 / settings.temperature
    together: dict[str, Any] = {"scale": scale, "gather_across_devices": PartialState().num_processes > 1}
    ranked: torch.nn.Module
    if settings.batch > settings.at_once:
        ranked = CachedMultipleNegativesRankingLoss(model, mini_batch_size=settings.at_once, **together)
    else:
        ranked = MultipleNegativesRankingLoss(model, **together)
    return {name: CoSENTLoss(model, scale=scale) if name == "graded" else ranked for name in rows}
