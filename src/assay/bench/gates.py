"""Results in, what a continuous-integration run has to fail for out.

A floor is a figure that must be reached on every set. A loss against a baseline counts when it is significant: queries
are paired by what they ask, and chance is tested by randomisation, with Holm's correction over sets and systems.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.bench.results import Results, main, unit_of
from assay.errors import InputError, nearest
from assay.measure.compare import holm, randomisation
from assay.measure.measures import parse

_FLOOR = re.compile(
    r"(?:(?P<system>[^=]+?):)?(?:(?P<unit>line published|line|file|function) )?(?P<measure>[^\s=]+)=(?P<value>[\d.]+)"
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
    return Floor(str(parse(found["measure"])), least, found["system"] or "", found["unit"] or "")


def fallen(results: Results, floors: Sequence[Floor]) -> Iterator[str]:
    """Yield one line for each floor that a set falls below."""
    for each in floors:
        system = each.system or next(iter(results["systems"]))
        cells = [cell for cell in results["cells"] if cell["system"] == system]
        if not cells:
            raise InputError(f"--fail-under {each}: no system '{system}'; {nearest(system, [*results['systems']])}")
        for cell in cells:
            figures = cell["figures"].get(each.unit or unit_of(cell), {})
            if each.measure not in figures:
                raise InputError(f"--fail-under {each}: not measured; add it with --measure '{each.measure}'")
            mean = figures[each.measure][0]
            if mean < each.least:
                yield f"{cell['set']}: {system} has {each.measure} {mean:.3f}, below {each.least:g}"


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

    @property
    def worse(self) -> bool:
        """Say whether it lost more than chance explains."""
        return self.now < self.before and self.p < _CHANCE

    def __str__(self) -> str:
        """Return one line for people."""
        told = f"{self.set}: {self.system} {self.measure} {self.before:.3f} -> {self.now:.3f}"
        return f"{told} over {self.queries} queries (p {self.p:.3f})"


def changes(results: Results, baseline: Results) -> list[Change]:
    """Return how each cell compares with the baseline's of the same names, by the first measure."""
    measure, seed = results["manifest"]["measures"][0], results["manifest"]["seed"]
    before = {(cell["set"], cell["system"]): cell for cell in baseline["cells"]}
    pairs = []
    for cell in results["cells"]:
        old = before.get((cell["set"], cell["system"]))
        if old and measure in main(old):
            was, now = _paired(_by_text(baseline, old, measure), _by_text(results, cell, measure))
            if len(now):
                pairs.append((cell, was, now))
    if not pairs:
        raise InputError("the baseline has no set and system in common with this run: nothing can be compared")
    chances = holm([randomisation(now, was, seed=seed) for _, was, now in pairs])
    return [
        Change(cell["set"], cell["system"], measure, float(was.mean()), float(now.mean()), len(now), float(p))
        for (cell, was, now), p in zip(pairs, chances, strict=True)
    ]


def _by_text(results: Results, cell: Mapping[str, Any], measure: str) -> dict[str, float]:
    queries = results["sets"][cell["set"]]["queries"]
    return {query["text"]: value for query, value in zip(queries, main(cell)[measure], strict=True)}


def _paired(before: Mapping[str, float], now: Mapping[str, float]) -> tuple[Any, Any]:
    both = [text for text in now if text in before]
    return np.array([before[text] for text in both]), np.array([now[text] for text in both])
