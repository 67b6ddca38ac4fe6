"""Candidates for a question in, one row of evidence each out: what a ranking is learned from and explained by.

All columns are bounded and relative to the question, never to one repository, so that one set of weights serves
all of them. One pass over arrays; nothing here looks at a text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.search.lexical import Array, FieldWeights, Match
from assay.search.question import Question
from assay.store.fields import FIELDS
from assay.store.snapshot import Snapshot
from assay.types import KINDS

NAME, PARENT, PATH, DOC, BODY = range(len(FIELDS))
Mask = NDArray[np.bool_]


def _among(*kinds: str) -> Mask:
    """Return which numbers of `KINDS` are of these, to be looked up many at a time."""
    return np.array([kind in kinds for kind in KINDS])


_CALLABLE = _among("function", "method", "constructor", "macro")
_TYPE = _among("class", "interface", "struct", "enum", "trait", "impl", "type")
_BLOCK = _among("block", "module")
_PROSE = _among("section", "cell")
_KIND_WORDS = {
    "function": ("function", "func", "method"),
    "method": ("function", "method"),
    "class": ("class", "type"),
    "interface": ("interfac", "type"),
    "struct": ("struct", "type"),
    "enum": ("enum", "type"),
    "trait": ("trait", "interfac"),
    "type": ("type", "alias"),
    "macro": ("macro",),
    "constant": ("constant", "const", "default"),
    "constructor": ("constructor", "creat", "construct"),
}

_TEST_PATH = re.compile(
    r"(?:^|/)(?:tests?|testing|__tests__|specs?|testdata|test[-_]\w+|fixtures?|mocks?|benchmarks?|benches)(?:/|$)"
    r"|(?:^|/)(?:test_[^/]*|conftest|[^/]*[._-](?:tests?|spec|bench))\.\w+$|(?:Tests?|Spec|IT)\.\w+$"
)
_ASIDE_PATH = re.compile(
    r"(?:^|/)(?:change-?log|changes|history|news|releases?|release[-_]?notes|contributing|code_of_conduct|security"
    r"|sponsor\w*|licen[cs]e|authors|migrat\w*|upgrad\w*)[^/]*\.(?:mdx?|rst|adoc|txt)$|(?:^|/)(?:i18n|locales?|translations?)/"
    r"|(?:^|/)docs?/(?:content/)?(?!en(?:/|[-_]))[a-z]{2}(?:[-_][a-zA-Z]{2,4})?/",
    re.IGNORECASE,
)
_EXAMPLE_PATH = re.compile(
    r"(?:^|/)(?:examples?|samples?|demos?|docs?_src|tutorials?|playground)(?:/|$)|[._-]examples?\.\w+$"
)

COLUMNS = (
    "lexical",
    "lexical_share",
    "dense",
    "dense_share",
    "covered",
    "covered_name",
    "covered_context",
    "covered_doc",
    "covered_body",
    "name_precision",
    "name_whole",
    "body_whole",
    "rare_missing",
    "doc_score",
    "body_score",
    "file_dense",
    "has_doc",
    "callable",
    "type",
    "block",
    "prose",
    "asked_kind",
    "test",
    "test_asked",
    "example",
    "aside",
    "aside_asked",
    "log_lines",
    "code_like_name",
    "lexical_place",
    "dense_place",
    "file_lexical",
    "words_known",
    "meaning_known",
    "question_length",
)


@dataclass(frozen=True, slots=True)
class Sought:
    """A question looked up in the whole corpus."""

    snapshot: Snapshot
    question: Question
    terms: Sequence[Match]
    names: Sequence[Match]
    lexical: Array
    """(size) BM25 of every chunk."""
    cosines: Array
    """(size) nearness of every chunk in meaning."""
    middle: float
    """Mean of the cosines over the corpus."""
    deviation: float
    """Their standard deviation."""

    @property
    def strongest(self) -> float:
        """The best lexical score."""
        return float(self.lexical.max(initial=0.0))


@dataclass(frozen=True, slots=True)
class Evidence:
    """Features of candidate chunks, shape `(candidates, len(COLUMNS))`, float32."""

    numbers: NDArray[np.int64]
    rows: Array


def evidence(numbers: NDArray[np.int64], sought: Sought, weights: FieldWeights) -> Evidence:
    """Gather the features of some chunks."""
    snapshot = sought.snapshot
    lengths = snapshot.rows("lengths", numbers).astype(np.float32)
    idf = np.array([match.idf for match in sought.terms] or [1.0], dtype=np.float32)
    counts = np.stack([_counts(match, numbers) for match in sought.terms] or [_nothing(numbers)], axis=1)
    files, file = np.unique(snapshot.files(numbers), return_inverse=True)
    lexical = sought.lexical[numbers]
    found = _of_words(counts, lengths, idf / idf.sum(), weights)
    found["rare_missing"] = 1.0 - (counts[:, int(idf.argmax())] > 0).any(axis=1)
    found |= _of_names(sought, numbers)
    found |= _of_scores(lexical / idf.sum(), sought.cosines[numbers], file)
    found |= _of_question(sought, float(idf.sum()))
    found["lexical_share"] = lexical / max(sought.strongest, 1e-6)
    found["dense_share"] = found["dense"] * found["spread"] - found["middle"]
    found |= _of_place(snapshot, numbers, _traits(snapshot, files)[file], sought.question)
    found["has_doc"] = lengths[:, DOC] > 0
    rows = np.empty((len(numbers), len(COLUMNS)), dtype=np.float32)
    for i, column in enumerate(COLUMNS):
        rows[:, i] = found[column]
    return Evidence(numbers, rows)


Columns = dict[str, Any]
"""Column to its values, shape `(candidates,)`, or to one value for all."""


def _of_words(counts: NDArray[np.uint8], lengths: Array, share: Array, weights: FieldWeights) -> Columns:
    """Say in which fields the question's words stand; a word weighs as it is rare."""
    present = counts > 0
    return {
        "covered": present.any(axis=2) @ share,
        "covered_name": present[:, :, NAME] @ share,
        "covered_context": (present[:, :, PARENT] | present[:, :, PATH]) @ share,
        "covered_doc": present[:, :, DOC] @ share,
        "covered_body": present[:, :, BODY] @ share,
        "name_precision": np.minimum(present[:, :, NAME].sum(axis=1) / np.maximum(lengths[:, NAME], 1.0), 1.0),
        "doc_score": _field_factor(counts, lengths, DOC, weights) @ share,
        "body_score": _field_factor(counts, lengths, BODY, weights) @ share,
    }


