"""Make vectors unit length, and turn texts into vectors by feature hashing, for tests and dry runs.

Hashing needs no table and no training, and is the same on every machine: each term of `assay.terms.terms` adds a sign
at one place (Weinberger et al. 2009, "Feature Hashing for Large Scale Multitask Learning"); texts are near when they
share terms, and only then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from zlib import crc32

import numpy as np

from assay.errors import InputError
from assay.protocols import Role, Vectors
from assay.terms import terms


def unit(vectors: Vectors) -> Vectors:
    """Make each row unit length in place; a zero row stays zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    np.divide(vectors, norms, out=vectors, where=norms > 0)
    return vectors


def shortest_first(texts: Sequence[str], batch: int) -> Iterator[list[int]]:
    """Yield the positions of texts in batches of similar length, since padding costs as much as text."""
    places = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    for start in range(0, len(places), batch):
        yield places[start : start + batch]


class HashedEncoder:
    """An encoder by feature hashing, without a trained model."""

    reads_order, is_quick = False, True

    def __init__(self, dimension: str = "256") -> None:
        if not dimension.isdecimal() or int(dimension) < 1:
            raise InputError(f"invalid dimension '{dimension}'; give a positive number, as in hash:256")
        self.dimension = int(dimension)
        self.name = f"hash:{self.dimension}"

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:  # noqa: ARG002  hashing knows no roles
        """Return one unit-length row a text; a text without a term is the zero vector."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for term in terms(text):
                place, sign = _place(term)
                row[place % self.dimension] += sign
        return unit(vectors)


@lru_cache(16_384)
def _place(term: str) -> tuple[int, int]:
    """Return the column of a term and its sign; `crc32` is the same in every process, `hash` is not."""
    number = crc32(term.encode())
    return number >> 1, 1 if number & 1 else -1
