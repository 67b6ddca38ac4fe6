"""Have a model write ground truth: which units to ask about, and which questions can be used."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from random import Random
from typing import cast

from assay.errors import StorageError
from assay.runs.record import hash_of
from assay.terms import WORD, terms
from assay.truth import minable
from assay.truth.ground_truth import Truth
from assay.truth.requests import KINDS, SORTS, QuestionKind, UnitSort
from assay.values import Chunk, Judgment, Query

_LINES = ("sort", "kind", "path", "parent", "symbol", "signature")


@dataclass(frozen=True, slots=True)
class QuestionOrder:
    """One question that is wanted.

    >>> order_of(QuestionOrder("function", "hard", "mail/send.py", "", "send_mail").text).symbol
    'send_mail'
    """

    sort: UnitSort
    kind: QuestionKind
    """`standard` as a colleague asks, `hard` without a word of the unit's names, `issue` as trouble is reported."""
    path: str
    parent: str = ""
    symbol: str = ""
    signature: str = ""

    @property
    def text(self) -> str:
        """All of it, a line each."""
        return "\n".join(f"{name}: {' '.join(str(getattr(self, name)).split())}" for name in _LINES)

    @property
    def unit(self) -> Chunk:
        """The unit by its names alone."""
        return Chunk("", "", path=self.path, symbol=self.symbol, parent=self.parent, signature=self.signature)


def order_of(text: str) -> QuestionOrder:
    """Return the order that a text says."""
    parted = (line.partition(":") for line in text.split("\n"))
    said = {name: value.removeprefix(" ") for name, _, value in parted}
    if tuple(said) != _LINES or said["sort"] not in SORTS or said["kind"] not in KINDS:
        raise StorageError(f"'{text[:60]}' is no order for a question; give another --records, or --fresh")
    sort, kind, *names = said.values()
    return QuestionOrder(cast(UnitSort, sort), cast(QuestionKind, kind), *names)


_SORT_OF: Mapping[str, UnitSort] = {
    **dict.fromkeys((*minable.CALLABLE, "macro"), "function"),
    **dict.fromkeys(("class", "interface", "struct", "enum", "trait", "type"), "type"),
    "constant": "constant",
    "section": "documentation",
}
_LEAST_LINES: Mapping[UnitSort, int] = {"function": 4, "type": 3, "constant": 1, "documentation": 3}
_LEAST_WORDS = 12
"""Of a unit's text: what says less answers nothing."""


def choose_orders(
    files: minable.Files,
    seed: int,
    limit: int,
    sorts: Sequence[UnitSort] = SORTS,
    kinds: Sequence[QuestionKind] = KINDS,
) -> list[tuple[QuestionOrder, Chunk]]:
    """Return at most so many orders, each with its unit, whose id is its target."""
    by_sort = {sort: deque(_of_sort(files, sort, seed)) for sort in sorts}
    chosen: list[tuple[QuestionOrder, Chunk]] = []
    turn = 0
    while any(by_sort.values()) and len(chosen) < limit:
        for place, units in enumerate(by_sort.values()):
            if units and len(chosen) < limit:
                chosen.append(_ordered(units.popleft(), kinds[(turn + place) % len(kinds)]))
        turn += 1
    return chosen


def _of_sort(files: minable.Files, sort: UnitSort, seed: int) -> Iterator[Chunk]:
    """Yield the units of a sort: one of every file, then a second, and so on."""
    by_file = [[unit for unit in files.units(path) if _is_asked(unit, sort)] for path in files.sample(seed)]
    yield from minable.in_turn(by_file, Random(f"{seed}:{sort}"))  # noqa: S311  # a draw that can be repeated


def _is_asked(unit: Chunk, sort: UnitSort) -> bool:
    if _SORT_OF.get(unit.kind) != sort or minable.is_prose(unit.path) != (sort == "documentation"):
        return False
    lines = sum(bool(line.strip()) for line in unit.text.splitlines())
    return lines >= _LEAST_LINES[sort] and len(WORD.findall(unit.text)) >= _LEAST_WORDS


def _ordered(unit: Chunk, kind: QuestionKind) -> tuple[QuestionOrder, Chunk]:
    order = QuestionOrder(_SORT_OF[unit.kind], kind, unit.path, unit.parent, unit.symbol, unit.signature)
    target = minable.target_of(unit)
    return order, Chunk(target, unit.text, unit.language, unit.path, unit.start_line, unit.end_line)


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
    if minable.kind_of(question, [order.unit]) == "symbol" or _spells_out(question, order):
        return f"it names '{order.symbol}': ask without identifiers"
    if order.kind == "hard" and (shared := shared_words(question, order)):
        return f"it shares words with the names of the unit: {', '.join(shared)}; say it in other words"
    return "" if len(minable.telling(question)) >= minable.TELLING else "it says too little of what is looked for"


def shared_words(question: str, order: QuestionOrder) -> list[str]:
    """Return the words of a question that also stand in the path, names or signature of its unit."""
    known = minable.words_of(order.unit)
    return [word for word in dict.fromkeys(WORD.findall(question)) if minable.telling(word) & known]


def same_question(question: str) -> tuple[str, ...]:
    """Return what two questions that ask the same in other order or endings have in common."""
    return tuple(sorted(minable.telling(question))) or tuple(terms(question))


def _spells_out(question: str, order: QuestionOrder) -> bool:
    """Say whether a name of several parts stands in a question as it is written in code, in any letter case."""
    asked = {word.casefold() for word in WORD.findall(question)}
    names = {order.symbol, order.parent.rpartition(".")[2]}
    return any("_" in name.strip("_") and name.casefold() in asked for name in names)


SOURCE = "written"


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    """A question about a unit, and what became of it."""

    order: QuestionOrder
    target: str
    question: str
    """Empty where there is none."""
    grade: int | None
    """2 where the unit answers, 1 where it helps, 0 where it does not or nothing was asked; None is undecided."""
    judge: str
    reason: str


@dataclass(slots=True)
class WrittenTruth:
    """Ground truth of questions, and what was left out of it."""

    truth: Truth
    left_out: Counter[str] = field(default_factory=Counter)
    """Why, and how many."""


def gather(truth: Truth, written: Iterable[WrittenQuestion]) -> WrittenTruth:
    """Add the questions that can be used to a ground truth without any; the first of two that ask the same counts."""
    found = WrittenTruth(truth)
    queries: list[Query] = []
    judgments: list[Judgment] = []
    asked: set[tuple[str, ...]] = set()
    for one in written:
        key = same_question(one.question)
        if why := _why_not(one, key in asked):
            found.left_out[why] += 1
            continue
        asked.add(key)
        name = f"{SOURCE}-{hash_of(one.question + one.target)[:12]}"
        sort = one.order.sort
        tags = {"kind": one.order.kind, "unit": sort, "source": SOURCE, "split": minable.split_of(one.order.path)}
        queries.append(Query(name, one.question, "docs" if sort == "documentation" else "code", tags=tags))
        judgments.append(Judgment(name, one.target, one.grade or 0, one.judge, one.reason))
    found.truth = replace(truth, queries=tuple(queries), judgments=tuple(judgments))
    return found


def _why_not(one: WrittenQuestion, repeated: bool) -> str:  # noqa: FBT001  # one of two reasons
    if one.grade is None:
        return "undecided: no model answered, or not as asked"
    if not one.question:
        return "no question that can be used"
    if not one.grade:
        return "the unit does not answer it"
    return "the same question about another unit" if repeated else ""
