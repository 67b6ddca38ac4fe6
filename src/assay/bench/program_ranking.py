"""Rankers over sets of samples as systems of an experiment: their matrix, their recorded orders, their report."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import product
from math import isnan, nan
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from assay.bench.experiment import concluded, file_name
from assay.bench.matrix import read_matrix
from assay.bench.results import MeasuredCell, MeasuredQuery, MeasuredSet, MeasuredSystem, Results, plain_cell
from assay.bench.scores import manifest_from
from assay.errors import InputError, StorageError, counted, nearest
from assay.faults import Fault
from assay.io.fields import Fields
from assay.io.terminal import say, say_problems
from assay.measure.passk import Gain, RankMeasure, Value
from assay.measure.passk import measures as measures_of
from assay.operations import rank
from assay.programs.requests import ReadingOptions
from assay.protocols import Progress, Ranker
from assay.rank import datasets
from assay.rank.datasets import SPLITS, Example, by_task, without_examples
from assay.rank.evaluate_rankers import UNRANKED, Cell, EvaluationOptions, evaluate
from assay.rank.rankers import executes, parts_of
from assay.report import document as doc
from assay.runs.record import Batches, code_stamp, hash_of, manifest, read_lines, sole_writer
from assay.values import Program, Ranked, Task

AXES = ("model", "config")
PROMPTS = ("whole", "stripped")
_SET_KEYS = ("samples", "outcomes", "tasks", "data", "split", "by", "prompts", "limit_tasks")
_RANKERS = ("rankers", "systems")
"""What the tables of rankers are called: `systems` as in every experiment, `rankers` as ever."""
_RANKER_KEYS = ("spec", "trained_on", "log")
_LOG = "log.jsonl"


@dataclass(frozen=True, slots=True)
class RankingSetSpec:
    """Samples to measure on."""

    name: str
    samples: Path | None = None
    outcomes: Path | None = None
    tasks: Path | None = None
    data: Path | None = None
    split: str = ""
    by: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ("whole",)
    limit_tasks: int = 0


@dataclass(frozen=True, slots=True)
class RankerSpec:
    """A ranker to measure."""

    name: str
    spec: str
    trained_on: str = ""
    log: Path | None = None


@dataclass(frozen=True, slots=True)
class Matrix:
    """What a file asks for."""

    sets: tuple[RankingSetSpec, ...]
    rankers: tuple[RankerSpec, ...]
    ks: tuple[int, ...] = (1, 5)
    seed: int = 0


@dataclass(frozen=True, slots=True)
class RankingColumn:
    """Samples of one kind with their tasks as a ranker is shown them."""

    set: str
    model: str
    config: str
    prompt: str
    tasks: tuple[Task, ...]
    examples: tuple[Example, ...]

    @property
    def name(self) -> str:
        """What tells it from the others."""
        prompt = "" if self.prompt == PROMPTS[0] else self.prompt
        return " / ".join(part for part in (self.set, self.model, self.config, prompt) if part)


def load(file: Path) -> Matrix:
    """Read a matrix file of rankers."""
    fields = read_matrix(file, "ranking")
    fields.only(("kind", "sets", "rankers", "systems", "k", "seed"))
    fields.choice("kind", ("ranking",), "ranking")
    sets = tuple(_samples(name, each, file) for name, each in fields.tables("sets"))
    rankers = tuple(_ranker_of(name, each, file) for key in _RANKERS for name, each in fields.tables(key))
    if not sets or not rankers:
        raise InputError(f"{file} needs at least one [sets.NAME] and one [rankers.NAME]")
    names = [each.name for each in sets]
    for each in rankers:
        if each.trained_on and each.trained_on not in names:
            raise InputError(
                f"[rankers.{each.name}] was trained on '{each.trained_on}'; {nearest(each.trained_on, names)}"
            )
    ks = fields.list("k", (1, 5))
    if not ks or not all(type(k) is int and k > 0 for k in ks):
        raise InputError(f"'k' in {file} is {list(ks)!r}, wanted a list of numbers like [1, 5]")
    return Matrix(sets, rankers, ks, fields.whole("seed", 0))


def columns(spec: RankingSetSpec, tasks: Sequence[Task], examples: Sequence[Example]) -> Iterator[RankingColumn]:
    """Yield the columns of a set: one for each model, configuration and prompt that it is taken apart by."""
    if spec.limit_tasks:
        kept = set(list(by_task(examples))[: spec.limit_tasks])
        examples = [each for each in examples if each.task_id in kept]
    values = [sorted({getattr(each, axis) for each in examples}) if axis in spec.by else [None] for axis in AXES]
    for prompt, model, config in product(spec.prompts, *values):
        chosen = tuple(
            each
            for each in examples
            if (model is None or each.model == model) and (config is None or each.config == config)
        )
        if chosen:
            shown = tuple(tasks)
            if prompt != PROMPTS[0]:
                shown = tuple(replace(task, prompt=without_examples(task.prompt)) for task in tasks)
            yield RankingColumn(spec.name, model or "", config or "", prompt, shown, chosen)


def tasks_of(examples: Sequence[Example]) -> tuple[Task, ...]:
    """Return the tasks of rows whose prompts are all that is known of them."""
    return tuple(Task(name, rows[0].prompt) for name, rows in by_task(examples).items())


def relative(
    rankers: Sequence[RankerSpec], columns_: Sequence[str], sets: Sequence[str], values: Any
) -> list[list[float]]:
    """Return values, a row a ranker, divided by that of the ranker trained on a column's set, else by the best."""
    told = [[float(value) for value in row] for row in values]
    for place in range(len(columns_)):
        own = [row[place] for row, ranker in zip(told, rankers, strict=True) if ranker.trained_on == sets[place]]
        base = own[0] if own else max((row[place] for row in told if not isnan(row[place])), default=nan)
        for row in told:
            row[place] = row[place] / base if base else nan
    return told


