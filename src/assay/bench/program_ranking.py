"""Rankers over sets of samples as systems of an experiment: their orders recorded, their values a task to results.

A task is what a query is elsewhere: one value by measure, in the order of the tasks. Every ranker varies `unranked`, so
that the tests that are made are those of what an order is worth. What a ranker said of a pool is kept under a key of
all that decides it, so that a run that was cut short goes on and a gate over a finished one ranks nothing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from assay.bench.experiment import concluded, file_name
from assay.bench.results import (
    MeasuredCell,
    MeasuredQuery,
    MeasuredSet,
    MeasuredSystem,
    Results,
    Timings,
)
from assay.bench.scores import manifest_from
from assay.errors import StorageError
from assay.faults import Fault
from assay.measure.passk import Value
from assay.measure.passk import measures as measures_of
from assay.protocols import Ranker
from assay.rank.evaluate_rankers import UNRANKED, Cell
from assay.rank.ranking_matrix import Matrix
from assay.rank.specs import executes, specs_within
from assay.report.document import Mean
from assay.runs.record import Batches, hash_of, read_lines, sole_writer
from assay.runs.run_manifest import code_stamp, manifest
from assay.types import Program, Ranked, Task

UNIT = "task"


class RecordedRanker:
    """A ranker whose orders are kept in a file: a pool that it has ranked is not ranked again."""

    def __init__(self, ranker: Ranker, file: Path, importable: Sequence[str] = ()) -> None:
        """Take where the orders are kept, and for a ranker that runs programs what these can import."""
        self._ranker, self._file = ranker, file
        self._about = (_stamp(ranker.name), *importable) if importable else _stamp(ranker.name)
        self.spared_s = 0.0
        """Seconds that the orders took which were read and not made."""
        with ExitStack() as stack:
            stack.enter_context(sole_writer(file))
            self._orders = {record.get("key"): record for record in read_lines(file)}
            self._lines = stack.enter_context(Batches(file))
            self._open = stack.pop_all()

    @property
    def name(self) -> str:
        """The spec of the ranker."""
        return self._ranker.name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._open.close()

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return what the ranker thinks of each program, or thought."""
        key = hash_of(repr((code_stamp(), self.name, self._about, task, list(programs))))
        if key in self._orders:
            return self._read(self._orders[key], programs)
        started = time.perf_counter()
        orders = self._ranker.rank(task, programs)
        seconds = time.perf_counter() - started
        told = [[each.score, str(each.fault) if each.fault else None, each.line] for each in orders]
        self._lines.add({"key": key, "task": task.id, "seconds": seconds, "orders": told})
        self._orders[key] = {"seconds": 0.0, "orders": told}
        return orders

    def _read(self, record: Mapping[str, Any], programs: Sequence[Program]) -> list[Ranked]:
        try:
            self.spared_s += float(record["seconds"])
            return [
                Ranked(program, float(score), Fault(fault) if fault else None, int(line))
                for program, (score, fault, line) in zip(programs, record["orders"], strict=True)
            ]
        except (KeyError, TypeError, ValueError) as error:
            about = json.dumps(record)[:80]
            raise StorageError(f"{self._file} holds what is not an order: {about}; remove it to rank again") from error


def _stamp(spec: str) -> list[tuple[str, int, int]]:
    """Return what tells the files and folders that a spec names from others that lay there before."""
    places = [place for part in specs_within(spec) for place in _places(part)]
    files = [file for place in places for file in (sorted(place.rglob("*")) if place.is_dir() else [place])]
    return [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files if file.is_file()]


def _places(part: str) -> Iterator[Path]:
    """Yield what may be a path in the spec of one ranker: what follows each of its colons, without options."""
    words = part.partition("?")[0].split(":")
    yield from (Path(path) for at in range(1, len(words)) if (path := ":".join(words[at:])))


@contextmanager
def recorded(
    rankers: Sequence[Ranker], names: Sequence[str], out: Path, importable: Sequence[str] = ()
) -> Iterator[list[RecordedRanker]]:
    """Give rankers whose orders are kept in files below a folder, each under its name."""
    with ExitStack() as stack:
        files = [out / "runs" / f"{file_name(name)}.jsonl" for name in names]
        yield [
            stack.enter_context(RecordedRanker(ranker, file, importable if executes(ranker.name) else ()))
            for ranker, file in zip(rankers, files, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class RankedColumn:
    """One set of samples, and what each ranker came to on it, unranked first."""

    name: str
    source: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is the same for all rankers."""

    ks: tuple[int, ...]


def results_of(columns: Sequence[RankedColumn], plan: Matrix, command: str, *, all_pairs: bool = False) -> Results:
    """Return what was measured as any experiment has it; `command` is what was typed."""
    specs = {ranker.name: ranker.spec for ranker in plan.rankers}
    measures = tuple(map(str, measures_of(plan.ks)))
    systems = {UNRANKED: MeasuredSystem(UNRANKED, "", "", {}, UNRANKED, how="in process")}
    systems |= {name: MeasuredSystem(spec, UNRANKED, "", {}, name, how="in process") for name, spec in specs.items()}
    sets = {column.name: MeasuredSet("", column.source, "", tuple(_items(column.cells[0])), ()) for column in columns}
    cells = [_cell(column.name, cell) for column in columns for cell in column.cells]
    ranked_first = sorted(cells, key=lambda cell: cell.system == UNRANKED)
    found = Results(
        format=1,
        manifest=manifest_from(manifest(_Wanted(plan.ks), seed=plan.seed), measures, max(plan.ks), command, "ranking"),
        sets=sets,
        unusable={},
        systems={**{name: systems[name] for name in specs}, UNRANKED: systems[UNRANKED]},
        cells=tuple(ranked_first),
        comparisons=(),
    )
    return concluded(found, all_pairs=all_pairs)


def _items(cell: Cell) -> Iterator[MeasuredQuery]:
    tasks = next(iter(cell.per_task.values()), {})
    yield from (MeasuredQuery(task, task, {}, ()) for task in tasks)


def _cell(column: str, cell: Cell) -> MeasuredCell:
    """Return one ranker on one set; a measure that some task is too small for has a figure and no values."""
    per_task = {str(measure): tuple(values.values()) for measure, values in cell.per_task.items()}
    items = len(next(iter(per_task.values()), ()))
    each_ms = 1000 * cell.seconds / cell.programs if cell.programs else None
    return MeasuredCell(
        set=column,
        system=cell.ranker,
        figures={UNIT: {str(m): _mean(value) for m, value in cell.values.items() if not isnan(value.value)}},
        groups={},
        values={UNIT: {name: values for name, values in per_task.items() if not any(map(isnan, values))}},
        answers=((),) * items,
        seconds=(None,) * items,
        errors={},
        unjudged=0.0,
        timings=Timings(None, None, each_ms, None, None, None),
    )


def _mean(value: Value) -> Mean:
    return Mean(value.value, value.low, value.high)


def with_spared(cell: Cell, called: Mapping[str, tuple[RecordedRanker, str]]) -> Cell:
    """Return a cell under the name that the matrix has, with the seconds that saved orders took."""
    if cell.ranker not in called:
        return cell
    ranker, name = called[cell.ranker]
    spared_s, ranker.spared_s = ranker.spared_s, 0.0
    return replace(cell, ranker=name, seconds=cell.seconds + spared_s)
