"""Several searchers' answers to one: by their ranks, or by their scores on one scale, each with its weight.

`rrf` is reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009) with their k of 60. `linear` adds scores in
standard deviations above the lowest that a searcher returned: z-scores, but for one constant a query, so that what a
searcher did not return adds 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.protocols import Searcher
from assay.types import Hit, Query

DEPTH = 200
"""Hits that each searcher is asked for at least."""
_RRF_K = 60


@dataclass(frozen=True, slots=True)
class Member:
    """A searcher, what it is called in `why`, and how much it counts."""

    name: str
    searcher: Searcher
    weight: float


@dataclass(frozen=True, slots=True)
class FusedSearcher:
    """Search with every member; equal scores are in the order of the members, then of their hits."""

    members: tuple[Member, ...]
    fusion: str = "rrf"
    depth: int = DEPTH

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return at most `k` hits a query, best first; the parts in `why` add up to the score."""
        counting = [member for member in self.members if member.weight]
        answers = [member.searcher.search(queries, max(k, self.depth)) for member in counting]
        if not counting:
            return [[] for _ in queries]
        return [self._fused(counting, answer)[:k] for answer in zip(*answers, strict=True)]

    def _fused(self, members: Sequence[Member], answers: Sequence[Sequence[Hit]]) -> list[Hit]:
        told: dict[str, dict[str, float]] = {}
        chunks = {hit.chunk.id: hit.chunk for hits in answers for hit in hits}
        for member, hits in zip(members, answers, strict=True):
            for hit, worth in zip(hits, FUSIONS[self.fusion](hits), strict=True):
                told.setdefault(hit.chunk.id, {})[member.name] = member.weight * worth
        fused = [Hit(chunks[name], sum(why.values()), why) for name, why in told.items()]
        return sorted(fused, key=lambda hit: -hit.score)


def by_rank(hits: Sequence[Hit]) -> list[float]:
    """Return what each place is worth in reciprocal rank fusion."""
    return [1.0 / (_RRF_K + rank) for rank in range(1, len(hits) + 1)]


def by_score(hits: Sequence[Hit]) -> list[float]:
    """Return how many standard deviations each score is above the lowest; equal scores tell nothing."""
    scores = np.array([hit.score for hit in hits], dtype=np.float64)
    deviation = float(scores.std()) if len(scores) else 0.0
    above: list[float] = (scores - scores.min(initial=np.inf)).tolist()
    return [score / deviation for score in above] if deviation > 0 else [1.0] * len(hits)


FUSIONS: Mapping[str, Callable[[Sequence[Hit]], list[float]]] = {"rrf": by_rank, "linear": by_score}
"""How what a member returned becomes comparable, by the name that `search.fusion` gives it."""
