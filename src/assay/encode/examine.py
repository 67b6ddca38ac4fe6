"""How well encoders find the answers of held-out pairs: mean reciprocal rank among all of them, with intervals.

Beside it stands the correlation of an encoder's similarities between queries with the teacher's: what it still knows
of general English, which is what questions without a shared word are answered with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.encode.static import StaticEncoder, quantise
from assay.encode.training_pairs import TrainingPair
from assay.encode.vocabulary import Vocabulary
from assay.protocols import Encoder, Vectors
from assay.terms import terms

_RESAMPLES = 1000
_K1, _B = 1.2, 0.75  # BM25's usual constants


@dataclass(frozen=True, slots=True)
class Score:
    """One system on the held-out pairs: mean reciprocal rank with its 95% interval."""

    system: str
    mrr: float
    low: float
    high: float
    agreement: float | None
    """Correlation of its similarities between queries with the teacher's; BM25 has none."""


class Examination:
    """The same held-out queries and answers for every system."""

    def __init__(self, pairs: Sequence[TrainingPair], vocabulary: Vocabulary, teacher: Encoder) -> None:
        self._queries = [pair.query for pair in pairs]
        self._answers = [pair.code for pair in pairs]
        self._vocabulary = vocabulary
        self._told = teacher.encode(self._queries, "query")
        self._told_answers = teacher.encode(self._answers, "code")

    def of_bm25(self) -> Score:
        """Examine word matching."""
        return _score("BM25", bm25(self._queries, self._answers), None)

    def of_teacher(self, system: str = "teacher") -> Score:
        """Examine the teacher."""
        return _score(system, self._told @ self._told_answers.T, 1.0)

    def of_table(self, system: str, table: Vectors) -> Score:
        """Examine a table as it would be shipped, quantised."""
        encoder = StaticEncoder(system, self._vocabulary, *quantise(table))
        queries, answers = encoder.encode(self._queries, "query"), encoder.encode(self._answers, "code")
        return _score(system, queries @ answers.T, self._agreement(queries))

    def _agreement(self, queries: Vectors) -> float:
        above = np.triu_indices(len(queries), 1)
        return float(np.corrcoef((self._told @ self._told.T)[above], (queries @ queries.T)[above])[0, 1])


def reciprocal_ranks(scores: Vectors) -> NDArray[np.float64]:
    """Return one over the rank of the answer on the diagonal, ties counted against it."""
    ranks = (scores >= np.diag(scores)[:, None]).sum(1)
    return 1.0 / np.asarray(ranks, dtype=np.float64)


def bm25(queries: Sequence[str], answers: Sequence[str]) -> Vectors:
    """Return the BM25 scores of all queries and answers."""
    bags = [Counter(terms(answer)) for answer in answers]
    lengths = np.array([sum(bag.values()) for bag in bags], dtype=np.float32)
    norms = _K1 * (1 - _B + _B * lengths / max(float(lengths.mean()), 1e-9))
    columns: dict[str, NDArray[np.float32]] = {}
    for term in {term for query in queries for term in terms(query)}:
        counts = np.array([bag[term] for bag in bags], dtype=np.float32)
        holders = int((counts > 0).sum())
        weight = np.log1p((len(bags) - holders + 0.5) / (holders + 0.5))
        columns[term] = (weight * counts * (_K1 + 1) / (counts + norms)).astype(np.float32)
    nothing = np.zeros(len(answers), dtype=np.float32)
    return np.stack([sum((columns[term] for term in terms(query)), nothing) for query in queries])


def _score(system: str, scores: Vectors, agreement: float | None) -> Score:
    ranks = reciprocal_ranks(scores)
    random = np.random.default_rng(0)
    means = ranks[random.integers(0, len(ranks), (_RESAMPLES, len(ranks)))].mean(1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Score(system, float(ranks.mean()), float(low), float(high), agreement)
