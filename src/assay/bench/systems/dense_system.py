"""Exhaustive search by meaning alone: the cosine of a query with every raw text, for any encoder by its spec.

Vectors lie in a file under the name of the encoder and of the corpus, and are mapped rather than read: what an answer
holds in memory is a block. A model that nobody wrote a recipe for is refused unless its pooling is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap

from assay import plugins
from assay.bench.system_corpus import SystemCorpus
from assay.bench.systems.index_folders import build_seconds, folder_of
from assay.bench.systems.system_options import checked
from assay.bench.systems.system_texts import ChunkFilters, chunks_of
from assay.errors import InputError
from assay.io.files import replacing
from assay.protocols import Encoder, Searcher, Vectors
from assay.search.retrievers import exhaustive
from assay.types import Chunk, Hit, Query

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
