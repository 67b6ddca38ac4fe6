"""Reorder a searcher's best hits by a scorer that reads them beside the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.protocols import Scorer, Searcher
from assay.types import Hit, Query


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
        scored = [Hit(hit.chunk, score, {"reranker": score}) for hit, score in zip(hits, scores, strict=True)]
        return sorted(scored, key=lambda hit: -hit.score)
