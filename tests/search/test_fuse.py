from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from assay.search.fuse import FusedSearcher, Member, by_rank, by_score
from assay.types import Chunk, Hit, Query

QUERY = [Query("1", "anything")]


@dataclass
class Scripted:
    """A searcher that always finds the same."""

    scores: dict[str, float]

    def search(self, queries, k):
        hits = [Hit(Chunk(name, name), score, {"own": score}) for name, score in self.scores.items()]
        return [hits[:k] for _ in queries]


def fused(fusion, *members, k=10, depth=10):
    parts = tuple(Member(f"m{n}", Scripted(scores), weight) for n, (scores, weight) in enumerate(members))
    (hits,) = FusedSearcher(parts, fusion, depth).search(QUERY, k)
    return {hit.chunk.id: hit for hit in hits}


def test_ranks_are_fused_as_the_paper_says():
    hits = fused("rrf", ({"a": 9.0, "b": 1.0}, 0.7), ({"b": 3.0, "c": 2.0}, 0.3))
    assert list(hits) == ["b", "a", "c"]
    assert hits["b"].score == pytest.approx(0.7 / 62 + 0.3 / 61)
    assert hits["b"].why == {"m0": pytest.approx(0.7 / 62), "m1": pytest.approx(0.3 / 61)}
    assert hits["c"].why == {"m1": pytest.approx(0.3 / 62)}


def test_scores_are_mixed_in_standard_deviations_above_the_lowest():
    hits = fused("linear", ({"a": 9.0, "b": 5.0, "c": 1.0}, 0.5), ({"c": 3.0, "d": 1.0}, 2.0))
    deviation = np.std([9.0, 5.0, 1.0])
    assert hits["a"].score == pytest.approx(0.5 * 8 / deviation)
    assert hits["c"].why == {"m0": 0.0, "m1": pytest.approx(2.0 * 2 / 1.0)}
    assert list(hits) == ["c", "a", "b", "d"]


def test_the_order_of_a_linear_mix_is_that_of_z_scores():
    first, second = {"a": 3.0, "b": 2.5, "c": 0.1}, {"c": 10.0, "a": 4.0, "b": 1.0}
    z = [{n: (s - np.mean([*m.values()])) / np.std([*m.values()]) for n, s in m.items()} for m in (first, second)]
    wanted = sorted(first, key=lambda name: -(0.6 * z[0][name] + 0.4 * z[1][name]))
    assert list(fused("linear", (first, 0.6), (second, 0.4))) == wanted


def test_scores_that_are_all_equal_tell_nothing():
    assert by_score([Hit(Chunk(name, ""), 2.0) for name in "abc"]) == [1.0, 1.0, 1.0]
    assert by_score([]) == by_rank([]) == []


def test_ties_are_in_the_order_of_the_members():
    assert list(fused("rrf", ({"a": 1.0}, 1.0), ({"b": 1.0}, 1.0))) == ["a", "b"]
    assert list(fused("rrf", ({"b": 1.0}, 1.0), ({"a": 1.0}, 1.0))) == ["b", "a"]


def test_a_member_without_weight_is_not_asked():
    assert list(fused("rrf", ({"a": 1.0}, 0.0), ({"b": 1.0}, 1.0))) == ["b"]
    assert fused("rrf", ({"a": 1.0}, 0.0)) == {}


def test_members_are_asked_for_more_than_is_wanted():
    deep = {f"x{n}": 10.0 - n for n in range(8)}
    hits = fused("rrf", ({**deep, "both": 1.0}, 1.0), ({"both": 1.0}, 1.0), k=1)
    assert list(hits) == ["both"]
    assert list(fused("rrf", ({**deep, "both": 1.0}, 1.0), ({"both": 1.0}, 0.9), k=1, depth=8)) == ["x0"]
