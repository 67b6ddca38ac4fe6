"""Labels of several annotators in, how far they agree with the truth and with one another out, each with an interval.

Accuracy, precision, recall, F1, Cohen's kappa (1960) and Krippendorff's alpha for nominal labels (Content Analysis,
4th ed., section 12.3). None is no label: a pair that was left undecided is counted and never guessed. What is not
defined (precision where nothing was called a match, kappa and alpha where only one label occurs) is nan, not 0. All of
them are functions of sums over units, so that the bootstrap draws sums. Units of one group, such as the codes of one
query, stand or fall together and are drawn together: taken one by one they would make intervals too narrow. Plain
shares are given at least the width of Wilson's interval, for a bootstrap of few labels that are nearly all right is
too sure: of 30 labels it held the true precision 79 times of 100.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import nan
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.measure.compare import interval_of
from assay.measure.proportions import wilson

Label = Hashable
"""A name or a number; None where there is none."""
Values = NDArray[np.float64]
_Label = TypeVar("_Label", bound=Hashable)


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
    """Of the units that have a true label: those that the annotator left undecided are not right."""
    precision: Estimate
    recall: Estimate
    f1: Estimate
    kappa: Estimate
    decided: int
    """How many units have both labels."""
    open: int
    """How many have a true label and none of the annotator."""


def against(
    true: Sequence[Label], said: Sequence[Label], *, positive: Label = 1, groups: Sequence[Hashable] = (), seed: int = 0
) -> AgainstTruth:
    """Compare an annotator with the truth; precision, recall and F1 are of the `positive` label."""
    _same(true, said)
    known = [place for place, label in enumerate(true) if label is not None]
    true, said = [true[place] for place in known], [said[place] for place in known]
    names = _names((true, said), first=positive)
    parts = _crossed(true, said, names)
    decided = sum(label is not None for label in said)
    if groups:
        parts = _grouped(parts, [groups[place] for place in known])

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
        decided=decided,
        open=len(said) - decided,
    )


def kappa(a: Sequence[Label], b: Sequence[Label], *, groups: Sequence[Hashable] = (), seed: int = 0) -> Estimate:
    """Return Cohen's kappa of two annotators over the units that both labelled."""
    _same(a, b)
    both = [place for place in range(len(a)) if a[place] is not None and b[place] is not None]
    a, b = [a[place] for place in both], [b[place] for place in both]
    names = _names((a, b))
    parts = _crossed(a, b, names)
    if groups:
        parts = _grouped(parts, [groups[place] for place in both])
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
    if groups:
        parts = _grouped(parts, [groups[place] for place in paired])
    return _figure(parts, _alpha, seed)


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


def _grouped(parts: Values, groups: Sequence[Hashable]) -> Values:
    """Return the sums of each group."""
    place = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    sums = np.zeros((len(place), parts.shape[1]))
    np.add.at(sums, [place[group] for group in groups], parts)
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


def _same(a: Sequence[Label], b: Sequence[Label]) -> None:
    if len(a) != len(b):
        raise InputError(f"{len(a):,} labels of one and {len(b):,} of the other: they do not pair up")
