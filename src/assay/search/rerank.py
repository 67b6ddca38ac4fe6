"""A searcher's best hits, put in another order by a scorer that reads them beside the question.

A scorer that knows what it is worth beside the learned ranking adds to its probabilities, and stops when the time of a
query is up: the rest keeps its order, and `UNREAD` tells who asked how much that is, since hits alone cannot say so.
Any other scorer orders alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from time import monotonic

import numpy as np

from assay.protocols import BlendedScorer, Scorer, Searcher
from assay.types import Blend, Hit, Query

UNREAD: ContextVar[int] = ContextVar("UNREAD", default=0)
"""How many hits the last search of this thread had no time to read."""
_SLICE = 8  # hits between two looks at the clock
_SURE = 1e-6  # a probability is at least this far from 0 and from 1 before its logit is taken
_LARGEST = 50.0  # of a logit
RANKING, RERANKER = "ranking", "reranker"
"""What `why` calls the logit of the ranking's probability, and what the reranker adds to it."""


@dataclass(frozen=True, slots=True)
class RerankedSearcher:
    """Search with `inner` and let a scorer read the first `depth` hits of it, or as many as are asked for."""

    inner: Searcher
    scorer: Scorer
    depth: int = 50

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return at most `k` hits a query, best first by the scorer alone, equal ones as `inner` has them."""
        answers = self.inner.search(queries, max(k, self.depth))
        return [self._ranked(query, hits)[:k] for query, hits in zip(queries, answers, strict=True)]

    def _ranked(self, query: Query, hits: Sequence[Hit]) -> list[Hit]:
        if not hits:
            return []
        scores = map(float, self.scorer.score(query, [hit.chunk for hit in hits]))
        scored = [Hit(hit.chunk, score, {RERANKER: score}) for hit, score in zip(hits, scores, strict=True)]
        return sorted(scored, key=lambda hit: -hit.score)


@dataclass(frozen=True, slots=True)
class BlendedSearcher:
    """Search with `inner`, whose scores are probabilities, and let a scorer add to those of the first `depth` hits."""

    inner: Searcher
    scorer: BlendedScorer
    depth: int = 50
    time_ms: int = 0
    """Of a query, after which no more is read; 0 lets it read all."""

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return at most `k` hits a query, best first, equal ones as `inner` has them."""
        answers = self.inner.search(queries, max(k, self.depth))
        UNREAD.set(0)
        return [self._ranked(query, hits)[:k] for query, hits in zip(queries, answers, strict=True)]

    def _ranked(self, query: Query, hits: Sequence[Hit]) -> list[Hit]:
        wanted = hits[: self.depth]
        scores = self._read(query, wanted)
        UNREAD.set(UNREAD.get() + len(wanted) - len(scores))
        return sorted(blended(hits, scores, self.scorer.blend), key=lambda hit: -hit.score)

    def _read(self, query: Query, hits: Sequence[Hit]) -> list[float]:
        """Return the scores of the first hits, of all if there is time."""
        chunks = [hit.chunk for hit in hits]
        end = monotonic() + self.time_ms / 1000 if self.time_ms else math.inf
        scores: list[float] = []
        for start in range(0, len(chunks), _SLICE):
            if scores and monotonic() >= end:
                break
            scores += map(float, self.scorer.score(query, chunks[start : start + _SLICE]))
        return scores


def blended(hits: Sequence[Hit], scores: Sequence[float], blend: Blend) -> list[Hit]:
    """Return hits with probabilities that both had a part in; what was not read is taken to be of mean worth."""
    added = [*(blend.weight * standardized(scores)), *[0.0] * (len(hits) - len(scores))]
    parts = [(hit, logit(hit.score), float(more)) for hit, more in zip(hits, added, strict=True)]
    return [
        replace(
            hit,
            score=probability(blend.scale * (own + more) + blend.offset),
            why={**hit.why, RANKING: own, **({RERANKER: more} if at < len(scores) else {})},
        )
        for at, (hit, own, more) in enumerate(parts)
    ]


def before_reranking(hits: Sequence[Hit]) -> list[Hit]:
    """Return blended hits with the probabilities that the ranking gave them, best first."""
    return sorted((replace(hit, score=probability(hit.why[RANKING])) for hit in hits), key=lambda hit: -hit.score)


def standardized(scores: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return scores less their mean, in standard deviations; 0 where all are the same."""
    values = np.array(scores, dtype=np.float64)
    deviation = values.std() if len(values) else 0.0
    return (values - values.mean()) / deviation if deviation > 0 else np.zeros_like(values)


def logit(chance: float) -> float:
    """Return the logit of a probability, within bounds."""
    sure = min(max(chance, _SURE), 1 - _SURE)
    return math.log(sure / (1 - sure))


def probability(score: float) -> float:
    """Return the logistic of a number."""
    return 1 / (1 + math.exp(-min(max(score, -_LARGEST), _LARGEST)))
