from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.search.dense import VectorSearcher, exhaustive
from assay.types import Chunk, Query


def drawn(rows, width, seed):
    return np.random.default_rng(seed).standard_normal((rows, width)).astype(np.float32)


def by_hand(queries, codes, k):
    """One sort of all products, each summed in the same order; ties by number."""
    products = np.stack([np.einsum("d,cd->c", query, codes) for query in queries])
    numbers = np.broadcast_to(np.arange(len(codes)), products.shape)
    order = np.lexsort((numbers, -products), axis=-1)[:, :k]
    return order, np.take_along_axis(products, order, axis=1)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 400), st.integers(1, 9), st.integers(1, 120), st.integers(0, 99), st.booleans())
def test_it_is_one_sort_of_all_products_whatever_the_blocks(codes, width, k, seed, twins):
    asked, held = drawn(1 + seed % 20, width, seed), drawn(codes, width, seed + 1)
    if twins:
        held[codes // 2 :] = held[: codes - codes // 2]
        asked[0] = 0
    numbers, scores = exhaustive(asked, held, k, block=(7, 64))
    wanted, products = by_hand(asked, held, min(k, codes))
    assert np.array_equal(numbers, wanted)
    np.testing.assert_allclose(scores, products, atol=1e-6)


def test_blocks_of_the_usual_size_agree_too():
    asked, held = drawn(600, 16, 1), drawn(20_000, 16, 2)
    held[15_000:] = held[:5_000]
    numbers, scores = exhaustive(asked, held, 20)
    wanted, _ = by_hand(asked, held, 20)
    assert np.array_equal(numbers, wanted)
    assert (scores.dtype, numbers.dtype) == (np.float32, np.int64)


@pytest.mark.parametrize(("queries", "codes", "k"), [(0, 5, 3), (5, 0, 3), (5, 7, 0), (0, 0, 1)])
def test_nothing_to_find_has_a_shape(queries, codes, k):
    numbers, scores = exhaustive(drawn(queries, 4, 0), drawn(codes, 4, 0), k)
    assert numbers.shape == scores.shape == (queries, min(k, codes))


def test_the_score_is_the_cosine_and_the_only_reason(encoder, snapshot_of):
    snapshot = snapshot_of([Chunk("a", "retry the request"), Chunk("b", "paint a house"), Chunk("c", "a request")])
    (hits,) = VectorSearcher(snapshot, encoder).search([Query("1", "request")], 5)
    cosines = snapshot.similarities(encoder.encode(["request"], "query"))[0]
    assert {hit.chunk.id: hit.score for hit in hits} == {
        name: pytest.approx(float(cosine)) for name, cosine in zip("abc", cosines, strict=True) if cosine > 0
    }
    assert all(hit.why == {"dense": hit.score} for hit in hits)


def test_a_query_without_a_known_word_finds_nothing(encoder, snapshot_of):
    assert VectorSearcher(snapshot_of([Chunk("a", "retry")]), encoder).search([Query("1", "?!")], 5) == [[]]
