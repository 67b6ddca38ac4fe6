"""Rank chunks for queries: words and meaning gather candidates, one learned ranking orders them.

The default searcher. It works on arrays from the postings to the final order and only makes `Hit`s of what it
returns. Code and documentation are ranked by weights of their
own; a hit's score is the calibrated probability that it is right, so the two can stand in one list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.protocols import Encoder, Vectors, reads_order
from assay.search.declared_names import declarations, declared_places, line_inside, unit_of
from assay.search.features import CandidateFeatures, QueryInCorpus, candidates_of
from assay.search.filters import SIDES, Mask, filter_mask, side_of
from assay.search.list_order import ListEvidence, QuestionTerms, evidence_of, file_support
from assay.search.messages import MessageMatch, chunks_with_message, may_be_message, message_in
from assay.search.past_changes import CommitVotes, PastChanges
from assay.search.path_filters import PROSE, traits_of
from assay.search.question import Question, understand
from assay.search.ranking import SECOND_STAGE, SHIPPED, Ranking, load_ranking, ranking_name
from assay.search.relevance import query_features
from assay.search.retrievers import Array, FieldWeights, bm25, match
from assay.search.text_features import ALL_FEATURES, TokenSimilarity, text_features
from assay.store.snapshot import ChunkOrder, Snapshot
from assay.values import Chunk, Hit, Query

_DEPTH = 200  # candidates from words, and as many from meaning
_EXTRA_CANDIDATES = 5  # chunks that hold all terms of a question and that the first stage leaves out
_ALL_TERMS = 0.999  # of their weight, which is a sum of fractions
_LOOKED_UP_ODDS, _STEP = 4.0, 0.1  # log odds of what is looked up, at least, and by how much places of it differ
_MAX_WORDS, _ASIDE_WORDS = 12.0, 4.0  # of a message that count, and by how many one of a test counts less
_SECTIONS_DEPTH, _SECTIONS_READ = 100, 16  # of documentation beside code: candidates of each kind, and those read
_LOOKED_AT = 80  # candidates of the first stage whose paths are compared with the question
_ONE_PLACE = 120  # lines that a person takes in at once
_COVERED, _PHRASE = ALL_FEATURES.index("covered_body"), ALL_FEATURES.index("phrase")


@dataclass(frozen=True, slots=True)
class LearnedSearcher:
    """Search one corpus."""

    snapshot: Snapshot
    encoder: Encoder
    weights: Path = SHIPPED
    """The folder of the ranking's weights."""
    token_similarity: TokenSimilarity = field(default_factory=TokenSimilarity)
    field_weights: FieldWeights = field(default_factory=FieldWeights)
    past: PastChanges | None = None
    """The commits of the corpus; None without a history."""

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return at most `k` hits a query, best first."""
        vectors = self.encoder.encode([query.text for query in queries], "query")
        return [self._answer(query, vector, k) for query, vector in zip(queries, vectors, strict=True)]

    def search_beside(self, queries: Sequence[Query], k: int, beside: int) -> list[tuple[list[Hit], list[Hit]]]:
        """Return at most `k` hits of code a query and, in a list of its own, at most `beside` of documentation.

        Both come from one look at the corpus; fewer sections are read than where documentation is what is asked for.
        """
        vectors = self.encoder.encode([query.text for query in queries], "query")
        return [self._both(query, vector, k, beside) for query, vector in zip(queries, vectors, strict=True)]

    def _both(self, query: Query, vector: Vectors, k: int, beside: int) -> tuple[list[Hit], list[Hit]]:
        found = self.look_up(replace(query, mode="all"), vector)
        if not len(found.snapshot):
            return [], []
        code, docs = (replace(query, mode=side) for side in SIDES)
        ranked, sections = self._ranked(code, found, k), self._ranked(docs, found, beside, read=_SECTIONS_READ)
        return ranked.listed(k), sections.listed(beside)

    def look_up(self, query: Query, vector: Vectors) -> QueryInCorpus:
        """Look a query up in the whole corpus, whichever part of it is searched."""
        question, snapshot = understand(query.text), self.snapshot
        terms = match(snapshot, question.terms)
        names = [found for found in match(snapshot, question.names) if len(found.chunks)]
        cosines = snapshot.near(vector, [filter_mask(snapshot, each) for each in _of_each_side(query)])
        lexical = bm25(snapshot, terms, self.field_weights)
        statistics = snapshot.cosine_statistics(vector, cosines)
        past = self.past.votes_for(question, snapshot) if self.past else None
        return QueryInCorpus(snapshot, question, terms, names, lexical, vector, cosines, *statistics, past)

    def candidates(self, query: Query, in_corpus: QueryInCorpus, depth: int = _DEPTH) -> CandidateFeatures:
        """Return all candidates with their features, at most `depth` by words and as many by meaning."""
        allowed = filter_mask(in_corpus.snapshot, query)
        outstanding = tuple(in_corpus.mean + times * in_corpus.deviation for times in (2, 1))
        strongest, order = in_corpus.strongest, in_corpus.snapshot.order
        declared = declarations(in_corpus.snapshot, in_corpus.question.typed, allowed)
        messages = chunks_with_message(in_corpus.snapshot, in_corpus.question, in_corpus.terms, allowed)
        numbers = [
            _top(in_corpus.lexical, allowed, (strongest / 2, strongest / 4), order, depth),
            _top(in_corpus.cosines, allowed, outstanding, order, depth),
            *(named if len(named) <= depth else order.ordered(named)[:depth] for named in in_corpus.named),
            declared,
            np.array(list(messages), np.int64),
            order.ordered(_holding_text(query, allowed))[:depth],
        ]
        mask = np.zeros(in_corpus.snapshot.size, dtype=bool)  # np.unique loads numpy.ma on its first call: 6 ms
        mask[np.concatenate(numbers)] = True
        if allowed is not None:
            mask &= allowed
        of_code = query.mode != "docs"
        return candidates_of(order.ordered(np.flatnonzero(mask)), in_corpus, declared, messages, of_code=of_code)

    def _answer(self, query: Query, vector: Vectors, k: int) -> list[Hit]:
        found = self.look_up(query, vector)
        if not len(found.snapshot):
            return []
        ranked = [self._ranked(each, found, k) for each in _of_each_side(query)]
        answerable = sum(side.answerable for side in ranked) / len(ranked)  # of each its own would order code and prose
        return _listed([hit for side in ranked for hit in side.hits(answerable)])[:k]

    def _ranked(self, query: Query, in_corpus: QueryInCorpus, k: int, read: int = 0) -> _RankedSide:
        """Rank the code or the documentation: all by what the index knows, the best by their words as well.

        `read` is how many are read, if not as many as usual.
        """
        name = ranking_name(in_corpus.snapshot, query.mode)
        ranking = load_ranking(name, reads_order=reads_order(self.encoder), folder=self.weights)
        candidates = self.candidates(query, in_corpus, _SECTIONS_DEPTH if read else _DEPTH)
        scores = ranking.first.scores(candidates.rows)
        support = file_support(scores, candidates.files)
        question_terms = QuestionTerms(in_corpus.question, in_corpus.term_weights)
        with_files = _with_files(ranking, question_terms, in_corpus.snapshot, candidates, scores)
        first = _second_stage(with_files, candidates, max(k, read or SECOND_STAGE[name]))
        chunks = in_corpus.snapshot.chunks(candidates.numbers[first].tolist())
        rows = np.hstack((candidates.rows[first], text_features(self.token_similarity, in_corpus, chunks)))
        scores = ranking.second.scores(rows)
        answerable = ranking.answerable(query_features(in_corpus), rows, scores)
        odds = ranking.scale * scores + ranking.offset + answerable
        declaring = _among(candidates.numbers[first], candidates.declared)
        files = candidates.files[first], support[first]
        found_messages = [candidates.messages.get(number) for number in candidates.numbers[first].tolist()]
        messages = _messages_in(in_corpus.question, chunks, rows, found_messages)
        beside = _beside(ranking, question_terms, in_corpus.question, chunks, messages, odds, declaring, *files)
        places = _places(np.lexsort((first, -scores - sum(beside.values()))), chunks)[:k]
        best = [leader for leader, _ in places]
        asked_name, numbers = in_corpus.question.typed.target, candidates.numbers[first].tolist()
        inside = [line_inside(in_corpus.snapshot, numbers[at], asked_name) if declaring[at] else 0 for at in best]
        return _RankedSide(
            ranking,
            [chunks[at] for at in best],
            rows[best],
            scores[best],
            {part: added[best] for part, added in beside.items()},
            answerable,
            [tuple(chunks[at] for at in others) for _, others in places],
            [_line(chunks[at], messages[at]) or line for at, line in zip(best, inside, strict=True)],
            in_corpus.past,
        )


class _RankedSide(NamedTuple):
    """The best candidates of the code or of the documentation, best first."""

    ranking: Ranking
    chunks: Sequence[Chunk]
    rows: Array
    scores: Array
    beside: Mapping[str, Array]
    """What is added to each score, by part."""
    answerable: float
    """How likely this side answers the query at all, in log odds."""
    others: Sequence[tuple[Chunk, ...]]
    """The other chunks that each of the best represents."""
    lines: Sequence[int]
    """The line of each of the best that has the pasted message, or declares the name inside its unit; or 0."""
    past: CommitVotes | None

    def listed(self, k: int) -> list[Hit]:
        """Return at most `k` hits, with probabilities from this side's own likelihood of an answer."""
        return _listed(self.hits(self.answerable))[:k]

    def hits(self, answerable: float) -> list[Hit]:
        """Return the hits, with probabilities for a query that is so likely answerable."""
        everywhere = np.full(len(self.chunks), answerable / self.ranking.scale, dtype=np.float32)
        total = self.scores + sum(self.beside.values())
        probabilities = self.ranking.probabilities(total, answerable).tolist()
        explain = cache(partial(self.ranking.explain, self.rows, {**self.beside, "answerable": everywhere}))
        explained = (Explanation(explain, at, self.past, chunk) for at, chunk in enumerate(self.chunks))
        return list(map(Hit, self.chunks, probabilities, explained, self.others, self.lines))


