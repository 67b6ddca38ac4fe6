"""Score a static table, its teacher and BM25 on the same held-out pairs by mean reciprocal rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.encode.static import StaticEncoder, Vocabulary, quantise
from assay.measure.compare import interval
from assay.protocols import Encoder, Vectors
from assay.search import retrievers
from assay.search.retrievers import BODY_ONLY, match
from assay.store.snapshot import Snapshot
from assay.terms import terms
from assay.train.pairs import TrainingPair
from assay.values import Chunk


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
        self._teacher_queries = teacher.encode(self._queries, "query")
        self._teacher_answers = teacher.encode(self._answers, "code")

    def of_bm25(self) -> Score:
        """Examine word matching."""
        return _score("BM25", bm25(self._queries, self._answers), None)

    def of_teacher(self, system: str = "teacher") -> Score:
        """Examine the teacher."""
        return _score(system, self._teacher_queries @ self._teacher_answers.T, 1.0)

    def of_table(self, system: str, table: Vectors) -> Score:
        """Examine a table as it would be shipped, quantised."""
        encoder = StaticEncoder(system, self._vocabulary, *quantise(table))
        queries, answers = encoder.encode(self._queries, "query"), encoder.encode(self._answers, "code")
        return _score(system, queries @ answers.T, self._agreement(queries))

    def _agreement(self, queries: Vectors) -> float:
        above = np.triu_indices(len(queries), 1)
        return float(
            np.corrcoef((self._teacher_queries @ self._teacher_queries.T)[above], (queries @ queries.T)[above])[0, 1]
        )


def reciprocal_ranks(scores: Vectors) -> NDArray[np.float64]:
    """Return one over the rank of the answer on the diagonal, ties counted against it."""
    ranks = (scores >= np.diag(scores)[:, None]).sum(1)
    return 1.0 / np.asarray(ranks, dtype=np.float64)


def bm25(queries: Sequence[str], answers: Sequence[str]) -> Vectors:
    """Return the BM25 scores of all queries and answers."""
    chunks = [Chunk(str(number), answer) for number, answer in enumerate(answers)]
    held = Snapshot.of(chunks, np.zeros((len(chunks), 1), dtype=np.float32))
    return np.stack([retrievers.bm25(held, match(held, terms(query)), BODY_ONLY) for query in queries])


def _score(system: str, scores: Vectors, agreement: float | None) -> Score:
    ranks = reciprocal_ranks(scores)
    return Score(system, float(ranks.mean()), *interval(ranks), agreement)
