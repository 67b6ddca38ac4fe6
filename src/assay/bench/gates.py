"""Say what a continuous-integration run has to fail for.

A floor is a figure that must be reached on every set. A loss against a baseline counts when it is significant: queries
are paired by what they ask, and chance is tested by randomisation, with Holm's correction over sets and systems. What
an earlier run left in the results is not looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from assay.bench.results import MeasuredCell, Results, Target, deciding, load
from assay.errors import InputError, counted, nearest
from assay.measure.compare import holm, randomisation
from assay.measure.line_spans import UNITS
from assay.measure.measures import parse
from assay.protocols import Say
from assay.report.document import probability
from assay.report.plain_text import value_text
from assay.runs.options import GateOptions

_CHANCE = 0.05
_Asked = tuple[str, str, int]
"""Unit, text, and how many queries before it have that text."""


@dataclass(frozen=True, slots=True)
class Floor:
    """The least a measure may be; without a system or a unit, of the first ones."""

    measure: str
    least: float
    system: str = ""
    unit: str = ""

    def __str__(self) -> str:
        """Return it as it was asked for."""
        system, unit = f"{self.system}:" if self.system else "", f"{self.unit} " if self.unit else ""
        return f"{system}{unit}{self.measure}={self.least:g}"


def floor(text: str, names: Sequence[str] = ()) -> Floor:
    """Read `Hit@5=0.70`, `file Hit@5=0.9` or `assay:Hit@5=0.70`; `names` are the measures of other kinds."""
    head, _, number = text.strip().rpartition("=")
    system, _, measure = head.rpartition(":")
    unit, _, name = measure.rpartition(" ")
    try:
        least = float(number)
    except ValueError:
        least = -1.0
    if not 0 <= least <= 1 or not name or (unit and unit not in UNITS and not names):
        raise InputError(
            f"--fail-under takes MEASURE=NUMBER with a number from 0 to 1, such as Hit@5=0.70, not '{text}'"
        )
    if names:
        if measure not in names:
            raise InputError(f"--fail-under {text}: no measure '{measure}'; {nearest(measure, names)}")
        return Floor(measure, least, system)
    asked = parse(name)
    if asked.less_is_better:
        raise InputError(f"--fail-under {text}: of {asked} less is better; take a measure of which more is")
    return Floor(str(asked), least, system, unit)


def fallen(results: Results, floors: Sequence[Floor]) -> Iterator[str]:
    """Yield one line for each floor that a set falls below."""
    asked = _cells_of_last_run(results)
    failed = {name: told.failed for name, told in results.systems.items()}
    measured = {cell.system for cell in asked}
    systems = [name for name in results.systems if name in measured or failed[name]]
    for each in floors:
        system = each.system or systems[0]
        cells = [cell for cell in asked if cell.system == system]
        yield from (f"{name}: {system} answered nothing, {each} is wanted" for name in failed.get(system, ()))
        if not cells and not failed.get(system):
            raise InputError(f"--fail-under {each}: no system '{system}' was asked; {nearest(system, systems)}")
        for cell in cells:
            figures = cell.figures.get(each.unit or cell.unit, {})
            if each.measure not in figures:
                raise InputError(f"--fail-under {each}: not measured; add it with --measure '{each.measure}'")
            mean = figures[each.measure].mean
            if mean < each.least:
                yield f"{cell.set}: {system} has {each.measure} {mean:.3f}, below {each.least:g}"


def unmeasured(results: Results) -> Iterator[str]:
    """Yield what a gate cannot vouch for: a set that could not be used, a system that answered nothing of one."""
    for name in results.unusable:
        yield f"{name} was not measured, so its gates do not hold"
    for system, told in results.systems.items():
        for name in told.failed:
            yield f"{system} answered nothing of {name}, so its gates do not hold"


@dataclass(frozen=True, slots=True)
class Gates:
    """What a run has to reach."""

    floors: tuple[Floor, ...] = ()
    baseline: Results | None = None
    fail_if_worse: bool = False
    """Whether a significant loss against the baseline is a failure."""


def gates_of(options: GateOptions, names: Sequence[str] = ()) -> Gates:
    """Read what was asked for on the command line, before anything is measured."""
    floors = tuple(floor(each, names) for each in options.floors)
    if options.fail_if_worse and options.baseline is None:
        raise InputError("--fail-if-worse needs --baseline FILE: the results.json of an earlier run")
    return Gates(floors, load(options.baseline) if options.baseline else None, options.fail_if_worse)


def failures(results: Results, gates: Gates, say: Say) -> list[str]:
    """Return one line for each gate that does not hold; these lines and what changed since the baseline are said."""
    failed = list(fallen(results, gates.floors))
    for change in changes(results, gates.baseline) if gates.baseline else ():
        say(str(change))
        if change.worse and gates.fail_if_worse:
            failed.append(f"significantly worse than the baseline: {change}")
    if gates.floors or gates.fail_if_worse:
        failed += unmeasured(results)
    for line in failed:
        say(line)
    return failed


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
    item: str = "query"
    """What the values are of."""
    rejudged: int = 0
    """Queries whose right answers are others than they were."""

    @property
    def worse(self) -> bool:
        """Say whether it lost more than chance explains."""
        lost = self.now > self.before if self.measure.startswith(("lines@", "tokens@")) else self.now < self.before
        return lost and self.p < _CHANCE

    def __str__(self) -> str:
        """Return one line for people."""
        told = f"{self.set}: {self.system} {self.measure} {self.before:.3f} -> {self.now:.3f}"
        judged = f", {self.rejudged} of them judged otherwise than before" if self.rejudged else ""
        return f"{told} over {counted(self.queries, self.item)} (p {value_text(probability(self.p))}{judged})"


def changes(results: Results, baseline: Results) -> list[GateChange]:
    """Return how each cell compares with the baseline's of the same names, by the measure that decides."""
    about, before = results.manifest, baseline.manifest
    if about.k != before.k:
        raise InputError(
            f"the baseline has {before.k} results of a query, this run {about.k}: measure both with the same -k"
        )
    measure, seed = deciding(about.measures), about.seed
    earlier = {(cell.set, cell.system): cell for cell in baseline.cells}
    pairs = []
    for cell in _cells_of_last_run(results):
        old = earlier.get((cell.set, cell.system))
        now, was = _by_text(results, cell, measure), _by_text(baseline, old, measure) if old else {}
        both = [asked for asked in now if asked in was]
        if both:
            rejudged = sum(was[asked][1] != now[asked][1] for asked in both)
            columns = [np.array([values[asked][0] for asked in both]) for values in (was, now)]
            pairs.append((cell, columns[0], columns[1], rejudged))
    if not pairs:
        raise InputError(
            f"nothing can be compared by {measure}: the baseline has {_names(baseline.cells)}, "
            f"this run {_names(_cells_of_last_run(results))}"
        )
    item = "task" if about.kind == "ranking" else "query"
    chances = holm([randomisation(now, was, seed=seed) for _, was, now, _ in pairs])
    return [
        GateChange(
            cell.set, cell.system, measure, float(was.mean()), float(now.mean()), len(now), float(p), item, rejudged
        )
        for (cell, was, now, rejudged), p in zip(pairs, chances, strict=True)
    ]


def _names(cells: Sequence[MeasuredCell]) -> str:
    return ", ".join(f"{cell.system} on {cell.set}" for cell in cells) or "nothing"


def _cells_of_last_run(results: Results) -> list[MeasuredCell]:
    """Return the cells of the last run, its first system first."""
    asked = None if results.asked is None else {*results.asked}
    return [cell for cell in results.cells if asked is None or (cell.set, cell.system) in asked]


def _by_text(results: Results, cell: MeasuredCell, measure: str) -> dict[_Asked, tuple[float, tuple[Target, ...]]]:
    """Return value and judgments of a cell's queries by unit and text; equal texts are told apart by their order."""
    unit = cell.unit
    told = cell.values[unit].get(measure)
    if told is None:
        return {}
    seen: Counter[str] = Counter()
    values: dict[_Asked, tuple[float, tuple[Target, ...]]] = {}
    for query, value in zip(results.sets[cell.set].queries, told, strict=True):
        values[unit, query.text, seen[query.text]] = (value, query.expected)
        seen[query.text] += 1
    return values
