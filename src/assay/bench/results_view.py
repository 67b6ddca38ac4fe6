"""Look at results set by set and role by role: what is shown together, and what chance may explain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose, sqrt

from assay.bench.comparisons import all_of, deciding, is_quality
from assay.bench.results import MeasuredCell, MeasuredSet, Results, SetComparison
from assay.errors import counted
from assay.report.document import Mean

CHANCE = 0.05
_ORDER = ("test", "", "dev")
"""Roles, what says most about the next corpus first."""
_MAIN = 5
AS_PUBLISHED = "line published"
"""The unit in which the scripts of octocode and semble count."""
_LABELS = {"test": "unseen (test)", "dev": "tuned on (dev)", "": ""}


@dataclass(frozen=True, slots=True)
class SetView:
    """Sets that are looked at together."""

    name: str
    """What comparisons call it: a set's name, or `all test`."""
    role: str
    sets: tuple[str, ...]

    @property
    def label(self) -> str:
        """Return its name with what it is good for."""
        name = self.name if self.name in self.sets else "All sets"
        return ", ".join(filter(None, (name, _LABELS[self.role])))


def significant(pair: SetComparison) -> bool:
    """Say whether chance is an unlikely reason for a difference, all comparisons considered."""
    return pair.holm < CHANCE


def turned(pair: SetComparison) -> SetComparison:
    """Return the same comparison from the other side."""
    return replace(pair, a=pair.b, b=pair.a, difference=-pair.difference, low=-pair.high, high=-pair.low)