@dataclass(frozen=True, slots=True, eq=False)
class Explanation(Mapping[str, float]):
    """The parts of a score, computed for all hits of a list when one is first looked at: few are."""

    of_all: Callable[[], Sequence[Mapping[str, float]]]
    place: int
    past: CommitVotes | None
    chunk: Chunk

    @property
    def changed_by(self) -> str:
        """Subject and date of the commit that votes most for the file, or nothing."""
        return self.past.strongest(self.chunk.root, self.chunk.path) if self.past else ""

    def __getitem__(self, part: str) -> float:
        """Return what a part adds."""
        return self.of_all()[self.place][part]

    def __iter__(self) -> Iterator[str]:
        """Yield the parts, strongest first."""
        return iter(self.of_all()[self.place])

    def __len__(self) -> int:
        """Count the parts."""
        return len(self.of_all()[self.place])


def _line(chunk: Chunk, message: MessageMatch | None) -> int:
    return max(chunk.start_line, 1) + message.line if message else 0


def _listed(hits: Sequence[Hit]) -> list[Hit]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.chunk.root, hit.chunk.path, hit.chunk.start_line))


def is_relevant(hits: Sequence[Hit], snapshot: Snapshot, encoder: Encoder, weights: Path = SHIPPED) -> bool:
    """Return whether the best of ranked hits is likely enough to be right; below the floor it is only the nearest."""
    if not hits:
        return False
    name = ranking_name(snapshot, side_of(hits[0].chunk))
    return hits[0].score >= load_ranking(name, reads_order=reads_order(encoder), folder=weights).floor


