"""Score chunks by words, and retrieve them by words alone, by meaning alone, or by filters alone.

Words are scored by BM25 over fields in one pass over the postings: BM25F as Robertson and Zaragoza define it (2009,
section 3.5). A term's counts are weighted by field and divided by the field's length against a typical one, and only
their sum saturates. Typical lengths are constants and not averages of the corpus, so that a chunk's score does not move
when others come and go.

One query reads of large segments what their inverted lists bring near. For many queries every vector is looked at and
the products are made block by block, so that memory is bounded by a block whatever the corpus' size.

They come in the order in which somebody reads a repository: the program, its documentation, then tests and asides.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.errors import AssayError, DamagedIndex, StorageError
from assay.protocols import Encoder, Scorer, Searcher, Vectors
from assay.search.filters import filter_mask
from assay.search.path_filters import reading_class
from assay.search.question import understand
from assay.store.snapshot import Snapshot
from assay.values import Hit, Query

Array = NDArray[np.float32]

_LARGE = 50_000
_COMMON = 0.1
"""A fraction of a large corpus' chunks; a term that more chunks hold does not make them candidates."""


@dataclass(frozen=True, slots=True)
class FieldWeights:
    """How much a word counts in each field, in the order of `store.fields.FIELDS`."""

    weight: tuple[float, ...] = (3.0, 1.0, 2.0, 2.0, 1.0)
    typical_length: tuple[float, ...] = (2.0, 2.0, 5.0, 15.0, 60.0)
    b: tuple[float, ...] = (0.4, 0.2, 0.2, 0.5, 0.5)
    k1: float = 1.2


BODY_ONLY = FieldWeights(weight=(0.0, 0.0, 0.0, 0.0, 1.0))
"""A text without fields: plain BM25."""


@dataclass(frozen=True, slots=True)
class TermMatch:
    """One term in the corpus."""

    idf: float
    chunks: NDArray[np.int64]
    """(df) ascending."""
    counts: NDArray[np.uint8]
    """(df, fields)."""
    term: str = ""
    """Empty for a part of what holds a term."""


def match(snapshot: Snapshot, terms: Sequence[str]) -> list[TermMatch]:
    """Look terms up; one that no chunk holds has an empty match and the highest idf."""
    living, found = len(snapshot), snapshot.postings_of(terms)
    return [
        TermMatch(idf(living, len(chunks)), chunks, counts, term)
        for term, (chunks, counts) in zip(terms, found, strict=True)
    ]


def idf(chunks: int, holding: int) -> float:
    """Return Robertson's inverse document frequency, never negative."""
    return math.log(1.0 + (chunks - holding + 0.5) / (holding + 0.5))


def saturated(counts: NDArray[np.uint8], lengths: NDArray[np.uint16], weights: FieldWeights) -> Array:
    """Return the BM25F factor of a term in each chunk, in [0, 1); both arguments have shape `(chunks, fields)`.

    Field by field: numpy takes many times as long over rows of five.
    """
    total = np.zeros(len(counts), dtype=np.float32)
    for at, (weight, typical, b) in enumerate(zip(weights.weight, weights.typical_length, weights.b, strict=True)):
        norm = lengths[:, at] * np.float32(b)
        norm /= np.float32(typical)
        norm += np.float32(1.0) - np.float32(b)
        np.divide(np.float32(weight), norm, out=norm)
        norm *= counts[:, at]
        total += norm
    return total / (total + np.float32(weights.k1))


def bm25(snapshot: Snapshot, matches: Sequence[TermMatch], weights: FieldWeights) -> Array:
    """Return the score of every chunk, shape `(size,)`; 0 if it has no term.

    In a large corpus a chunk that holds none but common terms has 0, too: it is not worth what reading it would cost.
    """
    scores = np.zeros(snapshot.size, dtype=np.float32)
    telling, common = _telling(snapshot, [found for found in matches if len(found.chunks)])
    for found in telling:
        scores[found.chunks] += _contributions(snapshot, found, weights)
    for found in common:
        there = np.flatnonzero(scores[found.chunks])
        few = TermMatch(found.idf, found.chunks[there], found.counts[there])
        scores[few.chunks] += _contributions(snapshot, few, weights)
    return scores


