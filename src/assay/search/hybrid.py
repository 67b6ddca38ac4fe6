"""Queries in, ranked chunks out: words and meaning gather candidates, one learned ranking orders them.

The default searcher. It works on arrays from the postings to the final order and only makes `Hit`s of what it
returns. `Searcher`s that rerank or expand go around it. Code and documentation are ranked by weights of their
own; a hit's score is the calibrated probability that it is right, so the two can stand in one list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.encode.sides import HALVES, SIDES, is_sided
from assay.protocols import Encoder, Vectors
from assay.search.features import NAME, CandidateFeatures, QueryInCorpus, candidates_of
from assay.search.filters import PROSE, Mask, filter_mask, side_of
from assay.search.lexical import Array, FieldWeights, bm25, match
from assay.search.messages import comes_from
from assay.search.question import Question, understand
from assay.search.ranking import SECOND_STAGE, SHIPPED, Ranking, load_ranking
from assay.search.ranking_name import ranking_name
from assay.search.relevance import query_features
from assay.search.spelling import Speller
from assay.search.text_features import ALL_FEATURES, text_features
from assay.search.token_similarity import TokenSimilarity
from assay.store.chunk_order import ChunkOrder
from assay.store.cosine_moments import mean_and_deviation
from assay.store.snapshot import Snapshot
from assay.types import Chunk, Hit, Mode, Query

_DEPTH = 200  # candidates from words, and as many from meaning
_BEYOND = 5  # chunks that hold all terms of a question and that the first stage leaves out
_ALL_TERMS = 0.999  # of their weight, which is a sum of fractions
_MESSAGE_LIFT = 4.0  # in log odds; of 39 judged questions that are a message of a candidate, it answers all
_COVERED, _PHRASE = ALL_FEATURES.index("covered_body"), ALL_FEATURES.index("phrase")


@dataclass(frozen=True, slots=True)
class LearnedSearcher:
    """Search one corpus."""

    snapshot: Snapshot
    encoder: Encoder
    speller: Speller | None = None
    weights: Path = SHIPPED
    """The folder of the ranking's weights."""
    token_similarity: TokenSimilarity = field(default_factory=TokenSimilarity)
    field_weights: FieldWeights = field(default_factory=FieldWeights)

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return at most `k` hits a query, best first."""
        corrected = [self.corrected(query) for query in queries]
        vectors = self.encoder.encode([query.text for query in corrected], "query")
        return [self._answer(query, vector, k) for query, vector in zip(corrected, vectors, strict=True)]

    def corrected(self, query: Query) -> Query:
        """Return the query with its spelling corrected."""
        return query if self.speller is None else replace(query, text=self.speller.corrected(query.text))

    def look_up(self, query: Query, vector: Vectors) -> QueryInCorpus:
        """Look a query up in the whole corpus, whichever part of it is searched."""
        question, snapshot = understand(query.text), self.snapshot
        terms = match(snapshot, question.terms)
        names = [found for found in match(snapshot, question.names) if len(found.chunks)]
        cosines = self._cosines(snapshot, query, vector)
        lexical = bm25(snapshot, terms, self.field_weights)
        nearness = snapshot.nearness(vector, cosines)
        return QueryInCorpus(snapshot, question, terms, names, lexical, vector, cosines, *nearness)

    def _cosines(self, snapshot: Snapshot, query: Query, vector: Vectors) -> Array:
        """Return the cosines of the chunks near a query, of code and of documentation each; by two encoders, of all."""
        if is_sided(self.encoder.name):
            every: Array = snapshot.similarities(vector[None, :])[0]
            return every
        return snapshot.near(vector, [filter_mask(snapshot, each) for each in _of_each_side(query)])

    def on_side(self, found: QueryInCorpus, mode: Mode) -> QueryInCorpus:
        """Return what was looked up as code or documentation is to see it: by its own encoder, if it has one."""
        return _of_side(found, mode) if is_sided(self.encoder.name) else found

    def candidates(self, query: Query, found: QueryInCorpus) -> CandidateFeatures:
        """Return every chunk worth ranking with its features."""
        allowed = filter_mask(found.snapshot, query)
        outstanding = tuple(found.mean + times * found.deviation for times in (2, 1))
        strongest = found.strongest
        order = found.snapshot.order
        numbers = [
            _top(found.lexical, allowed, (strongest / 2, strongest / 4), order),
            _top(found.cosines, allowed, outstanding, order),
            *(_first(name.chunks[name.counts[:, NAME] > 0], order) for name in found.names),
        ]
        chosen = np.zeros(found.snapshot.size, dtype=bool)  # np.unique loads numpy.ma on its first call: 6 ms
        chosen[np.concatenate(numbers)] = True
        if allowed is not None:
            chosen &= allowed
        return candidates_of(order.ordered(np.flatnonzero(chosen)), found)

    def _answer(self, query: Query, vector: Vectors, k: int) -> list[Hit]:
        found = self.look_up(query, vector)
        if not len(found.snapshot):
            return []
        ranked = [self._ranked(each, found, k) for each in _of_each_side(query)]
        answerable = sum(side.answerable for side in ranked) / len(ranked)  # of each its own would order code and prose
        hits = [hit for side in ranked for hit in side.hits(answerable)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.chunk.root, hit.chunk.path, hit.chunk.start_line))[:k]

    def _ranked(self, query: Query, found: QueryInCorpus, k: int) -> _RankedSide:
        """Rank the code or the documentation: all by what the index knows, the best by their words as well."""
        name = ranking_name(found.snapshot, query.mode)
        ranking = load_ranking(name, self.encoder.name, self.weights)
        found = self.on_side(found, query.mode)
        candidates = self.candidates(query, found)
        first = _second_stage(ranking.first.scores(candidates.rows), candidates.rows, max(k, SECOND_STAGE[name]))
        chunks = [found.snapshot.chunk(number) for number in candidates.numbers[first].tolist()]
        rows = np.hstack((candidates.rows[first], text_features(self.token_similarity, found, chunks)))
        scores = ranking.second.scores(rows)
        answerable = ranking.answerable(query_features(found), rows, scores)
        lifts = _message_lifts(found.question, chunks, rows) / np.float32(ranking.scale)
        best = _once_a_unit(np.lexsort((first, -scores - lifts)), chunks)[:k]
        return _RankedSide(ranking, [chunks[at] for at in best], rows[best], scores[best], lifts[best], answerable)


@dataclass(frozen=True, slots=True)
class _RankedSide:
    """The best of the code or of the documentation, best first."""

    ranking: Ranking
    chunks: Sequence[Chunk]
    rows: Array
    scores: Array
    lifts: Array
    """What is added to a score where the query is a message of the chunk."""
    answerable: float
    """How likely this side answers the query at all, in log odds."""

    def hits(self, answerable: float) -> list[Hit]:
        """Return the hits, with probabilities for a query that is so likely answerable."""
        everywhere = np.full(len(self.chunks), answerable / self.ranking.scale, dtype=np.float32)
        beside = {"message": self.lifts, "answerable": everywhere}
        probabilities = self.ranking.probabilities(self.scores + self.lifts, answerable).tolist()
        return list(map(Hit, self.chunks, probabilities, self.ranking.explanations(self.rows, beside)))


def is_relevant(hits: Sequence[Hit], snapshot: Snapshot, encoder: str, weights: Path = SHIPPED) -> bool:
    """Say whether the best of ranked hits is likely enough to be right; below the floor it is only the nearest."""
    if not hits:
        return False
    name = ranking_name(snapshot, side_of(hits[0].chunk))
    return hits[0].score >= load_ranking(name, encoder, weights).floor


def _of_each_side(query: Query) -> list[Query]:
    """Return a query for code and one for documentation, as far as it asks for them."""
    return [replace(query, mode=side) for side in SIDES] if query.mode == "all" else [query]


def _second_stage(scores: Array, rows: Array, size: int) -> NDArray[np.intp]:
    """Return the best candidates of the first stage, and a few beyond whose text holds every term of the question.

    One of those may be where a pasted message comes from, which the first stage, that reads no text, cannot tell.
    """
    order = np.argsort(-scores, kind="stable")
    beyond = order[size:]
    return np.concatenate((order[:size], beyond[rows[beyond, _COVERED] > _ALL_TERMS][:_BEYOND]))


def _message_lifts(question: Question, chunks: Sequence[Chunk], rows: Array) -> Array:
    """Return what is added to the log odds of each chunk: a lot where the question is a message that it holds."""
    lifts = np.zeros(len(chunks), dtype=np.float32)
    for at in np.flatnonzero(rows[:, _PHRASE]).tolist():
        if comes_from(question, chunks[at].text):
            lifts[at] = _MESSAGE_LIFT
    return lifts


def _top(scores: Array, allowed: Mask | None, floors: tuple[float, ...], order: ChunkOrder) -> NDArray[np.int64]:
    """Return the numbers of the best scores above 0, equal ones at the end in the order of the corpus.

    Only what stands above a floor is compared, if it is enough: a partition of all scores costs more than the rest.
    """
    best = np.zeros(0, dtype=np.intp)
    for floor in (*floors, 0.0):
        best = np.flatnonzero(scores > max(0.0, floor))
        if allowed is not None:
            best = best[allowed[best]]
        if len(best) >= _DEPTH:
            break
    return order.strongest(scores, best, _DEPTH)


def _once_a_unit(order: NDArray[np.intp], chunks: Sequence[Chunk]) -> NDArray[np.intp]:
    """Keep the best part of each unit that is cut into several; overloads differ in their signature."""
    parts: set[tuple[str, ...]] = set()
    kept = []
    for at in order.tolist():
        one = chunks[at]
        unit = (one.root, one.path, one.parent, one.symbol, one.kind, one.signature)
        if not one.symbol or one.language in PROSE or unit not in parts:
            kept.append(at)
        parts.add(unit)
    return np.array(kept, dtype=np.intp)


def _of_side(found: QueryInCorpus, mode: Mode) -> QueryInCorpus:
    """Return what was looked up with the cosines of one side alone, whose encoder knows nothing of the other side."""
    side = filter_mask(found.snapshot, Query("", "", mode=mode))
    assert side is not None  # a mode is a filter
    cosines = np.where(side, found.cosines * np.float32(HALVES), np.float32(0))
    mean, deviation = mean_and_deviation(cosines[side])
    return replace(found, cosines=cosines, mean=mean, deviation=deviation)


def _first(numbers: NDArray[np.int64], order: ChunkOrder) -> NDArray[np.int64]:
    return order.ordered(numbers)[:_DEPTH] if len(numbers) > _DEPTH else numbers
