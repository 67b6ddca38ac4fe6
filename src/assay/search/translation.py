"""Detect a question's language and replace its words by English ones from a learned lexicon.

English is what nothing speaks against: one word of another language more than words of English is needed, and code,
identifiers and what stands in quotes do not count. A question without any such word costs a look at each of its words.

Words are looked up by their stems, without accents: many people type without. Chinese and Japanese have no spaces:
their text is cut into the likeliest pieces that the table knows. German runs words together: what is unknown is cut
in two words that are known. The tables are learned by `benchmarks/languages.py lexicon`; docs/models says from what.

Code, identifiers, what stands in quotes and what the lexicon does not know stay in their places as they were typed.

Only the words of that language are replaced, so words and meaning are searched as they are for a
question in English.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from threading import Lock

import Stemmer

from assay.terms import STOP_WORDS

FOLDER = Path(__file__).parent / "data" / "lexicons"
LANGUAGES = ("zh", "de", "es", "fr", "it", "ja", "pt", "ru")
"""The languages that have a lexicon."""
NAMES = dict(
    pair.split(":")
    for pair in (
        "ar:Arabic bn:Bengali cs:Czech da:Danish de:German el:Greek en:English es:Spanish fi:Finnish fr:French "
        "he:Hebrew hi:Hindi hu:Hungarian hy:Armenian it:Italian ja:Japanese ka:Georgian ko:Korean nl:Dutch pl:Polish "
        "pt:Portuguese ro:Romanian ru:Russian sv:Swedish ta:Tamil th:Thai tr:Turkish uk:Ukrainian vi:Vietnamese "
        "zh:Chinese"
    ).split()
)
"""The languages that are recognized, by their code (ISO 639-1)."""

_SCRIPTS = (
    ("ja", r"[\u3040-\u30ff]"),
    ("zh", r"[\u3400-\u4dbf\u4e00-\u9fff]"),
    ("ko", r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]"),
    ("uk", r"[іїєґІЇЄҐ]"),
    ("ru", r"[\u0400-\u04ff]"),
    ("ar", r"[\u0600-\u06ff]"),
    ("he", r"[\u0590-\u05ff]"),
    ("hi", r"[\u0900-\u097f]"),
    ("bn", r"[\u0980-\u09ff]"),
    ("ta", r"[\u0b80-\u0bff]"),
    ("th", r"[\u0e00-\u0e7f]"),
    ("ka", r"[\u10a0-\u10ff]"),
    ("hy", r"[\u0530-\u058f]"),
    ("el", r"[\u0370-\u03ff]"),
)
"""The first script that a question has letters of names its language; Japanese has Han characters, too."""
_MIN_FOREIGN_FRACTION = 0.25
"""A fraction of the letters, if there are English stop words beside them: fewer are a word in question."""
_FOREIGN = 2  # words of English that one of another language outweighs: developers mix theirs with English
_GREEK = 3  # letters: fewer are symbols

QUOTED = re.compile(r'"[^"]*"|`[^`]*`|“[^”]*”|「[^」]*」|«[^»]*»')
WORD = re.compile(r"\w+(?:[-./:@\\]+\w+)*")
CODE = re.compile(r"\d|_|[a-z][A-Z]|[A-Z]{2}|\w[./:@\\]+\w")
"""What makes a word a piece of code: a digit, an underscore, capitals inside, a path."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Frequent words of languages in Latin letters, each with the codes of those that have it, space between."""

    own: Mapping[str, str]
    """Words that English does not have."""
    shared: Mapping[str, str]
    """Words that English has, too; they speak for neither."""


def language_of(text: str, is_english: Callable[[str], bool]) -> str:
    """Return the code of the language of a question; `is_english` knows the words of English, in small letters."""
    text = QUOTED.sub(" ", text)
    return _by_script(text) or _by_words(text, is_english)


def _by_script(text: str) -> str:
    if text.isascii():
        return ""
    letters = sum(map(str.isalpha, text))
    for language, script in _SCRIPTS:
        if found := len(re.findall(script, text)):
            beside = any(word.lower() in STOP_WORDS for word in WORD.findall(text))
            few = found < _MIN_FOREIGN_FRACTION * letters and beside
            return "" if few or (language == "el" and found < _GREEK) else language
    return ""


def _by_words(text: str, is_english: Callable[[str], bool]) -> str:
    words, marks = set(_plain_words(text)), read_marks()
    counts = Counter(language for word in words for language in marks.own.get(word, "").split())
    for language, count in sorted(counts.items(), key=lambda item: (-item[1], item[0] not in LANGUAGES, item[0])):
        own = {word for word in words if language in marks.own.get(word, "").split()}
        shared = {word for word in words if language in marks.shared.get(word, "").split()}
        sure = count > 1 or language in LANGUAGES
        if sure and _outweighs(own, words - own - shared, is_english):
            return language
    return "en"


def _outweighs(own: AbstractSet[str], rest: AbstractSet[str], is_english: Callable[[str], bool]) -> bool:
    """Return whether words of a language outweigh the English ones; stop words first, as the rest takes longer."""
    weight = _FOREIGN * len(own)
    if len(rest & STOP_WORDS) >= weight or (len(own) == 1 and is_english(*own)):
        return False
    return sum(map(is_english, rest)) < weight