def _telling(snapshot: Snapshot, matches: Sequence[TermMatch]) -> tuple[list[TermMatch], list[TermMatch]]:
    """Return which terms make candidates, and those that too many chunks of a large corpus hold; never only these."""
    most = snapshot.size * _COMMON if snapshot.size >= _LARGE else snapshot.size
    telling = [found for found in matches if len(found.chunks) <= most]
    common = [found for found in matches if len(found.chunks) > most]
    if common and not telling:
        telling.append(common.pop(min(range(len(common)), key=lambda at: len(common[at].chunks))))
    return telling, common


def _contributions(snapshot: Snapshot, term_match: TermMatch, weights: FieldWeights) -> Array:
    """Return what a term adds to the score of each chunk that holds it, cached for other questions."""
    if not term_match.term:
        return _compute_scores(snapshot, term_match, weights)
    return snapshot.term_scores.get((term_match.term, weights), lambda: _compute_scores(snapshot, term_match, weights))


def _compute_scores(snapshot: Snapshot, term_match: TermMatch, weights: FieldWeights) -> Array:
    factor = saturated(term_match.counts, snapshot.lengths.take(term_match.chunks, axis=0), weights)
    return np.float32(term_match.idf) * factor


def best_hits(snapshot: Snapshot, scores: Array, query: Query, k: int, part: str) -> list[Hit]:
    """Return hits of the `k` highest scores above 0 that a query allows, best first, equal ones in corpus order."""
    allowed = filter_mask(snapshot, query)
    found = np.flatnonzero(scores > 0.0 if allowed is None else (scores > 0.0) & allowed)
    numbers = snapshot.order.ranked(scores, found, k)
    ranked = zip(numbers.tolist(), scores[numbers].tolist(), strict=True)
    return [Hit(snapshot.chunk(number), score, {part: score}) for number, score in ranked]


@dataclass(frozen=True, slots=True)
class KeywordSearcher:
    """Search one corpus by words alone, without an encoder."""

    snapshot: Snapshot
    weights: FieldWeights = field(default_factory=FieldWeights)

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return at most `k` hits a query, best first; each shares a word with its query."""
        terms = [match(self.snapshot, understand(query.text).terms) for query in queries]
        scores = (bm25(self.snapshot, found, self.weights) for found in terms)
        return [best_hits(self.snapshot, own, query, k, "lexical") for query, own in zip(queries, scores, strict=True)]


Numbers = NDArray[np.int64]

BLOCK = (512, 16_384)
"""Queries and codes of one block: 32 MB of products, which BLAS makes as fast as any larger one."""
_SPARE = 32
"""How many more than `k` are kept: a product of twins differs in its last bits by where in a block it is made."""
_RESCORED = 64
_BUFFER_FACTOR = 8


@dataclass(frozen=True, slots=True)
class VectorSearcher:
    """Search one corpus by the cosine of query and chunk alone."""

    snapshot: Snapshot
    encoder: Encoder

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return at most `k` hits a query, best first; chunks that point the other way are none."""
        vectors = self.encoder.encode([query.text for query in queries], "query")
        return [
            best_hits(self.snapshot, self.snapshot.near(vector, [filter_mask(self.snapshot, query)]), query, k, "dense")
            for query, vector in zip(queries, vectors, strict=True)
        ]


def exhaustive(queries: Vectors, codes: Vectors, k: int, *, block: tuple[int, int] = BLOCK) -> tuple[Numbers, Vectors]:
    """Return the `k` codes of the highest dot product with each query, best first, and the products.

    Both results have shape `(queries, min(k, codes))`. Equal products are in the order of the codes, and twins have
    equal products: float noise decides nothing. Products are made for so many queries and codes at once as `block`
    says; nothing but time and memory depends on it.
    """
    height, width = block
    k = min(k, len(codes))
    numbers = np.zeros((len(queries), k), dtype=np.int64)
    scores = np.zeros((len(queries), k), dtype=np.float32)
    for start in range(0, len(queries) if k else 0, height):
        rows = slice(start, start + height)
        found = _candidates(queries[rows], codes, k + _SPARE, width)
        numbers[rows], scores[rows] = _exact(queries[rows], codes, found, k)
    return numbers, scores


