"""Labels that are true and labels that were predicted in, confusion matrix, F1 and accuracy of lines out.

A class counts when it is true or predicted of some program, as scikit-learn has it; a share of nothing is 0. Each
program counts as often as it was sampled, where that is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError


@dataclass(frozen=True, slots=True)
class ClassScore:
    """How one class was predicted."""

    label: str
    precision: float
    recall: float
    f1: float
    support: int
    """How many programs are truly of it."""
    predicted: int


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often each class was taken for each."""

    labels: tuple[str, ...]
    counts: NDArray[np.int64]
    """A row a true class, a column a predicted one."""

    @property
    def total(self) -> int:
        """How many programs there are."""
        return int(self.counts.sum())

    @property
    def accuracy(self) -> float:
        """The share that is predicted as it is."""
        return _share(int(np.trace(self.counts)), self.total)

    @property
    def classes(self) -> tuple[ClassScore, ...]:
        """Each class by itself."""
        return tuple(self._of(place) for place in range(len(self.labels)))

    @property
    def macro_f1(self) -> float:
        """The mean of F1 over classes that occur, rare ones as much as frequent ones."""
        there = [each.f1 for each in self.classes if each.support or each.predicted]
        return float(np.mean(there)) if there else 0.0

    def record(self) -> dict[str, Any]:
        """Return all of it as JSON has it."""
        return {
            "programs": self.total,
            "accuracy": self.accuracy,
            "macro_f1": self.macro_f1,
            "labels": list(self.labels),
            "confusion": self.counts.tolist(),
            "classes": {
                each.label: {"precision": each.precision, "recall": each.recall, "f1": each.f1, "support": each.support}
                for each in self.classes
            },
        }

    def _of(self, place: int) -> ClassScore:
        hits = int(self.counts[place, place])
        support, predicted = int(self.counts[place].sum()), int(self.counts[:, place].sum())
        return ClassScore(
            self.labels[place],
            _share(hits, predicted),
            _share(hits, support),
            _share(2 * hits, support + predicted),
            support,
            predicted,
        )


@dataclass(frozen=True, slots=True)
class LineAccuracy:
    """How well the line that breaks was found."""

    accuracy: float
    """Of all programs, those included for which no line is to be named."""
    found: float
    """Of the programs that break at a line."""
    programs: int
    broken: int


def confusion(
    true: Sequence[str], predicted: Sequence[str], *, labels: Sequence[str] = (), n: Sequence[int] | None = None
) -> Confusion:
    """Count; without labels those that occur are taken, in the order of the alphabet."""
    _same(true, predicted)
    names = tuple(labels) or tuple(sorted({*true, *predicted}))
    place = {name: number for number, name in enumerate(names)}
    unknown = {*true, *predicted} - place.keys()
    if unknown:
        raise InputError(f"label '{min(unknown)}' is none of {', '.join(names)}")
    counts = np.zeros((len(names), len(names)), dtype=np.int64)
    for a, b, times in zip(true, predicted, n or [1] * len(true), strict=True):
        counts[place[a], place[b]] += times
    return Confusion(names, counts)


def lines(true: Sequence[int], predicted: Sequence[int], *, n: Sequence[int] | None = None) -> LineAccuracy:
    """Compare lines, -1 where none is to blame."""
    _same(true, predicted)
    times = list(n or [1] * len(true))
    hits = [count * (a == b) for a, b, count in zip(true, predicted, times, strict=True)]
    broken = [line > 0 for line in true]
    all_broken = sum(count for count, is_broken in zip(times, broken, strict=True) if is_broken)
    found = sum(hit for hit, is_broken in zip(hits, broken, strict=True) if is_broken)
    return LineAccuracy(_share(sum(hits), sum(times)), _share(found, all_broken), sum(times), all_broken)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _same(true: Sequence[object], predicted: Sequence[object]) -> None:
    if len(true) != len(predicted):
        raise InputError(f"{len(true):,} true labels and {len(predicted):,} predicted ones: they do not pair up")
