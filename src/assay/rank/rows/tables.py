"""A data set in, how many programs of it fail how, as table 2 and figure 6 of Inala et al. 2022 show it.

Programs count as often as they were sampled, as in the paper; how many texts there are is told beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from assay.faults import EXECUTION, INTENT, Fault
from assay.rank.rows.data import SPLITS, Example

_COLUMNS = ("programs", "samples", "correct", "intent", "execution")


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


def text(found: Iterable[Side]) -> Iterator[str]:
    """Yield the tables: how many of each kind, and then how many of each class."""
    found = tuple(found)
    yield f"{'split':<10}{'tasks':>8}{'solved':>8}" + "".join(f"{name:>11}" for name in _COLUMNS)
    for side in found:
        correct, intent, execution = side.kinds()
        name = side.name or "all"
        yield (
            f"{name:<10}{side.tasks:>8,}{side.solved:>8,}{side.programs:>11,}{side.samples:>11,}"
            f"{correct:>11,}{intent:>11,}{execution:>11,}"
        )
    for title, members in (("execution errors", EXECUTION), ("intent errors", INTENT)):
        yield ""
        yield f"{title:<24}" + "".join(f"{side.name or 'all':>16}" for side in found)
        for fault in (fault for fault in Fault if fault in members):
            counts = (side.classes.get(fault, 0) for side in found)
            yield f"  {fault:<22}" + "".join(
                f"{count:>9,} {_share(count, side.samples):>6}" for count, side in zip(counts, found, strict=True)
            )


def told(found: Iterable[Side]) -> list[dict[str, Any]]:
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


def _share(count: int, of: int) -> str:
    return f"{count / of:.1%}" if of else "-"