def _candidates(queries: Vectors, codes: Vectors, k: int, width: int) -> Numbers:
    """Return the numbers of at least the `k` best codes of each query, or of all codes, shape `(queries, …)`."""
    k = min(k, len(codes))
    top = _Best(len(queries), k)
    width = max(width, k)
    for start in range(0, len(codes), width):
        products = queries @ codes[start : start + width].T
        if not start:
            top.floor = np.partition(products, -k, axis=1)[:, -k]
        over = products > top.floor[:, None] if start else products >= top.floor[:, None]
        places = np.flatnonzero(over)  # of two dimensions it takes five times as long
        rows, columns = np.divmod(places, products.shape[1])
        top.add(rows, columns + start, products.ravel()[places])
    top.cut()
    return top.numbers.reshape(len(queries), k)


class _Best:
    """The best so far of each row of a block, as flat columns, and what a newcomer has to exceed."""

    def __init__(self, rows: int, k: int) -> None:
        self.k = k
        self.floor = np.zeros(rows, dtype=np.float32)
        self.numbers = np.zeros(0, dtype=np.int64)
        self._rows = np.zeros(0, dtype=np.int64)
        self._scores = np.zeros(0, dtype=np.float32)

    def add(self, rows: Numbers, numbers: Numbers, scores: Vectors) -> None:
        """Add candidates, in the order of their numbers."""
        self._rows = np.concatenate((self._rows, rows))
        self.numbers = np.concatenate((self.numbers, numbers))
        self._scores = np.concatenate((self._scores, scores))
        if len(self._rows) > _BUFFER_FACTOR * self.k * len(self.floor):
            self.cut()

    def cut(self) -> None:
        """Keep the best `k` of each row, the first of equals, and raise the floors to the last of them."""
        order = np.lexsort((self.numbers, -self._scores, self._rows))
        rows = self._rows[order]
        begins = np.searchsorted(rows, np.arange(len(self.floor)))
        order = order[np.arange(len(rows)) - begins[rows] < self.k]
        self._rows, self.numbers, self._scores = self._rows[order], self.numbers[order], self._scores[order]
        self.floor = self._scores.reshape(len(self.floor), self.k)[:, -1].copy()


def _exact(queries: Vectors, codes: Vectors, candidates: Numbers, k: int) -> tuple[Numbers, Vectors]:
    """Return the best `k` of the candidates by products that are each summed in the same order."""
    scores = np.empty(candidates.shape, dtype=np.float32)
    for start in range(0, len(candidates), _RESCORED):
        rows = slice(start, start + _RESCORED)
        np.einsum("qd,qcd->qc", queries[rows], codes[candidates[rows]], out=scores[rows])
    order = np.lexsort((candidates, -scores), axis=-1)[:, :k]
    return np.take_along_axis(candidates, order, axis=1), np.take_along_axis(scores, order, axis=1)


def listing(snapshot: Snapshot, query: Query, k: int) -> list[Hit]:
    """Return the first `k` chunks that a query's filters allow, each with the score 1."""
    allowed = filter_mask(snapshot, query)
    numbers = (np.arange(snapshot.size) if allowed is None else np.flatnonzero(allowed)).tolist()
    lines = snapshot.rows("lines", np.array(numbers, np.int64))[:, 0].tolist()
    paths = map(snapshot.path, numbers)
    places = ((reading_class(path), path, line, n) for path, line, n in zip(paths, lines, numbers, strict=True))
    return [Hit(snapshot.chunk(number), 1.0) for *_, number in sorted(places)[:k]]


DEPTH = 200
"""Hits that each searcher returns at least."""
_RRF_K = 60


class Member(NamedTuple):
    """A searcher, its name in `why`, and its weight."""

    name: str
    searcher: Searcher
    weight: float


