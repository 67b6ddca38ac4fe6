"""Cache vectors in one SQLite file, so that each text is encoded once per encoder and role.

The key is the content, not the place: renamed files, other branches and other repositories hit the same entries.
Several processes may share the file; what two of them encode at once is written twice with the same value.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from assay.encode.vectors import unit
from assay.io.database import Database
from assay.protocols import Encoder, Role, Vectors, reads_order

_TABLE = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"


class CachedEncoder:
    """An encoder that caches the vectors of another encoder."""

    def __init__(self, encoder: Encoder, path: Path) -> None:
        self._encoder, self.reads_order = encoder, reads_order(encoder)
        self._database = Database(path, _TABLE, "the encoder cache")

    @property
    def name(self) -> str:
        """The name of the encoder inside: the vectors are the same."""
        return self._encoder.name

    @property
    def dimension(self) -> int:
        """The width of a vector."""
        return self._encoder.dimension

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Return one unit-length row a text; only texts that are not in the cache are encoded."""
        keys = [self._key(text, role) for text in texts]
        known = self._read(keys)
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            fresh = self._encoder.encode(list(new.values()), role)
            known.update(zip(new, fresh, strict=True))
            self._write({key: known[key] for key in new})
        if not keys:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return unit(np.stack([known[key] for key in keys]))

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _key(self, text: str, role: Role) -> bytes:
        return sha256(f"{self.name}\0{role}\0{text}".encode("utf-8", "surrogatepass")).digest()

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        """Return the vectors that are stored."""
        stored = self._database.look_up("SELECT key, vector FROM vectors WHERE key IN", keys)
        return {key: np.frombuffer(vector, dtype=np.float16).astype(np.float32) for key, vector in stored.items()}

    def _write(self, fresh: dict[bytes, Vectors]) -> None:
        """Store vectors as float16."""
        rows = [(key, vector.astype(np.float16).tobytes()) for key, vector in fresh.items()]
        self._database.put("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
