"""Gradient-boosted trees from a file of plain numbers: rows of features in, one sum of leaves a row out.

The trees are grown elsewhere (`learn`) and need no library here: all trees go down one level at a time for all rows, in
numpy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError

Numbers = NDArray[np.float64]
Places = NDArray[np.int64]
_FIELDS = ("feature", "threshold", "right", "value", "roots")


@dataclass(frozen=True, slots=True)
class Trees:
    """The nodes of some trees, one after the other; a leaf is its own left and right, and each has a value."""

    feature: NDArray[np.int64]
    threshold: Numbers
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    value: Numbers
    roots: NDArray[np.int64]
    depth: int

    def parts(self, rows: Numbers, names: Sequence[str]) -> dict[str, Numbers]:
        """Return the sums taken apart: what each step down changes belongs to the name of the feature asked there.

        The parts and `base`, the mean of all rows, add up to `sums` (Saabas 2014).
        """
        told = {name: np.zeros(len(rows)) for name in sorted(set(names))}
        for at, after in self._steps(rows):
            change = self.value[after] - self.value[at]
            for name in told:
                of = np.array([each == name for each in names])
                told[name] += np.where(of[self.feature[at]], change, 0.0).sum(axis=1)
        return {"base": np.full(len(rows), self.value[self.roots].sum()), **told}

    def sums(self, rows: Numbers) -> Numbers:
        """Return the sum of the leaves that each row falls into; a feature goes left where it is not above."""
        at = np.broadcast_to(self.roots, (len(rows), len(self.roots)))
        for _, after in self._steps(rows):
            at = after
        total: Numbers = self.value[at].sum(axis=1)
        return total

    def _steps(self, rows: Numbers) -> Iterator[tuple[Places, Places]]:
        """Yield where each row stands in each tree, and where it goes from there, level by level."""
        at = np.broadcast_to(self.roots, (len(rows), len(self.roots)))
        index = np.arange(len(rows))[:, None]
        for _ in range(self.depth):
            low = rows[index, self.feature[at]] <= self.threshold[at]
            after = np.where(low, self.left[at], self.right[at])
            yield at, after
            at = after


def trees(record: Mapping[str, Any]) -> Trees:
    """Return the trees of a record as a file has it."""
    missing = [name for name in _FIELDS if name not in record]
    if missing:
        raise InputError(f"these trees lack '{missing[0]}': wanted a file of `assay.rank.consensus.train_consensus`")
    try:
        feature, right, roots = (np.array(record[name], np.int64) for name in ("feature", "right", "roots"))
        value, threshold = (np.array(record[name], np.float64) for name in ("value", "threshold"))
    except (TypeError, ValueError) as error:
        raise InputError(f"these trees are no lists of numbers: {error}") from error
    places = np.arange(len(right))
    left = np.where(right == places, places, places + 1)
    return Trees(feature, threshold, left, right, value, roots, _depth(left, right, roots))


def _depth(left: NDArray[np.int64], right: NDArray[np.int64], roots: NDArray[np.int64]) -> int:
    level, depth = roots, 0
    while len(level := level[left[level] != level]):
        level, depth = np.concatenate([left[level], right[level]]), depth + 1
        if depth > len(left):
            raise InputError("these trees go round in a circle: the file is damaged")
    return depth


def flat(nested: Sequence[Mapping[str, Any]], *, share: float = 1.0) -> dict[str, list[float]]:
    """Return trees of nested nodes, as LightGBM dumps them, as the record of a file: a node's left is the next one.

    Each value is multiplied by `share`, for sums to be means where several models are put together.
    """
    record: dict[str, list[float]] = {name: [] for name in _FIELDS}
    for root in nested:
        record["roots"].append(_write(root, record, share))
    return record


def _write(node: Mapping[str, Any], record: dict[str, list[float]], share: float) -> int:
    at = len(record["feature"])
    leaf = "leaf_value" in node
    record["feature"].append(0 if leaf else node["split_feature"])
    record["threshold"].append(0 if leaf else float(f"{node['threshold']:.5g}"))
    record["value"].append(round((node["leaf_value"] if leaf else node["internal_value"]) * share, 4))
    record["right"].append(at)
    if not leaf:
        _write(node["left_child"], record, share)
        record["right"][at] = _write(node["right_child"], record, share)
    return at
