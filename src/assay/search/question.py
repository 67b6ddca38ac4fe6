"""What somebody typed in, what to look for out: weighted groups of terms, and what sort of question it is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from assay.search.declared_names import QueryNames, typed_names
from assay.terms import STOP_WORDS, WORD, exact, parts, stem

_QUOTED = re.compile(r'"([^"]+)"|`([^`]+)`')
_TEST_WORDS = frozenset(("test", "spec", "fixtur", "mock", "assert", "unittest", "benchmark"))
_EXAMPLE_WORDS = frozenset(("exampl", "demo", "sampl", "tutori", "snippet"))
_ASIDE_WORDS = frozenset(
    ("changelog", "chang", "releas", "version", "contribut", "secur", "licens", "migrat", "upgrad")
)
LONG = 300
"""Characters from which a text of several lines is taken for an issue; questions and pasted messages are shorter."""
_LONGEST = 4000  # characters of a question that are read


@dataclass(frozen=True, slots=True)
class Question:
    """A query taken apart."""

    text: str
    """What was read of it."""
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
    """About the project rather than the program: its changes, its releases, how to contribute."""


def understand(text: str) -> Question:
    """Take a query apart; all of its words count when it has no telling one."""
    text = text[:_LONGEST]
    words = WORD.findall(text)
    plain = [part for word in words for part in parts(word)]
    telling = [word for word in plain if word not in STOP_WORDS] or plain
    word_of = {stem(word): word for word in reversed(telling)}
    terms = tuple(dict.fromkeys(stem(word) for word in telling))
    return Question(
        text=text,
        terms=terms,
        words=tuple(word_of[term] for term in terms),
        names=tuple(dict.fromkeys((*_typed_names(words), *_joined(plain)))),
        typed=typed_names(text),
        phrases=tuple(first or second for first, second in _QUOTED.findall(text)),
        about_tests=not _TEST_WORDS.isdisjoint(terms),
        about_examples=not _EXAMPLE_WORDS.isdisjoint(terms),
        about_asides=not _ASIDE_WORDS.isdisjoint(terms),
    )


def _typed_names(words: list[str]) -> list[str]:
    return [exact(word) for word in words if len(word) > 1]


def _joined(plain: list[str]) -> list[str]:
    """Run two and three neighbouring words together; few enough to look all of them up."""
    plain = plain[:24]
    return [exact("".join(plain[i : i + n])) for n in (2, 3) for i in range(len(plain) - n + 1)]