def training(rankers: Sequence[RankerSpec]) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """Return what the training of each ranker wrote down of ranked pass@1, exec@1 and loss."""
    logs: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for ranker in rankers:
        for record in read_lines(ranker.log) if ranker.log else ():
            for name in ("pass@1", "exec@1", "loss"):
                value, step = record.get(name), record.get("step")
                if isinstance(value, int | float) and isinstance(step, int | float):
                    logs.setdefault(ranker.name, {}).setdefault(name, []).append((float(step), float(value)))
    return logs


def _samples(name: str, fields: Fields, file: Path) -> RankingSetSpec:
    fields.only(_SET_KEYS)
    paths = {key: file.parent / fields.text(key) for key in ("samples", "outcomes", "tasks", "data") if key in fields}
    if ("data" in paths) == ("samples" in paths) or ("samples" in paths) != ("outcomes" in paths):
        raise InputError(f"[sets.{name}] of {file} wants samples = 'FILE' with outcomes = 'FILE', or data = 'FILE'")
    return RankingSetSpec(
        name,
        **paths,
        split=fields.choice("split", SPLITS, ""),
        by=fields.texts("by", (), known=AXES),
        prompts=fields.texts("prompts", (), known=PROMPTS) or PROMPTS[:1],
        limit_tasks=fields.whole("limit_tasks", 0),
    )


def _ranker_of(name: str, fields: Fields, file: Path) -> RankerSpec:
    fields.only(_RANKER_KEYS)
    spec = fields.text("spec", "")
    if not spec:
        raise InputError(f"[rankers.{name}] of {file} names no spec, such as consensus or neural:FOLDER")
    kind, _, argument = spec.partition(":")
    place, mark, asked = argument.partition("?")
    folder = file.parent / place
    if place and folder.exists():
        spec = f"{kind}:{folder}{mark}{asked}"
    own = folder / _LOG
    log = file.parent / fields.text("log") if "log" in fields else own if place and own.exists() else None
    return RankerSpec(name, spec, fields.text("trained_on", ""), log)


_SMOOTH = 0.4
"""How much a step of training weighs in a curve, as the paper draws it."""


@dataclass(frozen=True, slots=True)
class RankedColumn:
    """Samples of one kind, and what each ranker came to on them, unranked first."""

    column: RankingColumn
    cells: tuple[Cell, ...]


