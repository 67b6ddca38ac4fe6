"""A question and its order in, why it cannot be used out, in words that whoever wrote it can act on.

Nothing is trusted that can be checked: a hard question may share no telling word with the names of its unit, none may
spell out an identifier, name a file or lines, or say next to nothing. What is right is said by the index alone.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from assay.terms import WORD, terms
from assay.truth.mine.question_kinds import kind_of, words_of
from assay.truth.mine.subjects import TELLING, telling
from assay.truth.written.question_orders import QuestionOrder

SHORTEST, LONGEST = 4, 60
"""Words of a question."""
_MOST_CHARACTERS = 500
_PLACE = re.compile(r"\blines?\s+\d+|[\w.]:\d+(?:-\d+)?\b|\bL\d+\b|[\w-]+/[\w./-]*\.\w{1,5}\b", re.IGNORECASE)
_MARKUP = re.compile(r"`|</?\w+[^>]*>|https?://")


def fault_of_question(question: str, order: QuestionOrder) -> str:
    """Return why a question cannot be used, or nothing."""
    words = WORD.findall(question)
    if not SHORTEST <= len(words) <= LONGEST or len(question) > _MOST_CHARACTERS:
        return f"it has {len(words)} words; wanted {SHORTEST} to {LONGEST}"
    if not question.isprintable() or _MARKUP.search(question):
        return "it holds markup, quoted code, an address, or characters that no sentence has"
    if _PLACE.search(question) or PurePosixPath(order.path).name.casefold() in question.casefold():
        return "it names a file or lines: ask about what the unit does"
    if kind_of(question, [order.unit]) == "symbol" or _spells_out(question, order):
        return f"it names '{order.symbol}': ask without identifiers"
    if order.kind == "hard" and (shared := shared_words(question, order)):
        return f"it shares words with the names of the unit: {', '.join(shared)}; say it in other words"
    return "" if len(telling(question)) >= TELLING else "it says too little of what is looked for"


def shared_words(question: str, order: QuestionOrder) -> list[str]:
    """Return the words of a question that also stand in the path, names or signature of its unit."""
    known = words_of(order.unit)
    return [word for word in dict.fromkeys(WORD.findall(question)) if telling(word) & known]


def same_question(question: str) -> tuple[str, ...]:
    """Return what two questions that ask the same in other order or endings have in common."""
    return tuple(sorted(telling(question))) or tuple(terms(question))


def _spells_out(question: str, order: QuestionOrder) -> bool:
    """Say whether a name of several parts stands in a question as it is written in code, in any letter case."""
    asked = {word.casefold() for word in WORD.findall(question)}
    names = {order.symbol, order.parent.rpartition(".")[2]}
    return any("_" in name.strip("_") and name.casefold() in asked for name in names)
