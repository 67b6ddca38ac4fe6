"""An evaluation of rankers to what is printed of it: one table a pool size, gains, and how faults were told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import isnan
from typing import Any

from assay.bench.program_ranking import gain_cell, value_cell
from assay.cli.exec_text import EXEC_COUNTS
from assay.errors import counted
from assay.measure.passk import Gain, RankMeasure, Value
from assay.rank.evaluate_rankers import Cell, Evaluation, FaultPrediction, RankerDifference
from assay.report.document import Column, Phrase, Rows, Table
from assay.report.plain_text import cell_text, table_lines


def evaluation_as_json(found: Evaluation) -> dict[str, Any]:
    """Return all of it as JSON has it."""
    return {
        "tasks": found.tasks,
        "samples": found.samples,
        "exec@k counts": EXEC_COUNTS[found.every_test],
        "rankers": [_cell(cell) for cell in found.cells],
        "differences": [
            {"a": each.a, "b": each.b, "pool": each.size or None, "gains": _by_measure(each.gains)}
            for each in found.differences
        ],
        "predicted": [_predicted(each) for each in found.predicted],
    }


def text(found: Evaluation) -> Iterator[str]:
    """Yield lines for a terminal."""
    yield f"{counted(found.tasks, 'task')}, {counted(found.samples, 'sample')}"
    for size in dict.fromkeys(cell.size for cell in found.cells):
        cells = [cell for cell in found.cells if cell.size == size]
        yield ""
        yield from _table(cells, size)
        yield from _pairs([each for each in found.differences if each.size == size])
    yield f"  exec@k counts {EXEC_COUNTS[found.every_test]}"
    for each in found.predicted:
        yield ""
        yield from _classes(each)


def _table(cells: Sequence[Cell], size: int) -> Iterator[str]:
    measured = max((value.tasks for value in cells[0].values.values()), default=0)
    left = f", {counted(cells[0].few, 'task')} with fewer left out" if cells[0].few else ""
    yield f"pools of {size or 'all samples'}: {counted(measured, 'task')}{left}"
    columns = (Column("ranker", words=True), *(Column(str(measure)) for measure in cells[0].values))
    worth: Rows = tuple((Phrase(cell.ranker), *map(value_cell, cell.values.values())) for cell in cells)
    yield from table_lines(Table("", columns, worth))
    for measure, value in cells[0].values.items():
        if value.tasks < measured:
            few = counted(measured - value.tasks, "task")
            yield f"  {measure}: {few} with fewer than {measure.k} samples left out"
    if len(cells) > 1:
        yield "  gain over unranked"
        gains: Rows = tuple((Phrase(cell.ranker), *map(gain_cell, cell.gains.values())) for cell in cells if cell.gains)
        yield from table_lines(Table("", columns, gains))
    for cell in cells:
        if cell.programs:
            each = 1000 * cell.seconds / cell.programs
            yield f"  {cell.ranker}: {cell.programs:,} programs in {cell.seconds:.1f} s, {each:.2f} ms each"


def _pairs(differences: Sequence[RankerDifference]) -> Iterator[str]:
    for each in differences:
        shown = ((measure, gain) for measure, gain in each.gains.items() if measure.good == "pass")
        gains = (f"{measure} {cell_text(gain_cell(gain))} p {gain.p:.4f}" for measure, gain in shown if gain.tasks)
        yield f"  {each.a} less {each.b}: {', '.join(gains)}"


def _classes(each: FaultPrediction) -> Iterator[str]:
    share = each.opinions / each.samples if each.samples else 0.0
    yield f"{each.ranker} predicts the fault of {each.opinions:,} samples ({share:.0%}); the others are not predicted"
    scores = ", ".join(f"{name} {found.macro_f1:.3f}" for name, found in each.labels.items())
    yield f"  macro-F1: {scores}"
    lines = each.lines
    yield f"  line: {lines.accuracy:.3f} of all, {lines.found:.3f} of {lines.broken:,} that break at one"


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "ranker": cell.ranker,
        "pool": cell.size or None,
        "values": _by_measure(cell.values),
        "gains": _by_measure(cell.gains),
        "left_out": cell.few,
        "seconds": cell.seconds,
        "programs": cell.programs,
    }


def _by_measure(values: Mapping[RankMeasure, Value] | Mapping[RankMeasure, Gain]) -> dict[str, Any]:
    return {str(measure): _plain(asdict(value)) for measure, value in values.items()}


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None if isinstance(value, float) and isnan(value) else value for name, value in values.items()}


def _predicted(each: FaultPrediction) -> dict[str, Any]:
    return {
        "ranker": each.ranker,
        "opinions": each.opinions,
        "samples": each.samples,
        "labels": {name: found.record() for name, found in each.labels.items()},
        "lines": asdict(each.lines),
    }
