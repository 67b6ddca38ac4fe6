"""Rankers over sets of samples: their cells in, one report with its table, its heat map and curves of training out.

The drawings are those of Inala et al. 2022: how a ranker does in training (figures 4 and 7), and which data make a
ranker good for which samples (figure 5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan, nan
from typing import Any

from assay.errors import counted
from assay.measure.passk import Gain, RankMeasure, Value
from assay.rank.evaluate_rankers import Cell
from assay.rank.ranking_matrix import Matrix, RankingColumn, relative, training
from assay.report.document import (
    Block,
    Column,
    Count,
    CurvePanel,
    Curves,
    Heat,
    Mean,
    Number,
    Phrase,
    Report,
    Section,
    Series,
    Table,
)
from assay.report.document import Cell as TableCell

_SMOOTH = 0.4
"""How much a step of training weighs in a curve, as the paper draws it."""


@dataclass(frozen=True, slots=True)
class ComparedCell:
    """One ranker on the samples of one column."""

    column: RankingColumn
    cell: Cell


def as_rows(cells: Sequence[ComparedCell]) -> list[dict[str, Any]]:
    """Return the cells as results.json has them."""
    return [
        {
            "ranker": each.cell.ranker,
            "column": each.column.name,
            "set": each.column.set,
            "model": each.column.model,
            "config": each.column.config,
            "prompt": each.column.prompt,
            "samples": sum(example.n for example in each.column.examples),
            "seconds": each.cell.seconds,
            "values": {str(measure): _plain(asdict(value)) for measure, value in each.cell.values.items()},
            "gains": {str(measure): _plain(asdict(gain)) for measure, gain in each.cell.gains.items()},
        }
        for each in cells
    ]


def report_of(plan: Matrix, cells: Sequence[ComparedCell]) -> Report:
    """Return what each ranker is worth on each set of samples."""
    table = Section("figures", "Figures", (_table(cells),))
    drawn: list[Block] = [heat(plan, cells), *curves(plan)]
    columns = tuple(dict.fromkeys(each.column.name for each in cells))
    rankers = tuple(ranker.name for ranker in plan.rankers)
    samples = f"{len(columns)} sets of samples" if len(columns) > 1 else "1 set of samples"
    facts = (counted(len(rankers), "ranker"), samples, f"seed {plan.seed}")
    footer = "Written by Assay. Every figure of this page is in results.json."
    sections = (table, Section("plots", "Plots", tuple(drawn)))
    return Report("Rankers compared", "Assay rank", facts, sections, footer, rankers, columns)


def _table(cells: Sequence[ComparedCell]) -> Table:
    """Return a row a cell of the matrix, pass@1 before exec@1."""
    measures = list(dict.fromkeys(measure for each in cells for measure in each.cell.values))
    heads = (Column("samples", words=True), Column("ranker", words=True), Column("tasks"), Column("gain in pass"))
    rows = tuple(tuple(_row(each, measures)) for each in cells)
    note = "Gains are over the same pools unranked, paired by task; intervals are 95% bootstrap intervals over tasks."
    return Table("Rankers over samples", (*heads, *(Column(str(measure)) for measure in measures)), rows, note)


def _row(each: ComparedCell, measures: Sequence[RankMeasure]) -> Iterator[TableCell]:
    tasks = max(value.tasks for value in each.cell.values.values())
    gain = next(iter(each.cell.gains.values()), None)
    yield from (Phrase(each.column.name), Phrase(each.cell.ranker), Count(tasks))
    yield gain_cell(gain) if gain and gain.tasks else Number(None)
    for measure in measures:
        value = each.cell.values.get(measure)
        yield value_cell(value, "" if value is None or value.tasks == tasks else f"of {value.tasks}")


def value_cell(value: Value | None, remark: str = "") -> Number:
    """Return the cell of a value; `remark` says of how many tasks it is where that is not all."""
    if value is None or isnan(value.value):
        return Number(None)
    return Number(value.value, value.low, value.high, remark=remark)


def gain_cell(gain: Gain) -> Number:
    """Return the cell of what an order gains."""
    return Number(None) if isnan(gain.value) else Number(gain.value, gain.low, gain.high, signed=True)


def heat(plan: Matrix, cells: Sequence[ComparedCell]) -> Heat:
    """Return the first measure of each ranker over that of the one trained on the set, else over the best."""
    first = RankMeasure(plan.ks[0])
    sets = {each.column.name: each.column.set for each in cells}
    found = {(each.cell.ranker, each.column.name): each.cell.values[first].value for each in cells}
    worth = [[found.get((ranker.name, name), nan) for name in sets] for ranker in plan.rankers]
    values = relative(plan.rankers, [*sets], [*sets.values()], worth)
    return Heat(
        f"{first} of each ranker, relative",
        "Over that of the ranker trained on the set, else of the best.",
        tuple(ranker.name for ranker in plan.rankers),
        tuple(sets),
        tuple(tuple(None if isnan(value) else value for value in row) for row in values),
    )


def curves(plan: Matrix) -> Iterator[Curves]:
    """Yield how rankers did in training, where they have a log."""
    logs = training(plan.rankers)
    names = dict.fromkeys(name for measures in logs.values() for name in measures)
    panels = tuple(CurvePanel(name, tuple(_lines(logs, name))) for name in names)
    if panels:
        yield Curves("Training", "Exponential means over steps.", panels, "step")


def _lines(logs: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]], name: str) -> Iterator[Series]:
    for place, (ranker, measures) in enumerate(logs.items()):
        if measures.get(name):
            steps, values = zip(*smoothed(measures[name]), strict=True)
            yield Series(ranker, place, steps, tuple(Mean(value, value, value) for value in values))


def smoothed(curve: Sequence[tuple[float, float]], weight: float = _SMOOTH) -> list[tuple[float, float]]:
    """Return a curve as its exponential mean."""
    found: list[tuple[float, float]] = []
    for step, value in curve:
        found.append((step, weight * value + (1 - weight) * found[-1][1] if found else value))
    return found


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: None if isinstance(value, float) and isnan(value) else value for name, value in values.items()}
