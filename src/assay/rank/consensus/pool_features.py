"""The facts of a task's programs to numbers about each among the others: how central, how common, how large.

A program is measured against those that pass the static gate, each as often as it was sampled, and never against
itself: another copy of it counts, it does not. Beside a value stands how far it is from the best of the pool, and its
rank, for they mean the same in pools of any model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.rank.consensus.facts import NAMES as OWN
from assay.rank.consensus.facts import Facts
from assay.rank.consensus.paths import PathBags
from assay.rank.consensus.similar import MOST, likeness

Numbers = NDArray[np.float64]
VIEWS: Final = ("all", "words", "results")
"""What programs are compared by: all paths, labels alone, and what stands below a return or a print."""
NAMES: Final = (
    *(f"{part}_{view}" for view in VIEWS for part in ("central", "gap", "rank", "near", "nearest")),
    "common", "common_gap", "covers", "covers_gap", "rarest", "rare", "mass", "copies", "same_arity", "same_kinds",
    "longer", "off_length", "length_rank", "pool", "passing", "closeness", "largest",
)  # fmt: skip
_PARSES: Final = OWN.index("parses")
_EQUAL: Final = 1e-9
_NEAR: Final = 0.75
_COMMON: Final = 0.08


def among(facts: Sequence[Facts], n: Sequence[int], held: PathBags) -> Numbers:
    """Return one row a program, one column for each of `NAMES`."""
    return _Among(facts, np.asarray(n, np.float64), held).rows


def passing(facts: Sequence[Facts]) -> NDArray[np.bool_]:
    """Return which programs pass the static gate: they can be read, and nothing says that they surely fail."""
    return np.array([each.fault is None and each.numbers[_PARSES] > 0 for each in facts], bool)


class _Among:
    def __init__(self, facts: Sequence[Facts], n: Numbers, held: PathBags) -> None:
        self._n = n
        self._gate = passing(facts)
        against = _standing(self._gate if self._gate.any() else np.ones(len(n), bool), n)
        self._against = against
        self._weights = n[against]
        self._self = np.zeros((len(n), len(against)))
        self._self[against, np.arange(len(against))] = 1
        self._others = np.maximum(self._weights.sum() - self._self.sum(1), 0)
        self._bags = held
        self._values: dict[str, Numbers] = {}
        for view in VIEWS:
            self._central(view)
        self._popular()
        self._twins(facts)
        self._sizes(facts)
        self._whole()
        self.rows = np.stack([self._values[name] for name in NAMES], axis=1)

    def _central(self, view: str) -> None:
        alike = likeness(self._bags, _columns(self._bags, view), self._against).astype(np.float64)
        central = self._mean(alike)
        self._values |= {
            f"central_{view}": central,
            f"gap_{view}": self._gap(central),
            f"rank_{view}": self._rank(central),
            f"near_{view}": self._mean(alike >= _NEAR),
            f"nearest_{view}": self._nearest(alike),
        }

    def _mean(self, of: NDArray[np.generic]) -> Numbers:
        """Return the mean over the other programs, -1 where there is no other."""
        values = of.astype(np.float64)
        total = values @ self._weights - (values * self._self).sum(1)
        return np.where(self._others > 0, total / np.maximum(self._others, 1), -1.0)

    def _gap(self, values: Numbers) -> Numbers:
        gap: Numbers = values[self._against].max(initial=-1.0) - values
        return gap

    def _rank(self, values: Numbers) -> Numbers:
        """Return the share of the pool that is below, and half of what is equal."""
        there = values[self._against]
        order = np.argsort(there, kind="stable")
        weight = np.concatenate([[0.0], np.cumsum(self._weights[order])])
        low = np.searchsorted(there[order], values - _EQUAL, side="left")
        high = np.searchsorted(there[order], values + _EQUAL, side="right")
        rank: Numbers = (weight[low] + weight[high]) / 2 / max(weight[-1], 1.0)
        return rank

    def _nearest(self, alike: Numbers) -> Numbers:
        """Return the mean likeness to the most alike tenth of the others."""
        order = np.argsort(-alike, axis=1, kind="stable")
        weight = np.take_along_axis(self._weights - self._self, order, 1)
        before = np.cumsum(weight, axis=1) - weight
        most = np.maximum(np.ceil(self._others / 10), 1)[:, None]
        taken = np.clip(most - before, 0, weight)
        total = (taken * np.take_along_axis(alike, order, 1)).sum(1)
        return np.where(self._others > 0, total / np.maximum(taken.sum(1), 1), -1.0)

    def _popular(self) -> None:
        """Note how common the paths of a program are, and how much of what is common it has."""
        held, most = self._bags, self._weights.sum()
        weight = np.zeros(held.programs)
        weight[self._against] = self._weights
        share = np.bincount(held.paths, weights=weight[held.rows], minlength=held.width) / max(most, 1)
        own = np.bincount(held.rows, minlength=held.programs)
        total = np.bincount(held.rows, weights=share[held.paths], minlength=held.programs)
        common, covers = total / np.maximum(own, 1), total / max(share.sum(), 1e-9)
        labels = held.lengths[held.paths] == 1
        rows, shares = held.rows[labels], share[held.paths[labels]]
        rarest = np.ones(held.programs)
        np.minimum.at(rarest, rows, shares)
        rare = np.bincount(rows, weights=shares < _COMMON, minlength=held.programs)
        self._values |= {
            "common": common, "common_gap": self._gap(common), "covers": covers, "covers_gap": self._gap(covers),
            "rarest": rarest, "rare": np.log1p(rare),
        }  # fmt: skip

    def _twins(self, facts: Sequence[Facts]) -> None:
        """Note how many others have the same normal form, the same parameters, the same kinds of value out."""
        forms = _ids([each.canon for each in facts])
        self._values |= {
            "mass": self._same(forms),
            "copies": np.log(self._n),
            "same_arity": self._same(_ids([each.arity for each in facts])),
            "same_kinds": self._same(_ids([each.returned for each in facts])),
        }

    def _same(self, ids: NDArray[np.intp]) -> Numbers:
        return self._mean(ids[:, None] == ids[self._against][None, :])

    def _sizes(self, facts: Sequence[Facts]) -> None:
        nodes = np.array([each.numbers[OWN.index("nodes")] for each in facts])
        middle = _median(nodes[self._against], self._weights)
        self._values |= {
            "longer": nodes - middle,
            "off_length": np.abs(nodes - middle),
            "length_rank": self._rank(nodes),
        }

    def _whole(self) -> None:
        """Note what the pool is like: the same for all of its programs."""
        there = self._values["central_all"][self._against]
        for name, value in {
            "pool": np.log(self._n.sum()),
            "passing": self._n[self._gate].sum() / self._n.sum(),
            "closeness": float(np.average(there, weights=self._weights)),
            "largest": self._values["mass"][self._against].max(initial=-1.0),
        }.items():
            self._values[name] = np.full(len(self._n), value)


def _columns(held: PathBags, view: str) -> NDArray[np.bool_]:
    if view == "words":
        return np.asarray(held.lengths == 1)
    return held.results if view == "results" else np.ones(held.width, np.bool_)


def _standing(able: NDArray[np.bool_], n: Numbers) -> NDArray[np.intp]:
    """Return the programs that stand for a pool: all that may, or the most sampled and an even choice of the others."""
    there = np.flatnonzero(able)
    if len(there) <= MOST:
        return there
    heavy = there[np.argsort(-n[there], kind="stable")][: MOST // 2]
    rest = np.setdiff1d(there, heavy)
    even = rest[np.linspace(0, len(rest) - 1, MOST - len(heavy)).astype(np.intp)]
    return np.sort(np.concatenate([heavy, even]))


def _ids(values: Sequence[object]) -> NDArray[np.intp]:
    known: dict[object, int] = {}
    return np.array([known.setdefault(value, len(known)) for value in values], np.intp)


def _median(values: Numbers, weights: Numbers) -> float:
    order = np.argsort(values, kind="stable")
    half = np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)
    return float(values[order][min(int(half), len(order) - 1)])
