"""Two baselines that match words: BM25 over stemmed words, and the bag of words of CoSQA+'s Table V."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.bench.system_corpus import SystemCorpus
from assay.bench.systems.system_options import checked
from assay.bench.systems.system_texts import ChunkFilters, chunks_of
from assay.errors import InputError
from assay.protocols import Searcher
from assay.search.lexical import FieldWeights, bm25, match
from assay.search.question import understand
from assay.store.snapshot import Snapshot
from assay.types import Chunk, Hit, Query

Scores = NDArray[np.float32]

_BODY = FieldWeights(weight=(0.0, 0.0, 0.0, 0.0, 1.0))
_WORD = re.compile(r"\b\w\w+\b")


class Bm25System:
    """One field of stemmed words over the chunks that Assay searches."""

    def __init__(self, nothing: str = "") -> None:
        if nothing:
            raise InputError(f"the system 'bm25' takes nothing after its name, not '{nothing}'")

    def prepare(self, corpus: SystemCorpus, options: Mapping[str, Any]) -> Searcher:
        """Count the words of every chunk."""
        checked("bm25", options, {})
        chunks = chunks_of(corpus)
        held = Snapshot.of(chunks, np.zeros((len(chunks), 1), dtype=np.float32))
        filters = ChunkFilters(corpus, chunks, held)
        return _Ranked(chunks, lambda text: bm25(held, match(held, understand(text).terms), _BODY), filters)

    def index_bytes(self) -> int | None:
        """Return nothing: the words are held in memory."""
        return None


class BagOfWordsSystem:
    """The cosine of two texts' word counts; `bow:2000` counts the 2,000 most frequent words only.

    As evaluateMMRR/bow_MMRR.py of github.com/DeepSoftwareAnalytics/CoSQA_Plus: lower-case words of two characters or
    more, unstemmed and unweighted, of which it keeps 2,000; words of a query that no code holds are not counted.
    """

    def __init__(self, vocabulary: str = "") -> None:
        if vocabulary and not vocabulary.isdecimal():
            raise InputError(f"'bow:{vocabulary}' is unknown; wanted how many words to keep, such as bow:2000")
        self._vocabulary = int(vocabulary) if vocabulary else None

    def prepare(self, corpus: SystemCorpus, options: Mapping[str, Any]) -> Searcher:
        """Count the words of every document or chunk."""
        checked("bow", options, {})
        chunks = chunks_of(corpus)
        return _Ranked(
            chunks, _Bags([chunk.text for chunk in chunks], self._vocabulary).cosines, ChunkFilters(corpus, chunks)
        )

    def index_bytes(self) -> int | None:
        """Return nothing: the words are held in memory."""
        return None


class _Bags:
    """Word counts by word, sparse."""

    def __init__(self, texts: Sequence[str], limit: int | None) -> None:
        counts = [Counter(words(text)) for text in texts]
        total: Counter[str] = Counter()
        for count in counts:
            total.update(count)
        known = sorted(total, key=lambda word: (-total[word], word))[:limit]
        postings: dict[str, tuple[list[int], list[int]]] = {word: ([], []) for word in known}
        norms = np.zeros(len(texts), dtype=np.float64)
        for number, count in enumerate(counts):
            for word, times in count.items():
                if word in postings:
                    postings[word][0].append(number)
                    postings[word][1].append(times)
                    norms[number] += times * times
        self._norms = np.sqrt(np.maximum(norms, 1.0))
        self._postings = {
            word: (np.array(numbers, np.int64), np.array(times, np.float64))
            for word, (numbers, times) in postings.items()
        }

    def cosines(self, text: str) -> Scores:
        """Return the cosine of a text with every one that was counted, 0 where they share no word."""
        asked = {word: times for word, times in Counter(words(text)).items() if word in self._postings}
        products = np.zeros(len(self._norms), dtype=np.float64)
        for word, times in asked.items():
            numbers, counts = self._postings[word]
            products[numbers] += times * counts
        norm = sum(times * times for times in asked.values()) ** 0.5 or 1.0
        return (products / (self._norms * norm)).astype(np.float32)


class _Ranked:
    """A searcher over scores of every chunk; equal scores are in the order of the chunks, 0 is not found."""

    def __init__(self, chunks: Sequence[Chunk], scores: Callable[[str], Scores], filters: ChunkFilters) -> None:
        self._chunks, self._scores, self._filters = chunks, scores, filters

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return at most `k` hits a query."""
        return [self._answer(query, k) for query in queries]

    def _answer(self, query: Query, k: int) -> list[Hit]:
        scores = self._scores(query.text)
        allowed = self._filters.allowed(query)
        if allowed is not None:
            scores = np.where(allowed, scores, np.float32(0))
        best = np.argsort(-scores, kind="stable")[:k]
        return [Hit(self._chunks[n], float(scores[n])) for n in best.tolist() if scores[n] > 0]


def words(text: str) -> list[str]:
    """Return the words of a text as the bag counts them."""
    return _WORD.findall(text.lower())
