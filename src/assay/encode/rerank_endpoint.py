"""A question and chunks to how well each answers it, by a reranker behind a `/rerank` endpoint.

`rerank:MODEL` is asked at `ASSAY_API_BASE`, `rerank:MODEL@URL` at its own address. What is sent is what Cohere, Jina,
Voyage and vLLM all take: model, query and documents. Where the server says that it wants `texts`, it is a
text-embeddings-inference server, which takes 32 at once. A search waits for the answer, so it is asked for seconds, not
minutes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from assay.encode.view import source
from assay.errors import InputError, ModelUnavailable, printable
from assay.io.endpoints import BASE
from assay.io.http import HttpOptions, ModelEndpoint
from assay.types import Chunk, Query

_BATCH = 500
_TEXTS_BATCH = 32
_MOST_BYTES = 8_000_000  # some send the documents back
_NOT_THE_SHAPE = 422
_SHOWN = 200  # characters of an answer in a message


class RerankEndpoint:
    """A reranker behind HTTP; any number of threads may share it."""

    def __init__(self, model: str = "", *, pause_s: float = 0.2, timeout_s: float = 10.0) -> None:
        if not model:
            raise InputError("a reranker behind an endpoint needs its model, as in rerank:MODEL or rerank:MODEL@URL")
        self.name = f"rerank:{model}"
        later = f"try later, check {BASE}, or leave search.reranker empty"
        options = HttpOptions(timeout_s, _MOST_BYTES, tries=3, pause_s=pause_s)
        self._endpoint = ModelEndpoint("rerank", model, options, otherwise="", later=later)
        self._takes_texts = False

    def score(self, query: Query, chunks: Sequence[Chunk]) -> list[float]:
        """Return one score a chunk; higher is better."""
        texts = [source(chunk) for chunk in chunks]
        scores: list[float] = []
        while len(scores) < len(texts):
            scores += self._scores(query.text, texts[len(scores) :])
        return scores

    def _scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the scores of as many of the first texts as are asked about at once."""
        if not self._takes_texts:
            batch = texts[:_BATCH]
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
        """Return the scores of an answer in the order of what was sent; each has to be there once."""
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
    return printable(repr(error))[:_SHOWN]