def _holding_text(query: Query, allowed: Mask | None) -> NDArray[np.int64]:
    """Return the chunks that contain what a query quotes: candidates, however little else they have of it."""
    return np.flatnonzero(allowed) if query.reads_text and allowed is not None else np.zeros(0, np.int64)


def _of_each_side(query: Query) -> list[Query]:
    """Split a query into one for code and one for documentation, as far as it searches them."""
    return [replace(query, mode=side) for side in SIDES] if query.mode == "all" else [query]


def _with_files(
    ranking: Ranking, question_terms: QuestionTerms, snapshot: Snapshot, candidates: CandidateFeatures, scores: Array
) -> Array:
    """Add what the names of files are worth to the best scores of the first stage."""
    if ranking.order is None or not len(scores):
        return scores
    best = np.argsort(-scores, kind="stable")[:_LOOKED_AT]
    files = candidates.files[best]
    distinct = list(dict.fromkeys(files.tolist()))
    paths = snapshot.paths_of(candidates.file_numbers[distinct].tolist())
    worth = np.zeros(len(candidates.file_numbers))
    worth[distinct] = ranking.order.of_files(question_terms, paths)
    scores[best] += worth[files]
    return scores


def _second_stage(scores: Array, candidates: CandidateFeatures, size: int) -> NDArray[np.intp]:
    """Return what the second stage reads: the best of the first, what declares a name or has a message, and a few more.

    These hold every term: one may be quoted, which the first stage, that reads no text, cannot tell.
    """
    order = np.argsort(-scores, kind="stable")
    beyond = order[size:]
    rows, numbers = candidates.rows[beyond], candidates.numbers[beyond]
    with_all_terms = beyond[rows[:, _COVERED] > _ALL_TERMS][:_EXTRA_CANDIDATES]
    with_message = np.array(list(candidates.messages), np.int64)
    looked_up = beyond[_among(numbers, candidates.declared) | _among(numbers, with_message)]
    chosen = np.concatenate((order[:size], looked_up, with_all_terms)).tolist()
    return np.array(list(dict.fromkeys(chosen)), np.intp)


