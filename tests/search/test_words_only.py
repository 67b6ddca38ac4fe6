from __future__ import annotations

import pytest

from assay.search.keywords import KeywordSearcher
from assay.search.lexical import FieldWeights, bm25, match
from assay.types import Chunk, Query

CHUNKS = [
    Chunk("a", "def retry(): wait()\n", "python", "a.py", 1, 1, "retry", "function"),
    Chunk("b", "retry and retry\n", "python", "b.py", 1, 1),
    Chunk("c", "paint\n", "python", "c.py", 1, 1),
]


def test_it_ranks_by_bm25_over_fields(snapshot_of):
    snapshot = snapshot_of(CHUNKS)
    (hits,) = KeywordSearcher(snapshot).search([Query("1", "where are retries waiting")], 5)
    scores = bm25(snapshot, match(snapshot, ("retri", "wait")), FieldWeights())
    assert [hit.chunk.id for hit in hits] == ["a", "b"]
    assert [hit.score for hit in hits] == pytest.approx(scores[:2].tolist())
    assert all(hit.why == {"lexical": hit.score} for hit in hits)


def test_fields_weigh_as_they_are_told(snapshot_of):
    body = FieldWeights(weight=(0.0, 0.0, 0.0, 0.0, 1.0))
    (hits,) = KeywordSearcher(snapshot_of(CHUNKS), body).search([Query("1", "retry")], 5)
    assert [hit.chunk.id for hit in hits] == ["b", "a"]
