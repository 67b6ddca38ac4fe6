"""Words that mean nearly the same: how similar the words of a query are to those of a chunk.

Late interaction (Khattab and Zaharia, 2020, *ColBERT*) over a table of static word vectors, and kernel pooling of the
same cosines (Xiong et al., 2017, *End-to-End Neural Ad-hoc Ranking with Kernel Pooling*): besides the most similar
word, how many are similar at each of six levels. No model runs, and what a chunk's words are is read from its text, so
no index holds anything for it. Only the first few dozen candidates are looked at: reading texts costs more than all
the rest of a query.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from assay.encode.static import StaticEncoder, default_static
from assay.search.lexical import Array
from assay.terms import STOP_WORDS, words
from assay.types import Chunk

FIELDS = ("name", "doc", "text")
LEVELS = ((1.0, 0.03), (0.8, 0.08), (0.6, 0.08), (0.45, 0.08), (0.3, 0.08), (0.15, 0.1))
"""Centre and width of each kernel; the first counts the same word alone."""
_NEAR = tuple(f"near_{field}" for field in FIELDS)
_ALIKE = tuple(f"alike_{field}@{round(100 * centre)}" for field in FIELDS for centre, _ in LEVELS)
TOKEN_FEATURES = (*_NEAR, *_ALIKE, "asked_name", "asked_doc", "least_met", "met")
"""In the order of their columns; what stands behind an `@` is a level."""

_NAME_WORDS, _DOC_WORDS, _TEXT_WORDS = 16, 40, 90
_DOC, _TEXT = 400, 3000  # characters looked at
_KEPT = 8192  # chunks, of about 1 kB: questions in a row come to the same ones, above all while one is typed
_ENOUGH = 3  # words of a text that are looked up at first for each row that is wanted
_CENTRES, _WIDTHS = (np.array(column, dtype=np.float32) for column in zip(*LEVELS, strict=True))

Bags = tuple[NDArray[np.int32], ...]


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

    def features(self, asked_words: Sequence[str], weights: Array, chunks: Sequence[Chunk]) -> Array:
        """Return how similar some words are to those of each chunk's name, documentation and text.

        `weights` add up to 1; the result has shape `(chunks, len(TOKEN_FEATURES))`: for each of the three the mean
        cosine with the most similar word, and the logarithm of how many words are similar at each level, both weighted;
        how much of the name and of the documentation is asked for; the cosine of the word that is met least, and the
        mean of all.
        """
        bags = [bag for one in chunks for bag in self._known(one.symbol, one.parent, one.about, one.text)]
        if not asked_words or not bags:
            return np.zeros((len(chunks), len(TOKEN_FEATURES)), dtype=np.float32)
        lengths = np.array([len(bag) for bag in bags])
        starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
        rows, place = np.unique(np.concatenate(bags).astype(np.int64), return_inverse=True)
        cosines = np.maximum(self._table.vectors_of(rows) @ self._table.rows(asked_words).T, 0.0)
        nearest = np.maximum.reduceat(cosines[place], starts, axis=0)
        near = (nearest * weights).sum(axis=1)  # in BLAS, finite numbers raised an invalid-value warning now and then
        asked = np.add.reduceat(cosines.max(axis=1)[place], starts) / lengths
        last = nearest[len(FIELDS) - 1 :: len(FIELDS)]
        columns = (
            near.reshape(len(chunks), -1),
            _alike(cosines, place, starts, weights).reshape(len(chunks), -1),
            asked.reshape(len(chunks), -1)[:, : len(FIELDS) - 1],
            last.min(axis=1, keepdims=True),
            last.mean(axis=1, keepdims=True),
        )
        return np.hstack(columns).astype(np.float32)

    @cached_property
    def _known(self) -> Callable[[str, str, str, str], Bags]:
        return lru_cache(_KEPT)(self._bags)

    def _bags(self, symbol: str, parent: str, about: str, text: str) -> Bags:
        """Return the rows of the words of a chunk's name, of its documentation too, and of all of it; never none."""
        name, doc = words(symbol), words(about[:_DOC])
        named = [*name, *doc]
        return (
            self._rows([*name, *words(parent)], _NAME_WORDS),
            self._rows(named, _DOC_WORDS),
            self._rows([*named, *words(text[:_TEXT])], _TEXT_WORDS),
        )

    def _rows(self, every: Sequence[str], limit: int) -> NDArray[np.int32]:
        """Return the first rows of some words, each once; a long text is looked up to its end only where it must be."""
        enough = _ENOUGH * limit
        found = self._telling(every[:enough])
        if len(found) < limit and len(every) > enough:
            found = self._telling(every)
        return np.array(found[:limit] or [0], dtype=np.int32)

    def _telling(self, every: Sequence[str]) -> list[int]:
        plain = self._plain
        return [row for row in dict.fromkeys(self._table.vocabulary.rows_of(every)) if row not in plain]


def _alike(cosines: Array, place: NDArray[np.intp], starts: NDArray[np.intp], weights: Array) -> Array:
    """Return for each bag and level the weighted logarithm of the soft count of similar words, shape `(bags, levels)`.

    Kernels are computed once a distinct word, and a bag adds up those of its words.
    """
    kernels = np.exp(-(((cosines[:, :, None] - _CENTRES) / _WIDTHS) ** 2) / 2)
    counts = np.add.reduceat(kernels[place], starts, axis=0)
    alike: Array = (np.log1p(counts) * weights[:, None]).sum(axis=1)
    return alike
