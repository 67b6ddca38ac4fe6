"""A transformer with its recipe to the model that sentence-transformers trains, and its weights to a file and back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer

from assay.encode.hf import HfEncoder
from assay.encode.pooled_model import PooledModel
from assay.errors import InputError

_WEIGHTS = "weights.pt"


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
    if lora:
        from peft import LoraConfig, get_peft_model

        config = LoraConfig(r=lora, lora_alpha=2 * lora, lora_dropout=0.05, target_modules="all-linear")
        pooled.model = get_peft_model(pooled.model, config)
    device = str(next(pooled.model.parameters()).device)
    return SentenceTransformer(modules=[TunedModule(pooled, pooled.model)], device=device)


def merge(encoder: HfEncoder) -> None:
    """Add matrices of a low rank to the weights that they stand beside."""
    pooled = encoder.runner
    if isinstance(pooled, PooledModel) and hasattr(pooled.model, "merge_and_unload"):
        pooled.model = pooled.model.merge_and_unload()


def write_weights(model: torch.nn.Module, folder: Path) -> None:
    """Write the weights that are trained."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.save(_trained(model), folder / _WEIGHTS)


def read_weights(model: torch.nn.Module, folder: Path) -> None:
    """Set the weights that are trained to those of a folder."""
    stored: dict[str, Any] = torch.load(folder / _WEIGHTS, map_location="cpu", weights_only=True)
    with torch.no_grad():
        for name, weight in _trained(model).items():
            weight.copy_(stored[name])


def _trained(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: weight.data for name, weight in model.named_parameters() if weight.requires_grad}
