"""Queries in, the chunks that share their words out, by BM25 over fields and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from assay.search.filters import filter_mask
from assay.search.lexical import FieldWeights, bm25, match
from assay.search.question import understand
from assay.search.top_k import best
from assay.store.snapshot import Snapshot
from assay.types import Hit, Query


@dataclass(frozen=True, slots=True)
class KeywordSearcher:
    """Search one corpus by words alone; no encoder is asked."""

    snapshot: Snapshot
    weights: FieldWeights = field(default_factory=FieldWeights)

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return at most `k` hits a query, best first; each shares a word with its query."""
        return [self._answer(query, k) for query in queries]

    def _answer(self, query: Query, k: int) -> list[Hit]:
        snapshot = self.snapshot
        scores = bm25(snapshot, match(snapshot, understand(query.text).terms), self.weights)
        numbers = best(scores, filter_mask(snapshot, query), k, snapshot.order)
        found = zip(numbers.tolist(), scores[numbers].tolist(), strict=True)
        return [Hit(snapshot.chunk(number), score, {"lexical": score}) for number, score in found]
