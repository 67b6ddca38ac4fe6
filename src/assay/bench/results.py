"""What an experiment found: the values of results.json, and comparisons of systems."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from assay.errors import InputError
from assay.io import files
from assay.io.fields import REST, as_json, read_value
from assay.measure.compare import Comparison, Values, compare
from assay.measure.line_spans import Span, span_of
from assay.measure.measures import READING
from assay.report.document import Mean


def rank_of(answers: Sequence[str], right: Sequence[str]) -> int:
    """Return where the first answer stands that shares a line with a right one, 0 for nowhere."""
    spans = [place_of(target) for target in right]
    return next((at for at, hit in enumerate(answers, 1) if any(place_of(hit).overlaps(span) for span in spans)), 0)


@lru_cache(maxsize=65_536)
def place_of(target: str) -> Span:
    """Return the lines of an answer, or the document; each is read once."""
    with suppress(InputError):
        return span_of(target)
    return Span(target)


FORMAT = 1
UNITS = frozenset(("line", "function", "file", "line published", "task", "pair"))


class Target(NamedTuple):
    """What is right for a query, and how much so."""

    place: str
    grade: int


Figures = Mapping[str, Mapping[str, Mean]]  # by unit and measure


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
    """What kind of systems were measured: retrieval or ranking."""
    details: Mapping[str, Any] = field(default_factory=dict, metadata=REST)
    """Settings, hardware and what else a run notes, as JSON has it."""

    @property
    def item(self) -> str:
        """Return what one value of a measure is about."""
        return "task" if self.kind == "ranking" else "query"


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
    gone: tuple[str, ...] = ()
    """Those of them whose places the corpus does not have."""
    qrels: str = ""
    asked: str = ""
    corpus: str = ""
    """Hashes: of the judgments, of what was asked for, of the files."""
    unseen: UnseenCounts | None = None
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """What others published of their systems, by measure and system."""
    behind: int | None = None
    """Of a set that is about one commit, how many commits of the checkout came after it."""
    follows: bool = False
    """Whether it is about the files as they are, whatever became of them."""


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


def plain_cell(  # noqa: PLR0913, PLR0917  what a cell is
    of: str,
    system: str,
    unit: str,
    items: int,
    figures: Mapping[str, Mean],
    values: Mapping[str, tuple[float, ...]],
    warm_ms: float | None = None,
) -> MeasuredCell:
    """Return a cell of one unit whose items have no answers, groups or errors."""
    return MeasuredCell(
        set=of,
        system=system,
        figures={unit: figures},
        groups={},
        values={unit: values},
        answers=((),) * items,
        seconds=(None,) * items,
        errors={},
        unjudged=0.0,
        timings=Timings(None, None, warm_ms, None, None, None),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SetComparison(Comparison):
    """Two systems on one set, or on all sets of a role."""

    set: str
    unit: str
    measure: str


@dataclass(frozen=True, slots=True)
class QuestionMove:
    """A question whose value changed; ranks are of the first right answer, 0 for none among the first ten."""

    id: str
    text: str
    before: float
    now: float
    old_rank: int
    new_rank: int
    answer: str
    """What stands first now, or why nothing does."""
    right: str


@dataclass(frozen=True, slots=True)
class GateChange:
    """One system on one set, beside what it was."""

    set: str
    system: str
    measure: str
    before: float
    now: float
    queries: int
    p: float
    """Of the randomisation test, adjusted by Holm over all changes looked at."""
    worse: bool
    """Whether it lost more than chance explains."""
    item: str = "query"
    rejudged: int = 0
    """Queries whose right answers changed."""
    fell: tuple[QuestionMove, ...] = ()
    rose: tuple[QuestionMove, ...] = ()


@dataclass(frozen=True, slots=True)
class BaselineChanges:
    """What changed since earlier results."""

    file: str
    when: str
    version: str
    commits: Mapping[str, str]
    changes: tuple[GateChange, ...]


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
    against: BaselineChanges | None = None


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
    return files.dumps(as_json(results))


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


def comparisons(results: Results, *, all_pairs: bool = False) -> Iterator[SetComparison]:
    """Yield what differs on every set, and on all sets of a role together, by the measure that decides.

    A variant is compared with its base, and systems that vary nothing with one another: of many variants nobody asks
    how each two differ, and a correction for tests that nobody asked for finds nothing. `all_pairs` compares them all.
    """
    measure, seed = deciding(results.manifest.measures), results.manifest.seed
    for name, unit, values in _columns(results, measure):
        pairs = list(combinations(values, 2)) if all_pairs else list(_pairs(results.systems, values))
        for pair in compare(values, pairs, seed=seed):
            yield SetComparison(**asdict(pair), set=name, unit=unit, measure=measure)


def _pairs(systems: Mapping[str, MeasuredSystem], here: Mapping[str, Values]) -> Iterator[tuple[str, str]]:
    """Yield the pairs that somebody asks about: each variant with its base, and each two that vary nothing."""
    base = {name: system.base for name, system in systems.items()}
    yield from combinations([name for name in here if base[name] not in here], 2)
    yield from ((name, base[name]) for name in here if base[name] in here)


def deciding(measures: Sequence[str]) -> str:
    """Return the measure that decides: the first one of which more is better, if there is any."""
    return next(filter(is_quality, measures), measures[0])


def is_quality(measure: str) -> bool:
    """Say whether more of a measure is better: not of what has to be read, nor of how much was judged."""
    return measure.partition("@")[0] not in {*READING, "judged"}


def all_of(role: str, sets: Mapping[str, MeasuredSet]) -> str:
    """Return what all sets of a role together are called; no set is called so."""
    name = f"all {role}".strip()
    while name in sets:
        name += " sets"
    return name


def shared_unit(cells: Sequence[MeasuredCell]) -> str:
    """Return the first unit that all of some cells were measured by, empty when there is none."""
    found = [[*cell.values] for cell in cells]
    return next((unit for unit in max(found, key=len, default=[]) if all(unit in units for units in found)), "")


def _columns(results: Results, measure: str) -> Iterator[tuple[str, str, dict[str, Values]]]:
    """Yield each set, and each role with several, with the values of the systems that answered all of it.

    Sets are taken together at the first unit that all of them have: lines of one are no files of another.
    """
    cells, sets = results.cells, results.sets
    known = {(cell.set, cell.system): cell for cell in cells}
    roles: dict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(cell.set for cell in cells):
        roles[sets[name].role].append(name)
    groups = {name: [name] for names in roles.values() for name in names}
    groups |= {all_of(role, sets): names for role, names in roles.items() if len(names) > 1}
    for group, names in groups.items():
        unit = shared_unit([cell for cell in cells if cell.set in names])
        values = {}
        for system in results.systems:
            here = [known[name, system] for name in names if (name, system) in known]
            found = [np.array(cell.values[unit][measure]) for cell in here if measure in cell.values.get(unit, {})]
            if len(found) == len(names):
                values[system] = np.concatenate(found)
        yield group, unit, values
