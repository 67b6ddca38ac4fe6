"""A question in another language in, English words to search for out, with the language that it was read as.

Only the words of that language are replaced (`replaced_words`), so words and meaning are searched as they are for a
question in English.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from assay.protocols import Searcher
from assay.search.asked_language import LANGUAGES, NAMES, language_of
from assay.types import Hit, Query

_KEPT = 4096  # questions: each is read for the search and for the answer


@dataclass(frozen=True, slots=True)
class Reading:
    """What a question is searched for as."""

    text: str
    language: str = ""
    """The language that it was asked in, in English; empty if that is English."""
    is_read: bool = True
    """Whether there is a lexicon of the language; if not, the text is as it was typed."""


@dataclass(frozen=True)
class Translator:
    """Reads questions in other languages than English; `dictionary` gives the words of English."""

    dictionary: Callable[[], frozenset[str]]

    def read(self, text: str) -> Reading:
        """Return how a question is read: as it was typed if it is in English."""
        return self._known_readings(text)

    @cached_property
    def _known_readings(self) -> Callable[[str], Reading]:
        return lru_cache(_KEPT)(self._read)

    @cached_property
    def _english(self) -> frozenset[str]:
        return self.dictionary()

    def _read(self, text: str) -> Reading:
        language = language_of(text, lambda word: word in self._english)
        if language == "en":
            return Reading(text)
        if language not in LANGUAGES:
            return Reading(text, NAMES[language], is_read=False)
        from assay.search.lexicon import load_lexicon  # and what replaces words: not for a question in English
        from assay.search.replaced_words import in_english

        english = in_english(text, load_lexicon(language))
        return Reading(english or text, NAMES[language], is_read=bool(english))


@dataclass(frozen=True, slots=True)
class TranslatedSearcher:
    """Search with `inner` for what was asked, in English words."""

    inner: Searcher
    translator: Translator

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return what `inner` does for the queries as they are read."""
        return self.inner.search([replace(query, text=self.translator.read(query.text).text) for query in queries], k)


def unread_note(language: str) -> str:
    """Return what to tell who asked in a language that is not read, and what to do."""
    others = ", ".join(sorted(NAMES[code] for code in LANGUAGES))
    return f"questions in {language} are not read: ask in English, {others}, or name the code"
