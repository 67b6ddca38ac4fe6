"""Queries in, ranked chunks out: words and meaning gather candidates, one learned ranking orders them.

The default searcher. It works on arrays from the postings to the final order and only makes `Hit`s of what it
returns. `Searcher`s that rerank or expand go around it. Code and documentation are ranked by weights of their
own; a hit's score is the calibrated chance that it is right, so the two can stand in one list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from assay.protocols import Encoder, Vectors
from assay.search.features import Evidence, Sought, evidence
from assay.search.filters import PROSE, Mask, kept
from assay.search.lexical import Array, FieldWeights, bm25, match
from assay.search.nearness import Nearness
from assay.search.question import understand
from assay.search.ranking import Ranking, default_ranking
from assay.search.spelling import Speller
from assay.store.snapshot import Snapshot
from assay.types import Chunk, Hit, Query

_DEPTH = 200  # candidates from words, and as many from meaning
SECOND_ROUND = 30
"""Candidates whose texts are read."""
_SIDES: tuple[Literal["code", "docs"], ...] = ("code", "docs")


class Corpus(Protocol):
    """Where candidates come from: a snapshot gives itself, an index elsewhere what may answer one query."""

    def candidates(self, query: Query, terms: Sequence[str], names: Sequence[str], vector: Vectors, /) -> Snapshot:
        """Return the chunks worth ranking, with the statistics of the whole corpus."""


@dataclass(frozen=True, slots=True)
class Hybrid:
    """Search one corpus."""

    corpus: Corpus
    encoder: Encoder
    speller: Speller | None = None
    nearness: Nearness = field(default_factory=Nearness)
    weights: FieldWeights = field(default_factory=FieldWeights)

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return at most `k` hits a query, best first."""
        meant = [self.meant(query) for query in queries]
        vectors = self.encoder.encode([query.text for query in meant], "query")
        return [self._answer(query, vector, k) for query, vector in zip(meant, vectors, strict=True)]

    def meant(self, query: Query) -> Query:
        """Return the query with its misspelt words mended."""
        return query if self.speller is None else replace(query, text=self.speller.mended(query.text))

    def sought(self, query: Query, vector: Vectors) -> Sought:
        """Look a query up in the whole corpus, whichever part of it is asked for."""
        question = understand(query.text)
        snapshot = self.corpus.candidates(query, question.terms, question.names, vector)
        terms = match(snapshot, question.terms)
        names = [found for found in match(snapshot, question.names) if len(found.chunks)]
        cosines = snapshot.similarities(vector[None, :])[0]
        lexical = bm25(snapshot, terms, self.weights)
        return Sought(snapshot, question, terms, names, lexical, cosines, *snapshot.nearness(vector, cosines))

    def candidates(self, query: Query, sought: Sought) -> Evidence:
        """Return the evidence of every chunk worth ranking."""
        allowed = kept(sought.snapshot, query)
        outstanding = tuple(sought.middle + times * sought.deviation for times in (2, 1))
        strongest = sought.strongest
        found = [
            _top(sought.lexical, allowed, (strongest / 2, strongest / 4)),
            _top(sought.cosines, allowed, outstanding),
            *(name.chunks[name.counts[:, 0] > 0][:_DEPTH] for name in sought.names),
        ]
        chosen = np.zeros(sought.snapshot.size, dtype=bool)  # np.unique loads numpy.ma on its first call: 6 ms
        chosen[np.concatenate(found)] = True
        if allowed is not None:
            chosen &= allowed
        return evidence(np.flatnonzero(chosen), sought, self.weights)

    def _answer(self, query: Query, vector: Vectors, k: int) -> list[Hit]:
        sought = self.sought(query, vector)
        if not len(sought.snapshot):
            return []
        sides = _SIDES if query.mode == "all" else (query.mode,)
        hits = [hit for side in sides for hit in self._side(replace(query, mode=side), sought, k)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk.path, hit.chunk.start_line))[:k]

    def _side(self, query: Query, sought: Sought, k: int) -> list[Hit]:
        """Rank the code or the documentation: all by what the index knows, the best by their words as well."""
        ranking: Ranking = default_ranking(query.mode, self.encoder.name)
        found = self.candidates(query, sought)
        first = np.lexsort((found.numbers, -ranking.first.scores(found.rows)))[: max(k, SECOND_ROUND)]
        chunks = [sought.snapshot.chunk(number) for number in found.numbers[first].tolist()]
        rows = np.hstack((found.rows[first], self.near(sought, chunks)))
        scores = ranking.second.scores(rows)
        best = np.lexsort((first, -scores))[:k]
        told = zip(best.tolist(), ranking.chances(scores[best]).tolist(), ranking.whys(rows[best]), strict=True)
        return [Hit(chunks[i], chance, why) for i, chance, why in told]

    def near(self, sought: Sought, chunks: Sequence[Chunk]) -> Array:
        """Return how near the words of a question come to those of chunks, shape `(chunks, len(NEAR_COLUMNS))`."""
        idf = np.array([match.idf for match in sought.terms], dtype=np.float32)
        return self.nearness.evidence(sought.question.words, idf / max(float(idf.sum()), 1e-6), chunks)


def relevant(hits: Sequence[Hit], encoder: str) -> bool:
    """Say whether the best of ranked hits is likely enough to be right; below the floor it is only the nearest."""
    if not hits:
        return False
    side = "docs" if hits[0].chunk.language in PROSE else "code"
    return hits[0].score >= default_ranking(side, encoder).floor


def _top(scores: Array, allowed: Mask | None, floors: tuple[float, ...]) -> NDArray[np.int64]:
    """Return the numbers of the best scores above 0, in no order.

    Only what stands above a floor is compared, if it is enough: a partition of all scores costs more than the rest.
    """
    best = np.zeros(0, dtype=np.intp)
    for floor in (*floors, 0.0):
        best = np.flatnonzero(scores > max(0.0, floor))
        if allowed is not None:
            best = best[allowed[best]]
        if len(best) >= _DEPTH:
            break
    if len(best) > _DEPTH:
        best = best[np.argpartition(scores[best], -_DEPTH)[-_DEPTH:]]
    return best.astype(np.int64)
