"""Compute the feature row of each candidate.

All features are bounded and relative to the query, never to one repository, so that one set of weights serves all of
them. One pass over arrays; nothing here looks at a text. Each earns its place: what an ablation could not measure is
not computed (`docs/results.md`).

Words that people use for a sort of unit in any language of programs, not those of one repository. Nothing is left out
for being of another sort: the ranking learns what it is worth.

Late interaction (Khattab and Zaharia, 2020, *ColBERT*) over a table of static word vectors, and kernel pooling of the
same cosines (Xiong et al., 2017, *End-to-End Neural Ad-hoc Ranking with Kernel Pooling*): besides the most similar
word, how many are similar at each of six levels. No model runs, and what a chunk's words are is read from its text, so
no index holds anything for it. Only the first few dozen candidates are looked at: reading texts costs more than all
the rest of a query.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from assay.encode.static import StaticEncoder, default_static
from assay.search.filters import traits_of
from assay.search.lexical import Array, TermMatch
from assay.search.phrases import PHRASE_FEATURES, phrase_features
from assay.search.question import Question
from assay.store.postings import FIELDS
from assay.store.snapshot import Snapshot
from assay.terms import STOP_WORDS, words
from assay.values import CALLABLE_KINDS, KINDS, TYPE_KINDS, Chunk

NAME, PARENT, PATH, DOC, BODY = range(len(FIELDS))

FEATURES = tuple(
    (
        "lexical lexical_share dense dense_share covered covered_name covered_body name_whole rare_missing file_dense "
        "has_doc callable block test example aside log_lines lexical_place dense_place file_lexical meaning_known"
    ).split()
)
"""In the order of their columns."""

Numbers = NDArray[np.int64]
"""Chunks, by their place in a snapshot."""
Column = Array | NDArray[np.bool_] | float
"""A value a candidate, or one for all."""
Similarity = TypeVar("Similarity", float, Array)


def _kinds(*names: str) -> NDArray[np.bool_]:
    """Return which numbers of `KINDS` are of these, to be looked up many at a time."""
    return np.array([kind in names for kind in KINDS])


_CALLABLE = _kinds(*CALLABLE_KINDS)
_BLOCK = _kinds("block", "module")
_TEST = KINDS.index("test")


@dataclass(frozen=True)
class QueryInCorpus:
    """A query looked up in the whole corpus; what takes a pass over all chunks is computed once."""

    snapshot: Snapshot
    question: Question
    terms: Sequence[TermMatch]
    names: Sequence[TermMatch]
    lexical: Array
    """(size) BM25 of every chunk."""
    vector: Array
    """(dimension) what the query means."""
    cosines: Array
    """(size) similarity of every chunk in meaning; not a number where it is far off in a large corpus."""
    mean: float
    """Of the cosines over the corpus."""
    deviation: float
    """Their standard deviation."""

    @cached_property
    def strongest(self) -> float:
        """The best lexical score."""
        return float(self.lexical.max(initial=0.0))

    @cached_property
    def closest(self) -> float:
        """The best cosine of a living chunk."""
        dead = self.snapshot.dead
        living = np.delete(self.cosines, dead) if len(dead) else self.cosines
        return float(np.fmax.reduce(living, initial=0.0))

    def cosines_of(self, numbers: Numbers) -> Array:
        """Return the cosines of some chunks; what is not known yet is looked up."""
        found: Array = self.cosines[numbers]
        far = np.isnan(found)
        if far.any():
            found[far] = self.snapshot.cosines(self.vector, numbers[far])
        return found

    @cached_property
    def idf(self) -> Array:
        """What each term weighs, as it is rare; a query without terms has one that no chunk holds."""
        return np.array([term.idf for term in self.terms] or [1.0], dtype=np.float32)

    @cached_property
    def term_weights(self) -> Array:
        """The same as fractions of the query's weight."""
        weights: Array = self.idf / self.idf.sum()
        return weights

    def standing_out(self, cosine: Similarity) -> Similarity:
        """Return a cosine above the mean of the corpus, in five standard deviations."""
        return (cosine - self.mean) / (5.0 * max(self.deviation, 1e-6))


@dataclass(frozen=True, slots=True)
class CandidateFeatures:
    """Features of candidate chunks, shape `(candidates, len(FEATURES))`, float32, in the order of the corpus."""

    numbers: Numbers
    rows: Array
    files: NDArray[np.intp]
    """A small number a file."""
    declared: Numbers
    """Those that declare a typed name."""


_NONE = np.zeros(0, np.int64)


def candidates_of(numbers: Numbers, query: QueryInCorpus, declared: Numbers = _NONE) -> CandidateFeatures:
    """Gather the features of some chunks, among them those that declare a typed name."""
    files, file = np.unique(query.snapshot.files(numbers), return_inverse=True)
    columns = {
        **_of_terms(numbers, query),
        **_of_scores(numbers, query, file),
        **_of_unit(numbers, query, _traits(query.snapshot, files)[file]),
    }
    rows = np.empty((len(numbers), len(FEATURES)), dtype=np.float32)
    for at, feature in enumerate(FEATURES):
        rows[:, at] = columns[feature]
    return CandidateFeatures(numbers, rows, file, declared)


