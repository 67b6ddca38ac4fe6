"""Texts to vectors by a transformer from Hugging Face or a folder, used the way that model wants to be used.

`recipes` says how; this module runs it. Texts are sorted by length before they are batched, since padding is paid for
like text. Models with modules beyond pooling go through sentence-transformers, which takes seconds to import.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer
from transformers.utils import cached_file

from assay.encode.recipes import Recipe, recipe_of, spec_of
from assay.encode.vectors import unit
from assay.errors import InputError, MissingExtra
from assay.protocols import Role, Vectors

_BATCH = 64


class _Runner(Protocol):
    """What turns one batch of texts into vectors."""

    dimension: int

    def run(self, texts: list[str], role: Role) -> Vectors: ...


class HfEncoder:
    """A transformer with its recipe."""

    def __init__(self, model: str, *, batch: int = _BATCH, device: str = "") -> None:
        plain, self.recipe = recipe_of(model, lambda file: _find(model.partition("?")[0], file))
        self.name = spec_of(model, self.recipe, lambda file: _find(plain, file))
        self._batch = batch
        runner = _Library if self.recipe.pooling == "library" else PooledModel
        try:
            self.runner: _Runner = runner(
                plain, self.recipe, device or ("cuda" if torch.cuda.is_available() else "cpu")
            )
        except (OSError, ValueError) as error:
            raise InputError(
                f"no model {plain!r}: {error}; give a folder, or a name on the hub while online"
            ) from error

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


class PooledModel:
    """A model run by transformers and pooled here."""

    def __init__(self, model: str, recipe: Recipe, device: str) -> None:
        self.recipe = recipe
        self.tokenizer: Any = AutoTokenizer.from_pretrained(model, trust_remote_code=recipe.remote_code)
        self.model: Any = AutoModel.from_pretrained(model, trust_remote_code=recipe.remote_code).eval().to(device)
        self._device = device
        self.dimension = self.run(["dimension"], "query").shape[1]

    def run(self, texts: list[str], role: Role) -> Vectors:  # noqa: ARG002  the prefix is all of it
        """Return one vector a text."""
        inputs = self._inputs(texts)
        with torch.inference_mode():
            output = self.model(**inputs)
            vectors: Vectors = _pool(output, inputs["attention_mask"], self.recipe).float().cpu().numpy()
        return vectors

    def _inputs(self, texts: list[str]) -> dict[str, Any]:
        """Tokenize and pad; the tokens of a mode stand right after the opening one."""
        opening = list(self.recipe.opening)
        cut = {"truncation": True, "max_length": self.recipe.max_tokens - len(opening)}
        encoded = self.tokenizer(texts, **cut)["input_ids"]
        if opening:
            mode = self.tokenizer.convert_tokens_to_ids(opening)
            encoded = [[ids[0], *mode, *ids[1:]] for ids in encoded]
        padded = self.tokenizer.pad({"input_ids": encoded}, return_tensors="pt", padding_side="right")
        return {key: padded[key].to(self._device) for key in ("input_ids", "attention_mask")}


class _Library:
    """A model run by sentence-transformers, for modules and adapters that are its own."""

    def __init__(self, model: str, recipe: Recipe, device: str) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ModuleNotFoundError as error:
            raise MissingExtra(f"hf:{model}", "sentence-transformers", "hf") from error
        self._recipe = recipe
        self._model: Any = SentenceTransformer(model, trust_remote_code=recipe.remote_code, device=device)
        self._model.max_seq_length = recipe.max_tokens
        self.dimension = self.run(["dimension"], "query").shape[1]

    def run(self, texts: list[str], role: Role) -> Vectors:
        """Return one vector a text; prefixes are already written, so the library must add none."""
        tasks = self._recipe.tasks
        task = {"task": tasks[role == "code"], "prompt_name": tasks[role == "code"]} if tasks else {"prompt": ""}
        vectors: Vectors = self._model.encode(texts, batch_size=len(texts), show_progress_bar=False, **task)
        return vectors


def _pool(output: Any, mask: Any, recipe: Recipe) -> Any:
    """Return one vector a text from a model's output."""
    if recipe.pooling == "output":
        return output if isinstance(output, torch.Tensor) else output[0]
    if recipe.pooling == "pooler":
        return output.pooler_output
    tokens = output.last_hidden_state
    if recipe.pooling == "cls":
        return tokens[:, 0]
    if recipe.pooling == "last":
        return tokens[torch.arange(len(tokens)), mask.sum(1) - 1]
    weights = mask[:, :, None].to(tokens.dtype)
    return (tokens * weights).sum(1) / weights.sum(1)


def _find(model: str, file: str) -> Path | None:
    """Return a file of a model's folder or hub repository, or None where the model has no such file."""
    if Path(model).is_dir():
        path = Path(model) / file
        return path if path.is_file() else None
    try:
        found = cached_file(model, file, _raise_exceptions_for_missing_entries=False)
    except OSError as error:
        raise InputError(f"no model {model!r}: {error}; give a folder, or a name on the hub while online") from error
    return Path(found) if found else None
