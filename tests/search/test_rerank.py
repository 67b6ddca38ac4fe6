from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from assay.search.rerank import RerankedSearcher
from assay.types import Chunk, Hit, Query


@dataclass
class Ranked:
    """A searcher that finds chunks 0, 1, 2 … in that order."""

    size: int

    def search(self, queries, k):
        return [
            [Hit(Chunk(str(n), "x" * n), 1.0 / (n + 1), {"own": 1.0}) for n in range(self.size)][:k] for _ in queries
        ]


@dataclass
class Scripted:
    """A scorer that knows a score for each chunk and notes what it read."""

    scores: dict[str, float]
    read: list[str] = field(default_factory=list)

    def score(self, _query, chunks):
        self.read += [chunk.id for chunk in chunks]
        return [self.scores.get(chunk.id, 0.0) for chunk in chunks]


@pytest.mark.parametrize(
    ("k", "depth", "wanted"), [(2, 3, ["2", "0"]), (2, 1, ["0", "1"]), (4, 2, ["3", "2", "0", "1"])]
)
def test_the_scorer_orders_what_it_reads_and_reads_enough(k, depth, wanted):
    scorer = Scripted({"2": 1.5, "3": 2.5})
    (hits,) = RerankedSearcher(Ranked(9), scorer, depth).search([Query("1", "q")], k)
    assert [hit.chunk.id for hit in hits] == wanted
    assert scorer.read == [str(n) for n in range(max(k, depth))]


def test_the_score_is_the_scorers_alone():
    (hits,) = RerankedSearcher(Ranked(2), Scripted({"1": -0.5, "0": -2.0})).search([Query("1", "q")], 5)
    assert [(hit.chunk.id, hit.score, hit.why) for hit in hits] == [
        ("1", -0.5, {"reranker": -0.5}),
        ("0", -2.0, {"reranker": -2.0}),
    ]


def test_a_scorer_is_not_asked_about_nothing():
    scorer = Scripted({})
    assert RerankedSearcher(Ranked(0), scorer).search([Query("1", "q"), Query("2", "q")], 5) == [[], []]
    assert scorer.read == []
