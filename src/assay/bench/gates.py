"""Results in, what a continuous-integration run has to fail for out.

A floor is a figure that must be reached on every set. A loss against a baseline counts when it is significant: queries
are paired by what they ask, and chance is tested by randomisation, with Holm's correction over sets and systems. What
an earlier run left in the results is not looked at.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.bench.caveats import counted
from assay.bench.markdown import chance
from assay.bench.results import Results, deciding, unit_of
from assay.errors import InputError, nearest
from assay.measure.compare import holm, randomisation
from assay.measure.measures import parse

_FLOOR = re.compile(
    r"(?:(?P<system>.+):)?(?:(?P<unit>line published|line|file|function) )?(?P<measure>[^\s=:]+)=(?P<value>[\d.]+)"
)
_CHANCE = 0.05


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


def floor(text: str) -> Floor:
    """Read `Hit@5=0.70`, `file Hit@5=0.9` or `assay:Hit@5=0.70`."""
    found = _FLOOR.fullmatch(text.strip())
    try:
        least = float(found["value"]) if found else -1.0
    except ValueError:
        least = -1.0
    if found is None or not 0 <= least <= 1:
        raise InputError(
            f"--fail-under takes MEASURE=NUMBER with a number from 0 to 1, such as Hit@5=0.70, not '{text}'"
        )
    measure = parse(found["measure"])
    if measure.less_is_better:
        raise InputError(f"--fail-under {text}: of {measure} less is better; take a measure of which more is")
    return Floor(str(measure), least, found["system"] or "", found["unit"] or "")


def fallen(results: Results, floors: Sequence[Floor]) -> Iterator[str]:
    """Yield one line for each floor that a set falls below."""
    asked = _asked(results)
    failed = {name: told.get("failed", {}) for name, told in results["systems"].items()}
    measured = {cell["system"] for cell in asked}
    systems = [name for name in results["systems"] if name in measured or failed[name]]
    for each in floors:
        system = each.system or systems[0]
        cells = [cell for cell in asked if cell["system"] == system]
        yield from (f"{name}: {system} answered nothing, {each} is wanted" for name in failed.get(system, ()))
        if not cells and not failed.get(system):
            raise InputError(f"--fail-under {each}: no system '{system}' was asked; {nearest(system, systems)}")
        for cell in cells:
            figures = cell["figures"].get(each.unit or unit_of(cell), {})
            if each.measure not in figures:
                raise InputError(f"--fail-under {each}: not measured; add it with --measure '{each.measure}'")
            mean = figures[each.measure][0]
            if mean < each.least:
                yield f"{cell['set']}: {system} has {each.measure} {mean:.3f}, below {each.least:g}"


def unmeasured(results: Results) -> Iterator[str]:
    """Yield what a gate cannot vouch for: a set that could not be used, a system that answered nothing of one."""
    for name in results["unusable"]:
        yield f"{name} was not measured, so its gates do not hold"
    for system, told in results["systems"].items():
        for name in told["failed"]:
            yield f"{system} answered nothing of {name}, so its gates do not hold"


@dataclass(frozen=True, slots=True)
class Change:
    """One system on one set, beside what it was."""

    set: str
    system: str
    measure: str
    before: float
    now: float
    queries: int
    p: float
    """Of the randomisation test, adjusted by Holm over all changes looked at."""
    rejudged: int = 0
    """Queries whose right answers are others than they were."""

    @property
    def worse(self) -> bool:
        """Say whether it lost more than chance explains."""
        lost = self.now > self.before if parse(self.measure).less_is_better else self.now < self.before
        return lost and self.p < _CHANCE

    def __str__(self) -> str:
        """Return one line for people."""
        told = f"{self.set}: {self.system} {self.measure} {self.before:.3f} -> {self.now:.3f}"
        judged = f", {self.rejudged} of them judged otherwise than before" if self.rejudged else ""
        return f"{told} over {counted(self.queries, 'query')} (p {chance(self.p)}{judged})"


def changes(results: Results, baseline: Results) -> list[Change]:
    """Return how each cell compares with the baseline's of the same names, by the measure that decides."""
    about, before = results["manifest"], baseline["manifest"]
    if about["k"] != before["k"]:
        raise InputError(
            f"the baseline has {before['k']} results of a query, this run {about['k']}: measure both with the same -k"
        )
    measure, seed = deciding(about["measures"]), about["seed"]
    earlier = {(cell["set"], cell["system"]): cell for cell in baseline["cells"]}
    pairs = []
    for cell in _asked(results):
        old = earlier.get((cell["set"], cell["system"]))
        now, was = _by_text(results, cell, measure), _by_text(baseline, old, measure) if old else {}
        both = [asked for asked in now if asked in was]
        if both:
            rejudged = sum(was[asked][1] != now[asked][1] for asked in both)
            columns = (np.array([values[asked][0] for asked in both]) for values in (was, now))
            pairs.append((cell, *columns, rejudged))
    if not pairs:
        raise InputError(
            f"nothing can be compared by {measure}: the baseline has {_names(baseline['cells'])}, "
            f"this run {_names(_asked(results))}"
        )
    chances = holm([randomisation(now, was, seed=seed) for _, was, now, _ in pairs])
    return [
        Change(cell["set"], cell["system"], measure, float(was.mean()), float(now.mean()), len(now), float(p), rejudged)
        for (cell, was, now, rejudged), p in zip(pairs, chances, strict=True)
    ]


def _names(cells: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(f"{cell['system']} on {cell['set']}" for cell in cells) or "nothing"


def _asked(results: Results) -> list[dict[str, Any]]:
    """Return the cells of the last run, its first system first."""
    cells = {(cell["set"], cell["system"]): cell for cell in results["cells"]}
    return [cells[name, system] for name, system in results["asked"]]


def _by_text(results: Results, cell: Mapping[str, Any], measure: str) -> dict[Any, tuple[float, Any]]:
    """Return value and judgments of a cell's queries by unit and text; equal texts are told apart by their order."""
    unit = unit_of(cell)
    told = cell["values"][unit].get(measure)
    if told is None:
        return {}
    seen: Counter[str] = Counter()
    values: dict[Any, tuple[float, Any]] = {}
    for query, value in zip(results["sets"][cell["set"]]["queries"], told, strict=True):
        text = query["text"]
        values[unit, text, seen[text]] = (float(value), query["expected"])
        seen[text] += 1
    return values
