"""Counts of samples and of good ones for each task in, pass@k with an interval over tasks out.

Chen et al. 2021, section 2.1: the chance that at least one of k samples drawn without replacement is good,
1 - C(n-c, k) / C(n, k), unbiased, as a product that neither overflows nor cancels. exec@k (Inala et al. 2022) is the
same of programs that run without an execution error. Tasks with fewer than k samples have no value: they are told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.errors import InputError
from assay.measure.compare import interval


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
    few, of = (
        (c, k) if c < k else (k, c)
    )  # C(n-c, k) / C(n, k) is the same with c and k changed: take the shorter product
    return float(-np.expm1(np.log1p(-of / (n - np.arange(few, dtype=np.float64))).sum()))


def over_tasks(counts: Mapping[str, tuple[int, int]], ks: Iterable[int], *, seed: int = 0) -> tuple[AtK, ...]:
    """Return the measure at each k of tasks given as `(samples, good ones)`, with 95% bootstrap intervals."""
    return tuple(_over(counts, k, seed) for k in ks)


def ks_of(text: str) -> tuple[int, ...]:
    """Read `1,10,100`."""
    try:
        ks = tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError as error:
        raise InputError(f"'{text}' is no list of k, wanted numbers like 1,10,100") from error
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
    values = np.array([at_k(n, c, k) for n, c in counts.values() if n >= k], dtype=np.float64)
    few = tuple(task for task, (n, _) in counts.items() if n < k)
    if not len(values):
        return AtK(k, float("nan"), float("nan"), float("nan"), 0, few)
    return AtK(k, float(values.mean()), *interval(values, seed=seed), tasks=len(values), few=few)
