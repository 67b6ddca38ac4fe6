"""The loss of each kind of example, from sentence-transformers: softmax over a batch and its wrong texts, or cosine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
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

from assay.encode.process_group import process_count
from assay.encode.tune_settings import TuneSettings


def losses_of(
    model: SentenceTransformer, rows: Mapping[str, Sequence[object]], settings: TuneSettings
) -> dict[str, torch.nn.Module]:
    """Return the loss of each kind of example.

    Devices see each other's texts only where all have the same kind at a time: else each would wait for the others.
    """
    scale = 1 / settings.temperature
    gathers = process_count() > 1 and len(rows) == 1 and "graded" not in rows
    together: dict[str, Any] = {"scale": scale, "gather_across_devices": gathers}
    ranked: torch.nn.Module
    if settings.batch > settings.at_once:
        ranked = CachedMultipleNegativesRankingLoss(model, mini_batch_size=settings.at_once, **together)
    else:
        ranked = MultipleNegativesRankingLoss(model, **together)
    return {name: CoSENTLoss(model, scale=scale) if name == "graded" else ranked for name in rows}
