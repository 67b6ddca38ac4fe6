"""How far labels agree: with the truth, with one another, class by class and line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.measure.compare import Values, interval_of, wilson

Label = Hashable
"""A name or a number; None where there is none."""
_Label = TypeVar("_Label", bound=Hashable)
_STEPS = 200


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95% interval; nan where it is not defined.

    >>> Estimate(0.75, low=0.5, high=1.0).low
    0.5
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class AgainstTruth:
    """One annotator beside the truth."""

    accuracy: Estimate
    """Of the units that have both labels."""
    of_all: Estimate
    """Of the units with a true label that the annotator saw: those that it left undecided are not right."""
    precision: Estimate
    recall: Estimate
    f1: Estimate
    kappa: Estimate
    auc: Estimate
    """The area under the ROC curve, of an annotator that says how likely a unit is of the `positive` label."""
    decided: int
    """How many units have both labels."""
    open: int
    """How many have a true label and none of the annotator, who saw them."""
    unseen: int = 0
    """How many have a true label and were not shown to the annotator: no figure counts them."""


def against(  # noqa: PLR0913  two columns, what they are of, and how units are drawn
    true: Sequence[Label],
    said: Sequence[Label],
    seen: Sequence[bool] = (),
    probabilities: Sequence[float | None] = (),
    *,
    positive: Label = 1,
    groups: Sequence[Hashable] = (),
    seed: int = 0,
) -> AgainstTruth:
    """Compare an annotator with the truth, on units `seen`; precision, recall and F1 are of the `positive` label."""
    _same(true, said)
    is_true = [None if label is None else label == positive for label in true]
    labelled = [place for place, label in enumerate(true) if label is not None]
    known = [place for place in labelled if not seen or seen[place]]
    true, said = [true[place] for place in known], [said[place] for place in known]
    names = _names((true, said), first=positive)
    parts = _grouped(_crossed(true, said, names), groups, known)
    decided = sum(label is not None for label in said)

    def table(sums: Values) -> Values:
        return _square(sums, len(names))

    def share(of: Callable[[Values], tuple[Values, Values]]) -> Estimate:
        return _share(parts, of, seed)

    return AgainstTruth(
        accuracy=share(lambda sums: (_hits(table(sums)), sums[:, :-1].sum(axis=1))),
        of_all=share(lambda sums: (_hits(table(sums)), sums.sum(axis=1))),
        precision=share(lambda sums: (table(sums)[:, 0, 0], table(sums)[:, :, 0].sum(axis=1))),
        recall=share(lambda sums: (table(sums)[:, 0, 0], table(sums)[:, 0].sum(axis=1))),
        f1=_figure(parts, lambda sums: _f1(table(sums)), seed),
        kappa=_figure(parts, lambda sums: _kappa(table(sums)), seed),
        auc=_auc(is_true, probabilities or [None] * len(is_true), groups, seed),
        decided=decided,
        open=len(said) - decided,
        unseen=len(labelled) - len(known),
    )


def _auc(
    true: Sequence[object], probabilities: Sequence[float | None], groups: Sequence[Hashable], seed: int
) -> Estimate:
    """Return the area under the ROC curve: how often what is true has a higher probability than what is not.

    Ties count half (Hanley and McNeil, Radiology 143, 1982); units without a label or a probability do not count.
    For the interval units are ordered in 200 steps.
    """
    known = [place for place, each in enumerate(zip(true, probabilities, strict=True)) if None not in each]
    values = np.array([probabilities[place] for place in known], dtype=np.float64)
    is_wrong = np.array([not true[place] for place in known], dtype=np.int64)
    ranks, count = np.searchsorted(np.sort(values), values), len(known)
    value = float(_area(np.bincount(ranks + is_wrong * count, minlength=2 * count)[None].astype(np.float64))[0])
    if np.isnan(value):
        return Estimate(nan, nan, nan)
    parts = np.zeros((count, 2 * _STEPS))
    parts[np.arange(count), ranks * _STEPS // count + is_wrong * _STEPS] = 1
    return Estimate(value, *interval_of(_grouped(parts, groups, known), _area, seed=seed))


def _area(sums: Values) -> Values:
    """Return the area of a row, which has how many are right at each step and then how many are wrong."""
    right, wrong = np.split(sums, 2, axis=1)
    below = wrong.cumsum(axis=1) - wrong / 2
    return _ratio((right * below).sum(axis=1), right.sum(axis=1) * wrong.sum(axis=1))


def kappa(a: Sequence[Label], b: Sequence[Label], *, groups: Sequence[Hashable] = (), seed: int = 0) -> Estimate:
    """Return Cohen's kappa of two annotators over the units that both labelled."""
    _same(a, b)
    both = [place for place in range(len(a)) if a[place] is not None and b[place] is not None]
    a, b = [a[place] for place in both], [b[place] for place in both]
    names = _names((a, b))
    parts = _grouped(_crossed(a, b, names), groups, both)
    return _figure(parts, lambda sums: _kappa(_square(sums, len(names))), seed)


