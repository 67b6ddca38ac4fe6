"""A question and a chunk in, whether the chunk is where a pasted or quoted message comes from.

A message that was pasted stands in the code as a string whose variable parts are holes (`{name}`, `%s`, `${port}`); the
question may have a time and a level before it, as logs do. What was quoted, or is the whole question, may stand
anywhere in the chunk. Words are compared as they stand, without letter case and punctuation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from assay.search.question import Question
from assay.search.shared_phrases import READ, spaced, spaced_text
from assay.terms import STOP_WORDS

_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"|\'((?:[^\'\\\n]|\\.)*)\'|`((?:[^`\\]|\\.)*)`')
_HOLE = re.compile(r"%\(\w+\)\w|%[-+ #0-9.*]*[a-zA-Z]|[$#]?\{[^{}]*\}|\\\([^()]*\)|\$\w+|<\w+>|\\[nrt\"'`]")
_LEAST_WORDS, _LEAST_TELLING = 4, 2
_KEPT = 1024  # chunks

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


@lru_cache(_KEPT)
def _messages(text: str) -> tuple[Message, ...]:
    return tuple(_parts_of_strings(text[:READ]))


def _parts_of_strings(text: str) -> Iterator[Message]:
    for found in _STRING.finditer(text):
        parts = tuple(spaced(part) for part in _HOLE.split(found[found.lastindex or 0]))
        if _long_enough("".join(parts)):
            yield tuple(part for part in parts if part.strip())
