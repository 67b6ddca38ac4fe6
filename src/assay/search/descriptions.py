"""Chunks to the descriptions that are known of them: what was paid for once, kept in one sqlite file for all indexes.

The key is what a model is shown of a unit and neither its path nor who described it: a moved file, another branch and
a rebuilt index find what was written before, and nothing is described twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from assay.io.database import Database
from assay.search.filters import PROSE
from assay.types import Chunk

_TABLE = "CREATE TABLE IF NOT EXISTS descriptions (key BLOB PRIMARY KEY, text TEXT, chat TEXT) WITHOUT ROWID"
_LINES = 5  # of code without a name; fewer are imports, or the docstring of a module
_LONGEST = 4000  # characters of a unit that a model is shown


def is_describable(chunk: Chunk) -> bool:
    """Say whether a chunk is a unit of code, or some lines; documentation says itself what it is about."""
    if chunk.language in PROSE or chunk.kind in {"section", "cell"}:
        return False
    return bool(chunk.symbol) or chunk.end_line - chunk.start_line + 1 >= _LINES


def shown(chunk: Chunk) -> str:
    """Return what a model is shown of a unit."""
    named = " ".join(filter(None, (chunk.language, chunk.kind, ".".join(filter(None, (chunk.parent, chunk.symbol))))))
    return f"{named}\n{chunk.text[:_LONGEST].rstrip()}"


def key_of(chunk: Chunk) -> bytes:
    """Return what a unit's description is found by."""
    return sha256(shown(chunk).encode("utf-8", "surrogatepass")).digest()


class Descriptions:
    """Those in one file."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, _TABLE, "the store of descriptions")

    def known(self, chunks: Sequence[Chunk]) -> dict[bytes, str]:
        """Return the descriptions that are known, by the keys of their units."""
        keys = list({key_of(chunk) for chunk in chunks})
        return self._database.look_up("SELECT key, text FROM descriptions WHERE key IN", keys)

    def add(self, texts: Mapping[bytes, str], chat: str) -> None:
        """Keep descriptions, and who wrote them; they are on the disk when this returns."""
        rows = [(key, text, chat) for key, text in texts.items()]
        self._database.put("INSERT OR IGNORE INTO descriptions VALUES (?, ?, ?)", rows)

    def close(self) -> None:
        """Close the file."""
        self._database.close()


def with_descriptions(path: Path, chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return chunks with what is known of them; the file is opened here, for the process may be a fork."""
    if not path.exists():
        return list(chunks)
    code = [chunk for chunk in chunks if is_describable(chunk)]
    with closing(Descriptions(path)) as store:
        known = store.known(code)
    if not known:
        return list(chunks)
    return [replace(chunk, description=_of(chunk, known)) if is_describable(chunk) else chunk for chunk in chunks]


def _of(chunk: Chunk, known: Mapping[bytes, str]) -> str:
    return known.get(key_of(chunk), "")
