"""CandidateFeatures for a query in, one row of features each out: what a ranking is learned from and explained by.

All features are bounded and relative to the query, never to one repository, so that one set of weights serves all of
them. One pass over arrays; nothing here looks at a text. Each earns its place: what an ablation could not measure is
not computed (`docs/results.md`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from assay.search.lexical import Array, TermMatch
from assay.search.path_traits import traits_of
from assay.search.question import Question
from assay.store.postings import FIELDS
from assay.store.snapshot import Snapshot
from assay.types import CALLABLE_KINDS, KINDS

NAME, PARENT, PATH, DOC, BODY = range(len(FIELDS))

FEATURES = (
    "lexical",
    "lexical_share",
    "dense",
    "dense_share",
    "covered",
    "covered_name",
    "covered_body",
    "name_whole",
    "rare_missing",
    "file_dense",
    "has_doc",
    "callable",
    "block",
    "test",
    "example",
    "aside",
    "log_lines",
    "lexical_place",
    "dense_place",
    "file_lexical",
    "meaning_known",
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
        **_of_unit(numbers, query.snapshot),
        **_of_file(numbers, query, _traits(query.snapshot, files)[file]),
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


def _of_unit(numbers: Numbers, snapshot: Snapshot) -> Mapping[str, Column]:
    """Say what a candidate is."""
    kinds = snapshot.rows("kind", numbers)
    lines = snapshot.rows("lines", numbers).astype(np.float32)
    return {
        "callable": _CALLABLE[kinds],
        "block": _BLOCK[kinds],
        "has_doc": snapshot.rows("lengths", numbers)[:, DOC] > 0,
        "log_lines": np.log1p(lines[:, 1] - lines[:, 0] + 1) / 5.0,
    }


def _of_file(numbers: Numbers, query: QueryInCorpus, traits: NDArray[np.bool_]) -> Mapping[str, Column]:
    """Say what sort of file a candidate stands in, unless the query is about that sort."""
    question, (test, example, aside) = query.question, traits.T
    test = test | (query.snapshot.rows("kind", numbers) == _TEST)
    return {
        "test": test & (not question.about_tests),
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
