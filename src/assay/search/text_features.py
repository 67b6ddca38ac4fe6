"""Compute the features of the first few dozen candidates that need their texts: words, kinds and phrases.

Late interaction (Khattab and Zaharia, 2020, *ColBERT*) over a table of static word vectors, and kernel pooling of the
same cosines (Xiong et al., 2017, *End-to-End Neural Ad-hoc Ranking with Kernel Pooling*): besides the most similar
word, how many are similar at each of six levels. No model runs, and what a chunk's words are is read from its text, so
no index holds anything for it. Reading texts costs more than all the rest of a query.

The kinds of unit that a question names are words of any language of programs, not those of one repository. Nothing is
left out for being of another kind: the ranking learns what it is worth. A phrase is three words in a row, wherever they
stand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain, filterfalse, groupby, islice
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from assay.encode.static import StaticEncoder, default_static, distinct_rows
from assay.search.features import FEATURES, QueryInCorpus
from assay.search.messages import READ
from assay.search.retrievers import Array
from assay.terms import STOP_WORDS, spaced, words
from assay.values import CALLABLE_KINDS, TYPE_KINDS, Chunk

KIND_FEATURES = ("type", "type_asked", "kind_asked", "constant", "constant_asked", "block_asked", "type_not_callable")

_RECORDS = frozenset(("struct", "class", "type"))
_CONTRACTS = frozenset(("interface", "trait", "type", "class"))
_NAMED: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("struct", "structur", "record", "object"), _RECORDS),
    "class": frozenset(("class", "struct")),
    **dict.fromkeys(("interfac", "protocol", "trait"), _CONTRACTS),
    **dict.fromkeys(("enum", "enumer", "variant"), frozenset(("enum",))),
    "union": frozenset(("type", "enum", "struct")),
    **dict.fromkeys(("alias", "alia"), frozenset(("type",))),
    "typedef": frozenset(("type", "struct")),
    "type": _RECORDS | _CONTRACTS | {"enum"},
}
"""The kinds of unit that a stem in a question means."""
_CONSTANTS = frozenset(
    "constant default config configur set limit maximum minimum max min tabl valu list map option flag environ "
    "variabl number size timeout mani long mask prefix version".split()
)
"""Stems that ask for a value rather than for what is done with it."""
_TYPES = TYPE_KINDS | {"impl"}
_BLOCKS = frozenset(("block", "module", ""))


def kind_features(terms: Sequence[str], chunks: Sequence[Chunk]) -> Array:
    """Return what each chunk is and whether a question's stems ask for it, shape `(chunks, len(KIND_FEATURES))`."""
    named = [_NAMED[term] for term in terms if term in _NAMED]
    value = not _CONSTANTS.isdisjoint(terms)
    asked = frozenset().union(*named)
    rows = {kind: _row(kind, asked, value=value) for kind in {chunk.kind for chunk in chunks}}
    return np.array([rows[chunk.kind] for chunk in chunks], dtype=np.float32).reshape(len(chunks), len(KIND_FEATURES))


def _row(kind: str, named: frozenset[str], *, value: bool) -> tuple[bool, ...]:
    return (
        kind in _TYPES,
        kind in _TYPES and bool(named),
        kind in named,
        kind == "constant",
        kind == "constant" and value,
        kind in _BLOCKS and value,
        kind in CALLABLE_KINDS and bool(named),
    )


SIMILARITY_FIELDS = ("name", "doc", "text")
LEVELS = ((1.0, 0.03), (0.8, 0.08), (0.6, 0.08), (0.45, 0.08), (0.3, 0.08), (0.15, 0.1))
"""Centre and width of each kernel; the first counts the same word alone."""
_NEAR = tuple(f"near_{field}" for field in SIMILARITY_FIELDS)
_ALIKE = tuple(f"alike_{field}@{round(100 * centre)}" for field in SIMILARITY_FIELDS for centre, _ in LEVELS)
TOKEN_FEATURES = (*_NEAR, *_ALIKE, "asked_name", "asked_doc", "least_met", "met")
"""In the order of their columns; the part after an `@` is a level."""

