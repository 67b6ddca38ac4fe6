"""Count the faults of the programs of a dataset, as in table 2 of Inala et al. 2022.

Programs count as often as they were sampled, as in the paper; how many texts there are is told beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from assay.faults import EXECUTION, INTENT, Fault
from assay.rank.datasets import SPLITS, Example
from assay.report.document import Cell, Column, Count, Phrase, Rows, Table, fraction

_COLUMNS = ("programs", "samples", "correct", "intent", "execution")
_KINDS = {"execution errors": EXECUTION, "intent errors": INTENT}


class KindCounts(NamedTuple):
    """How many programs are correct, answer wrongly, and break."""

    correct: int
    intent: int
    execution: int


@dataclass(frozen=True, slots=True)
class Side:
    """Counts of one split, or of a whole dataset without splits."""

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

    def kinds(self) -> KindCounts:
        """Count the programs of each kind."""
        intent = sum(count for fault, count in self.classes.items() if fault in INTENT)
        execution = sum(count for fault, count in self.classes.items() if fault in EXECUTION)
        return KindCounts(self.classes.get(Fault.CORRECT, 0), intent, execution)


def sides(examples: Sequence[Example]) -> tuple[Side, ...]:
    """Return the counts of each split that has rows."""
    named = {each.split for each in examples}
    order = [name for name in SPLITS if name in named] + sorted(named - {*SPLITS})
    return tuple(_side(name, [each for each in examples if each.split == name]) for name in order)


def tables(every: Iterable[Side]) -> Iterator[Table]:
    """Yield the tables: the counts of each kind, then of each class."""
    every = tuple(every)
    heads = ("tasks", "solved", *_COLUMNS)
    rows: Rows = tuple(
        (Phrase(side.name or "all"), *map(Count, (side.tasks, side.solved, side.programs, side.samples, *side.kinds())))
        for side in every
    )
    yield Table("", (Column("split", words=True), *map(Column, heads)), rows)
    for title, members in _KINDS.items():
        columns = tuple(Column(head) for side in every for head in (side.name or "all", "%"))
        classes: Rows = tuple((Phrase(fault), *_of_class(every, fault)) for fault in Fault if fault in members)
        yield Table("", (Column(title, words=True), *columns), classes)


def _of_class(every: Sequence[Side], fault: Fault) -> Iterator[Cell]:
    for side in every:
        count = side.classes.get(fault, 0)
        yield Count(count)
        yield fraction(count / side.samples if side.samples else None, digits=1)


def tables_as_json(every: Iterable[Side]) -> list[dict[str, Any]]:
    """Return the counts as JSON."""
    return [
        {
            "split": side.name,
            "tasks": side.tasks,
            "solved": side.solved,
            "programs": side.programs,
            "samples": side.samples,
            **side.kinds()._asdict(),
            "classes": {str(fault): side.classes.get(fault, 0) for fault in Fault},
        }
        for side in every
    ]


def _side(name: str, examples: Sequence[Example]) -> Side:
    classes = Counter[Fault]()
    for each in examples:
        classes[each.fault] += each.n
    solved = {each.task_id for each in examples if each.fault is Fault.CORRECT}
    texts = {(each.task_id, each.source) for each in examples}
    return Side(name, len({each.task_id for each in examples}), len(solved), len(texts), dict(classes))
