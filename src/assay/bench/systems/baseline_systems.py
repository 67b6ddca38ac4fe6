"""Baselines: BM25, a bag of words, and the cosine of any encoder, over documents or chunks."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from assay import plugins
from assay.bench.system import SystemCorpus, build_seconds, checked, folder_of
from assay.corpus.chunk import parse
from assay.corpus.walk import walk
from assay.corpus.walked_files import read
from assay.errors import InputError
from assay.io.files import replacing
from assay.protocols import Encoder, Searcher, Vectors
from assay.search.filters import filter_mask
from assay.search.question import understand
from assay.search.retrievers import BODY_ONLY, bm25, exhaustive, match
from assay.store.snapshot import Snapshot
from assay.values import Chunk, Hit, Query


def chunks_of(corpus: SystemCorpus) -> tuple[Chunk, ...]:
    """Return each document as one chunk without lines, else the chunks that an index of the folder holds."""
    if corpus.documents:
        return tuple(map(_without_lines, corpus.documents))
    texts = ((file.path, read(corpus.root, file)) for file in walk(corpus.root).files)
    return tuple(chunk for path, text in texts if isinstance(text, str) for chunk in parse(path, text).chunks)


def _without_lines(document: Chunk) -> Chunk:
    """Return a document as a file has it; nearly none has lines, and a million copies take memory."""
    if not document.start_line and not document.end_line:
        return document
    return replace(document, start_line=0, end_line=0)


class ChunkFilters:
    """Which chunks a query may find, by the rules of the product's own filters."""

    def __init__(self, corpus: SystemCorpus, chunks: Sequence[Chunk]) -> None:
        self._documents = bool(corpus.documents)
        self._held = cache(lambda: _filter_snapshot(chunks))
        if not self._documents:
            self._held()

    def allowed(self, query: Query) -> NDArray[np.bool_] | None:
        """Return a mask of the chunks, None when all may be found; documents are neither code nor prose."""
        if self._documents:
            query = replace(query, mode="all")
        if query.mode == "all" and not (query.languages or query.paths or query.kinds):
            return None
        return filter_mask(self._held(), query)


def _filter_snapshot(chunks: Sequence[Chunk]) -> Snapshot:
    """Hold what filters look at: path, language and kind."""
    bare = [replace(chunk, text="", doc="", signature="", symbol="", parent="") for chunk in chunks]
    return Snapshot.of(bare, np.zeros((len(bare), 1), dtype=np.float32))


Scores = NDArray[np.float32]

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
        filters = ChunkFilters(corpus, chunks)
        return _Ranked(chunks, lambda text: bm25(held, match(held, understand(text).terms), BODY_ONLY), filters)


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
        bags = _Bags([chunk.text for chunk in chunks], self._vocabulary)
        return _Ranked(chunks, bags.cosines, ChunkFilters(corpus, chunks))


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


_BLOCK = 4096
"""Texts that are encoded before their vectors go to the file."""


class DenseSystem:
    """One encoder over the documents of a corpus, or over the chunks of its files."""

    def __init__(self, spec: str = "") -> None:
        if not spec:
            raise InputError("the system 'dense' names no encoder: write dense:static:default or dense:hf:MODEL")
        self._spec = spec
        self._file: Path | None = None
        self.built_s: float | None = None
        """What encoding the texts took, in whichever run that was."""

    def prepare(self, corpus: SystemCorpus, options: Mapping[str, Any]) -> Searcher:
        """Encode every text, or map the vectors that an earlier run left in the option `location`."""
        started = time.perf_counter()
        location = checked("dense", options, {})["location"]
        encoder: Encoder = plugins.make("encoder", self._spec)
        if "?pooling=" in encoder.name and "?pooling=" not in self._spec:
            raise InputError(
                f"no recipe is known for {self._spec}: say how it is pooled with '?pooling=', mean, cls, pooler or last"
            )
        chunks = chunks_of(corpus)
        texts = [chunk.text for chunk in chunks]
        if not location:
            return _Nearest(encoder, chunks, encoder.encode(texts, "code"), corpus)
        folder = folder_of(location, "vectors", encoder.name, *texts)
        self._file = folder / "vectors.npy"
        made = not self._file.exists()
        if made:
            _encode(encoder, texts, self._file)
        self.built_s = build_seconds(folder, time.perf_counter() - started, made=made)
        return _Nearest(encoder, chunks, np.load(self._file, mmap_mode="r"), corpus)

    def index_bytes(self) -> int | None:
        """Return the size of the vectors on disk."""
        return self._file.stat().st_size if self._file is not None else None


def _encode(encoder: Encoder, texts: Sequence[str], file: Path) -> None:
    """Write one vector a text, block by block, beside the file, which then is there whole or not at all."""
    shape = (len(texts), encoder.dimension)
    with replacing(file, durable=False) as beside:
        if not texts:
            np.save(beside, np.zeros(shape, dtype=np.float32))
            return
        vectors = open_memmap(beside, mode="w+", dtype=np.float32, shape=shape)
        for start in range(0, len(texts), _BLOCK):
            vectors[start : start + _BLOCK] = encoder.encode(texts[start : start + _BLOCK], "code")
        vectors.flush()


class _Nearest:
    """The searcher over vectors; filters are answered over the vectors that they keep."""

    def __init__(self, encoder: Encoder, chunks: Sequence[Chunk], vectors: Vectors, corpus: SystemCorpus) -> None:
        self._encoder, self._chunks, self._vectors = encoder, chunks, vectors
        self._filters = ChunkFilters(corpus, chunks)
        self._all = np.arange(len(chunks))
        self._kept: tuple[object, Any, Vectors] = (None, self._all, vectors)

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return at most `k` hits a query, best first; equal ones in the order of the texts."""
        asked = self._encoder.encode([query.text for query in queries], "query")
        return [self._answer(query, vector, k) for query, vector in zip(queries, asked, strict=True)]

    def _answer(self, query: Query, vector: Vectors, k: int) -> list[Hit]:
        numbers, vectors = self._allowed(query)
        best, cosines = exhaustive(vector[None, :], vectors, k)
        found = zip(numbers[best[0]].tolist(), cosines[0].tolist(), strict=True)
        return [Hit(self._chunks[number], cosine) for number, cosine in found]

    def _allowed(self, query: Query) -> tuple[Any, Vectors]:
        """Return the numbers that a query may find and their vectors; the last filter's are held."""
        mask = self._filters.allowed(query)
        if mask is None:
            return self._all, self._vectors
        key = (query.mode, query.languages, query.paths, query.kinds)
        if self._kept[0] != key:
            numbers = np.flatnonzero(mask)
            self._kept = (key, numbers, self._vectors[numbers])
        return self._kept[1], self._kept[2]
