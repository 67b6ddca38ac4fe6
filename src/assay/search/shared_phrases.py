"""Runs of words that stand in a question and in a chunk alike: pasted messages, quoted lines, names in a row.

The variable parts of a message are holes: three words in a row are enough for a match, wherever they stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby

import numpy as np

from assay.search.lexical import Array
from assay.terms import words
from assay.types import Chunk

PHRASE_FEATURES = ("phrase", "phrase_long", "phrase_any")

READ = 20_000
"""Characters of a chunk that are compared word by word."""
_RUN = 3  # words that make a phrase
_LONG = 12  # words from which a phrase is as good as it gets
_ASKED = 200  # words of a question
_KEPT = 1024  # chunks


def phrase_features(text: str, chunks: Sequence[Chunk]) -> Array:
    """Return how much of a question stands word by word in each chunk, shape `(chunks, len(PHRASE_FEATURES))`.

    The fraction of its runs of three words, the longest run in twelfths of twelve words, and whether there is one of
    five.
    """
    asked = words(text.lower())[:_ASKED]
    runs = [f" {' '.join(asked[at : at + _RUN])} " for at in range(len(asked) - _RUN + 1)]
    if len(runs) < 2:
        return np.zeros((len(chunks), len(PHRASE_FEATURES)), dtype=np.float32)
    return np.array([_row(runs, spaced_text(chunk.text)) for chunk in chunks], dtype=np.float32).reshape(
        len(chunks), len(PHRASE_FEATURES)
    )


def _row(runs: Sequence[str], text: str) -> tuple[float, float, float]:
    there = [run in text for run in runs]
    longest = max((sum(1 for _ in group) for found, group in groupby(there) if found), default=0)
    long = min(longest + _RUN - 1, _LONG) / _LONG if longest else 0.0
    return sum(there) / len(runs), long, float(longest >= _RUN)


def spaced(text: str) -> str:
    """Return the words of a text in lower case, with a blank on either side of each."""
    return f" {' '.join(words(text.lower()))} "


@lru_cache(_KEPT)
def spaced_text(text: str) -> str:
    """Return the same of a chunk's text, as far as that is read; several questions look at one chunk."""
    return spaced(text[:READ])