def alpha(units: Sequence[Sequence[Label]], *, groups: Sequence[Hashable] = (), seed: int = 0) -> Estimate:
    """Return Krippendorff's nominal alpha; a row a unit holds a label an annotator, as many as there are.

    A unit with less than two labels pairs nothing and does not count, as Krippendorff has it.
    """
    paired = [place for place, row in enumerate(units) if sum(label is not None for label in row) > 1]
    names = {name: place for place, name in enumerate(_names(units[place] for place in paired))}
    parts = np.zeros((len(paired), 1 + len(names)))
    for row, place in zip(parts, paired, strict=True):
        for label in units[place]:
            if label is not None:
                row[1 + names[label]] += 1
        labels = row[1:].sum()
        row[0] = (labels**2 - (row[1:] ** 2).sum()) / (labels - 1)
    return _figure(_grouped(parts, groups, paired), _alpha, seed)


def majority(labels: Iterable[_Label | None]) -> _Label | None:
    """Return the label that most give; None where nobody gives one, or two labels have as many votes."""
    votes = Counter(label for label in labels if label is not None).most_common(2)
    if not votes or (len(votes) > 1 and votes[0][1] == votes[1][1]):
        return None
    return votes[0][0]


def _figure(parts: Values, statistic: Callable[[Values], Values], seed: int) -> Estimate:
    value = float(statistic(parts.sum(axis=0, keepdims=True))[0]) if len(parts) else nan
    if np.isnan(value):
        return Estimate(nan, nan, nan)
    return Estimate(value, *interval_of(parts, statistic, seed=seed))


def _share(parts: Values, of: Callable[[Values], tuple[Values, Values]], seed: int) -> Estimate:
    """Return a share of counts, no surer than by Wilson: where all labels are right, so are they in every resample."""
    found = _figure(parts, lambda sums: _ratio(*of(sums)), seed)
    if np.isnan(found.value):
        return found
    part, whole = of(parts.sum(axis=0, keepdims=True))
    low, high = wilson(int(part[0]), int(whole[0]))
    return Estimate(found.value, min(low, found.low), max(high, found.high))


def _names(rows: Iterable[Iterable[Label]], first: Label = None) -> tuple[Label, ...]:
    """Return the labels that occur, in the order in which they do."""
    found = dict.fromkeys(label for row in rows for label in row if label is not None)
    return tuple(found if first is None else {first: None, **found})


def _crossed(a: Sequence[Label], b: Sequence[Label], names: Sequence[Label]) -> Values:
    """Return a row a unit: a one where its two labels cross, and in the last column where b has none."""
    place = {name: number for number, name in enumerate(names)}
    width = len(names)
    parts = np.zeros((len(a), width * width + 1))
    columns = [width * width if y is None else width * place[x] + place[y] for x, y in zip(a, b, strict=True)]
    parts[np.arange(len(a)), columns] = 1
    return parts


def _square(sums: Values, width: int) -> Values:
    """Return a table a row: rows the labels of a, columns those of b."""
    return sums[:, :-1].reshape(len(sums), width, width)


def _grouped(parts: Values, groups: Sequence[Hashable], places: Sequence[int]) -> Values:
    """Return the sums of each group, where there are groups; `places` are those of the parts among these."""
    if not groups:
        return parts
    held = [groups[place] for place in places]
    numbers = {group: number for number, group in enumerate(dict.fromkeys(held))}
    sums = np.zeros((len(numbers), parts.shape[1]))
    np.add.at(sums, [numbers[group] for group in held], parts)
    return sums


def _hits(table: Values) -> Values:
    hits: Values = np.trace(table, axis1=1, axis2=2)
    return hits


def _f1(table: Values) -> Values:
    return _ratio(2 * table[:, 0, 0], table[:, 0].sum(axis=1) + table[:, :, 0].sum(axis=1))


def _kappa(table: Values) -> Values:
    units = table.sum(axis=(1, 2))
    by_chance = (table.sum(axis=1) * table.sum(axis=2)).sum(axis=1)
    return _ratio(units * _hits(table) - by_chance, units**2 - by_chance)


def _alpha(sums: Values) -> Values:
    labels = sums[:, 1:].sum(axis=1)
    return 1 - _ratio((labels - 1) * sums[:, 0], labels**2 - (sums[:, 1:] ** 2).sum(axis=1))


def _ratio(part: Values, whole: Values) -> Values:
    """Return a share of each; of nothing it is nan."""
    shares: Values = np.divide(part, whole, out=np.full(len(whole), nan), where=whole != 0)
    return shares


def _same(a: Sequence[object], b: Sequence[object]) -> None:
    if len(a) != len(b):
        raise InputError(f"{len(a):,} labels of one and {len(b):,} of the other: they do not pair up")


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
        return _fraction(int(np.trace(self.counts)), self.total)

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
        counts = (self.counts[place, place], self.counts[place].sum(), self.counts[:, place].sum())
        hits, support, predicted = map(int, counts)
        wholes = (predicted, support, support + predicted)
        precision, recall, f1 = map(_fraction, (hits, hits, 2 * hits), wholes)
        return ClassScore(self.labels[place], precision, recall, f1, support, predicted)


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
    times = np.array(n or [1] * len(true))
    hits, broken = np.array(true) == np.array(predicted), np.array(true) > 0
    every, all_broken = int(times.sum()), int(times[broken].sum())
    found = int(times[hits & broken].sum())
    return LineAccuracy(_fraction(int(times[hits].sum()), every), _fraction(found, all_broken), every, all_broken)


def _fraction(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
