"""A question in, the language that it is asked in out: by its script, else by words that only one language uses.

English is what nothing speaks against: one word of another language more than words of English is needed, and code,
identifiers and what stands in quotes do not count. A question without any such word costs a look at each of its words.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from assay.terms import STOP_WORDS

FOLDER = Path(__file__).parent / "data" / "lexicons"
LANGUAGES = ("zh", "de", "es", "fr", "it", "ja", "pt", "ru")
"""The languages that have a lexicon."""
NAMES = {
    "ar": "Arabic",
    "bn": "Bengali",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hu": "Hungarian",
    "hy": "Armenian",
    "it": "Italian",
    "ja": "Japanese",
    "ka": "Georgian",
    "ko": "Korean",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "ta": "Tamil",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "vi": "Vietnamese",
    "zh": "Chinese",
}
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
_FEWEST = 0.25  # of the letters, where there are English stop words beside them: less is a word that is asked about
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
            few = found < _FEWEST * letters and beside
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
    """Say whether words of a language outweigh the English ones; stop words first, all of English is long to read."""
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
