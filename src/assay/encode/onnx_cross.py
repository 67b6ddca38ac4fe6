"""A question and chunks to scores by a folder that `assay train reranker` wrote: an exported cross-encoder, no torch.

The model is opened when there is something to read: where all scores are remembered, there is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from assay.encode.onnx_session import OnnxSession
from assay.encode.pair_tokens import TOKENIZER, PairReader
from assay.encode.reranker_folder import MODEL, read_about
from assay.encode.view import view
from assay.errors import InputError
from assay.protocols import Vectors
from assay.types import Blend, Chunk, Query

_BATCH = 8


class OnnxPairs:
    """An exported model and its tokenizer."""

    def __init__(self, folder: Path, tokens: int) -> None:
        for file in (MODEL, TOKENIZER):
            if not (folder / file).is_file():
                raise InputError(f"no {file} in {folder}: assay train reranker --out '{folder}' writes it")
        self._reader = PairReader(folder, tokens)
        self._session = OnnxSession(folder / MODEL)

    def scores(self, question: str, texts: Sequence[str]) -> Vectors:
        """Return one score a text; those of a length are read together, since padding is paid for like text."""
        scores = np.zeros(len(texts), dtype=np.float32)
        shortest_first = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for start in range(0, len(texts), _BATCH):
            places = shortest_first[start : start + _BATCH]
            inputs = self._reader.read([(question, texts[place]) for place in places])
            scores[places] = self._session.run(inputs)[0]
        return scores


class OnnxCrossEncoder:
    """A trained reranker on the CPU, which knows what it is worth beside the ranking."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._about = read_about(folder)
        self.name = f"cross:{self._about.version}"

    @property
    def blend(self) -> Blend:
        """How its scores join the ranking's probabilities."""
        return self._about.blend

    @cached_property
    def _pairs(self) -> OnnxPairs:
        return OnnxPairs(self._folder, self._about.tokens)

    def score(self, query: Query, chunks: Sequence[Chunk]) -> list[float]:
        """Return one score a chunk; higher is better."""
        scores: list[float] = self._pairs.scores(query.text, [view(chunk) for chunk in chunks]).tolist()
        return scores
