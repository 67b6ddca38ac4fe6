"""Compare systems on the queries that they share, by the measure that decides."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations

import numpy as np

from assay.bench.results import MeasuredCell, MeasuredSet, MeasuredSystem, Results, SetComparison
from assay.measure.compare import Values, compare
from assay.measure.measures import READING


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
