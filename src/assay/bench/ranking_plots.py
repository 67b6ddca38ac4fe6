"""Draw what rankers are worth beside one another as a heat map, and how their trainings went as curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isnan, nan
from typing import NamedTuple

from assay.bench.ranking_matrix import RankerSpec
from assay.report import document as doc
from assay.runs.record import read_lines

_SMOOTHING = 0.4
"""How much a step of training weighs in a curve, as the paper draws it."""
_LOGGED = ("pass@1", "exec@1", "loss")


class LoggedValue(NamedTuple):
    """A figure after some steps of a training."""

    step: float
    value: float


TrainingLogs = Mapping[str, Mapping[str, Sequence[LoggedValue]]]
"""By ranker and measure."""


def heat(
    texts: tuple[str, str],
    rankers: Sequence[RankerSpec],
    sets: Mapping[str, str],
    values: Sequence[Sequence[float]],
) -> doc.Heat:
    """Return a heat map with a title and a caption; `values` has a row a ranker, `sets` the set of each column."""
    title, caption = texts
    shown = relative(rankers, [*sets.values()], values)
    cells = tuple(tuple(None if isnan(value) else value for value in row) for row in shown)
    return doc.Heat(title, caption, tuple(ranker.name for ranker in rankers), tuple(sets), cells)


def relative(
    rankers: Sequence[RankerSpec], sets: Sequence[str], values: Sequence[Sequence[float]]
) -> list[list[float]]:
    """Return values, a row a ranker, divided by that of the ranker trained on a column's set, else by the best."""
    rows = [[*row] for row in values]
    for place, of in enumerate(sets):
        own = [row[place] for row, ranker in zip(rows, rankers, strict=True) if ranker.trained_on == of]
        base = own[0] if own else max((row[place] for row in rows if not isnan(row[place])), default=nan)
        for row in rows:
            row[place] = row[place] / base if base else nan
    return rows


def training_logs(rankers: Sequence[RankerSpec]) -> TrainingLogs:
    """Return what the training of each ranker wrote down of ranked pass@1, exec@1 and loss."""
    logs: dict[str, dict[str, list[LoggedValue]]] = {ranker.name: {} for ranker in rankers}
    for ranker in rankers:
        for record in read_lines(ranker.log) if ranker.log else ():
            for name in _LOGGED:
                value, step = record.get(name), record.get("step")
                if isinstance(value, int | float) and isinstance(step, int | float):
                    logs[ranker.name].setdefault(name, []).append(LoggedValue(step, value))
    return logs


def curves(rankers: Sequence[RankerSpec]) -> Iterator[doc.Curves]:
    """Yield how rankers did in training, a panel a measure, where one has a log."""
    logs = training_logs(rankers)
    names = dict.fromkeys(name for measures in logs.values() for name in measures)
    panels = tuple(doc.CurvePanel(name, tuple(training_lines(logs, name))) for name in names)
    if panels:
        yield doc.Curves("Training", "Exponential means over steps.", panels, "step")


def training_lines(logs: TrainingLogs, measure: str) -> Iterator[doc.Series]:
    """Yield the curve of each ranker whose log has a measure."""
    for place, (ranker, measures) in enumerate(logs.items()):
        if points := smoothed(measures.get(measure, ())):
            steps, values = zip(*points, strict=True)
            yield doc.Series(ranker, place, steps, tuple(doc.Mean(value, value, value) for value in values))


def smoothed(curve: Sequence[LoggedValue], weight: float = _SMOOTHING) -> list[LoggedValue]:
    """Return a curve as its exponential mean."""
    found: list[LoggedValue] = []
    for step, value in curve:
        found.append(LoggedValue(step, weight * value + (1 - weight) * found[-1].value if found else value))
    return found
