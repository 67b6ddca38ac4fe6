"""A question as typed in, the question as meant out: words that nobody wrote anywhere are corrected.

A word is corrected only when the corpus does not hold it and no dictionary knows it, to the nearest word by
transpositions and single edits (optimal string alignment) that the corpus does hold. People type in code search
as in web search; a valid word that the corpus lacks is left alone, for its meaning still counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from assay.protocols import Searcher
from assay.search.question import LONG
from assay.store.snapshot import Snapshot
from assay.terms import STOP_WORDS, stem
from assay.types import Hit, Query

_WORD = re.compile(r"(?<!\w)[A-Za-z]{4,40}(?!\w)")  # no part of an identifier or of a word with other letters
_TRIED = 24  # the nearest words that are looked up
_KEPT = 4096  # words: who types asks the same ones again with every letter


@dataclass(frozen=True)
class Speller:
    """Corrects queries about one snapshot; `dictionary` gives the words that are right anyway."""

    snapshot: Snapshot
    dictionary: Callable[[], frozenset[str]]

    def corrected(self, text: str) -> str:
        """Return the text with its misspelt words replaced, a long one as it is."""
        return text if len(text) > LONG else _WORD.sub(lambda found: self._known_corrections(found.group()), text)

    @cached_property
    def _known_corrections(self) -> Callable[[str], str]:
        return lru_cache(_KEPT)(self._corrected)

    def _corrected(self, word: str) -> str:
        if word != word.lower() and word != word.capitalize():
            return word
        plain = word.lower()
        if plain in STOP_WORDS or self._is_held(plain) or plain in self._known:
            return word
        return self._nearest(plain) or self._split(plain) or word

    def _is_held(self, word: str) -> bool:
        """Say whether any chunk holds a word."""
        return any(map(self.snapshot.holds, _terms_of(word)))

    def _count_chunks_with(self, word: str) -> int:
        """Return how many chunks hold a word."""
        return max(len(self.snapshot.postings(term)[0]) for term in _terms_of(word))

    @cached_property
    def _known(self) -> frozenset[str]:
        return self.dictionary()

    @cached_property
    def _choices(self) -> list[str]:
        corpus = {term for term in self.snapshot.terms() if term.isalpha() and len(term) > 3}
        return sorted(corpus | {word for word in self._known if len(word) > 3})

    def _nearest(self, word: str) -> str | None:
        """Return the nearest word that the corpus holds.

        Of equals one with the same first letter, then the commonest, then a word before its stem: `cache`, not `cach`.
        """
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        edits = 1 if len(word) < 8 else 2
        found = process.extract(word, self._choices, scorer=OSA.distance, score_cutoff=edits, limit=_TRIED)
        held = [
            (distance, choice[0] != word[0], -self._count_chunks_with(choice), choice == stem(choice), choice)
            for choice, distance, _ in found
        ]
        return next((choice for _, _, count, _, choice in sorted(held) if count), None)

    def _split(self, word: str) -> str | None:
        """Return two words run together, both held, as two."""
        halves = ((word[:i], word[i:]) for i in range(3, len(word) - 2))
        return next(
            (f"{left} {right}" for left, right in halves if self._is_right(left) and self._is_right(right)), None
        )

    def _is_right(self, word: str) -> bool:
        return word in self._known and self._is_held(word)


def _terms_of(word: str) -> tuple[str, str]:
    """Return the terms that an index may hold a word as: its stem, and an identifier that it is."""
    return stem(word), "=" + word


@dataclass(frozen=True, slots=True)
class SpellCorrected:
    """Search with `inner` for what was meant."""

    inner: Searcher
    speller: Speller

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return what `inner` does for the queries with their spelling corrected."""
        return self.inner.search([replace(query, text=self.speller.corrected(query.text)) for query in queries], k)
