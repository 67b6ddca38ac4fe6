"""Compare the programs of a task: how central each is, and what its likeness to better ones costs.

A normal form is a bag of paths: for each node its label, and it with 1, 2 and 3 of its ancestors. Two programs are as
alike as the fraction of paths that they have in common (Jaccard). A program is compared with those that pass the
gate, each as often as it was sampled, and never with itself: another copy of it counts, it does not. Memory is bounded:
a pool of any size is compared with at most `MOST` of its programs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final
from warnings import catch_warnings

import numpy as np
from numpy.typing import NDArray

from assay.rank.consensus.canon import Canon
from assay.rank.consensus.gate import Facts, TaskWants, facts, wants_of
from assay.values import Program, Task

Numbers = NDArray[np.float64]
Ints = NDArray[np.int64]
VIEWS: Final = {"all": 1.0, "words": 1.0, "results": 1.0, "covers": 1.0, "mass": 0.5}
"""The parts of centrality with their weights: mean likeness by all paths, by labels, by what is below a return or a
print; how much of what is common a program has; and how many have the same normal form."""
TAKEN: Final = 20
"""Programs that are taken one after the other; the rest pays for its likeness to all of them."""
_LOW: Final = 0.1
"""The quantile of likenesses that counts as unlike."""
_NO_SPREAD: Final = 1e-6
_KEPT: Final = 8
"""Pools that are kept: those drawn of one task."""
_LARGE: Final = 1_000
"""Different programs of a pool that is not kept: its arrays take tens of megabytes."""
LENGTHS: Final = 4
"""Nodes of the longest path."""
_RESULTS: Final = ("Return", "print()", "Emit")
_DEEP: Final = 4
_MOST_NODES: Final = 4_000_000
"""Nodes of a pool that are looked at, and of each program at least `_FEWEST`."""
_FEWEST: Final = 200


@dataclass(frozen=True, slots=True)
class PathBags:
    """Which path is in which program: one entry for each, by program and then by path."""

    rows: Ints
    paths: Ints
    lengths: NDArray[np.int8]
    """By path: how many nodes it has."""
    results: NDArray[np.bool_]
    """By path: it ends below a return, or what is printed."""
    programs: int

    @property
    def width(self) -> int:
        """Return how many paths there are."""
        return len(self.lengths)


def bags(canons: Sequence[Canon]) -> PathBags:
    """Return the paths of each program."""
    known: dict[str, int] = {}
    labels: list[int] = []
    parents: list[int] = []
    owners: list[int] = []
    most = max(_FEWEST, _MOST_NODES // max(len(canons), 1))
    for row, each in enumerate(canons):
        start, own = len(labels), each.labels[:most]
        labels += [known.setdefault(label, len(known) + 1) for label in own]
        parents += [start + parent for parent in each.parents[:most]]
        owners += [row] * len(own)
    ends = np.array([known[label] for label in _RESULTS if label in known], np.int64)
    label, parent, owner = (np.array(each, np.int64) for each in (labels, parents, owners))
    return _bags(label, parent, owner, ends, len(canons))


def _bags(labels: Ints, parents: Ints, owners: Ints, ends: Ints, programs: int) -> PathBags:
    """Return the paths of nodes with their labels, the places of their parents and their programs."""
    rows: list[Ints] = []
    paths: list[Ints] = []
    lengths: list[NDArray[np.int8]] = []
    results: list[NDArray[np.bool_]] = []
    below = np.isin(labels, ends)
    for _ in range(_DEEP):
        below = below | below[parents]
    width = 0
    for ids, number, places in _of_lengths(labels, parents):
        pairs = np.unique(owners[places] * max(number, 1) + ids)
        rows.append(pairs // max(number, 1))
        paths.append(pairs % max(number, 1) + width)
        lengths.append(np.full(number, len(lengths) + 1, np.int8))
        result = np.zeros(number, bool)
        result[ids[below[places]]] = True
        results.append(result)
        width += number
    row, path = np.concatenate(rows), np.concatenate(paths)
    order = np.lexsort((path, row))
    return PathBags(row[order], path[order], np.concatenate(lengths), np.concatenate(results), programs)


def _of_lengths(labels: Ints, parents: Ints) -> list[tuple[Ints, int, Ints]]:
    """Return for each length the path that ends at each place, how many different ones there are, and the places."""
    found = []
    most = int(labels.max(initial=0)) + 1
    ids, number = _numbered(labels)
    at = top = np.arange(len(labels))
    for _ in range(LENGTHS):
        found.append((ids, number, at))
        longer = np.flatnonzero(parents[top] != top)
        top = parents[top[longer]]
        ids, number = _numbered(ids[longer] * most + labels[top])
        at = at[longer]
    return found


def _numbered(keys: Ints) -> tuple[Ints, int]:
    unique, inverse = np.unique(keys, return_inverse=True)
    return inverse.astype(np.int64), len(unique)


MOST: Final = 400
"""Programs that stand for a pool."""
_BLOCK: Final = 256


def likeness(bags: PathBags, columns: NDArray[np.bool_], against: NDArray[np.intp]) -> NDArray[np.float32]:
    """Return the Jaccard likeness of each program to each of these, over some of the paths."""
    used = columns[bags.paths]
    rows, paths = bags.rows[used], bags.paths[used]
    sizes = np.bincount(rows, minlength=bags.programs).astype(np.float32)
    standing = np.zeros(bags.programs, bool)
    standing[against] = True
    there = np.zeros(bags.width, bool)
    there[paths[standing[rows]]] = True
    kept = there[paths]
    rows, paths, width = rows[kept], (np.cumsum(there) - 1)[paths[kept]], int(there.sum())
    starts = np.searchsorted(rows, np.arange(bags.programs + 1))
    chosen = np.zeros((len(against), width), np.float32)
    for at, program in enumerate(against):
        chosen[at, paths[starts[program] : starts[program + 1]]] = 1
    found = np.empty((bags.programs, len(against)), np.float32)
    for low in range(0, bags.programs, _BLOCK):
        high = min(low + _BLOCK, bags.programs)
        block = np.zeros((high - low, width), np.float32)
        part = slice(starts[low], starts[high])
        block[rows[part] - low, paths[part]] = 1
        common = block @ chosen.T
        either = sizes[low:high, None] + sizes[None, against] - common
        found[low:high] = common / np.maximum(either, 1)
    return found


@dataclass(frozen=True, slots=True)
class PoolFacts:
    """What can be seen in the different programs of a pool."""

    sources: tuple[str, ...]
    """The different programs, one for each row."""
    facts: tuple[Facts, ...]
    held: PathBags
    passing: NDArray[np.bool_]
    """Which programs pass the gate: they can be read, and nothing shows that they fail."""
    views: dict[str, Numbers]
    """How central each program is, by each of `VIEWS`; -1 where there is no other program."""

    @property
    def central(self) -> Numbers:
        """Return how central each program is."""
        total = np.zeros(len(self.sources))
        for view, weight in VIEWS.items():
            total += weight * self.views[view]
        return total / len(VIEWS)


def look_at(task: Task, programs: Sequence[Program], *, are_finished: bool = True) -> PoolFacts:
    """Return what can be seen in the different programs of a pool; the last few pools are kept for other rankers."""
    counted = Counter[str]()
    for program in programs:
        counted[program.source] += max(program.n, 1)
    sources = tuple(sorted(counted))
    look_once = _look if len(sources) <= _LARGE else _look.__wrapped__
    return look_once(wants_of(task), sources, tuple(counted[source] for source in sources), are_finished)


@lru_cache(_KEPT)
def _look(wants: TaskWants, sources: tuple[str, ...], n: tuple[int, ...], are_finished: bool) -> PoolFacts:  # noqa: FBT001
    with catch_warnings(action="ignore"):
        seen = tuple(facts(source, wants, is_finished=are_finished) for source in sources)
    held = bags([each.canon for each in seen])
    passing = np.array([each.fault is None and each.parses for each in seen], bool)
    return PoolFacts(sources, seen, held, passing, _views(seen, np.asarray(n, np.float64), held, passing))


def _views(facts: Sequence[Facts], n: Numbers, held: PathBags, passing: NDArray[np.bool_]) -> dict[str, Numbers]:
    """Return how central each program is, by each view."""
    against = _standing(passing if passing.any() else np.ones(len(n), bool), n)
    mean = partial(_mean_over_others, n=n, against=against)
    columns = {"all": np.ones(held.width, bool), "words": held.lengths == 1, "results": held.results}
    known: dict[object, int] = {}
    forms = np.array([known.setdefault(each.canon, len(known)) for each in facts], np.intp)
    return {
        **{view: mean(likeness(held, chosen, against)) for view, chosen in columns.items()},
        "covers": _covers(held, n, against),
        "mass": mean(forms[:, None] == forms[against][None, :]),
    }


def _mean_over_others(values: NDArray[np.generic], *, n: Numbers, against: NDArray[np.intp]) -> Numbers:
    """Return the mean over the other programs, -1 where there is no other."""
    numbers, itself = values.astype(np.float64), np.zeros(values.shape)
    itself[against, np.arange(len(against))] = 1
    others = np.maximum(n[against].sum() - itself.sum(1), 0)
    total = numbers @ n[against] - (numbers * itself).sum(1)
    return np.where(others > 0, total / np.maximum(others, 1), -1.0)


def _covers(held: PathBags, n: Numbers, against: NDArray[np.intp]) -> Numbers:
    """Return how much of what is common each program has."""
    weight = np.zeros(held.programs)
    weight[against] = n[against]
    common = np.bincount(held.paths, weights=weight[held.rows], minlength=held.width) / max(n[against].sum(), 1)
    total = np.bincount(held.rows, weights=common[held.paths], minlength=held.programs)
    return np.asarray(total / max(common.sum(), 1e-9))


def _standing(able: NDArray[np.bool_], n: Numbers) -> NDArray[np.intp]:
    """Return the programs that stand for a pool: all that may, or the most sampled and an even choice of the others."""
    there = np.flatnonzero(able)
    if len(there) <= MOST:
        return there
    heavy = there[np.argsort(-n[there], kind="stable")][: MOST // 2]
    rest = np.setdiff1d(there, heavy)
    even = rest[np.linspace(0, len(rest) - 1, MOST - len(heavy)).astype(np.intp)]
    return np.sort(np.concatenate([heavy, even]))


def prices(scores: Numbers, held: PathBags, price: float) -> Numbers:
    """Return what to take off each score, for the second program to differ from the first."""
    best = np.argsort(-scores, kind="stable")[: TAKEN * 10]
    alike = likeness(held, np.ones(held.width, bool), best).astype(np.float64)
    alike = (alike + _relative(alike, best)) / 2
    off = np.zeros(len(scores))
    waiting = np.ones(len(scores), bool)
    for _ in range(min(TAKEN, len(best))):
        left = np.where(waiting[best], (scores - off)[best], -np.inf)
        at = int(np.argmax(left))
        waiting[best[at]] = False
        off = np.where(waiting, np.maximum(off, price * alike[:, at]), off)
    return off


def _relative(alike: Numbers, best: NDArray[np.intp]) -> Numbers:
    """Return where each likeness is from the low ones among the best (0) to the highest (1)."""
    among = alike[best][~np.eye(len(best), dtype=bool)]
    if not len(among):
        return alike
    low, high = np.quantile(among, _LOW), among.max()
    return np.clip((alike - low) / max(float(high - low), _NO_SPREAD), 0, 1)