_NAME_WORDS, _DOC_WORDS, _TEXT_WORDS = 16, 40, 90
_DOC, _TEXT = 400, 3000  # characters looked at
_CHUNK_CACHE_SIZE = 8192  # of about 1 kB: questions in a row come to the same ones, above all while one is typed
_CENTRES, _WIDTHS = (np.array(column, dtype=np.float32) for column in zip(*LEVELS, strict=True))

Bags = tuple[NDArray[np.int32], tuple[int, ...]]
"""The rows of the words of a chunk's name, documentation and text, each once, end to end, and how many they are."""


@dataclass(frozen=True)
class TokenSimilarity:
    """Compares words by a static table, loaded at the first question."""

    load: Callable[[], StaticEncoder] = default_static
    _bag_cache: dict[tuple[str, ...], Bags] = field(default_factory=dict, compare=False)

    @cached_property
    def _table(self) -> StaticEncoder:
        return self.load()

    @cached_property
    def _rows_of(self) -> Callable[[tuple[str, ...]], Array]:
        """Return the vectors of the words of a question, cached for both code and documentation."""
        return lru_cache(8)(self._table.rows)

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
        if not asked_words or not chunks:
            return np.zeros((len(chunks), len(TOKEN_FEATURES)), dtype=np.float32)
        bags = self._bags(chunks)
        lengths = np.array([length for _, own in bags for length in own])
        ends = np.cumsum(lengths)
        rows, place = distinct_rows(np.concatenate([rows for rows, _ in bags]), len(self._table.vocabulary))
        cosines = np.maximum(self._table.cosines(rows, self._rows_of(tuple(asked_words))), 0.0)
        nearest = np.maximum.reduceat(cosines[place], ends - lengths, axis=0)
        near = (nearest * weights).sum(axis=1)  # in BLAS, finite numbers raised an invalid-value warning now and then
        alike, query_fraction = _summed(cosines, place, lengths, weights)
        last = nearest[len(SIMILARITY_FIELDS) - 1 :: len(SIMILARITY_FIELDS)]
        columns = (
            near.reshape(len(chunks), -1),
            alike.reshape(len(chunks), -1),
            query_fraction.reshape(len(chunks), -1)[:, : len(SIMILARITY_FIELDS) - 1],
            last.min(axis=1, keepdims=True),
            last.mean(axis=1, keepdims=True),
        )
        return np.hstack(columns).astype(np.float32)

    def _bags(self, chunks: Sequence[Chunk]) -> list[Bags]:
        """Return the bags of some chunks; questions in a row come to the same ones."""
        keys: list[tuple[str, ...]]
        keys = [(one.symbol, one.parent, one.doc, one.description, one.text) for one in chunks]
        known = {key: bags for key in keys if (bags := self._bag_cache.get(key))}
        if new := {key: chunk for key, chunk in zip(keys, chunks, strict=True) if key not in known}:
            read = dict(zip(new, self._read_bags(list(new.values())), strict=True))
            if len(self._bag_cache) + len(read) > _CHUNK_CACHE_SIZE:
                self._bag_cache.clear()
            self._bag_cache.update(read)
            known |= read
        return list(map(known.__getitem__, keys))

    def _read_bags(self, chunks: Sequence[Chunk]) -> list[Bags]:
        """Return the rows of the words of each chunk's name, of its documentation too, and of all of it; never none."""
        abouts = [about[:_DOC] for about in map(attrgetter("about"), chunks)]
        texts = [chunk.text[:_TEXT] for chunk in chunks]
        columns = ([chunk.symbol for chunk in chunks], [chunk.parent for chunk in chunks], abouts, texts)
        found = self._table.vocabulary.rows_of_each(list(map(words, chain.from_iterable(columns))))
        many, bags, is_plain = len(chunks), [], self._plain.__contains__
        for name, parent, doc, text in zip(*(found[at * many : (at + 1) * many] for at in range(4)), strict=True):
            every = [*name, *doc]
            parts = ((*name, *parent), _NAME_WORDS), (every, _DOC_WORDS), ((*every, *text), _TEXT_WORDS)
            of_each = [list(islice(filterfalse(is_plain, dict.fromkeys(rows)), most)) or [0] for rows, most in parts]
            bags.append((np.array([*chain.from_iterable(of_each)], dtype=np.int32), tuple(map(len, of_each))))
        return bags