def _of_terms(numbers: Numbers, query: QueryInCorpus) -> Mapping[str, Column]:
    """Say where the query's terms stand, and whether one of its identifiers is the candidate's name."""
    counts = np.stack([_counts(term, numbers) for term in query.terms] or [_nothing(numbers)], axis=1)
    present: NDArray[np.bool_] = counts > 0
    anywhere = np.asarray(present.any(axis=2))
    weights = query.term_weights
    named = np.zeros(len(numbers), dtype=bool)
    for name in query.names:
        named |= _counts(name, numbers)[:, NAME] > 0
    return {
        "covered": anywhere @ weights,
        "covered_name": present[:, :, NAME] @ weights,
        "covered_body": present[:, :, BODY] @ weights,
        "name_whole": named,
        "rare_missing": ~anywhere[:, int(weights.argmax())],
    }


def _of_scores(numbers: Numbers, query: QueryInCorpus, file: NDArray[np.intp]) -> Mapping[str, Column]:
    """Give both scores, their places among the candidates, and what the rest of the file scores."""
    lexical, cosine = query.lexical[numbers], query.cosines_of(numbers)
    per_weight = lexical / query.idf.sum()
    return {
        "lexical": per_weight,
        "lexical_share": lexical / max(query.strongest, 1e-6),
        "lexical_place": _place(lexical),
        "file_lexical": _file_mean(file, per_weight),
        "dense": cosine,
        "dense_share": query.standing_out(cosine),
        "dense_place": _place(cosine),
        "file_dense": _file_mean(file, cosine),
        "meaning_known": query.standing_out(query.closest),
    }


def _of_unit(numbers: Numbers, query: QueryInCorpus, traits: NDArray[np.bool_]) -> Mapping[str, Column]:
    """Say what a candidate is, and what sort of file it stands in, unless the query is about that sort."""
    question, snapshot, (test, example, aside) = query.question, query.snapshot, traits.T
    kinds = snapshot.rows("kind", numbers)
    lines = snapshot.rows("lines", numbers).astype(np.float32)
    return {
        "callable": _CALLABLE[kinds],
        "block": _BLOCK[kinds],
        "has_doc": snapshot.rows("lengths", numbers)[:, DOC] > 0,
        "log_lines": np.log1p(lines[:, 1] - lines[:, 0] + 1) / 5.0,
        "test": (test | (kinds == _TEST)) & (not question.about_tests),
        "example": example & (not question.about_examples),
        "aside": aside & (not question.about_asides),
    }


def _traits(snapshot: Snapshot, files: Numbers) -> NDArray[np.bool_]:
    """Return whether each file is of a test, of an example, an aside, shape `(files, 3)`; read off once a path."""
    known, numbers = snapshot.traits, files.tolist()
    for file in numbers:
        if file not in known:
            known[file] = traits_of(snapshot.path_of(file))
    return np.array([known[file] for file in numbers], dtype=bool).reshape(-1, 3)


def _file_mean(file: NDArray[np.intp], scores: Array) -> Array:
    """Return for each candidate the mean of the three best scores among the candidates of its file."""
    order = np.lexsort((-scores, file))
    first = np.r_[True, file[order][1:] != file[order][:-1]]
    position = np.arange(len(order))
    top = order[position - np.maximum.accumulate(np.where(first, position, 0)) < 3]
    mean = np.bincount(file[top], weights=scores[top]) / np.bincount(file[top])
    return mean[file].astype(np.float32)


def _place(scores: Array) -> Array:
    """Return how near the top each candidate is: 1 for the first, a half for the eleventh."""
    place = np.empty(len(scores), dtype=np.float32)
    place[np.argsort(-scores, kind="stable")] = 10.0 / (10.0 + np.arange(len(scores)))
    return place


def _counts(found: TermMatch, numbers: Numbers) -> NDArray[np.uint8]:
    """Return a term's counts in the given chunks, shape `(chunks, fields)`; zeros where it does not stand."""
    if not len(found.chunks):
        return _nothing(numbers)
    place = np.minimum(np.searchsorted(found.chunks, numbers), len(found.chunks) - 1)
    return np.where((found.chunks[place] == numbers)[:, None], found.counts[place], 0).astype(np.uint8)


def _nothing(numbers: Numbers) -> NDArray[np.uint8]:
    return np.zeros((len(numbers), len(FIELDS)), dtype=np.uint8)


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
"""The kinds of unit that a stem in a question stands for."""
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
    rows = [_row(chunk.kind, frozenset().union(*named), value=value) for chunk in chunks]
    return np.array(rows, dtype=np.float32).reshape(len(chunks), len(KIND_FEATURES))


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
        last = nearest[len(SIMILARITY_FIELDS) - 1 :: len(SIMILARITY_FIELDS)]
        columns = (
            near.reshape(len(chunks), -1),
            _alike(cosines, place, starts, weights).reshape(len(chunks), -1),
            asked.reshape(len(chunks), -1)[:, : len(SIMILARITY_FIELDS) - 1],
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


TEXT_FEATURES = (*TOKEN_FEATURES, *KIND_FEATURES, *PHRASE_FEATURES)
ALL_FEATURES = (*FEATURES, *TEXT_FEATURES)
"""What the second stage looks at; the first looks at `FEATURES`."""


def text_features(similarity: TokenSimilarity, found: QueryInCorpus, chunks: Sequence[Chunk]) -> Array:
    """Return the features of chunks, shape `(chunks, len(TEXT_FEATURES))`."""
    question = found.question
    parts = (
        similarity.features(question.words, found.term_weights, chunks),
        kind_features(question.terms, chunks),
        phrase_features(question.text, chunks),
    )
    return np.hstack(parts)