def as_rows(ranked: Sequence[RankedColumn]) -> list[dict[str, Any]]:
    """Return the cells as the command prints them."""
    return [
        {
            "ranker": cell.ranker,
            "column": column.name,
            "set": column.set,
            "model": column.model,
            "config": column.config,
            "prompt": column.prompt,
            "samples": sum(example.n for example in column.examples),
            "seconds": cell.seconds,
            "values": {str(measure): asdict(value) for measure, value in cell.values.items()},
            "gains": {str(measure): asdict(gain) for measure, gain in cell.gains.items()},
        }
        for column, cell in _cells(ranked)
    ]


def _cells(ranked: Sequence[RankedColumn]) -> Iterator[tuple[RankingColumn, Cell]]:
    yield from ((each.column, cell) for each in ranked for cell in each.cells)


def report_of(plan: Matrix, ranked: Sequence[RankedColumn]) -> doc.Report:
    """Return what each ranker is worth on each set of samples."""
    table = doc.Section("figures", "Figures", (_table(ranked),))
    drawn: list[doc.Block] = [heat(plan, ranked), *curves(plan)]
    samples = f"{len(ranked)} sets of samples" if len(ranked) > 1 else "1 set of samples"
    facts = (counted(len(plan.rankers), "ranker"), samples, f"seed {plan.seed}")
    footer = "Written by Assay. Every figure of this page is in results.json."
    sections = (table, doc.Section("plots", "Plots", tuple(drawn)))
    return doc.Report("Rankers compared", "Assay rank", facts, sections, footer)


def _table(ranked: Sequence[RankedColumn]) -> doc.Table:
    """Return a row a cell of the matrix, pass@1 before exec@1."""
    measures = list(dict.fromkeys(measure for _, cell in _cells(ranked) for measure in cell.values))
    columns = (*doc.left("samples", "ranker"), "tasks", "gain in pass", *map(str, measures))
    rows = (_figures_row(column, cell, measures) for column, cell in _cells(ranked))
    note = "Gains are over the same pools unranked, paired by task; intervals are 95% bootstrap intervals over tasks."
    return doc.table("Rankers over samples", columns, rows, note)


def _figures_row(column: RankingColumn, cell: Cell, measures: Sequence[RankMeasure]) -> Iterator[doc.Cell | str | int]:
    tasks = max(value.tasks for value in cell.values.values())
    gain = next(iter(cell.gains.values()), None)
    yield from (column.name, cell.ranker, tasks, gain_cell(gain) if gain and gain.tasks else doc.Number(None))
    for measure in measures:
        value = cell.values.get(measure)
        yield value_cell(value, "" if value is None or value.tasks == tasks else f"of {value.tasks}")


def value_cell(value: Value | None, remark: str = "") -> doc.Number:
    """Return the cell of a value; `remark` says of how many tasks it is where that is not all."""
    if value is None or isnan(value.value):
        return doc.Number(None)
    return doc.Number(value.value, value.low, value.high, remark=remark)


def gain_cell(gain: Gain) -> doc.Number:
    """Return the cell of what an order gains."""
    return doc.Number(None) if isnan(gain.value) else doc.Number(gain.value, gain.low, gain.high, signed=True)


def heat(plan: Matrix, ranked: Sequence[RankedColumn]) -> doc.Heat:
    """Return the first measure of each ranker over that of the one trained on the set, else over the best."""
    first = RankMeasure(plan.ks[0])
    sets = {each.column.name: each.column.set for each in ranked}
    found = {(cell.ranker, column.name): cell.values[first].value for column, cell in _cells(ranked)}
    worth = [[found.get((ranker.name, name), nan) for name in sets] for ranker in plan.rankers]
    values = relative(plan.rankers, [*sets], [*sets.values()], worth)
    return doc.Heat(
        f"{first} of each ranker, relative",
        "Over that of the ranker trained on the set, else of the best.",
        tuple(ranker.name for ranker in plan.rankers),
        tuple(sets),
        tuple(tuple(None if isnan(value) else value for value in row) for row in values),
    )


def curves(plan: Matrix) -> Iterator[doc.Curves]:
    """Yield how rankers did in training, where they have a log."""
    logs = training(plan.rankers)
    names = dict.fromkeys(name for measures in logs.values() for name in measures)
    panels = tuple(doc.CurvePanel(name, tuple(_lines(logs, name))) for name in names)
    if panels:
        yield doc.Curves("Training", "Exponential means over steps.", panels, "step")


