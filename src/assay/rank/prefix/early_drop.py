"""What rankers said of the beginnings of programs, to how many wrong programs can be dropped that early.

Programs whose score is below a threshold are dropped, one threshold for all tasks: the highest one that loses no more
than so many of the right ones. Fractions are means over the tasks that have both right and wrong programs; intervals
draw these tasks again, and the threshold is chosen anew for each draw.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.faults import Fault
from assay.measure.passk import Value
from assay.rank.dataset.examples import Example
from assay.rank.prefix.seen_ranker import SeenRanker
from assay.rank.specs import asks, parts_of
from assay.types import Ranked

LOSS: Final = 0.05
"""The fraction of right programs that may be lost."""
WANTED: Final = 0.5
"""The fraction of wrong programs that one would like to drop."""
_DRAWS: Final = 1000
_SLACK: Final = 1e-9
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class EarlyDrop:
    """How many wrong programs can be dropped when so much of each is seen."""

    ranker: str
    seen: float
    dropped: Value


def fractions_of(text: str) -> tuple[float, ...]:
    """Read `0.25,0.5,1`."""
    try:
        found = tuple(dict.fromkeys(sorted(float(part) for part in text.split(","))))
    except ValueError as error:
        raise InputError(f"'{text}' is no list of fractions, wanted numbers like 0.25,0.5,1") from error
    if not all(0 < each <= 1 for each in found):
        raise InputError(f"'{text}' has a fraction of a program that is not above 0 and at most 1")
    return found


def refuse_places(specs: Sequence[str]) -> None:
    """Raise InputError for a ranker whose scores are places in the order of a task: one threshold says nothing."""
    for spec in specs:
        if len(parts_of(spec)) > 1 or asks(spec):
            raise InputError(
                f"--seen has one threshold for all tasks, and the scores of '{spec}' are places in the order of each: "
                "name a ranker that is neither joined by + nor asks a model"
            )


def early_drop(ranker: SeenRanker, groups: Mapping[str, Sequence[Example]], *, seed: int = 0) -> EarlyDrop:
    """Return what can be dropped by what a ranker said of the programs of each task."""
    tasks = [zip(groups[task], told, strict=True) for task, told in ranker.told.items()]
    rows = [list(_rows(list(pairs))) for pairs in tasks]
    both = [of_one for of_one in rows if {right for _, right, _ in of_one} == {True, False}]
    return EarlyDrop(ranker.ranker, ranker.fraction, _dropped(both, seed))


def seen_for_half(drops: Sequence[EarlyDrop]) -> float:
    """Return how much of a program has to be seen, between the measured fractions; nan if all is too little."""
    before = EarlyDrop("", 0.0, Value(0.0, 0.0, 0.0, 0))
    for each in sorted(drops, key=lambda drop: drop.seen):
        if each.dropped.value >= WANTED:
            step = (WANTED - before.dropped.value) / (each.dropped.value - before.dropped.value)
            return before.seen + step * (each.seen - before.seen)
        before = each
    return nan


def _rows(pairs: Sequence[tuple[Example, Ranked]]) -> Iterator[tuple[float, bool, float]]:
    """Yield the score of each program, whether it is right, and its part of the right or wrong ones of its task."""
    totals = dict[bool, int]()
    for example, _ in pairs:
        right = example.fault is Fault.CORRECT
        totals[right] = totals.get(right, 0) + example.n
    for example, told in pairs:
        right = example.fault is Fault.CORRECT
        yield told.score, right, example.n / totals[right]


def _dropped(tasks: Sequence[Sequence[tuple[float, bool, float]]], seed: int) -> Value:
    if not tasks:
        return Value(nan, nan, nan, 0)
    flat = [(score, right, part, at) for at, task in enumerate(tasks) for score, right, part in task]
    flat.sort(key=lambda row: row[0])
    scores, right = np.array([row[0] for row in flat]), np.array([row[1] for row in flat])
    parts, of = np.array([row[2] for row in flat]), np.array([row[3] for row in flat])
    ends = np.append(scores[1:] != scores[:-1], True)
    generator = np.random.default_rng(seed)
    draws = generator.multinomial(len(tasks), np.full(len(tasks), 1 / len(tasks)), size=_DRAWS)
    drawn = [_most_dropped(right, parts * times[of], ends, len(tasks)) for times in draws]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Value(_most_dropped(right, parts, ends, len(tasks)), float(low), float(high), len(tasks))


def _most_dropped(right: NDArray[np.bool_], weights: Numbers, ends: NDArray[np.bool_], tasks: int) -> float:
    """Return the wrong part below the highest threshold that loses few right ones; rows are sorted by score."""
    lost = np.cumsum(weights * right)[ends] / tasks
    gone = np.cumsum(weights * ~right)[ends] / tasks
    return float(gone[lost <= LOSS + _SLACK].max(initial=0.0))
