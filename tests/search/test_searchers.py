"""What the parts of a search compute: cosines, BM25F by the book, fusions as the papers say, unions, rerankers."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.operations.corpus_search import CorpusSearch
from assay.search.retrievers import (
    FieldWeights,
    FusedSearcher,
    IndexGuard,
    KeywordSearcher,
    Member,
    VectorSearcher,
    bm25,
    by_rank,
    by_score,
    exhaustive,
    idf,
    match,
    rerank,
    saturated,
    union,
)
from assay.settings import SearchSettings
from assay.store.postings import FIELDS, field_words
from assay.terms import terms_of
from assay.values import Chunk, Hit, Query

QUERY = [Query("1", "anything")]


def drawn(rows, width, seed):
    return np.random.default_rng(seed).standard_normal((rows, width)).astype(np.float32)


def by_hand(queries, codes, k):
    """One sort of all products, each summed in the same order; ties by number."""
    products = np.stack([np.einsum("d,cd->c", query, codes) for query in queries])
    numbers = np.broadcast_to(np.arange(len(codes)), products.shape)
    order = np.lexsort((numbers, -products), axis=-1)[:, :k]
    return order, np.take_along_axis(products, order, axis=1)


@settings(max_examples=40)
@given(st.integers(1, 400), st.integers(1, 9), st.integers(1, 120), st.integers(0, 99), st.booleans())
def test_vectors_are_one_sort_of_all_products_whatever_the_blocks(codes, width, k, seed, twins):
    asked, held = drawn(1 + seed % 20, width, seed), drawn(codes, width, seed + 1)
    if twins:
        held[codes // 2 :] = held[: codes - codes // 2]
        asked[0] = 0
    wanted, products = by_hand(asked, held, min(k, codes))
    for block in ({}, {"block": (7, 64)}):
        numbers, scores = exhaustive(asked, held, k, **block)
        assert np.array_equal(numbers, wanted)
        np.testing.assert_allclose(scores, products, atol=1e-6)
    assert (scores.dtype, numbers.dtype) == (np.float32, np.int64)


def test_the_score_of_vectors_is_the_cosine_and_the_only_reason(encoder, snapshot_of):
    for queries, codes, k in ((0, 5, 3), (5, 0, 3), (5, 7, 0), (0, 0, 1)):
        numbers, scores = exhaustive(drawn(queries, 4, 0), drawn(codes, 4, 0), k)
        assert numbers.shape == scores.shape == (queries, min(k, codes))
    snapshot = snapshot_of([Chunk("a", "retry the request"), Chunk("b", "paint a house"), Chunk("c", "a request")])
    searcher = VectorSearcher(snapshot, encoder)
    hits, none = searcher.search([Query("1", "request"), Query("2", "?!")], 5)
    cosines = dict(zip("abc", snapshot.near(encoder.encode(["request"], "query")[0]).tolist(), strict=True))
    wanted = {name: pytest.approx(cosine) for name, cosine in cosines.items() if cosine > 0}
    assert {hit.chunk.id: hit.score for hit in hits} == wanted
    assert all(hit.why == {"dense": hit.score} for hit in hits)
    assert none == []


WORDS = st.sampled_from("retry retries parseArgs parse args HTTPServer server naïve the x 42".split())
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)
PATHS = st.sampled_from(["", "retry/server.py", "args.py"])
CHUNKS = st.builds(Chunk, id=st.uuids().map(str), text=TEXTS, path=PATHS, symbol=TEXTS, parent=TEXTS, doc=TEXTS)
CORPORA = st.lists(st.lists(st.tuples(CHUNKS, st.booleans()), max_size=5), min_size=1, max_size=3)
TERMS = ("retri", "pars", "arg", "=parseargs", "http", "server", "ï", "x", "42", "absent")
WEIGHTS = FieldWeights()


def by_the_book(chunk, corpus, term):
    def counts(each):
        return [Counter(t for word in words for t in terms_of(word))[term] for words in field_words(each)]

    holding = sum(any(counts(each)) for each in corpus)
    total = 0.0
    for field_number, (count, words) in enumerate(zip(counts(chunk), field_words(chunk), strict=True)):
        b = WEIGHTS.b[field_number]
        total += WEIGHTS.weight[field_number] * count / (1 - b + b * len(words) / WEIGHTS.typical_length[field_number])
    rarity = math.log(1 + (len(corpus) - holding + 0.5) / (holding + 0.5))
    return rarity * total / (WEIGHTS.k1 + total)


@settings(max_examples=40)
@given(corpus=CORPORA, asked=st.lists(st.sampled_from(TERMS), max_size=4, unique=True))
def test_scores_by_words_are_those_of_the_book_whatever_the_segments(snapshot_of, corpus, asked):
    every = [(chunk, alive) for part in corpus for chunk, alive in part]
    living = [chunk for chunk, alive in every if alive]
    dead = {chunk.id for chunk, alive in every if not alive}
    snapshot = snapshot_of(*([chunk for chunk, _ in part] for part in corpus), dead=dead)
    expected = [sum(by_the_book(chunk, living, term) for term in asked) if alive else 0 for chunk, alive in every]
    assert bm25(snapshot, match(snapshot, asked), WEIGHTS) == pytest.approx(expected, rel=1e-4, abs=1e-6)


@given(st.integers(0, 10**7), st.data())
def test_a_term_weighs_less_the_more_chunks_hold_it_and_never_less_than_nothing(chunks, data):
    holding = data.draw(st.integers(0, chunks))
    assert idf(chunks, holding) > 0
    assert holding == 0 or idf(chunks, holding) < idf(chunks, holding - 1)
    assert idf(2, 0) == math.log(6)


@given(
    st.lists(st.tuples(*[st.integers(0, 255)] * len(FIELDS)), min_size=1, max_size=5),
    st.tuples(*[st.integers(0, 65535)] * len(FIELDS)),
)
def test_a_factor_stays_below_one_and_grows_with_each_count(rows, length):
    counts = np.array(rows, dtype=np.uint8)
    lengths = np.array([length] * len(rows), dtype=np.uint16)
    factor = saturated(counts, lengths, WEIGHTS)
    assert ((factor >= 0) & (factor < 1)).all()
    assert (saturated(np.minimum(counts, 254) + np.uint8(1), lengths, WEIGHTS) >= factor - 1e-6).all()
    assert (factor[(counts == 0).all(axis=1)] == 0).all()


def test_keywords_are_ranked_by_their_fields_which_weigh_as_they_are_told(snapshot_of):
    snapshot = snapshot_of([
        Chunk("a", "def retry(): wait()\n", "python", "a.py", 1, 1, "retry", "function"),
        Chunk("b", "retry and retry\n", "python", "b.py", 1, 1),
        Chunk("c", "paint\n", "python", "c.py", 1, 1),
    ])  # fmt: skip
    (hits,) = KeywordSearcher(snapshot).search([Query("1", "where are retries waiting")], 5)
    scores = bm25(snapshot, match(snapshot, ("retri", "wait")), WEIGHTS)
    assert [hit.chunk.id for hit in hits] == ["a", "b"]
    assert [hit.score for hit in hits] == pytest.approx(scores[:2].tolist())
    assert all(hit.why == {"lexical": hit.score} for hit in hits)
    body = FieldWeights(weight=(0.0, 0.0, 0.0, 0.0, 1.0))
    (hits,) = KeywordSearcher(snapshot, body).search([Query("1", "retry")], 5)
    assert [hit.chunk.id for hit in hits] == ["b", "a"]


@dataclass
class Found:
    """A searcher that always finds the same."""

    scores: dict[str, float]

    def search(self, queries, k):
        hits = [Hit(Chunk(name, name), score, {"own": score}) for name, score in self.scores.items()]
        return [hits[:k] for _ in queries]


def fused(fusion, *members, k=10, depth=10):
    parts = tuple(Member(f"m{n}", Found(scores), weight) for n, (scores, weight) in enumerate(members))
    (hits,) = FusedSearcher(parts, fusion, depth).search(QUERY, k)
    return {hit.chunk.id: hit for hit in hits}


def test_ranks_are_fused_as_the_paper_says():
    hits = fused("rrf", ({"a": 9.0, "b": 1.0}, 0.7), ({"b": 3.0, "c": 2.0}, 0.3))
    assert list(hits) == ["b", "a", "c"]
    assert hits["b"].score == pytest.approx(0.7 / 62 + 0.3 / 61)
    assert hits["b"].why == {"m0": pytest.approx(0.7 / 62), "m1": pytest.approx(0.3 / 61)}
    assert hits["c"].why == {"m1": pytest.approx(0.3 / 62)}
    assert list(fused("rrf", ({"b": 1.0}, 1.0), ({"a": 1.0}, 1.0))) == ["b", "a"]  # ties: as the members are
    assert list(fused("rrf", ({"a": 1.0}, 0.0), ({"b": 1.0}, 1.0))) == ["b"]  # one without weight is not asked
    assert fused("rrf", ({"a": 1.0}, 0.0)) == {}
    deep = {**{f"x{n}": 10.0 - n for n in range(8)}, "both": 1.0}  # more is asked for than is wanted
    assert list(fused("rrf", (deep, 1.0), ({"both": 1.0}, 1.0), k=1)) == ["both"]
    assert list(fused("rrf", (deep, 1.0), ({"both": 1.0}, 0.9), k=1, depth=8)) == ["x0"]


def test_scores_are_mixed_in_standard_deviations_above_the_lowest():
    hits = fused("linear", ({"a": 9.0, "b": 5.0, "c": 1.0}, 0.5), ({"c": 3.0, "d": 1.0}, 2.0))
    assert hits["a"].score == pytest.approx(0.5 * 8 / np.std([9.0, 5.0, 1.0]))
    assert hits["c"].why == {"m0": 0.0, "m1": pytest.approx(2.0 * 2 / 1.0)}
    assert list(hits) == ["c", "a", "b", "d"]
    assert by_score([Hit(Chunk(name, ""), 2.0) for name in "abc"]) == [1.0, 1.0, 1.0]
    assert by_score([]) == by_rank([]) == []


ANSWERS = st.lists(st.lists(st.tuples(st.integers(0, 9), st.floats(0, 9)), unique_by=lambda hit: hit[0]), max_size=4)


def hits_of(answer: list[tuple[int, float]]) -> list[Hit]:
    return [Hit(Chunk(str(number), ""), score) for number, score in answer]


@given(answers=ANSWERS, k=st.integers(1, 20))
def test_a_union_loses_nothing_shows_nothing_twice_and_leaves_one_answer_as_it_is(answers: list, k: int):
    ranked = [hits_of(answer) for answer in answers]
    ids = [hit.chunk.id for hit in union(ranked, k)]
    everything = {hit.chunk.id for answer in ranked for hit in answer}
    assert len(set(ids)) == len(ids) == min(k, len(everything))
    assert set(ids) <= everything
    assert all(union([answer], k) == answer[:k] for answer in ranked)
    first, second = hits_of([(1, 5.0), (2, 4.0)]), hits_of([(3, 9.0), (1, 8.0)])
    assert [hit.chunk.id for hit in union([first, second], 10)] == ["3", "1", "2"]  # the first of each, by score


def ranked(size: int) -> Found:
    """Return a searcher that finds chunks 0, 1, 2 … in that order."""
    return Found({str(n): 1.0 / (n + 1) for n in range(size)})


@dataclass
class Scripted:
    """A scorer that knows a score for each chunk, and notes what it read."""

    scores: dict[str, float]
    read: list[str] = field(default_factory=list)

    def score(self, _query, chunks):
        self.read += [chunk.id for chunk in chunks]
        return [self.scores.get(chunk.id, 0.0) for chunk in chunks]


def test_the_scorer_reads_and_orders_the_first_whatever_is_asked_for(snapshot_of, encoder):
    for k, depth, wanted in ((2, 3, ["2", "0"]), (2, 1, ["0", "1"]), (4, 2, ["0", "1", "2", "3"])):
        scorer, settings = Scripted({"2": 1.5, "3": 2.5}), SearchSettings(reranker="scripted", rerank_depth=depth)
        search = CorpusSearch(snapshot_of([]), encoder, settings, IndexGuard(str, ""))
        vars(search).update(scorer=scorer, searcher=ranked(9))
        (hits,) = search.search(QUERY, k)
        assert [hit.chunk.id for hit in hits] == wanted
        assert scorer.read == [str(n) for n in range(depth)]
        assert all(hit.why == {"reranker": hit.score} for hit in hits[:depth])
        assert (rerank(scorer, QUERY[0], []), len(scorer.read)) == ([], depth), "it is not asked about nothing"
