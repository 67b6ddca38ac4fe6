"""A reranker that remembers: each question and text is read once a model, and its score is kept in one sqlite file.

The key is the content, not the place, as in the cache of vectors: an unchanged function keeps its score wherever it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from assay.encode.view import view
from assay.io.database import Database
from assay.protocols import BlendedScorer
from assay.types import Blend, Chunk, Query

_TABLE = "CREATE TABLE IF NOT EXISTS scores (key BLOB PRIMARY KEY, score REAL) WITHOUT ROWID"


class CachedScorer:
    """A wrapper with the protocol of what it wraps."""

    def __init__(self, scorer: BlendedScorer, path: Path) -> None:
        self._scorer = scorer
        self._database = Database(path, _TABLE, "the cache of rerankers")

    @property
    def name(self) -> str:
        """The name of the scorer inside: the scores are the same."""
        return self._scorer.name

    @property
    def blend(self) -> Blend:
        """How the scores join the ranking's probabilities."""
        return self._scorer.blend

    def score(self, query: Query, chunks: Sequence[Chunk]) -> list[float]:
        """Return one score a chunk, asking the scorer inside only for what it never read."""
        keys = [self._key(query.text, chunk) for chunk in chunks]
        known = self._database.look_up("SELECT key, score FROM scores WHERE key IN", keys)
        new = {key: chunk for key, chunk in zip(keys, chunks, strict=True) if key not in known}
        if new:
            known.update(zip(new, map(float, self._scorer.score(query, list(new.values()))), strict=True))
            self._database.put("INSERT OR REPLACE INTO scores VALUES (?, ?)", [(key, known[key]) for key in new])
        return [known[key] for key in keys]

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _key(self, question: str, chunk: Chunk) -> bytes:
        return sha256(f"{self.name}\0{question}\0{view(chunk)}".encode("utf-8", "surrogatepass")).digest()