def _among(numbers: NDArray[np.int64], others: NDArray[np.int64]) -> Mask:
    """Return which numbers are among a few others."""
    return np.isin(numbers, others) if len(others) else np.zeros(len(numbers), dtype=bool)


def _beside(  # noqa: PLR0913, PLR0917  candidates that were read, and what is known of them
    ranking: Ranking,
    question_terms: QuestionTerms,
    question: Question,
    chunks: Sequence[Chunk],
    messages: Sequence[MessageMatch | None],
    odds: Array,
    declaring: Mask,
    files: NDArray[np.intp],
    support: NDArray[np.float64],
) -> dict[str, Array]:
    """Return what is added to the score of each candidate beside its own features, by part."""
    added: dict[str, NDArray[np.floating]] = {}
    if ranking.order is not None:
        before = odds.astype(np.float64)
        evidence = ListEvidence(evidence_of(question_terms, chunks), files, support)
        added["list"] = ranking.order.scores(question, before, evidence) - before
    added["message"] = _lifts(_message_worth(messages, chunks), odds + sum(added.values()))
    worth = declared_places(question.typed, chunks, declaring)
    added["name"] = _lifts(worth, odds + sum(added.values()))
    return {part: (values / ranking.scale).astype(np.float32) for part, values in added.items()}


def _lifts(worth: NDArray[np.float64], odds: Array) -> NDArray[np.float64]:
    """Return what puts the candidates that are worth more than 0 before all others, the best first."""
    chosen = worth > 0
    if not chosen.any():
        return np.zeros(len(worth))
    above = max(float(odds[~chosen].max(initial=_LOOKED_UP_ODDS)), _LOOKED_UP_ODDS)
    wanted = above + _STEP * (worth + np.tanh(odds / 4) / 10)
    return np.where(chosen, wanted - odds, 0.0)


def _messages_in(
    question: Question, chunks: Sequence[Chunk], rows: Array, found_messages: Sequence[MessageMatch | None]
) -> list[MessageMatch | None]:
    """Return the message of each chunk that the question pastes; those already found are kept."""
    pasted = may_be_message(question)
    reads = rows[:, _PHRASE] > 0  # a run of three words, without which a question in one's own words quotes nothing
    return [
        known or (message_in(question, one) if pasted or read else None)
        for one, read, known in zip(chunks, reads, found_messages, strict=True)
    ]


def _message_worth(messages: Sequence[MessageMatch | None], chunks: Sequence[Chunk]) -> NDArray[np.float64]:
    """Rate each chunk as the place of a pasted message, 0 if it does not have it; programs before tests."""
    found = np.zeros(len(chunks))
    for at, (message, chunk) in enumerate(zip(messages, chunks, strict=True)):
        if message:
            found[at] = _ASIDE_WORDS + min(message.worth, _MAX_WORDS) - _ASIDE_WORDS * any(traits_of(chunk.path))
    return found


def _top(
    scores: Array, allowed: Mask | None, floors: tuple[float, ...], order: ChunkOrder, depth: int
) -> NDArray[np.int64]:
    """Return the numbers of the best scores above 0; of equal ones at the end, the first of the corpus.

    Only what stands above a floor is compared, if it is enough: a partition of all scores costs more than the rest.
    """
    best = np.zeros(0, dtype=np.intp)
    for floor in (*floors, 0.0):
        best = np.flatnonzero(scores > max(0.0, floor))
        if allowed is not None:
            best = best[allowed[best]]
        if len(best) >= depth:
            break
    return order.best(scores, best, depth)


def _places(order: NDArray[np.intp], chunks: Sequence[Chunk]) -> list[tuple[int, list[int]]]:
    """Group candidates into places, best first, each with the others that it represents.

    A unit stands for its overloads, for its parts as far as a person takes them in at once, and for its copies in other
    roots.
    """
    units: dict[tuple[str, ...], list[tuple[int, list[int]]]] = {}
    places, unit = [], list(map(unit_of, chunks))
    for at in order.tolist():
        one = chunks[at]
        same = units.setdefault(unit[at], []) if one.symbol and one.language not in PROSE else []
        leader = next((others for best, others in same if _is_one_place(chunks[best], one)), None)
        if leader is not None:
            leader.append(at)
        else:
            same.append((at, []))
            places.append(same[-1])
    return places


def _is_one_place(best: Chunk, other: Chunk) -> bool:
    if best.root != other.root:
        return best.text == other.text
    lines = max(best.end_line, other.end_line) - min(best.start_line, other.start_line)
    return best.signature != other.signature or lines < _ONE_PLACE
