"""Encode and rerank with models behind HTTP; the environment gives their address and key.

An encoder is an OpenAI-compatible `/embeddings` endpoint. A reranker, `rerank:MODEL` at `ASSAY_API_BASE`,
`rerank:MODEL@URL` at its own address or `rerank:PROVIDER:MODEL` at that of a provider, with its own key, is sent what
Cohere, Jina, Voyage and vLLM all take: model, query and documents.
Where the server says that it expects `texts`, it is a text-embeddings-inference server, which takes 32 at once. A
search waits for the answer, so it is given seconds, not minutes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from assay.encode.vectors import unit
from assay.encode.view import source
from assay.errors import InputError, ModelUnavailable, printable
from assay.io.endpoint_address import BASE
from assay.io.http import HttpOptions
from assay.io.model_endpoint import ModelEndpoint
from assay.protocols import Role, Vectors
from assay.values import Chunk, Query

_BATCH = 96
_MAX_TEXT_CHARS = 24_000  # characters of one text: about the 8,191 tokens that such endpoints take
_MAX_REPLY_BYTES = 32_000_000  # a batch of 8,192 numbers a text is 20 MB
_MAX_ERROR_CHARS = 200  # characters of an answer in a message


class ApiEncoder:
    """An encoder behind HTTP."""

    def __init__(self, model: str, *, base: str = "", pause_s: float = 0.5, timeout_s: float = 60.0) -> None:
        self.name = f"api:{model}"
        options = HttpOptions(timeout_s, _MAX_REPLY_BYTES, pause_s=pause_s)
        self._endpoint = ModelEndpoint(
            "embeddings", model, options, base=base, later=f"try later, check {BASE}, or use another encoder"
        )
        self._dimension = 0

    @property
    def dimension(self) -> int:
        """The width of a vector, which the first request to the endpoint shows."""
        return self._dimension or self.encode(["dimension"], "query").shape[1]

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:  # noqa: ARG002  such endpoints know no roles
        """Return one unit-length row a text; such endpoints know no roles."""
        batches = [texts[start : start + _BATCH] for start in range(0, len(texts), _BATCH)]
        if not batches:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return unit(np.concatenate([self._embed(batch) for batch in batches]))

    def _embed(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of one batch; an empty text is sent as a space, because endpoints refuse empty ones."""
        reply = self._endpoint.ask({"input": [text[:_MAX_TEXT_CHARS] or " " for text in texts]})
        try:
            ordered = sorted(reply["data"], key=lambda entry: int(entry["index"]))
            vectors = np.array([entry["embedding"] for entry in ordered], dtype=np.float32)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"{self._endpoint.url} answered without vectors ({_brief(error)}): is it OpenAI-compatible?"
            ) from error
        expected = (len(texts), self._dimension or (vectors.shape[1] if vectors.ndim == 2 else 0))
        if vectors.shape != expected:
            raise InputError(
                f"{self.name} sent vectors of shape {vectors.shape}, not {expected}: did the model change?"
            )
        self._dimension = expected[1]
        return vectors


_DOCUMENTS_BATCH = 500
_TEXTS_BATCH = 32
_MAX_SCORES_BYTES = 8_000_000  # some send the documents back
_NOT_THE_SHAPE = 422


RERANKERS: Mapping[str, tuple[str, str]] = {
    "cohere": ("https://api.cohere.com/v2", "COHERE_API_KEY"),
    "jina": ("https://api.jina.ai/v1", "JINA_API_KEY"),
    "voyage": ("https://api.voyageai.com/v1", "VOYAGE_API_KEY"),
}
"""Providers of rerankers, as in `rerank:voyage:rerank-2.5`, with their address and the variable of their key."""


class RerankEndpoint:
    """A reranker behind HTTP; any number of threads may share it."""

    def __init__(self, model: str = "", *, pause_s: float = 0.2, timeout_s: float = 10.0) -> None:
        if not model:
            raise InputError(
                "a reranker behind an endpoint needs its model, as in rerank:MODEL, rerank:MODEL@URL or "
                "rerank:PROVIDER:MODEL"
            )
        self.name = f"rerank:{model}"
        later = f"try later, check {BASE}, or leave search.reranker empty"
        options = HttpOptions(timeout_s, _MAX_SCORES_BYTES, tries=3, pause_s=pause_s)
        provider, _, named = model.partition(":")
        base, key = RERANKERS.get(provider, ("", ""))
        self._endpoint = ModelEndpoint(
            "rerank", named if key else model, options, base=base, otherwise="", key=key, later=later
        )
        self._takes_texts = False

    def score(self, query: Query, chunks: Sequence[Chunk]) -> list[float]:
        """Return one score a chunk; higher is better."""
        texts = [source(chunk) for chunk in chunks]
        scores: list[float] = []
        while len(scores) < len(texts):
            scores += self._scores(query.text, texts[len(scores) :])
        return scores

    def _scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the scores of the first texts, as many as one request takes."""
        if not self._takes_texts:
            batch = texts[:_DOCUMENTS_BATCH]
            try:
                return self._read(self._endpoint.ask_any({"query": question, "documents": batch}), len(batch))
            except ModelUnavailable as error:
                if error.status != _NOT_THE_SHAPE or "texts" not in str(error):
                    raise
        batch = texts[:_TEXTS_BATCH]
        answer = self._endpoint.ask_any({"query": question, "texts": batch, "truncate": True})
        self._takes_texts = True
        return self._read(answer, len(batch))

    def _read(self, answer: Any, count: int) -> list[float]:
        """Return the scores of an answer in the order of the texts sent; each must have exactly one."""
        try:
            scores = dict(map(_place_and_score, _entries(answer)))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"{self._endpoint.url} answered without scores ({_brief(error)}): is it a reranker?"
            ) from None
        if sorted(scores) != list(range(count)):
            raise InputError(f"{self.name} scored {len(scores)} texts, not each of the {count} that it was sent")
        return [scores[place] for place in range(count)]


def _entries(answer: Any) -> list[Any]:
    """Return the list of an answer: `results`, Voyage's `data`, or the answer itself."""
    entries = answer.get("results", answer.get("data")) if isinstance(answer, Mapping) else answer
    if not isinstance(entries, list):
        raise TypeError("no list of results")
    return entries


def _place_and_score(entry: Mapping[str, Any]) -> tuple[int, float]:
    place, score = entry["index"], entry["relevance_score" if "relevance_score" in entry else "score"]
    if type(place) is not int or type(score) not in {int, float} or not math.isfinite(score):
        raise ValueError(f"index {place!r}, score {score!r}")
    return place, float(score)


def _brief(error: Exception) -> str:
    return printable(repr(error))[:_MAX_ERROR_CHARS]
