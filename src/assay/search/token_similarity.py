"""Words that mean nearly the same: how similar each word of a query is to the most similar word of a chunk.

Late interaction (Khattab and Zaharia, 2020, *ColBERT*) over a table of static word vectors: no model runs, and
what a chunk's words are is read from its text, so no index holds anything for it. Only the first few dozen
candidates are looked at: reading texts costs more than all the rest of a query.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from assay.encode.static import StaticEncoder, default_static
from assay.search.lexical import Array
from assay.terms import STOP_WORDS
from assay.types import Chunk

TOKEN_FEATURES = ("near_name", "near_doc", "near_text")
_NAME_WORDS, _DOC_WORDS, _TEXT_WORDS = 16, 40, 90
_DOC, _TEXT = 400, 3000  # characters looked at
_KEPT = 1024  # chunks, of about 4 kB: questions in a row come to the same ones, above all while one is typed

Bags = tuple[NDArray[np.int64], ...]


@dataclass(frozen=True)
class TokenSimilarity:
    """Compares words by a static table, loaded at the first question."""

    load: Callable[[], StaticEncoder] = default_static

    @cached_property
    def _table(self) -> StaticEncoder:
        return self.load()

    @cached_property
    def _plain(self) -> frozenset[int]:
        return frozenset(row for word in STOP_WORDS for row in self._table.vocabulary.rows_of_word(word))

    def features(self, words: Sequence[str], weights: Array, chunks: Sequence[Chunk]) -> Array:
        """Return how similar the words are to those of each chunk's name, documentation and text.

        `weights` add up to 1; the result has shape `(chunks, len(TOKEN_FEATURES))`: for each of the three the mean
        cosine with the most similar word.
        """
        bags = [bag for one in chunks for bag in self._known(one.symbol, one.parent, one.doc[:_DOC], one.text[:_TEXT])]
        if not words or not bags:
            return np.zeros((len(chunks), len(TOKEN_FEATURES)), dtype=np.float32)
        lengths = np.array([len(bag) for bag in bags])
        rows, place = np.unique(np.concatenate(bags), return_inverse=True)
        cosines = np.maximum(self._table.vectors_of(rows) @ self._table.rows(words).T, 0.0)
        nearest = np.maximum.reduceat(cosines[place], np.concatenate(([0], np.cumsum(lengths)[:-1])), axis=0)
        means = (nearest * weights).sum(axis=1)  # in BLAS, finite numbers raised an invalid-value warning now and then
        return np.asarray(means, dtype=np.float32).reshape(len(chunks), len(TOKEN_FEATURES))

    @cached_property
    def _known(self) -> Callable[[str, str, str, str], Bags]:
        return lru_cache(_KEPT)(self._bags)

    def _bags(self, symbol: str, parent: str, doc: str, text: str) -> Bags:
        """Return the rows of the words of a chunk's name, of its documentation too, and of all of it; never none."""
        named = f"{symbol} {doc}"
        texts = ((f"{symbol} {parent}", _NAME_WORDS), (named, _DOC_WORDS), (f"{named} {text}", _TEXT_WORDS))
        return tuple(self._rows(words, limit) for words, limit in texts)

    def _rows(self, text: str, limit: int) -> NDArray[np.int64]:
        distinct = [row for row in dict.fromkeys(self._table.vocabulary.rows(text)) if row not in self._plain]
        return np.array(distinct[:limit] or [0], dtype=np.int64)
