"""BM25F over arrays is BM25F by the book, computed here one chunk and one field at a time."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.search.lexical import FieldWeights, bm25, idf, match, saturated
from assay.store.lexical_fields import FIELDS, field_words
from assay.terms import terms_of
from assay.types import Chunk

WORDS = st.sampled_from("retry retries parseArgs parse args HTTPServer server naïve the x 42".split())
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)
CHUNKS = st.builds(
    Chunk,
    id=st.uuids().map(str),
    text=TEXTS,
    path=st.sampled_from(["", "retry/server.py", "args.py"]),
    symbol=TEXTS,
    parent=TEXTS,
    doc=TEXTS,
)
CORPORA = st.lists(st.lists(st.tuples(CHUNKS, st.booleans()), max_size=5), min_size=1, max_size=3)
TERMS = ("retri", "pars", "arg", "=parseargs", "http", "server", "ï", "x", "42", "absent")
WEIGHTS = FieldWeights()


def by_the_book(chunk, corpus, term):
    def counts(each):
        return [Counter(t for word in words for t in terms_of(word))[term] for words in field_words(each)]

    holding = sum(any(counts(each)) for each in corpus)
    total = 0.0
    for field, (count, words) in enumerate(zip(counts(chunk), field_words(chunk), strict=True)):
        b = WEIGHTS.b[field]
        total += WEIGHTS.weight[field] * count / (1 - b + b * len(words) / WEIGHTS.typical_length[field])
    rarity = math.log(1 + (len(corpus) - holding + 0.5) / (holding + 0.5))
    return rarity * total / (WEIGHTS.k1 + total)


@settings(max_examples=60, deadline=None)
@given(corpus=CORPORA, asked=st.lists(st.sampled_from(TERMS), max_size=4, unique=True))
def test_scores_are_those_of_the_book_whatever_the_segments(snapshot_of, corpus, asked):
    every = [(chunk, alive) for part in corpus for chunk, alive in part]
    living = [chunk for chunk, alive in every if alive]
    dead = {chunk.id for chunk, alive in every if not alive}
    snapshot = snapshot_of(*([chunk for chunk, _ in part] for part in corpus), dead=dead)
    expected = [sum(by_the_book(chunk, living, term) for term in asked) if alive else 0 for chunk, alive in every]
    assert bm25(snapshot, match(snapshot, asked), WEIGHTS) == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_a_term_that_no_chunk_holds_is_the_rarest(snapshot_of):
    snapshot = snapshot_of([Chunk("1", "retry server"), Chunk("2", "server")])
    absent, rare, common = match(snapshot, ("absent", "retri", "server"))
    assert len(absent.chunks) == 0
    assert absent.idf == idf(2, 0) == math.log(6)
    assert absent.idf > rare.idf > common.idf > 0


@given(st.integers(0, 10**7), st.data())
def test_a_term_weighs_less_the_more_chunks_hold_it_and_never_less_than_nothing(chunks, data):
    holding = data.draw(st.integers(0, chunks))
    assert idf(chunks, holding) > 0
    assert holding == 0 or idf(chunks, holding) < idf(chunks, holding - 1)


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


def test_a_score_stays_when_chunks_of_another_length_come(snapshot_of):
    """Typical lengths are constants: only the rarity of a term moves."""
    one, other = Chunk("1", "retry"), Chunk("2", "server " * 500)
    alone, both = snapshot_of([one]), snapshot_of([one, other])
    assert bm25(alone, match(alone, ["retri"]), WEIGHTS)[0] / idf(1, 1) == pytest.approx(
        bm25(both, match(both, ["retri"]), WEIGHTS)[0] / idf(2, 1)
    )


def test_nothing_asked_or_nothing_there_scores_nothing(snapshot_of):
    assert bm25(snapshot_of([Chunk("1", "retry")]), [], WEIGHTS).tolist() == [0]
    empty = snapshot_of([])
    assert bm25(empty, match(empty, ["retri"]), WEIGHTS).tolist() == []