class ResultsView:
    """Everything that was measured."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self.manifest = results.manifest
        self.sets = results.sets
        self.systems: Sequence[str] = tuple(results.systems)
        self.cells = {(cell.set, cell.system): cell for cell in results.cells}
        found = {name for cell in results.cells for figures in cell.figures.values() for name in figures}
        self.measures: tuple[str, ...] = tuple(name for name in self.manifest.measures if name in found)
        self.overviews, self.views = _views(self.sets, {cell.set for cell in results.cells})
        self._pairs = {(pair.set, pair.unit, pair.measure, pair.a, pair.b): pair for pair in results.comparisons}

    @property
    def measured(self) -> bool:
        """Say whether there is a figure at all."""
        return bool(self.overviews and self.measures)

    @property
    def primary(self) -> str:
        """Return the measure that decides."""
        return deciding(self.measures)

    @property
    def main(self) -> tuple[str, ...]:
        """Return the measures of the first table."""
        return tuple(name for name in self.measures if is_quality(name))[:_MAIN]

    def units(self, view: SetView) -> list[str]:
        """Return the units that all sets of a view were measured by, the main one first."""
        held = [[*cell.figures] for cell in self.cells_of(view)]
        return [unit for unit in max(held, key=len, default=[]) if all(unit in units for units in held)]

    def cells_of(self, view: SetView) -> list[MeasuredCell]:
        """Return the cells of a view."""
        return [cell for (name, _), cell in self.cells.items() if name in view.sets]

    def here(self, view: SetView) -> list[str]:
        """Return the systems with a cell in a view."""
        return [system for system in self.systems if self.of(view, system)]

    def of(self, view: SetView, system: str) -> list[MeasuredCell]:
        """Return the cells of one system in a view."""
        return [self.cells[name, system] for name in view.sets if (name, system) in self.cells]

    def whole(self, view: SetView, system: str) -> bool:
        """Say whether a system was asked all queries of a view; its figures are not to be compared otherwise."""
        return len(self.of(view, system)) == len(view.sets)

    def size(self, view: SetView) -> str:
        """Return how many queries or tasks a view has, as text."""
        return counted(self.queries(view), self.manifest.item)

    def queries(self, view: SetView) -> int:
        """Return how many queries a view has."""
        return sum(len(self.sets[name].queries) for name in view.sets)

    def figure(self, view: SetView, system: str, unit: str, measure: str) -> Mean | None:
        """Return what a system scored."""
        parts = [
            (len(self.sets[cell.set].queries), cell.figures.get(unit, {}).get(measure))
            for cell in self.of(view, system)
        ]
        return combined(parts) if all(told for _, told in parts) else None

    def units_shown(self, view: SetView) -> list[str]:
        """Return the main unit and, where it is another, the one in which scripts of others count."""
        units = self.units(view)
        return list(dict.fromkeys((units[0], *(unit for unit in units if unit == AS_PUBLISHED))))

    def published(self, view: SetView, measure: str, unit: str) -> dict[str, float]:
        """Return what others published of their systems; of several sets those with a figure on each, by queries.

        Their scripts count in one unit, and in the tables of others these figures have no place.
        """
        if unit != self.units_shown(view)[-1]:
            return {}
        published, means = [self.sets[name].published.get(measure, {}) for name in view.sets], dict[str, float]()
        counts = [len(self.sets[name].queries) for name in view.sets]
        for system in published[0]:
            if all(system in of_set for of_set in published):
                total = sum(count * of_set[system] for count, of_set in zip(counts, published, strict=True))
                means[system] = total / self.queries(view)
        return means

    def group(self, view: SetView, system: str, unit: str, tag: str, value: str) -> tuple[int, Mean | None]:
        """Return how many queries have a tag's value, and what a system scored on them by the first measure."""
        told = [cell.groups.get(tag, {}).get(value) for cell in self.of(view, system)]
        parts = [(each.queries, each.figures.get(unit, {}).get(self.primary)) for each in told if each]
        return sum(count for count, _ in parts), combined(parts)

    def tagged(self, view: SetView) -> dict[str, list[str]]:
        """Return the tags of a view's queries with their values."""
        found: dict[str, dict[str, None]] = {}
        for cell in self.cells_of(view):
            for tag, groups in cell.groups.items():
                found.setdefault(tag, {}).update(dict.fromkeys(groups))
        return {tag: list(values) for tag, values in found.items()}

    def values(self, view: SetView, system: str, unit: str, measure: str) -> list[float]:
        """Return one number a query, of a system that was asked all of them."""
        return [value for cell in self.of(view, system) for value in cell.values.get(unit, {}).get(measure, ())]

    def best(self, view: SetView, unit: str, measure: str) -> list[str]:
        """Return the systems with the highest mean among those that were asked everything."""
        whole = [system for system in self.here(view) if self.whole(view, system)]
        figures = {system: self.figure(view, system, unit, measure) for system in whole}
        scored = {system: figure.mean for system, figure in figures.items() if figure}
        return [system for system, mean in scored.items() if isclose(mean, max(scored.values()))]

    def ranked(self, view: SetView, unit: str) -> list[str]:
        """Return the systems of a view, the best first by the first measure, incomplete ones last."""

        def place(system: str) -> tuple[bool, float]:
            figure = self.figure(view, system, unit, self.primary)
            return not (figure and self.whole(view, system)), -figure.mean if figure else 0.0

        return sorted(self.here(view), key=place)

    def compared(self, view: SetView, unit: str, measure: str, pair: tuple[str, str]) -> SetComparison | None:
        """Return how the first of a pair compares with the second, where that was tested."""
        straight = self._pairs.get((view.name, unit, measure, *pair))
        other = self._pairs.get((view.name, unit, measure, pair[1], pair[0]))
        return straight or (turned(other) if other else None)

    def comparisons(self, view: SetView) -> list[tuple[str, str, SetComparison]]:
        """Return unit, measure and comparison of each pair of a view."""
        return [(unit, measure, pair) for (name, unit, measure, *_), pair in self._pairs.items() if name == view.name]

    def cost(self, view: SetView, system: str, key: str) -> float | None:
        """Return a timing or a size; of several sets the largest, for nobody waits for a mean."""
        told = [getattr(cell.timings, key) for cell in self.of(view, system)]
        return max((value for value in told if value is not None), default=None)

    def unjudged(self, view: SetView, system: str) -> float:
        """Return the share of first results that nobody judged."""
        cells = self.of(view, system)
        weights = [len(self.sets[cell.set].queries) for cell in cells]
        parts = sum(weight * cell.unjudged for weight, cell in zip(weights, cells, strict=True))
        return parts / sum(weights) if sum(weights) else 0.0


def combined(parts: Sequence[tuple[int, Mean | None]]) -> Mean | None:
    """Return the mean over the queries of independent sets, given how many each has and its mean, low and high."""
    known = [(count, told) for count, told in parts if told is not None]
    every = sum(count for count, _ in known)
    if not every:
        return None
    mean = sum(count * told.mean for count, told in known) / every
    below = sqrt(sum((count / every * (told.mean - told.low)) ** 2 for count, told in known))
    above = sqrt(sum((count / every * (told.high - told.mean)) ** 2 for count, told in known))
    return Mean(mean, mean - below, mean + above)


def _views(sets: Mapping[str, MeasuredSet], measured: set[str]) -> tuple[tuple[SetView, ...], tuple[SetView, ...]]:
    """Return one view a role, and all views: those, then each set of a role with several."""
    overviews, single = [], []
    for role in _ORDER:
        names = tuple(name for name, told in sets.items() if told.role == role and name in measured)
        if len(names) > 1:
            single += [SetView(name, role, (name,)) for name in names]
        if names:
            overviews.append(SetView(all_of(role, sets) if len(names) > 1 else names[0], role, names))
    return tuple(overviews), (*overviews, *single)
