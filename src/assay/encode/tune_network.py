"""A transformer with its recipe to the model that sentence-transformers trains."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from sentence_transformers import SentenceTransformer

from assay.encode.hf import HfEncoder
from assay.encode.low_rank import merged, with_low_rank
from assay.encode.pooled_model import PooledModel
from assay.errors import InputError


class TunedModule(torch.nn.Module):
    """The one module of a sentence-transformers model: tokens, transformer and pooling, as the recipe has them."""

    def __init__(self, pooled: PooledModel, network: torch.nn.Module) -> None:
        super().__init__()
        self.pooled = pooled
        self.network = network

    def preprocess(self, inputs: Sequence[str], **_: object) -> dict[str, torch.Tensor]:
        """Return the tokens of texts."""
        return self.pooled.tokens_of(inputs)

    def tokenize(self, texts: Sequence[str], **_: object) -> dict[str, torch.Tensor]:
        """Return the same, as sentence-transformers 5 asks for it."""
        return self.pooled.tokens_of(texts)

    def forward(self, features: dict[str, torch.Tensor], **_: object) -> dict[str, torch.Tensor]:
        """Add one vector a text."""
        mask = features["attention_mask"]
        output = self.network(input_ids=features["input_ids"], attention_mask=mask)
        return {**features, "sentence_embedding": self.pooled.pool(output, mask)}


def trainable(encoder: HfEncoder, lora: int) -> SentenceTransformer:
    """Return what is trained of an encoder: all of its transformer, or matrices of a low rank beside it."""
    pooled = encoder.runner
    if not isinstance(pooled, PooledModel):
        raise InputError(f"{encoder.name} is run by modules of sentence-transformers; choose a base that is pooled")
    pooled.model = with_low_rank(pooled.model, lora)
    device = str(next(pooled.model.parameters()).device)
    return SentenceTransformer(modules=[TunedModule(pooled, pooled.model)], device=device)


def merge(encoder: HfEncoder) -> None:
    """Add matrices of a low rank to the weights that they stand beside."""
    pooled = encoder.runner
    if isinstance(pooled, PooledModel):
        pooled.model = merged(pooled.model)
