"""A transformer with its recipe: texts to tokens, tokens to one vector a text, by transformers and pooled here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import AutoConfig, AutoModel, AutoTokenizer
from transformers.utils import logging

from assay.encode.model_hub import hub_options
from assay.encode.recipes import Recipe
from assay.protocols import Role, Vectors

_FORMER_DEFAULTS = {"is_decoder": False, "add_cross_attention": False, "use_cache": False, "tie_word_embeddings": True}
"""What transformers 4 gave each configuration and 5 leaves to its class: code beside a model still reads it."""


class PooledModel:
    """A model run by transformers."""

    def __init__(self, model: str, recipe: Recipe, device: str, precision: torch.dtype = torch.float32) -> None:
        self.recipe = recipe
        logging.disable_progress_bar()  # it draws one even for what takes no time
        trust: dict[str, Any] = {"trust_remote_code": recipe.remote_code, **hub_options(model)}
        config = AutoConfig.from_pretrained(model, **trust)
        for name, value in _FORMER_DEFAULTS.items() if recipe.remote_code else ():
            if not hasattr(config, name):
                setattr(config, name, value)
        self.tokenizer: Any = AutoTokenizer.from_pretrained(model, **trust)
        network = AutoModel.from_pretrained(model, config=config, **trust)
        self.model: Any = network.eval().to(device=device, dtype=precision)
        self._device = device
        self.dimension = self.run(["dimension"], "query").shape[1]

    def run(self, texts: list[str], role: Role) -> Vectors:  # noqa: ARG002  the prefix is all of it
        """Return one vector a text."""
        inputs = {key: value.to(self._device) for key, value in self.tokens_of(texts).items()}
        with torch.inference_mode():
            vectors: Vectors = self.pool(self.model(**inputs), inputs["attention_mask"]).float().cpu().numpy()
        return vectors

    def tokens_of(self, texts: Sequence[str]) -> dict[str, torch.Tensor]:
        """Tokenize and pad; the tokens of a mode stand right after the opening one."""
        opening = list(self.recipe.opening)
        cut = {"truncation": True, "max_length": self.recipe.max_tokens - len(opening)}
        encoded = self.tokenizer(list(texts), **cut)["input_ids"]
        if opening:
            mode = self.tokenizer.convert_tokens_to_ids(opening)
            encoded = [[ids[0], *mode, *ids[1:]] for ids in encoded]
        padded = self.tokenizer.pad({"input_ids": encoded}, return_tensors="pt", padding_side="right")
        return {key: padded[key] for key in ("input_ids", "attention_mask")}

    def pool(self, output: Any, mask: torch.Tensor) -> torch.Tensor:
        """Return one vector a text from a model's output."""
        pooling = self.recipe.pooling
        if pooling == "output":
            vectors: torch.Tensor = output if isinstance(output, torch.Tensor) else output[0]
            return vectors
        if pooling == "pooler":
            pooled: torch.Tensor = output.pooler_output
            return pooled
        tokens: torch.Tensor = output.last_hidden_state
        if pooling == "cls":
            return tokens[:, 0]
        if pooling == "last":
            return tokens[torch.arange(len(tokens)), mask.sum(1) - 1]
        weights = mask[:, :, None].to(tokens.dtype)
        return (tokens * weights).sum(1) / weights.sum(1)
