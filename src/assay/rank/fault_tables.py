"""Count how the programs of a dataset fail, as table 2 of Inala et al. 2022 shows it.

Programs count as often as they were sampled, as in the paper; how many texts there are is told beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from assay.faults import EXECUTION, INTENT, Fault
from assay.rank.datasets import SPLITS, Example
from assay.report.document import Cell, Column, Count, Phrase, Rows, Table, fraction

_COLUMNS = ("programs", "samples", "correct", "intent", "execution")
_KINDS = {"execution errors": EXECUTION, "intent errors": INTENT}


@dataclass(frozen=True, slots=True)
class Side:
    """One split, or all of a data set that has none."""

    name: str
    tasks: int
    solved: int
    """Tasks with a correct program."""
    programs: int
    """Different texts of a task."""
    classes: dict[Fault, int]

    @property
    def samples(self) -> int:
        """How many programs there are, each as often as it was sampled."""
        return sum(self.classes.values())

    def kinds(self) -> tuple[int, int, int]:
        """Return how many are correct, how many answer wrongly, and how many break."""
        intent = sum(count for fault, count in self.classes.items() if fault in INTENT)
        execution = sum(count for fault, count in self.classes.items() if fault in EXECUTION)
        return self.classes.get(Fault.CORRECT, 0), intent, execution


def sides(examples: Sequence[Example]) -> tuple[Side, ...]:
    """Return what each split holds, those that there are."""
    named = {each.split for each in examples}
    order = [name for name in SPLITS if name in named] + sorted(named - {*SPLITS})
    return tuple(_side(name, [each for each in examples if each.split == name]) for name in order)


def tables(found: Iterable[Side]) -> Iterator[Table]:
    """Yield the tables: how many of each kind, and then how many of each class."""
    found = tuple(found)
    heads = ("tasks", "solved", *_COLUMNS)
    rows: Rows = tuple(
        (Phrase(side.name or "all"), *map(Count, (side.tasks, side.solved, side.programs, side.samples, *side.kinds())))
        for side in found
    )
    yield Table("", (Column("split", words=True), *map(Column, heads)), rows)
    for title, members in _KINDS.items():
        columns = tuple(Column(head) for side in found for head in (side.name or "all", "%"))
        classes: Rows = tuple((Phrase(fault), *_of_class(found, fault)) for fault in Fault if fault in members)
        yield Table("", (Column(title, words=True), *columns), classes)


def _of_class(found: Sequence[Side], fault: Fault) -> Iterator[Cell]:
    for side in found:
        count = side.classes.get(fault, 0)
        yield Count(count)
        yield fraction(count / side.samples if side.samples else None, digits=1)


def tables_as_json(found: Iterable[Side]) -> list[dict[str, Any]]:
    """Return the same as JSON has it."""
    return [
        {
            "split": side.name,
            "tasks": side.tasks,
            "solved": side.solved,
            "programs": side.programs,
            "samples": side.samples,
            **dict(zip(("correct", "intent", "execution"), side.kinds(), strict=True)),
            "classes": {str(fault): side.classes.get(fault, 0) for fault in Fault},
        }
        for side in found
    ]


def _side(name: str, examples: Sequence[Example]) -> Side:
    classes = Counter[Fault]()
    for each in examples:
        classes[each.fault] += each.n
    solved = {each.task_id for each in examples if each.fault is Fault.CORRECT}
    texts = {(each.task_id, each.source) for each in examples}
    return Side(name, len({each.task_id for each in examples}), len(solved), len(texts), dict(classes))
