"""Scores of a task's programs and how each program fared in, ranked pass@k and exec@k out, ties averaged exactly.

Inala et al. 2022, section 2.2: a task counts when one of the k programs ranked first is good. Equal scores have no
order, so the value is the mean over all their orders, not what one of them happens to give: of the programs that share
the score at place k, those that still fit are drawn without replacement. Unranked is the same with one score for all,
and then it is pass@k of Chen et al. 2021. A program sampled n times stands n times in the list, or once where
duplicates are removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import isnan, nan

import numpy as np

from assay.errors import InputError
from assay.measure.compare import Values, interval, randomisation
from assay.measure.passk import at_k


@dataclass(frozen=True, slots=True)
class Judged:
    """One program of a task: what a ranker said of it, and what running it showed."""

    score: float
    right: bool
    """It passed its tests."""
    ran: bool
    """It answered, rightly or not."""
    n: int = 1
    """How often it was sampled."""
    text: str = ""
    """What tells it from others where duplicates are removed; empty is like no other."""


Pool = Sequence[Judged]
"""All programs of one task."""


@dataclass(frozen=True, slots=True, order=True)
class RankMeasure:
    """One figure of an order: `pass@5`, `exec@1`, `unique pass@5`."""

    k: int
    good: str = "pass"
    """`pass` or `exec`."""
    unique: bool = False

    def __str__(self) -> str:
        """Return its name."""
        return f"{'unique ' if self.unique else ''}{self.good}@{self.k}"


@dataclass(frozen=True, slots=True)
class Value:
    """A mean over tasks with its 95% interval."""

    value: float
    low: float
    high: float
    tasks: int


@dataclass(frozen=True, slots=True)
class Gain:
    """How much more one order is worth than another, task by task."""

    value: float
    low: float
    high: float
    p: float
    """Of the paired randomisation test, two-sided."""
    tasks: int


def measures(ks: Iterable[int]) -> tuple[RankMeasure, ...]:
    """Return what is measured at each k: exec@k never stands without pass@k, for it can be had by doing nothing."""
    return tuple(
        RankMeasure(k, good, unique)
        for k in ks
        for unique in (False, True)
        if k > 1 or not unique
        for good in ("pass", "exec")
    )


def at(pool: Pool, measure: RankMeasure) -> float:
    """Return the chance that one of the first k programs is good; nan where there are fewer than k samples.

    Without duplicates a list may be shorter than k: then all of it is looked at.
    """
    k = measure.k
    if k < 1:
        raise InputError(f"k is {k}, wanted at least 1")
    if sum(each.n for each in pool) < k:
        return nan
    entries = _unique(pool) if measure.unique else pool
    if any(isnan(each.score) for each in entries):
        raise InputError("a ranker gave a score that is no number (nan): its order says nothing")
    left = min(k, sum(each.n for each in entries))
    for _, tied in groupby(sorted(entries, key=lambda each: -each.score), key=lambda each: each.score):
        samples, good = _counted(tied, measure.good)
        if left < samples:
            return at_k(samples, good, left)
        if good:
            return 1.0
        left -= samples
        if not left:
            break
    return 0.0


def unranked(pool: Pool) -> list[Judged]:
    """Return the same programs without an order."""
    return [replace(each, score=0.0) for each in pool]


def values(pools: Mapping[str, Pool], measure: RankMeasure) -> dict[str, float]:
    """Return the value of each task, in the order given; nan where it has none."""
    return {task: at(pool, measure) for task, pool in pools.items()}


def mean(per_task: Mapping[str, float], *, seed: int = 0) -> Value:
    """Return the mean over tasks that have a value, with the bootstrap interval over tasks."""
    there = _there(per_task.values())
    if not len(there):
        return Value(nan, nan, nan, 0)
    return Value(float(there.mean()), *interval(there, seed=seed), tasks=len(there))


def gain(of: Mapping[str, float], over: Mapping[str, float], *, seed: int = 0) -> Gain:
    """Return how much the first is worth more than the second on the tasks that both have, paired."""
    both = [task for task in of if task in over and not isnan(of[task]) and not isnan(over[task])]
    if not both:
        return Gain(nan, nan, nan, nan, 0)
    a, b = (np.array([side[task] for task in both], dtype=np.float64) for side in (of, over))
    low, high = interval(a - b, seed=seed)
    return Gain(float(np.mean(a - b)), low, high, randomisation(a, b, seed=seed), len(both))


def _counted(entries: Iterable[Judged], good: str) -> tuple[int, int]:
    samples = right = 0
    for each in entries:
        samples += each.n
        right += each.n * (each.right if good == "pass" else each.ran)
    return samples, right


def _unique(pool: Pool) -> list[Judged]:
    """Return each text once, with the best score that a copy of it was given."""
    best: dict[object, Judged] = {}
    for place, each in enumerate(pool):
        key: object = each.text or place
        if key not in best or each.score > best[key].score:
            best[key] = replace(each, n=1)
    return list(best.values())


def _there(values_: Iterable[float]) -> Values:
    return np.array([value for value in values_ if not isnan(value)], dtype=np.float64)
