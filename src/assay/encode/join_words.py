"""Word vectors of another model joined to a table: what two models know of words, in rows of the same width.

    the table's rows        (entries, 256)   as long as training left them: how much a word counts
    the other model's       (entries, 768)   unit length, centred, and as long as the table's rows, times a weight
    joined                  (entries, 1024)  side by side, so a cosine of sums is a mean of both models' cosines
    kept                    (entries, 256)   the directions that hold most of the sums of real texts

A word that the other model does not know gets a vector from the table's own: the ridge regression that was fitted on
the words that both know. Such a vector is short where the table's row tells little about the other model's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.encode.bags import TokenBags
from assay.encode.stages import sums
from assay.encode.train_settings import JoinSettings
from assay.encode.vectors import unit
from assay.encode.word_vectors import WordVectors
from assay.errors import InputError
from assay.protocols import Vectors

_SHORTEST = 1e-6  # a row without a length has no direction


def join(table: Vectors, entries: Sequence[str], words: WordVectors, settings: JoinSettings) -> Vectors:
    """Return the rows of a table with the other model's vectors of the same words beside them."""
    places = words.places_of(entries)
    if not (places >= 0).any():
        raise InputError(
            f"none of the {len(words.tokens):,} words of '{words.name}' is in the table: wanted whole lower-case words"
        )
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    others = completed(table / np.maximum(lengths, _SHORTEST), centred(words.vectors), places, settings.ridge)
    joined: Vectors = np.hstack([table, settings.weight * others * lengths])
    return joined


def centred(vectors: Vectors) -> Vectors:
    """Return vectors of unit length without what all of them share; a row of zeros has only the latter to lose."""
    directions = unit(vectors.copy())
    return unit(directions - directions.mean(0))


def completed(rows: Vectors, vectors: Vectors, places: NDArray[np.int64], ridge: float) -> Vectors:
    """Return a vector for each row: the one at its place, or, where that is -1, what the rows make likely."""
    known = places >= 0
    seen, wanted = rows[known], vectors[places[known]]
    penalty = ridge * np.eye(rows.shape[1], dtype=np.float32)
    vectors_of_rows: Vectors = rows @ np.linalg.solve(seen.T @ seen + penalty, seen.T @ wanted)
    vectors_of_rows[known] = wanted
    return vectors_of_rows


def narrowed(joined: Vectors, texts: TokenBags, dimension: int) -> Vectors:
    """Return the rows in the directions that hold most of the sums of texts, which turns them and cuts the rest."""
    read = sums(joined, texts)
    if min(read.shape) < dimension:
        raise InputError(
            f"{len(read)} texts of {read.shape[1]} numbers have fewer than {dimension} directions: "
            "add pairs, or --set dimension=N"
        )
    _, _, directions = np.linalg.svd(read, full_matrices=False)
    narrow: Vectors = (joined @ directions[:dimension].T).astype(np.float32)
    return narrow
