"""Find phrases and pasted messages that a question and a chunk share.

The variable parts of a message are holes: three words in a row are enough for a match, wherever they stand.

A message that was pasted stands in the code as a string whose variable parts are holes (`{name}`, `%s`, `${port}`); the
question may have a time and a level before it, as logs do. What was quoted, or is the whole question, may stand
anywhere in the chunk. Words are compared as they stand, without letter case and punctuation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby

import numpy as np

from assay.search.lexical import Array
from assay.search.question import Question
from assay.terms import STOP_WORDS, words
from assay.values import Chunk

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


_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"|\'((?:[^\'\\\n]|\\.)*)\'|`((?:[^`\\]|\\.)*)`')
_HOLE = re.compile(r"%\(\w+\)\w|%[-+ #0-9.*]*[a-zA-Z]|[$#]?\{[^{}]*\}|\\\([^()]*\)|\$\w+|<\w+>|\\[nrt\"'`]")
_LEAST_WORDS, _LEAST_TELLING = 4, 2
_KEPT_CHUNKS = 1024  # chunks

Message = tuple[str, ...]
"""What stands between the holes of a string, as words with a blank on either side."""


def comes_from(question: Question, text: str) -> bool:
    """Tell whether a question is a message of a text, or quotes it."""
    asked = spaced(question.text)
    quotes = [asked, *map(spaced, question.phrases)]
    return any(_long_enough(quote) and quote in spaced_text(text) for quote in quotes) or any(
        _stands_in(message, asked) for message in _messages(text)
    )


def _stands_in(message: Message, asked: str) -> bool:
    """Tell whether all parts of a message stand in a question, in their order."""
    at = 0
    for part in message:
        at = asked.find(part, at)
        if at < 0:
            return False
        at += len(part) - 1
    return True


def _long_enough(text: str) -> bool:
    found = text.split()
    return len(found) >= _LEAST_WORDS and sum(word not in STOP_WORDS for word in found) >= _LEAST_TELLING


@lru_cache(_KEPT_CHUNKS)
def _messages(text: str) -> tuple[Message, ...]:
    return tuple(_parts_of_strings(text[:READ]))


def _parts_of_strings(text: str) -> Iterator[Message]:
    for found in _STRING.finditer(text):
        parts = tuple(spaced(part) for part in _HOLE.split(found[found.lastindex or 0]))
        if _long_enough("".join(parts)):
            yield tuple(part for part in parts if part.strip())
