"""Several ranked answers to one: the union of what they found, each chunk once, in the order of its best rank."""

from __future__ import annotations

from collections.abc import Sequence

from assay.types import Hit


def union(answers: Sequence[Sequence[Hit]], k: int) -> list[Hit]:
    """Return the best `k` of all answers; equal ranks are ordered by score, and one answer stays as it is."""
    ranked = [(rank, -hit.score, hit) for answer in answers for rank, hit in enumerate(answer)]
    ranked.sort(key=lambda entry: entry[:2])
    best = {hit.chunk.id: hit for _, _, hit in reversed(ranked)}
    order = dict.fromkeys(hit.chunk.id for _, _, hit in ranked)
    return [best[chunk_id] for chunk_id in order][:k]
