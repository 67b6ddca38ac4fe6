"""A word of another language in, the few English words that stand for it out: a table that was learned for each.

Words are looked up by their stems, without accents: many people type without. Chinese and Japanese have no spaces:
their text is cut into the likeliest pieces that the table knows. German runs words together: what is unknown is cut
in two words that are known. The tables are learned by `benchmarks/languages.py lexicon`; docs/models says from what.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from threading import Lock

import Stemmer

from assay.search.asked_language import FOLDER

UNSPACED_LANGUAGES = ("zh", "ja")
UNSPACED = re.compile(r"[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff々〆ー]+")
"""Runs of Han characters and of both kana."""

_STEMMERS = {
    "de": "german",
    "es": "spanish",
    "ru": "russian",
    "fr": "french",
    "pt": "portuguese",
    "it": "italian",
}
_LONGEST_PIECE = 10
_SHORTEST_HALF = 4  # letters of a word that is run together with another
_LINKS = ("s", "n", "en", "es")  # what may stand between them
_KNOWN = 4096

_lock = Lock()  # PyStemmer objects are not thread-safe


@dataclass(frozen=True, slots=True)
class LexiconEntry:
    """What is known of a stem or a piece."""

    count: int
    """How often it was met."""
    english: tuple[str, ...] = ()
    """The words that stand for it, best first; none for one that says nothing in a question."""


@dataclass(frozen=True)
class Lexicon:
    """The words of one language that a question may hold, by stem or piece."""

    language: str
    entries: Mapping[str, LexiconEntry]

    def english(self, word: str) -> tuple[str, ...] | None:
        """Return the English for one word of a language that has spaces; None where it is unknown."""
        found = self.entries.get(key_of(word, self.language))
        if found is not None:
            return found.english
        return self._halves(word.lower()) if self.language == "de" else None

    def pieces(self, run: str) -> list[str]:
        """Cut text without spaces into the pieces whose counts make it likeliest."""
        best: list[tuple[float, int]] = [(0.0, 0)]
        for end in range(1, len(run) + 1):
            starts = range(max(0, end - _LONGEST_PIECE), end)
            best.append(max((best[start][0] + self._weight(run[start:end]), start) for start in starts))
        ends = [len(run)]
        while ends[-1]:
            ends.append(best[ends[-1]][1])
        ends.reverse()
        return [run[start:end] for start, end in pairwise(ends)]

    def _weight(self, piece: str) -> float:
        found = self.entries.get(piece)
        if found is None:
            return -math.inf if len(piece) > 1 else -self._total - 1
        return math.log(found.count) - self._total

    @cached_property
    def _total(self) -> float:
        return math.log(sum(entry.count for entry in self.entries.values()) + 1)

    def _halves(self, word: str) -> tuple[str, ...] | None:
        """Return the best English word of each of two words that are run together, the longest first one wins."""
        for at in range(len(word) - _SHORTEST_HALF, _SHORTEST_HALF - 1, -1):
            right = self._telling(word[at:])
            left = right and next(filter(None, map(self._telling, _unlinked(word[:at]))), None)
            if left and right:
                return (left.english[0], right.english[0])
        return None

    def _telling(self, word: str) -> LexiconEntry | None:
        found = self.entries.get(key_of(word, self.language))
        return found if found and found.english else None


def _unlinked(word: str) -> Iterator[str]:
    """Yield a first word as it stands, then without what links it to the next."""
    yield word
    yield from (word.removesuffix(link) for link in _LINKS if word.endswith(link))


@lru_cache
def load_lexicon(language: str) -> Lexicon:
    """Read the lexicon of a language that ships."""
    return read_lexicon(FOLDER / f"{language}.tsv")


def read_lexicon(path: Path) -> Lexicon:
    """Read a lexicon from a file that is named after its language."""
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return Lexicon(path.stem, {key: LexiconEntry(int(count), tuple(words.split())) for key, count, words in rows})


@lru_cache(_KNOWN)
def key_of(word: str, language: str) -> str:
    """Return what a word is looked up by: its stem in small letters, without accents."""
    plain = without_accents(word.lower())
    if language not in _STEMMERS:
        return plain
    with _lock:
        stem: str = _stemmer(language).stemWord(plain)
    return stem


def without_accents(word: str) -> str:
    """Return a word of Latin or Cyrillic letters in those that are easiest to type."""
    if word.isascii():
        return word
    plain = unicodedata.normalize("NFD", word.replace("й", "\0"))
    letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return letters.replace("\0", "й").replace("ß", "ss")


@lru_cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(_STEMMERS[language], 0)
