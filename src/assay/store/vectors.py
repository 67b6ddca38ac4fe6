"""Store unit vectors in fewer bytes, and large segments in lists of neighbors around centroids.

`int8` keeps a byte a dimension, each row in steps of its own: a row has unit length, so the step need not be kept.
Queries are never quantized. What is stored is turned back block by block each time it is searched: the memory of an
index is what its file takes, and a search is slower.

A list holds the chunks nearest to its centroid side by side. A query reads the lists whose centroids are nearest to it,
and compares the best of what it finds there by their stored vectors. Segments never change, so neither do their lists.

Source: the inverted file of Jégou, Douze and Schmid (2011), *Product Quantization for Nearest Neighbor Search*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.protocols import Vectors

Stored = NDArray[Any]
"""Rows as float32 or as int8; the type says which."""

_ROWS = 4096
"""Rows turned back at once: what fits the cache of a core."""


def quantised(vectors: Vectors, how: str) -> Stored:
    """Return unit rows in the form to store: `none` or `int8`."""
    if how == "int8":
        largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
        rows: Stored = np.rint(vectors * (127 / np.maximum(largest, 1e-12))).astype(np.int8)
        return rows
    return np.asarray(vectors, dtype=np.float32)


def restored(stored: Stored) -> Vectors:
    """Return the unit rows of stored ones, with their rounding error; a zero row of int8 stays zero."""
    if stored.dtype == np.int8:
        rows = stored.astype(np.float32)
        rows /= np.maximum(np.sqrt(np.einsum("nd,nd->n", rows, rows)), 1.0)[:, None]
        return rows
    return stored


def products(queries: Vectors, stored: Stored) -> Vectors:
    """Return the product of each query with every stored row, shape `(queries, rows)`.

    Each product is summed in the same order wherever its row lies. In BLAS the last bits follow the row's neighbours,
    so that twins in two segments differ; and from 50,000 rows on BLAS is no faster, for both wait for memory.
    """
    found = np.empty((len(queries), len(stored)), dtype=np.float32)
    step = max(len(stored), 1) if stored.dtype == np.float32 else _ROWS
    for start in range(0, len(stored), step):
        rows = restored(stored[start : start + step])
        for query, own in zip(queries, found[:, start : start + step], strict=True):
            np.einsum("d,nd->n", query, rows, out=own)
    return found


MIN_LISTED_CHUNKS = 50_000
"""Chunks of a segment that is worth lists; a smaller one is read faster than lists are chosen."""
_LENGTH = 480
_SAMPLE = 64
_ROUNDS = 8
_BLOCK = 8_192
_STEPS = 127


@dataclass(frozen=True, slots=True)
class InvertedLists:
    """`n` chunks in `c` lists."""

    centroids: Vectors
    """(c, dimension) unit rows."""
    starts: NDArray[np.int64]
    """(c + 1) where each list begins among the rows below."""
    chunks: NDArray[np.uint32]
    """(n) the chunk of each row, ascending within a list."""
    codes: NDArray[np.int8]
    """(n, dimension) each row in steps of its own."""
    steps: Vectors
    """(n) the step of each row."""
    total: NDArray[np.float64]
    """(dimension) the sum of all vectors."""
    moments: NDArray[np.float64]
    """(dimension, dimension) the sum of each vector's outer product with itself."""

    def estimates(self, numbers: NDArray[np.intp], vector: Vectors) -> tuple[NDArray[np.uint32], Vectors]:
        """Return the chunks of some lists, and about how near each is to a vector."""
        rows = self.rows_of(numbers)
        products = [self.codes_of(number).astype(np.float32) @ vector for number in numbers.tolist()]
        return self.chunks[rows], np.concatenate([np.zeros(0, dtype=np.float32), *products]) * self.steps[rows]

    def codes_of(self, number: int) -> NDArray[np.int8]:
        """Return the codes of a list."""
        return self.codes[self.starts[number] : self.starts[number + 1]]

    def rows_of(self, numbers: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return the rows of some lists, one list after the other."""
        starts, sizes = self.starts[numbers], np.diff(self.starts)[numbers]
        begins = np.cumsum(sizes) - sizes
        return np.repeat(starts - begins, sizes) + np.arange(int(sizes.sum()))


def build_lists(vectors: Vectors) -> InvertedLists:
    """Cluster unit rows by k-means on the sphere; the same rows give the same lists."""
    count = max(1, len(vectors) // _LENGTH)
    centroids = _clustered(vectors, count)
    of = _nearest(vectors, centroids)
    chunks = np.argsort(of, kind="stable").astype(np.uint32)
    codes, steps = _coded(vectors, chunks)
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(of, minlength=count), out=starts[1:])
    return InvertedLists(centroids, starts, chunks, codes, steps, *sums_of(vectors))


def sums_of(vectors: Vectors) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sum of some rows, and that of each one's outer product with itself."""
    width = vectors.shape[1]
    total, moments = np.zeros(width), np.zeros((width, width))
    for start in range(0, len(vectors), _BLOCK):
        rows = vectors[start : start + _BLOCK].astype(np.float64)
        total += rows.sum(axis=0)
        moments += rows.T @ rows
    return total, moments


def _clustered(vectors: Vectors, count: int) -> Vectors:
    """Return the centroids of a sample; a centroid without rows restarts at another row."""
    chance = np.random.default_rng(0)
    sample = vectors[np.sort(chance.choice(len(vectors), min(len(vectors), count * _SAMPLE), replace=False))]
    centroids = sample[np.sort(chance.choice(len(sample), count, replace=False))].copy()
    for _ in range(_ROUNDS):
        of = _nearest(sample, centroids)
        order = np.argsort(of, kind="stable")
        used, first = np.unique(of[order], return_index=True)
        centroids[used] = np.add.reduceat(sample[order], first, axis=0)
        empty = np.setdiff1d(np.arange(count), used)
        centroids[empty] = sample[chance.choice(len(sample), len(empty), replace=False)]
        centroids /= np.maximum(np.linalg.norm(centroids, axis=1, keepdims=True), np.float32(1e-12))
    return centroids


def _nearest(vectors: Vectors, centroids: Vectors) -> NDArray[np.intp]:
    """Return the nearest centroid of each row."""
    found = np.empty(len(vectors), dtype=np.intp)
    for start in range(0, len(vectors), _BLOCK):
        found[start : start + _BLOCK] = (vectors[start : start + _BLOCK] @ centroids.T).argmax(axis=1)
    return found


def _coded(vectors: Vectors, order: NDArray[np.uint32]) -> tuple[NDArray[np.int8], Vectors]:
    """Return rows in an order as bytes, and the step of each."""
    codes = np.empty(vectors.shape, dtype=np.int8)
    steps = np.empty(len(vectors), dtype=np.float32)
    for start in range(0, len(vectors), _BLOCK):
        here = slice(start, start + _BLOCK)
        rows = vectors[order[here]]
        steps[here] = np.abs(rows).max(axis=1, initial=0.0) / _STEPS
        codes[here] = np.rint(rows / np.maximum(steps[here], np.float32(1e-12))[:, None])
    return codes, steps
