"""pass@k and exec@k of samples, drawn at random or ranked, with ties averaged exactly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import isnan, nan

import numpy as np

from assay.errors import InputError
from assay.measure.compare import interval, randomisation

EXEC_COUNTS = {
    True: "programs without an execution error on any test (Inala et al. 2022)",
    False: "programs without an execution error up to the first wrong answer, where their tests ended",
}
"""What exec@k is about, where every test was run and where not."""


@dataclass(frozen=True, slots=True)
class AtK:
    """A measure at one k over tasks."""

    k: int
    value: float
    """The mean over tasks; nan where no task has k samples."""
    low: float
    high: float
    tasks: int
    few: tuple[str, ...] = ()
    """Tasks with fewer than k samples, which are left out."""


def at_k(n: int, c: int, k: int) -> float:
    """Return the chance that k of n samples, of which c are good, hold a good one."""
    if not 0 <= c <= n or not 1 <= k <= n:
        raise InputError(
            f"pass@{k} of {n} samples with {c} good ones: wanted 0 <= good <= samples and 1 <= k <= samples"
        )
    bad = n - c
    if bad < k:
        return 1.0
    # C(n-c, k) / C(n, k) is the same with c and k changed: take the shorter product
    few, of = (c, k) if c < k else (k, c)
    return float(-np.expm1(np.log1p(-of / (n - np.arange(few, dtype=np.float64))).sum()))


def over_tasks(counts: Mapping[str, tuple[int, int]], ks: Iterable[int], *, seed: int = 0) -> tuple[AtK, ...]:
    """Return the measure at each k of tasks given as `(samples, good ones)`, with 95% bootstrap intervals."""
    return tuple(_over(counts, k, seed) for k in ks)


def ks_of(text: str) -> tuple[int, ...]:
    """Read `1,10,100`."""
    try:
        ks = tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError as error:
        raise InputError(f"invalid list of k '{text}'; give numbers, as in 1,10,100") from error
    if min(ks) < 1:
        raise InputError(f"k is {min(ks)}, wanted at least 1")
    return ks


def counted(rows: Sequence[tuple[str, int, bool]]) -> dict[str, tuple[int, int]]:
    """Return for each task how many samples it has and how many are good, of rows `(task, how often, is it good)`."""
    counts: dict[str, tuple[int, int]] = {}
    for task, n, good in rows:
        samples, right = counts.get(task, (0, 0))
        counts[task] = samples + n, right + n * good
    return counts


def _over(counts: Mapping[str, tuple[int, int]], k: int, seed: int) -> AtK:
    found = mean({task: at_k(n, c, k) for task, (n, c) in counts.items() if n >= k}, seed=seed)
    few = tuple(task for task, (n, _) in counts.items() if n < k)
    return AtK(k, found.value, found.low, found.high, found.tasks, few)


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
    kinds = [(k, unique) for k in ks for unique in (False, True) if k > 1 or not unique]
    return tuple(RankMeasure(k, good, unique) for k, unique in kinds for good in ("pass", "exec"))


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
        raise InputError("a ranker returned a score that is not a number (nan), so its programs have no order")
    left = min(k, sum(each.n for each in entries))
    for _, tied in groupby(sorted(entries, key=lambda each: -each.score), key=lambda each: each.score):
        samples, good = _count_good(tied, measure.good)
        if left < samples:
            return at_k(samples, good, left)
        if good:
            return 1.0
        left -= samples
        if not left:
            break
    return 0.0


def values(pools: Mapping[str, Pool], measure: RankMeasure) -> dict[str, float]:
    """Return the value of each task, in the order given; nan where it has none."""
    return {task: at(pool, measure) for task, pool in pools.items()}


def mean(per_task: Mapping[str, float], *, seed: int = 0) -> Value:
    """Return the mean over tasks that have a value, with the bootstrap interval over tasks."""
    there = np.array([value for value in per_task.values() if not isnan(value)], dtype=np.float64)
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


def _count_good(entries: Iterable[Judged], good: str) -> tuple[int, int]:
    counts = [(each.n, each.n * (each.right if good == "pass" else each.ran)) for each in entries]
    return sum(n for n, _ in counts), sum(n for _, n in counts)


def _unique(pool: Pool) -> list[Judged]:
    """Return each text once, with the best score that a copy of it was given."""
    best: dict[object, Judged] = {}
    for place, each in enumerate(pool):
        key: object = each.text or place
        if key not in best or each.score > best[key].score:
            best[key] = replace(each, n=1)
    return list(best.values())
