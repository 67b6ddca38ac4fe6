"""Unit vectors to fewer bytes, and what is stored to products with queries: the error of it, and no other.

`int8` keeps a byte a dimension, each row in steps of its own: a row has unit length, so the step need not be kept.
`binary` keeps the sign alone, eight dimensions a byte. Queries are never quantised. What is stored is turned back
block by block each time it is searched: the memory of an index is what its file takes, and a search is slower.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.protocols import Vectors

Stored = NDArray[Any]
"""Rows as float32, as int8, or as bits packed into uint8; the type says which."""

_ROWS = 4096
"""Rows turned back at once: what fits the cache of a core."""


def quantised(vectors: Vectors, how: str) -> Stored:
    """Return unit rows as they are to be stored: `none`, `int8` or `binary`."""
    if how == "int8":
        largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
        rows: Stored = np.rint(vectors * (127 / np.maximum(largest, 1e-12))).astype(np.int8)
        return rows
    if how == "binary":
        if vectors.shape[1] % 8:
            raise InputError(f"binary vectors need a multiple of 8 dimensions, not {vectors.shape[1]}: take int8")
        return np.packbits(vectors > 0, axis=1)
    return np.asarray(vectors, dtype=np.float32)


def restored(stored: Stored) -> Vectors:
    """Return unit rows of what is stored, with the error that storing brought; a zero row of int8 stays zero."""
    if stored.dtype == np.uint8:
        signs = np.unpackbits(stored, axis=1).astype(np.float32)
        signs *= 2
        signs -= 1
        signs /= np.float32(max(signs.shape[1], 1) ** 0.5)
        return signs
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
