"""Score chunks with an exported cross-encoder, without torch, and say what its scores are worth beside the ranking.

The model is opened when there is something to read: where all scores are remembered, there is not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from assay.encode.cross import ABOUT
from assay.encode.onnx_session import OnnxSession
from assay.encode.view import view
from assay.errors import InputError
from assay.protocols import Vectors
from assay.types import Blend, Chunk, Query

_MODEL, _TOKENIZER = "model.onnx", "tokenizer.json"
_BATCH = 8


class OnnxPairs:
    """An exported model with its tokenizer, which reads pairs of at most so many tokens."""

    def __init__(self, folder: Path, tokens: int) -> None:
        for file in (_MODEL, _TOKENIZER):
            if not (folder / file).is_file():
                raise InputError(f"no {file} in {folder}; {ABOUT} there says that it holds an exported cross-encoder")
        self._tokenizer: Any = Tokenizer.from_file(str(folder / _TOKENIZER))
        self._tokenizer.enable_truncation(tokens)
        self._tokenizer.enable_padding()
        self._session = OnnxSession(folder / _MODEL)

    def scores(self, question: str, texts: Sequence[str]) -> Vectors:
        """Return one score a text; those of a length are read together, since padding is paid for like text."""
        scores = np.zeros(len(texts), dtype=np.float32)
        shortest_first = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for start in range(0, len(texts), _BATCH):
            places = shortest_first[start : start + _BATCH]
            inputs = self._inputs([(question, texts[place]) for place in places])
            scores[places] = self._session.run(inputs)[0]
        return scores

    def _inputs(self, pairs: Sequence[tuple[str, str]]) -> dict[str, NDArray[np.int64]]:
        """Return what a model takes, each of shape (pairs, tokens of the longest)."""
        encoded = self._tokenizer.encode_batch(list(pairs))
        parts = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
        return {
            name: np.array([getattr(entry, part) for entry in encoded], dtype=np.int64) for name, part in parts.items()
        }


class OnnxCrossEncoder:
    """A cross-encoder of a folder on the CPU, which knows what it is worth beside the ranking."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        file = folder / ABOUT
        try:
            about: Mapping[str, Any] = json.loads(file.read_text("utf-8"))
            self.blend = Blend(**{name: float(about["blend"][name]) for name in ("weight", "scale", "offset")})
            self.name = f"cross:{about['version']}"
            self._tokens = int(about["settings"]["tokens"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"'{file}' does not describe a reranker ({error!r}); wanted version, settings.tokens and blend"
            ) from error

    @cached_property
    def _pairs(self) -> OnnxPairs:
        return OnnxPairs(self._folder, self._tokens)

    def score(self, query: Query, chunks: Sequence[Chunk]) -> list[float]:
        """Return one score a chunk; higher is better."""
        scores: list[float] = self._pairs.scores(query.text, [view(chunk) for chunk in chunks]).tolist()
        return scores
