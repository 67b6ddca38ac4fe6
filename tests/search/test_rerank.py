from __future__ import annotations

import math
from dataclasses import dataclass, field
from time import sleep

import pytest

from assay.protocols import BlendedScorer
from assay.search.rerank import UNREAD, BlendedSearcher, RerankedSearcher, before_reranking
from assay.types import Blend, Chunk, Hit, Query


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


@dataclass
class Trained(Scripted):
    """A scorer that knows what it is worth, and takes its time."""

    blend: Blend = field(default_factory=lambda: Blend(1.0))
    takes_s: float = 0.0
    name: str = "trained"

    def score(self, query, chunks):
        sleep(self.takes_s)
        return super().score(query, chunks)


def test_a_trained_scorer_adds_to_the_probabilities_of_what_it_reads():
    scorer = Trained({"1": 1.0, "0": -1.0}, blend=Blend(2.0))
    assert isinstance(scorer, BlendedScorer)
    (hits,) = BlendedSearcher(Ranked(5), scorer, 3).search([Query("1", "q")], 5)
    assert scorer.read == ["0", "1", "2"]
    by_id = {hit.chunk.id: hit for hit in hits}
    deviations = 2 * (3 / 2) ** 0.5  # of 1 from the mean of -1, 1 and 0, each of which counts twice
    assert by_id["1"].why == {"own": 1.0, "ranking": 0.0, "reranker": pytest.approx(deviations)}
    assert by_id["1"].score == pytest.approx(1 / (1 + math.exp(-deviations)))
    assert by_id["3"].why.keys() == {"own", "ranking"}
    assert by_id["3"].score == pytest.approx(1 / 4)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_the_sum_is_calibrated_and_the_probabilities_before_can_be_had():
    searcher = BlendedSearcher(Ranked(3), Trained({"2": 5.0}, blend=Blend(9.0, 0.5, -1.0)), 3)
    (hits,) = searcher.search([Query("1", "q")], 3)
    assert hits[0].chunk.id == "2"
    assert all(0 < hit.score < 1 for hit in hits)
    assert [hit.chunk.id for hit in before_reranking(hits)] == ["0", "1", "2"]
    assert [hit.score for hit in before_reranking(hits)] == pytest.approx([1, 1 / 2, 1 / 3], abs=1e-5)


def test_when_the_time_is_up_the_rest_keeps_its_order_and_that_is_said():
    slow = Trained({str(n): float(-n) for n in range(20)}, blend=Blend(0.0), takes_s=0.02)
    (hits,) = BlendedSearcher(Ranked(20), slow, 20, time_ms=1).search([Query("1", "q")], 20)
    assert UNREAD.get() == 12
    assert slow.read == [str(n) for n in range(8)]
    assert [hit.chunk.id for hit in hits] == [str(n) for n in range(20)]
    BlendedSearcher(Ranked(20), Trained({}), 20, time_ms=60_000).search([Query("1", "q")], 20)
    assert UNREAD.get() == 0


def test_nothing_found_stays_nothing():
    scorer = Trained({})
    assert BlendedSearcher(Ranked(0), scorer).search([Query("1", "q")], 5) == [[]]
    assert scorer.read == []
