"""A question and chunks to how well each answers it, by a cross-encoder that reads the two together.

`cross:MODEL` is a folder or a name on the hub of a sequence classifier: with one output that is the score, with two,
as models of matching or not have, it is the second less the first. Chunks are read as contextual encoders read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

from assay.encode.model_hub import hub_options, opening
from assay.encode.view import source
from assay.errors import InputError
from assay.types import Chunk, Query

_BATCH = 32
_MAX_TOKENS = 512


class CrossEncoder:
    """A classifier of pairs of texts."""

    def __init__(self, model: str, *, batch: int = _BATCH, device: str = "") -> None:
        self.name = f"cross:{model}"
        self._batch = batch
        self._device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        with opening(model):
            online = hub_options(model)
            architectures = AutoConfig.from_pretrained(model, **online).architectures or ()
            self._tokenizer: Any = AutoTokenizer.from_pretrained(model, **online)
            classifier = AutoModelForSequenceClassification.from_pretrained(model, **online)
            self._model: Any = classifier.eval().to(self._device)
        outputs = self._model.config.num_labels
        if not any("SequenceClassification" in name for name in architectures) or outputs not in (1, 2):
            trained = ", ".join(architectures) or "nothing that it says"
            raise InputError(f"{model!r} is {trained} with {outputs} outputs; wanted a classifier with 1 or 2")
        limits = (self._tokenizer.model_max_length, getattr(self._model.config, "max_position_embeddings", _MAX_TOKENS))
        self._max_tokens = min(_MAX_TOKENS, *limits)

    def score(self, query: Query, chunks: Sequence[Chunk]) -> list[float]:
        """Return one score a chunk; higher is better."""
        scores = np.zeros(len(chunks), dtype=np.float32)
        texts = [source(chunk) for chunk in chunks]
        shortest_first = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for start in range(0, len(texts), self._batch):
            places = shortest_first[start : start + self._batch]
            scores[places] = self._run(query.text, [texts[place] for place in places])
        told: list[float] = scores.tolist()
        return told

    def _run(self, question: str, texts: Sequence[str]) -> Any:
        cut = {"truncation": True, "max_length": self._max_tokens, "padding": True}
        inputs = self._tokenizer([question] * len(texts), list(texts), return_tensors="pt", **cut).to(self._device)
        with torch.inference_mode():
            outputs = self._model(**inputs).logits.float().cpu().numpy()
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs[:, 1] - outputs[:, 0]