@dataclass(frozen=True, slots=True)
class FusedSearcher:
    """Search with every member; equal scores are in the order of the members, then of their hits."""

    members: tuple[Member, ...]
    fusion: str = "rrf"
    depth: int = DEPTH

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return at most `k` hits a query, best first; the parts in `why` add up to the score."""
        counting = [member for member in self.members if member.weight]
        if not counting:
            return [[] for _ in queries]
        answers = [member.searcher.search(queries, max(k, self.depth)) for member in counting]
        return [self._fused(counting, answer)[:k] for answer in zip(*answers, strict=True)]

    def _fused(self, members: Sequence[Member], answers: Sequence[Sequence[Hit]]) -> list[Hit]:
        parts: dict[str, dict[str, float]] = {}
        chunks = {hit.chunk.id: hit.chunk for hits in answers for hit in hits}
        for member, hits in zip(members, answers, strict=True):
            for hit, worth in zip(hits, FUSIONS[self.fusion](hits), strict=True):
                parts.setdefault(hit.chunk.id, {})[member.name] = member.weight * worth
        fused = (Hit(chunks[id_], sum(why.values()), why) for id_, why in parts.items())
        return sorted(fused, key=lambda hit: -hit.score)


def by_rank(hits: Sequence[Hit]) -> list[float]:
    """Return the weight of each place in reciprocal rank fusion."""
    return [1.0 / (_RRF_K + rank) for rank in range(1, len(hits) + 1)]


def by_score(hits: Sequence[Hit]) -> list[float]:
    """Return how many standard deviations each score is above the lowest; equal scores tell nothing."""
    scores = np.array([hit.score for hit in hits], dtype=np.float64)
    deviation = float(scores.std()) if len(scores) else 0.0
    above: list[float] = (scores - scores.min(initial=np.inf)).tolist()
    return [score / deviation for score in above] if deviation > 0 else [1.0] * len(hits)


FUSIONS: Mapping[str, Callable[[Sequence[Hit]], list[float]]] = {"rrf": by_rank, "linear": by_score}
"""How scores of different members become comparable, by the value of `search.fusion`."""


def union(answers: Sequence[Sequence[Hit]], k: int) -> list[Hit]:
    """Return the best `k` of all answers; equal ranks are ordered by score, and one answer stays as it is."""
    ranked = [(rank, -hit.score, hit) for answer in answers for rank, hit in enumerate(answer)]
    ranked.sort(key=lambda entry: entry[:2])
    best = {hit.chunk.id: hit for _, _, hit in reversed(ranked)}
    order = dict.fromkeys(hit.chunk.id for _, _, hit in ranked)
    return [best[chunk_id] for chunk_id in order][:k]


def rerank(scorer: Scorer, query: Query, hits: Sequence[Hit]) -> list[Hit]:
    """Rerank the hits of a query by a scorer that reads them; equal ones keep their order."""
    if not hits:
        return []
    scores = map(float, scorer.score(query, [hit.chunk for hit in hits]))
    scored = [Hit(hit.chunk, score, {"reranker": score}) for hit, score in zip(hits, scores, strict=True)]
    return sorted(scored, key=lambda hit: -hit.score)


def rebuild_command(path: str, location: str | None) -> str:
    """Return the command that rebuilds the index of a path, at a location if one was named."""
    return shlex.join(["assay", "index", path, *(["--index", location] if location else [])])


@dataclass(frozen=True, slots=True)
class IndexGuard:
    """Reports the damage of an index to its reader and to the index itself, so that a refresh rebuilds it."""

    check: Callable[[], str]
    """Reads every byte, and returns the damage."""
    rebuild: str
    """The command that rebuilds the index."""
    is_copied: bool = False
    """Whether copies are read, of which `check` fetches the corrupt ones again."""

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Raise DamagedIndex with the next step if the body fails because the index is damaged."""
        try:
            yield
        except DamagedIndex as damage:
            found = self.check()
            if self.is_copied and not found:
                raise StorageError(
                    f"a copy of the index was corrupt and is fetched again ({damage}): try again"
                ) from damage
            raise DamagedIndex(f"the index is corrupt: {found or damage}; {self.rebuild} rebuilds it") from damage
        except AssayError:
            raise
        except Exception as error:
            if found := self.check():
                raise DamagedIndex(f"the index is corrupt: {found}; {self.rebuild} rebuilds it") from error
            raise
