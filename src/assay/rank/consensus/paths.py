"""Normal forms of programs to bags of paths: for each node its label, and it with 1, 2 and 3 of its ancestors.

All programs of a pool are done at once, in arrays: a path is a number, and the same number for the same path within a
pool only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.rank.consensus.canon import Canon

Numbers = NDArray[np.int64]
LENGTHS: Final = 4
"""Nodes of the longest path."""
_RESULTS: Final = ("Return", "print()", "Emit")
_DEEP: Final = 4
_MOST: Final = 4_000_000
"""Nodes of a pool that are looked at, and of each program at least `_FEWEST`."""
_FEWEST: Final = 200


@dataclass(frozen=True, slots=True)
class PathBags:
    """Which path stands in which program, how often: one entry for each, by program and then by path."""

    rows: Numbers
    paths: Numbers
    counts: NDArray[np.float32]
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
    most = max(_FEWEST, _MOST // max(len(canons), 1))
    for row, each in enumerate(canons):
        start, own = len(labels), each.labels[:most]
        labels += [known.setdefault(label, len(known) + 1) for label in own]
        parents += [start + parent for parent in each.parents[:most]]
        owners += [row] * len(own)
    told = np.array([known.get(label, 0) for label in _RESULTS], np.int64)
    nodes = _Nodes(*(np.array(each, np.int64) for each in (labels, parents, owners)))
    return _bags(nodes, told[told > 0], len(canons))


@dataclass(frozen=True, slots=True)
class _Nodes:
    """The nodes of all programs: label, place of the parent, and program of each."""

    labels: Numbers
    parents: Numbers
    owners: Numbers


def _bags(nodes: _Nodes, told: Numbers, programs: int) -> PathBags:
    labels, parents, owners = nodes.labels, nodes.parents, nodes.owners
    rows: list[Numbers] = []
    paths: list[Numbers] = []
    counts: list[NDArray[np.float32]] = []
    lengths: list[NDArray[np.int8]] = []
    results: list[NDArray[np.bool_]] = []
    below = _below(labels, parents, told)
    width = 0
    for ids, number, places in _of_lengths(labels, parents):
        pairs, count = np.unique(owners[places] * max(number, 1) + ids, return_counts=True)
        rows.append(pairs // max(number, 1))
        paths.append(pairs % max(number, 1) + width)
        counts.append(count.astype(np.float32))
        lengths.append(np.full(number, len(lengths) + 1, np.int8))
        result = np.zeros(number, bool)
        result[ids[below[places]]] = True
        results.append(result)
        width += number
    row, path, count_ = np.concatenate(rows), np.concatenate(paths), np.concatenate(counts)
    order = np.lexsort((path, row))
    return PathBags(row[order], path[order], count_[order], np.concatenate(lengths), np.concatenate(results), programs)


def _of_lengths(labels: Numbers, parents: Numbers) -> list[tuple[Numbers, int, Numbers]]:
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


def _below(labels: Numbers, parents: Numbers, told: Numbers) -> NDArray[np.bool_]:
    """Return which nodes stand below one of these labels, at most `_DEEP` levels."""
    inside = np.isin(labels, told)
    for _ in range(_DEEP):
        inside = inside | inside[parents]
    return inside


def _numbered(keys: Numbers) -> tuple[Numbers, int]:
    unique, inverse = np.unique(keys, return_inverse=True)
    return inverse.astype(np.int64), len(unique)