def _plain_words(text: str) -> Iterator[str]:
    for word in WORD.findall(text):
        if not CODE.search(word):
            yield from word.lower().split("-")


@cache
def read_marks() -> Marks:
    """Read what was learned about the languages of Latin letters."""
    return Marks(**json.loads((FOLDER / "marks.json").read_text(encoding="utf-8")))


UNSPACED_LANGUAGES = ("zh", "ja")
UNSPACED = re.compile(r"[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff々〆ー]+")
"""Runs of Han characters and of both kana."""

_STEMMERS = {"de": "german", "es": "spanish", "ru": "russian", "fr": "french", "pt": "portuguese", "it": "italian"}
_MAX_PIECE_CHARS = 10
_MIN_HALF_CHARS = 4  # letters of a word that is run together with another
_LINKS = ("s", "n", "en", "es")  # what may stand between them
_WORD_CACHE_SIZE = 4096

_lock = Lock()  # PyStemmer objects are not thread-safe


@dataclass(frozen=True, slots=True)
class LexiconEntry:
    """What a lexicon has of a stem or a piece."""

    count: int
    """How often it occurred."""
    english: tuple[str, ...] = ()
    """English words for it, best first; none if it has no meaning in a question."""


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
            starts = range(max(0, end - _MAX_PIECE_CHARS), end)
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
        for at in range(len(word) - _MIN_HALF_CHARS, _MIN_HALF_CHARS - 1, -1):
            right = self._telling(word[at:])
            firsts = [word[:at], *(word[:at].removesuffix(link) for link in _LINKS if word[:at].endswith(link))]
            left = right and next(filter(None, map(self._telling, firsts)), None)
            if left and right:
                return (left.english[0], right.english[0])
        return None

    def _telling(self, word: str) -> LexiconEntry | None:
        found = self.entries.get(key_of(word, self.language))
        return found if found and found.english else None


@lru_cache
def load_lexicon(language: str) -> Lexicon:
    """Read the lexicon of a language that ships."""
    return read_lexicon(FOLDER / f"{language}.tsv")


def read_lexicon(path: Path) -> Lexicon:
    """Read a lexicon from a file that is named after its language."""
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return Lexicon(path.stem, {key: LexiconEntry(int(count), tuple(words.split())) for key, count, words in rows})


@lru_cache(_WORD_CACHE_SIZE)
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


def in_english(text: str, lexicon: Lexicon) -> str:
    """Replace the words of a language by English ones; lines stay lines, as an issue has them."""
    pieces = re.split(f"({QUOTED.pattern})", text)  # every second one stands in quotes
    pieces[::2] = (_words_replaced(piece, lexicon) for piece in pieces[::2])
    return "\n".join(" ".join(line.split()) for line in "".join(pieces).splitlines()).strip()


def _words_replaced(text: str, lexicon: Lexicon) -> str:
    if lexicon.language in UNSPACED_LANGUAGES:
        return UNSPACED.sub(lambda run: f" {_of_run(run.group(), lexicon)} ", text)
    return WORD.sub(lambda word: _of_word(word.group(), lexicon), text)


def _of_run(run: str, lexicon: Lexicon) -> str:
    found = (lexicon.entries.get(piece) for piece in lexicon.pieces(run))
    return " ".join(word for entry in found if entry for word in entry.english)


def _of_word(word: str, lexicon: Lexicon) -> str:
    if CODE.search(word):
        return word
    if "-" in word:
        return " ".join(_of_word(part, lexicon) for part in word.split("-"))
    english = lexicon.english(word)
    if english is None:
        return word if word.isascii() else ""
    return " ".join(english)


_QUESTION_CACHE_SIZE = 4096  # questions: each is read for the search and for the answer


@dataclass(frozen=True, slots=True)
class Reading:
    """What a question is searched for as, and its language."""

    text: str
    language: str = ""
    """The English name of the language of the question; empty if that is English."""
    is_read: bool = True
    """Whether there is a lexicon of the language; if not, the text is as it was typed."""


@dataclass(frozen=True)
class Translator:
    """Reads questions in other languages than English; `dictionary` gives the words of English."""

    dictionary: Callable[[], frozenset[str]]

    @cached_property
    def read(self) -> Callable[[str], Reading]:
        """Returns how a question is read: as it was typed if it is in English."""
        return lru_cache(_QUESTION_CACHE_SIZE)(self._read)

    def _read(self, text: str) -> Reading:
        language = language_of(text, lambda word: word in self.dictionary())
        if language == "en":
            return Reading(text)
        if language not in LANGUAGES:
            return Reading(text, NAMES[language], is_read=False)
        english = in_english(text, load_lexicon(language))
        return Reading(english or text, NAMES[language], is_read=bool(english))


def unread_note(language: str) -> str:
    """Return a note for a question in a language that is not read, with the next step."""
    others = ", ".join(sorted(NAMES[code] for code in LANGUAGES))
    return f"questions in {language} are not read: ask in English, {others}, or name the code"
