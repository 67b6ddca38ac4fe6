"""Split text into the terms that lexical search, views and features share.

An identifier yields its parts, stemmed (`HTTPServers` → `http`, `server`), and, when it has
several, itself as one exact term (`=httpservers`). Letters and their accents are one character, whichever way they are
written. The words used last are kept: a repository has few that are frequent.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from threading import Lock

import Stemmer

WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_MAX_IDENTIFIER_CHARS = 80
_WORD_CACHE_SIZE = 16_384
"""A server sees new words forever; of kafka's 84,000 the rarest are split twice, in no measurable time."""
_GAPS = bytes(code if WORD.match(chr(code)) else ord(" ") for code in range(256))

_stemmer = Stemmer.Stemmer("english", 0)
_stemmer_lock = Lock()  # PyStemmer objects are not thread-safe

STOP_WORDS = frozenset(
    "a an and are as at be but by do does for from has have how i if in into is it its me my not of on or our "
    "should so that the their them then there these this those to us was we were what when where which while "
    "who why will with would you your can could get".split()
)
"""Words that carry no meaning in a question; never dropped from an identifier or a quoted phrase."""


def composed(text: str) -> str:
    """Return a text in which a letter and its accents are one character (NFC)."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


@lru_cache(_WORD_CACHE_SIZE)
def stem(word: str) -> str:
    """Return the stem of a lower-case word (Porter 2)."""
    with _stemmer_lock:
        stemmed: str = _stemmer.stemWord(word)
    return stemmed


@lru_cache(_WORD_CACHE_SIZE)
def parts(identifier: str) -> tuple[str, ...]:
    """Split `snake_case`, `camelCase`, `HTTPServer2` into lower-case parts, unstemmed."""
    return tuple(map(str.lower, _PART.findall(composed(identifier[:_MAX_IDENTIFIER_CHARS]))))


@lru_cache(_WORD_CACHE_SIZE)
def terms_of(identifier: str) -> tuple[str, ...]:
    """Return the terms under which one identifier is found: stemmed parts, then the whole."""
    pieces = parts(identifier)
    stems = tuple(map(stem, pieces))
    return (*stems, exact(identifier)) if len(pieces) > 1 else stems


def exact(identifier: str) -> str:
    """Return the term that only this identifier yields, in any letter case and with `_` or without."""
    return "=" + composed(identifier).replace("_", "")[:_MAX_IDENTIFIER_CHARS].lower()


def words(text: str) -> list[str]:
    """Return the words of a composed text, matches of `WORD`: plain ASCII, nearly all code, in half the time."""
    return text.encode().translate(_GAPS).decode().split() if text.isascii() else WORD.findall(composed(text))


@lru_cache(8192)
def spaced(text: str) -> str:
    """Return the words of a text in lower case, with a blank on either side of each."""
    return f" {' '.join(words(text.lower()))} "


def terms(text: str) -> list[str]:
    """Return the terms of a text in order."""
    return [term for word in words(text) for term in terms_of(word)]


def same_words(text: str) -> str:
    """Return a text in a form that ignores letter case and white space."""
    return " ".join(text.lower().split())


_BYTES_A_TOKEN = 3
"""Low for code, so that a text that is said to fit does fit."""


def tokens(text: str) -> int:
    """Estimate, on the high side, how many tokens a language model makes of a text."""
    return -(-len(text.encode("utf-8", "backslashreplace")) // _BYTES_A_TOKEN)