def _lines(logs: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]], name: str) -> Iterator[doc.Series]:
    for place, (ranker, measures) in enumerate(logs.items()):
        if measures.get(name):
            steps, values = zip(*smoothed(measures[name]), strict=True)
            yield doc.Series(ranker, place, steps, tuple(doc.Mean(value, value, value) for value in values))


def smoothed(curve: Sequence[tuple[float, float]], weight: float = _SMOOTH) -> list[tuple[float, float]]:
    """Return a curve as its exponential mean."""
    found: list[tuple[float, float]] = []
    for step, value in curve:
        found.append((step, weight * value + (1 - weight) * found[-1][1] if found else value))
    return found


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
    places = [place for part in parts_of(spec) for place in _places(part)]
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
class _Wanted:
    """What is the same for all rankers."""

    ks: tuple[int, ...]


def ranked_columns(  # noqa: PLR0913  what is ranked by what, where orders are kept, who watches, what can be imported
    plan: Matrix,
    rankers: Sequence[Ranker],
    out: Path,
    watch: Progress,
    importable: Sequence[str] = (),
    *,
    verbose: bool = False,
) -> list[RankedColumn]:
    """Return what the opened rankers of a matrix come to on each column; orders are kept in a folder."""
    names = [each.name for each in plan.rankers]
    wanted, done = EvaluationOptions(plan.ks, seed=plan.seed), []
    with recorded(rankers, names, out, importable) as kept:
        called = {ranker.name: (ranker, name) for ranker, name in zip(kept, names, strict=True)}
        for column in _columns(plan, verbose=verbose):
            found = evaluate(column.tasks, column.examples, kept, wanted, report=watch)
            done.append(RankedColumn(column, tuple(with_spared(cell, called) for cell in found.cells)))
    return done


def _columns(plan: Matrix, *, verbose: bool) -> Iterator[RankingColumn]:
    for spec in plan.sets:
        tasks = rank.tasks_of(spec.tasks)
        if spec.samples and spec.outcomes:
            data, tasks = rank.labelled(spec.samples, spec.outcomes, tasks, ReadingOptions(), say)
        else:
            assert spec.data
            data = datasets.read(spec.data)
            tasks = tasks or tasks_of(data.examples)
        say_problems(data.problems, every=verbose)
        examples = [each for each in data.examples if not spec.split or each.split == spec.split]
        there = list(columns(spec, tasks, examples))
        if not there:
            raise InputError(f"[sets.{spec.name}] holds no program with an outcome")
        yield from there


def results_of(ranked: Sequence[RankedColumn], plan: Matrix, command: str, *, all_pairs: bool = False) -> Results:
    """Return what was measured as any experiment has it; `command` is what was typed."""
    specs = {ranker.name: ranker.spec for ranker in plan.rankers}
    measures = tuple(map(str, measures_of(plan.ks)))
    systems = {
        name: MeasuredSystem(spec, base, "", {}, name, how="in process")
        for name, spec, base in (*((name, spec, UNRANKED) for name, spec in specs.items()), (UNRANKED, UNRANKED, ""))
    }
    sets = {each.column.name: MeasuredSet("", each.column.set, "", tuple(_items(each.cells[0])), ()) for each in ranked}
    cells = sorted(
        (_cell(column.name, cell) for column, cell in _cells(ranked)), key=lambda each: each.system == UNRANKED
    )
    about = manifest(_Wanted(plan.ks), seed=plan.seed)
    found = Results(
        format=1,
        manifest=manifest_from(about, measures, max(plan.ks), command, "ranking"),
        sets=sets,
        unusable={},
        systems=systems,
        cells=tuple(cells),
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
    figures = {str(m): doc.Mean(v.value, v.low, v.high) for m, v in cell.values.items() if not isnan(v.value)}
    values = {name: values for name, values in per_task.items() if not any(map(isnan, values))}
    return plain_cell(column, cell.ranker, UNIT, items, figures, values, each_ms)


def with_spared(cell: Cell, called: Mapping[str, tuple[RecordedRanker, str]]) -> Cell:
    """Return a cell under the name that the matrix has, with the seconds that saved orders took."""
    if cell.ranker not in called:
        return cell
    ranker, name = called[cell.ranker]
    spared_s, ranker.spared_s = ranker.spared_s, 0.0
    return replace(cell, ranker=name, seconds=cell.seconds + spared_s)
