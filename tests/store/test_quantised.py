"""What quantised vectors keep, what they take, and that searching them has that error and no other."""

from __future__ import annotations

import numpy as np
import pytest

from assay.errors import InputError
from assay.store.merge import merge
from assay.store.quantised import products, quantised, restored
from assay.store.segment import build
from assay.store.segment_file import read_segment, write_segment
from assay.store.snapshot import Snapshot
from assay.types import Chunk


def drawn(rows, width=64, seed=0):
    vectors = np.random.default_rng(seed).standard_normal((rows, width)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_none_is_the_vectors_themselves():
    vectors = drawn(5)
    assert quantised(vectors, "none") is vectors
    assert restored(vectors) is vectors
    np.testing.assert_allclose(products(vectors, vectors), vectors @ vectors.T, atol=1e-6)


@pytest.mark.parametrize("how", ["none", "int8", "binary"])
def test_a_product_does_not_depend_on_what_lies_beside_its_row(how):
    stored, query = quantised(drawn(70), how), drawn(1, seed=1)
    whole = products(query, stored)[0]
    for chosen in (slice(1, 70), slice(33, 34), [9, 68, 2]):
        assert np.array_equal(products(query, stored[chosen])[0], whole[chosen])


@pytest.mark.parametrize(("how", "bytes_a_dimension", "cosine"), [("int8", 1, 0.9999), ("binary", 1 / 8, 0.7)])
def test_what_is_kept_is_smaller_and_near(how, bytes_a_dimension, cosine):
    vectors = drawn(500)
    stored = quantised(vectors, how)
    back = restored(stored)
    assert stored.nbytes == 500 * 64 * bytes_a_dimension
    assert back.shape == vectors.shape
    np.testing.assert_allclose(np.linalg.norm(back, axis=1), 1.0, atol=1e-5)
    assert (back * vectors).sum(axis=1).min() > cosine
    assert not np.array_equal(back, vectors)


@pytest.mark.parametrize("how", ["int8", "binary"])
def test_products_are_those_of_what_is_kept_in_any_number_of_blocks(how):
    stored, queries = quantised(drawn(9000), how), drawn(3, seed=1)
    np.testing.assert_allclose(products(queries, stored), queries @ restored(stored).T, atol=1e-6)


def test_a_text_without_a_known_word_stays_near_nothing_in_bytes():
    assert not products(drawn(2), quantised(np.zeros((3, 64), np.float32), "int8")).any()


@pytest.mark.parametrize("how", ["none", "int8", "binary"])
def test_no_rows_are_no_rows(how):
    assert products(drawn(2), quantised(np.zeros((0, 64), np.float32), how)).shape == (2, 0)


def test_bits_need_whole_bytes():
    with pytest.raises(InputError, match="multiple of 8 dimensions, not 12"):
        quantised(drawn(2, width=12), "binary")


@pytest.mark.parametrize("how", ["int8", "binary"])
def test_a_segment_keeps_them_on_disk_and_when_merged(tmp_path, how):
    chunks = [Chunk(f"c{n}", f"word{n}", "python", f"{n}.py") for n in range(6)]
    vectors = drawn(6)
    whole = build(chunks, quantised(vectors, how))
    write_segment(tmp_path / "s", whole)
    read = read_segment(tmp_path / "s")
    halves = [build(chunks[:2], quantised(vectors[:2], how)), build(chunks[2:], quantised(vectors[2:], how))]
    joined = merge([(half, np.ones(len(half), dtype=bool)) for half in halves])
    query = drawn(1, seed=2)
    wanted = query @ restored(quantised(vectors, how)).T
    for parts in ([whole], [read], [joined], halves):
        snapshot = Snapshot([(part, None) for part in parts])
        np.testing.assert_allclose(snapshot.similarities(query), wanted, atol=1e-6)
        found = snapshot.vectors(np.array([1, 4]))
        np.testing.assert_allclose(query @ found.T, wanted[:, [1, 4]], atol=1e-6)