def _summed(cosines: Array, place: NDArray[np.intp], lengths: NDArray[np.int64], weights: Array) -> tuple[Array, Array]:
    """Return two sums over the words of each bag: how many are similar at each level, and how much is in the query.

    The first is the weighted logarithm of a soft count, shape `(bags, levels)`, the second a mean cosine, `(bags,)`.
    Kernels are computed once a distinct word, and a product with what each bag holds adds up those of its words.
    """
    held = np.zeros((len(lengths), len(cosines)), dtype=np.float32)
    held[np.repeat(np.arange(len(lengths)), lengths), place] = 1.0
    of_words = np.ascontiguousarray(cosines.T)  # long rows: numpy takes many times as long over short ones
    columns = np.empty((len(_CENTRES) * len(of_words) + 1, len(cosines)), dtype=np.float32)
    columns[-1] = of_words.max(axis=0)
    kernels = columns[:-1].reshape(len(_CENTRES), *of_words.shape)
    np.subtract(of_words, _CENTRES[:, None, None], out=kernels)
    kernels /= _WIDTHS[:, None, None]
    np.multiply(kernels, kernels, out=kernels)
    kernels *= np.float32(-0.5)
    np.exp(kernels, out=kernels)
    sums = columns @ held.T
    counts = np.log1p(sums[:-1]).reshape(len(_CENTRES), -1, len(lengths))
    return (counts * weights[:, None]).sum(axis=1).T, sums[-1] / lengths


PHRASE_FEATURES = ("phrase", "phrase_long", "phrase_any")

_RUN = 3  # words that make a phrase
_LONG = 12  # words from which a phrase is as good as it gets
_MAX_QUERY_WORDS = 200  # words of a question


def phrase_features(text: str, chunks: Sequence[Chunk]) -> Array:
    """Return how much of a question occurs verbatim in each chunk, shape `(chunks, len(PHRASE_FEATURES))`.

    The fraction of its runs of three words, the longest run in twelfths of twelve words, and whether there is one of
    five.
    """
    query_words = words(text.lower())[:_MAX_QUERY_WORDS]
    runs = [f" {' '.join(query_words[at : at + _RUN])} " for at in range(len(query_words) - _RUN + 1)]
    rows = np.zeros((len(chunks), len(PHRASE_FEATURES)), dtype=np.float32)
    for at, text_words in enumerate(map(spaced, [chunk.text[:READ] for chunk in chunks]) if len(runs) > 1 else ()):
        there = [run in text_words for run in runs]
        if True in there:
            longest = max(sum(group) for _, group in groupby(there))
            rows[at] = sum(there) / len(runs), min(longest + _RUN - 1, _LONG) / _LONG, longest >= _RUN
    return rows


TEXT_FEATURES = (*TOKEN_FEATURES, *KIND_FEATURES, *PHRASE_FEATURES)
ALL_FEATURES = (*FEATURES, *TEXT_FEATURES)
"""The features of the second stage; the first uses `FEATURES`."""


def text_features(similarity: TokenSimilarity, in_corpus: QueryInCorpus, chunks: Sequence[Chunk]) -> Array:
    """Return the features of chunks, shape `(chunks, len(TEXT_FEATURES))`."""
    question = in_corpus.question
    alike = similarity.features(question.words, in_corpus.term_weights, chunks)
    return np.hstack((alike, kind_features(question.terms, chunks), phrase_features(question.text, chunks)))
