"""Texts to vectors by a transformer from Hugging Face or a folder, used the way that model wants to be used.

`recipes` says how; `pooled_model` runs it. Texts are sorted by length before they are batched, since padding is paid
for like text. Models with modules beyond pooling go through sentence-transformers, which takes seconds to import.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from assay.encode.model_hub import find_file, hub_options, is_local, opening
from assay.encode.model_options import split_model
from assay.encode.pooled_model import PooledModel
from assay.encode.recipes import Recipe, recipe_of, spec_of
from assay.encode.torch_device import device_of, precision_of
from assay.encode.vectors import unit
from assay.errors import InputError, MissingExtra
from assay.protocols import Role, Vectors

_BATCH, _BATCH_ON_GPU = 64, 256


class _Runner(Protocol):
    """What turns one batch of texts into vectors."""

    dimension: int

    def run(self, texts: list[str], role: Role) -> Vectors: ...


class HfEncoder:
    """A transformer with its recipe; `spec` is a folder or a hub name, with options after a question mark.

    Options that are forced, for training, do not stand in its name.
    """

    def __init__(self, spec: str, **forced: Any) -> None:
        given, options = split_model(spec)
        plain = str(Path(given).expanduser()) if is_local(given) else given
        find = partial(find_file, plain)
        self.recipe = recipe_of(plain, options, find)
        self.name = spec_of(plain, self.recipe, options, find)
        options = replace(options, **forced)
        device = device_of(options, f"hf:{given}")
        self._batch = options.batch or (_BATCH if device == "cpu" else _BATCH_ON_GPU)
        runner = _Library if self.recipe.pooling == "library" else PooledModel
        with opening(plain):
            self.runner: _Runner = runner(plain, self.recipe, device, precision_of(options, device))

    @property
    def dimension(self) -> int:
        """The width of a vector."""
        return self.runner.dimension

    def tokens(self) -> list[str]:
        """Return the vocabulary, for distilling the model word by word."""
        if not isinstance(self.runner, PooledModel):
            raise InputError(
                f"{self.name} is run by sentence-transformers and cannot be distilled; choose another teacher"
            )
        return list(self.runner.tokenizer.get_vocab())

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Return one unit-length row a text, with the prefix of the role."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        prefix = self.recipe.query if role == "query" else self.recipe.code
        shortest_first = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for start in range(0, len(texts), self._batch):
            places = shortest_first[start : start + self._batch]
            vectors[places] = self.runner.run([prefix + texts[place] for place in places], role)
        return unit(vectors)


class _Library:
    """A model run by sentence-transformers, for modules and adapters that are its own."""

    def __init__(self, model: str, recipe: Recipe, device: str, precision: torch.dtype) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ModuleNotFoundError as error:
            raise MissingExtra(f"hf:{model}", "sentence-transformers", "hf") from error
        self._recipe = recipe
        trust: dict[str, Any] = {"trust_remote_code": recipe.remote_code, **hub_options(model)}
        self._model: Any = SentenceTransformer(model, device=device, **trust).to(precision)
        self._model.max_seq_length = recipe.max_tokens
        self.dimension = self.run(["dimension"], "query").shape[1]

    def run(self, texts: list[str], role: Role) -> Vectors:
        """Return one vector a text; prefixes are already written, so the library must add none."""
        tasks = self._recipe.tasks
        task = {"task": tasks[role == "code"], "prompt_name": tasks[role == "code"]} if tasks else {"prompt": ""}
        vectors = self._model.encode(
            texts, batch_size=len(texts), show_progress_bar=False, convert_to_tensor=True, **task
        )
        found: Vectors = vectors.float().cpu().numpy()
        return found
