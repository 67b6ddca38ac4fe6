"""What an experiment found: the values that `results.json` holds. This is the one place that writes and reads it.

A cell is one system on one set. All of it is made again from the saved answers of a run, so nothing in it is older than
the code that wrote it. A file may come from anywhere: it is checked before anything is made of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from assay.errors import InputError
from assay.io import files
from assay.io.values import REST, as_json, read_value
from assay.measure.compare import Comparison
from assay.report.document import Mean

FORMAT = 1
UNITS = frozenset(("line", "function", "file", "line published", "task", "pair"))


class Target(NamedTuple):
    """What is right for a query, and how much so."""

    place: str
    grade: int


Figures = Mapping[str, Mapping[str, Mean]]
"""By unit and measure."""


@dataclass(frozen=True, slots=True)
class RunManifest:
    """How results came about."""

    measures: tuple[str, ...]
    k: int
    seed: int
    versions: Mapping[str, str]
    when: str
    command: str = ""
    kind: str = "retrieval"
    """What kind of systems were measured: retrieval, ranking or labelling."""
    details: Mapping[str, Any] = field(default_factory=dict, metadata=REST)
    """Settings, hardware and what else a run notes, as JSON has it."""


@dataclass(frozen=True, slots=True)
class MeasuredQuery:
    """A question with what is right."""

    id: str
    text: str
    tags: Mapping[str, str]
    expected: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class UnseenCounts:
    """How a judge labelled what nobody had."""

    judge: str
    depth: int
    asked: int
    right: int
    wrong: int
    undecided: int
    stopped: str


@dataclass(frozen=True, slots=True)
class MeasuredSet:
    """A set of queries."""

    role: str
    truth: str
    commit: str
    queries: tuple[MeasuredQuery, ...]
    problems: tuple[str, ...]
    """Rows of the ground truth that could not be used."""
    qrels: str = ""
    asked: str = ""
    corpus: str = ""
    """Hashes: of the judgments, of what was asked for, of the files."""
    unseen: UnseenCounts | None = None
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """What others published of their systems, by measure and system."""


@dataclass(frozen=True, slots=True)
class MeasuredSystem:
    """A system under test."""

    spec: str
    base: str
    chosen_on: str
    failed: Mapping[str, str]
    """By set of which it answered nothing: why."""
    name: str = ""
    needs: str = ""
    how: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    threshold: float | None = None
    """The least score of a result that counts."""


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """The queries that have one value of a tag."""

    queries: int
    figures: Figures = field(metadata=REST)


@dataclass(frozen=True, slots=True)
class Timings:
    """Speed and size; None where it was not measured."""

    index_s: float | None
    cold_ms: float | None
    warm_p50_ms: float | None
    warm_p95_ms: float | None
    peak_mb: float | None
    index_bytes: float | None


@dataclass(frozen=True, slots=True)
class JudgedFigures:
    """The figures that labels of a judge make beside those of people."""

    figures: Figures
    unjudged: float


@dataclass(frozen=True, slots=True)
class MeasuredCell:
    """One system on one set."""

    set: str
    system: str
    figures: Figures
    groups: Mapping[str, Mapping[str, GroupFigures]]
    """By tag and its value."""
    values: Mapping[str, Mapping[str, tuple[float, ...]]]
    """By unit and measure, one a query."""
    answers: tuple[tuple[str, ...], ...]
    seconds: tuple[float | None, ...]
    errors: Mapping[str, str]
    """By query id."""
    unjudged: float
    """The fraction of its first ten results that nobody judged."""
    timings: Timings
    judged: JudgedFigures | None = None
    key: str = ""
    """A hash of all that it is computed from: while that is the same, it is not computed again."""

    @property
    def unit(self) -> str:
        """Return the unit that stands for the cell where one figure is shown."""
        return next(iter(self.values))

    def figure(self, measure: str) -> Mean | None:
        """Return its figure at that unit."""
        return self.figures[self.unit].get(measure)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetComparison(Comparison):
    """Two systems on one set, or on all sets of a role."""

    set: str
    unit: str
    measure: str


@dataclass(frozen=True, slots=True)
class Results:
    """All that was found; docs/measuring.md explains it."""

    format: int
    manifest: RunManifest
    sets: Mapping[str, MeasuredSet]
    unusable: Mapping[str, str]
    systems: Mapping[str, MeasuredSystem]
    cells: tuple[MeasuredCell, ...]
    comparisons: tuple[SetComparison, ...]
    asked: tuple[tuple[str, ...], ...] | None = None
    """Set and system of the cells of the last run; None is all."""


def load(file: Path) -> Results:
    """Read results; a file that is none of ours is an error that says so."""
    try:
        found = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"cannot read the results {file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file} is not a results.json: {error}") from error
    return read_results(found, str(file))


def read_results(value: Any, source: str) -> Results:
    """Return what some JSON holds; `source` is where it comes from, for an error that says what is wrong with it."""
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise InputError(f"{source} is not a results.json of format {FORMAT}: give one that assay bench wrote")
    try:
        results = read_value(Results, value)
    except InputError as error:
        raise _unusable(source, str(error)) from error
    if fault := next(_misfits(results), ""):
        raise _unusable(source, fault)
    return results


def save(results: Results, file: Path) -> None:
    """Write results; a file that is there is replaced at once or not at all."""
    files.write(file, as_text(results) + "\n")


def as_text(results: Results) -> str:
    """Return results as JSON text."""
    return json.dumps(as_json(results), ensure_ascii=False, allow_nan=False)


def _unusable(source: str, fault: str) -> InputError:
    return InputError(f"{source} is not a results.json that can be used: {fault}; give one that assay bench wrote")


def _misfits(results: Results) -> Iterator[str]:
    """Yield what is of the right kind and does not belong together."""
    if not results.manifest.measures:
        yield "manifest.measures is empty"
    for name, of in results.sets.items():
        if of.role not in {"", "dev", "test"}:
            yield f"the role of set '{name[:40]}' is '{of.role[:40]}', wanted dev, test or none"
    for place, cell in enumerate(results.cells):
        if cell.set not in results.sets or cell.system not in results.systems:
            yield f"cells[{place}] is of a set or a system that is not there"
        else:
            yield from (f"cells[{place}]: {fault}" for fault in _cell_misfits(cell, results.sets[cell.set]))
    for place, pair in enumerate(results.comparisons):
        if {pair.a, pair.b} - results.systems.keys():
            yield f"comparisons[{place}] is of a system that is not there"


def _cell_misfits(cell: MeasuredCell, of: MeasuredSet) -> Iterator[str]:
    if not cell.values or cell.values.keys() - cell.figures.keys() or cell.figures.keys() - UNITS:
        yield "it has no values, some without figures, or an unknown unit"
    listed = [values for measures in cell.values.values() for values in measures.values()]
    if any(len(each) != len(of.queries) for each in (*listed, cell.answers, cell.seconds)):
        yield f"it has not one value for each of {len(of.queries)} queries"
    if of.unseen and (cell.judged is None or cell.judged.figures.keys() != cell.figures.keys()):
        yield "it has no figures with the labels of the judge, or of other units"
