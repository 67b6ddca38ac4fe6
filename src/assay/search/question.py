"""Take a question apart into weighted terms and names, and correct its spelling.

A word is corrected only when the corpus does not hold it and no dictionary knows it, to the nearest word by
transpositions and single edits (optimal string alignment) that the corpus does hold. Where the edits are many for
the length of the word, or a word is taken for two, that word has to be common: names of other programs and nonsense
are near to some rare word of any large corpus. A valid word that the corpus lacks is left alone, for its meaning still
counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

from assay.search.declared_names import QueryNames, typed_names
from assay.search.query_filters import LONG, unquoted
from assay.store.snapshot import Snapshot
from assay.terms import STOP_WORDS, WORD, exact, parts, stem

_QUOTED = re.compile(r'"((?:\\"|[^"])+)"|`([^`]+)`')
_TEST_WORDS = frozenset(("test", "spec", "fixtur", "mock", "assert", "unittest", "benchmark"))
_EXAMPLE_WORDS = frozenset(("exampl", "demo", "sampl", "tutori", "snippet"))
_ASIDE_WORDS = frozenset(
    ("changelog", "chang", "releas", "version", "contribut", "secur", "licens", "migrat", "upgrad")
)
_MAX_QUESTION_CHARS = 4000  # characters of a question that are read


@dataclass(frozen=True, slots=True)
class Question:
    """A query taken apart."""

    text: str
    """The text that was analyzed."""
    terms: tuple[str, ...]
    """Distinct stems of its telling words, in order."""
    words: tuple[str, ...]
    """The word that each of `terms` is the stem of."""
    names: tuple[str, ...]
    """Exact terms of identifiers: those typed, and neighbouring words run together (`parse args` → `=parseargs`)."""
    typed: QueryNames
    """Names as they were typed, to be found as they are declared."""
    phrases: tuple[str, ...]
    """What stood in quotes, to be found letter by letter."""
    about_tests: bool
    about_examples: bool
    about_asides: bool
    """Whether it is about the project rather than the program: its changes, its releases, how to contribute."""


def understand(text: str) -> Question:
    """Take a query apart; all of its words count when it has no telling one."""
    text = text[:_MAX_QUESTION_CHARS]
    words = WORD.findall(text)
    plain = list(chain.from_iterable(map(parts, words)))
    telling = [word for word in plain if word not in STOP_WORDS] or plain
    stems = list(map(stem, telling))
    word_of = dict(zip(reversed(stems), reversed(telling), strict=True))
    terms = tuple(dict.fromkeys(stems))
    return Question(
        text=text,
        terms=terms,
        words=tuple(word_of[term] for term in terms),
        names=tuple(dict.fromkeys(map(exact, [*(word for word in words if len(word) > 1), *_joined(plain)]))),
        typed=typed_names(text),
        phrases=tuple(unquoted(first) or second for first, second in _QUOTED.findall(text)),
        about_tests=not _TEST_WORDS.isdisjoint(terms),
        about_examples=not _EXAMPLE_WORDS.isdisjoint(terms),
        about_asides=not _ASIDE_WORDS.isdisjoint(terms),
    )


def _joined(plain: list[str]) -> list[str]:
    """Run two and three neighbouring words together; few enough to look all of them up."""
    plain = plain[:24]
    return ["".join(plain[i : i + n]) for n in (2, 3) for i in range(len(plain) - n + 1)]


_WORD = re.compile(r"(?<!\w)[A-Za-z]{4,40}(?!\w)")  # no part of an identifier or of a word with other letters
_TRIED = 24  # the nearest words that are looked up
_CORRECTION_CACHE_SIZE = 4096  # words: who types asks the same ones again with every letter
_EDIT_FRACTION = 0.2
"""Edits by letters typed from which a correction has to be common; one of five letters, two of ten."""
_COMMON, _COMMON_HALF = 0.002, 0.001
"""Fraction of the chunks that hold a common word, and either half of one that is split."""


@dataclass(frozen=True)
class Speller:
    """Corrects queries about one snapshot; `dictionary` gives words that are right even if the corpus lacks them."""

    snapshot: Snapshot
    dictionary: Callable[[], frozenset[str]]

    def corrected(self, text: str) -> str:
        """Return the text with its misspelt words replaced, a long one as it is."""
        return text if len(text) > LONG else _WORD.sub(lambda found: self._known_corrections(found.group()), text)

    @cached_property
    def _known_corrections(self) -> Callable[[str], str]:
        return lru_cache(_CORRECTION_CACHE_SIZE)(self._corrected)

    def _corrected(self, word: str) -> str:
        if word != word.lower() and word != word.capitalize():
            return word
        plain = word.lower()
        if plain in STOP_WORDS or self._is_held(plain) or plain in self.dictionary():
            return word
        return self._nearest(plain) or self._split(plain) or word

    def _is_held(self, word: str) -> bool:
        """Return whether any chunk holds a word, by its stem or as an identifier."""
        return any(map(self.snapshot.holds, (stem(word), f"={word}")))

    def _count_chunks_with(self, word: str) -> int:
        """Return how many chunks hold a word."""
        return max(len(self.snapshot.postings(term)[0]) for term in (stem(word), f"={word}"))

    @cached_property
    def _choices(self) -> list[str]:
        corpus = {term for term in self.snapshot.terms() if term.isalpha() and len(term) > 3}
        return sorted(corpus | {word for word in self.dictionary() if len(word) > 3})

    def _nearest(self, word: str) -> str | None:
        """Return the nearest word that the corpus holds.

        Of equals one with the same first letter, then the commonest, then a word before its stem: `cache`, not `cach`.
        """
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        edits = 1 if len(word) < 8 else 2
        found = process.extract(word, self._choices, scorer=OSA.distance, score_cutoff=edits, limit=_TRIED)
        candidates = [
            (distance, choice[0] != word[0], -count, choice == stem(choice), choice)
            for choice, distance, _ in found
            if (count := self._count_chunks_with(choice))
            > self.snapshot.size * (_COMMON if distance >= _EDIT_FRACTION * len(word) else 0)
        ]
        return min(candidates)[-1] if candidates else None

    def _split(self, word: str) -> str | None:
        """Return two words run together, both common, as two."""
        halves = ((word[:i], word[i:]) for i in range(3, len(word) - 2))
        least, count = self.snapshot.size * _COMMON_HALF, self._count_chunks_with
        both = (pair for pair in halves if self.dictionary().issuperset(pair) and min(map(count, pair)) > least)
        return next(map(" ".join, both), None)