def _of_names(sought: Sought, numbers: NDArray[np.int64]) -> Columns:
    """Say whether an identifier of the question stands there whole."""
    named = np.zeros((len(numbers), len(FIELDS)), dtype=bool)
    for match in sought.names:
        named |= _counts(match, numbers) > 0
    return {
        "name_whole": named[:, NAME],
        "body_whole": named[:, BODY],
        "code_like_name": named[:, NAME] & sought.question.code_like,
    }


def _of_scores(lexical: Array, cosine: Array, file: NDArray[np.intp]) -> Columns:
    """Give both scores, their ranks, and what the rest of the file scores."""
    return {
        "lexical": lexical,
        "lexical_place": _place(lexical),
        "file_lexical": _file_mean(file, lexical),
        "dense": cosine,
        "dense_place": _place(cosine),
        "file_dense": _file_mean(file, cosine),
    }


def _of_question(sought: Sought, weight: float) -> Columns:
    """Say how well the corpus as a whole knows the question: the same for every candidate."""
    middle, spread = sought.middle, 5.0 * max(sought.deviation, 1e-6)
    living = np.delete(sought.cosines, sought.snapshot.dead) if len(sought.snapshot.dead) else sought.cosines
    return {
        "words_known": sought.strongest / weight,
        "meaning_known": (float(living.max(initial=0.0)) - middle) / spread,
        "question_length": min(len(sought.terms), 12) / 12.0,
        "spread": 1.0 / spread,
        "middle": middle / spread,
    }


def _of_place(snapshot: Snapshot, numbers: NDArray[np.int64], traits: Mask, question: Question) -> Columns:
    """Say what a candidate is and what sort of file it stands in, against what was asked for."""
    kinds = snapshot.rows("kind", numbers)
    lines = snapshot.rows("lines", numbers).astype(np.float32)
    test, example, aside = traits.T
    test = test | (kinds == KINDS.index("test"))
    return {
        "callable": _CALLABLE[kinds],
        "type": _TYPE[kinds],
        "block": _BLOCK[kinds],
        "prose": _PROSE[kinds],
        "asked_kind": _asked(question)[kinds],
        "test": test & (not question.about_tests),
        "test_asked": test & question.about_tests,
        "example": example & (not question.about_examples),
        "aside": aside & (not question.about_asides),
        "aside_asked": aside & question.about_asides,
        "log_lines": np.log1p(lines[:, 1] - lines[:, 0] + 1) / 5.0,
    }


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


def _traits(snapshot: Snapshot, files: NDArray[np.int64]) -> Mask:
    """Return whether each file is of a test, of an example, of an aside, shape `(files, 3)`; read off once a path."""
    known = snapshot.traits
    for file in files.tolist():
        if file not in known:
            known[file] = traits_of(snapshot.path_of(file))
    return np.array([known[file] for file in files.tolist()], dtype=bool).reshape(-1, 3)


@lru_cache(maxsize=65536)
def traits_of(path: str) -> tuple[bool, bool, bool]:
    """Say whether a path is of a test, of an example, of an aside: what changed, who may contribute, a translation."""
    return bool(_TEST_PATH.search(path)), bool(_EXAMPLE_PATH.search(path)), bool(_ASIDE_PATH.search(path))


def _counts(found: Match, numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return a term's counts in the given chunks, shape `(chunks, fields)`; zeros where it does not stand."""
    if not len(found.chunks):
        return _nothing(numbers)
    place = np.minimum(np.searchsorted(found.chunks, numbers), len(found.chunks) - 1)
    return np.where((found.chunks[place] == numbers)[:, None], found.counts[place], 0).astype(np.uint8)


def _nothing(numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
    return np.zeros((len(numbers), len(FIELDS)), dtype=np.uint8)


def _field_factor(counts: NDArray[np.uint8], lengths: Array, field: int, weights: FieldWeights) -> Array:
    """Return the saturated count of each term in one field, shape `(chunks, terms)`."""
    norm = 1.0 - weights.b[field] + weights.b[field] * lengths[:, field] / weights.typical_length[field]
    count = counts[:, :, field] / norm[:, None]
    factor: Array = (count / (count + np.float32(weights.k1))).astype(np.float32)
    return factor


def _asked(question: Question) -> Mask:
    """Return which kinds a question names."""
    return _among(*(kind for kind, words in _KIND_WORDS.items() if not set(words).isdisjoint(question.terms)))
