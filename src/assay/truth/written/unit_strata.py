"""The files of a repository to the units that are asked about: as many of each sort and kind, evenly over the files.

A unit is asked about once. Where a sort has too few, the others have more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from random import Random

from assay.terms import WORD
from assay.truth.mine.minable import CALLABLE, Files, is_prose
from assay.truth.mine.mined import target_of
from assay.truth.written.question_orders import KINDS, SORTS, QuestionKind, QuestionOrder, UnitSort
from assay.types import Chunk

_SORT_OF: Mapping[str, UnitSort] = {
    **dict.fromkeys((*CALLABLE, "macro"), "function"),
    **dict.fromkeys(("class", "interface", "struct", "enum", "trait", "type"), "type"),
    "constant": "constant",
    "section": "documentation",
}
_LEAST_LINES: Mapping[UnitSort, int] = {"function": 4, "type": 3, "constant": 1, "documentation": 3}
_LEAST_WORDS = 12
"""Of a unit's text: what says less answers nothing."""


def choose_orders(
    files: Files,
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


def _of_sort(files: Files, sort: UnitSort, seed: int) -> Iterator[Chunk]:
    """Yield the units of a sort: one of every file, then a second, and so on."""
    by_file = [[unit for unit in files.units(path) if _is_asked(unit, sort)] for path in files.sample(seed)]
    draws = Random(f"{seed}:{sort}")  # noqa: S311  # a draw that can be repeated
    for units in by_file:
        draws.shuffle(units)
    for place in range(max(map(len, by_file), default=0)):
        yield from (units[place] for units in by_file if place < len(units))


def _is_asked(unit: Chunk, sort: UnitSort) -> bool:
    if _SORT_OF.get(unit.kind) != sort or is_prose(unit.path) != (sort == "documentation"):
        return False
    lines = sum(bool(line.strip()) for line in unit.text.splitlines())
    return lines >= _LEAST_LINES[sort] and len(WORD.findall(unit.text)) >= _LEAST_WORDS


def _ordered(unit: Chunk, kind: QuestionKind) -> tuple[QuestionOrder, Chunk]:
    order = QuestionOrder(_SORT_OF[unit.kind], kind, unit.path, unit.parent, unit.symbol, unit.signature)
    target = target_of(unit)
    return order, Chunk(target, unit.text, unit.language, unit.path, unit.start_line, unit.end_line)
