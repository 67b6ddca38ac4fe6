"""The drawings of an experiment with what they say in words: which figures go into which."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.bench.study import Experiment, SetView
from assay.report.document import (
    Block,
    CurvePanel,
    Curves,
    DotRow,
    Dots,
    ItemPair,
    Scatter,
    Section,
    Series,
    WinsAndLosses,
    listed,
    words,
)

_FAMILY = re.compile(r"(Hit|Recall|nDCG|Precision|success)@(\d+)(tokens|)")
_AXES = {"Hit": "Hit@k over k", "Recall": "Recall@k over k", "nDCG": "nDCG@k over k", "Precision": "Precision@k over k"}
_PAIRS = 4
_CURVES = 2


def figures(study: Experiment) -> Section:
    """Return the section of all plots."""
    blocks: list[Block] = [_measures(study)]
    for view in study.overviews:
        drawn: list[Block] = [*_latency(study, view), *_differences(study, view), *_curves(study, view)]
        if drawn and len(study.overviews) > 1:
            blocks.append(words(view.label, "heading"))
        blocks += drawn
    return Section("plots", "Plots", tuple(blocks))


def _unit(study: Experiment, view: SetView) -> str:
    return study.units(view)[0]


def _measures(study: Experiment) -> Dots:
    views = study.overviews[:2]
    panels = study.main or study.measures[:1]
    rows = tuple(
        DotRow(
            system,
            study.systems.index(system),
            tuple(tuple(study.figure(view, system, _unit(study, view), name) for view in views) for name in panels),
        )
        for system in study.ranked(views[0], _unit(study, views[0]))
    )
    caption = "Dots are means, lines 95% intervals."
    if len(views) > 1:
        caption += f" Filled: {views[0].label}. Hollow: {views[1].label}."
        caption += " A hollow dot far to the right of its filled one: tuned too closely, or easier queries."
    return Dots("Measures, a system a row", caption, panels, rows)


def _latency(study: Experiment, view: SetView) -> Iterator[Scatter]:
    points, untimed = [], []
    for system in study.here(view):
        mean = study.figure(view, system, _unit(study, view), study.primary)
        p50 = study.cost(view, system, "warm_p50_ms")
        if mean and p50:
            points.append(Series(system, study.systems.index(system), (p50,), (mean,)))
        else:
            untimed.append(system)
    if points:
        caption = "Up is better, left is faster; vertical lines are 95% intervals."
        caption += f" Without a time: {listed(untimed)}." if untimed else ""
        x = "a warm query, median (log scale); left is faster"
        yield Scatter("Quality against latency", caption, tuple(points), x, study.primary)


def _differences(study: Experiment, view: SetView) -> Iterator[WinsAndLosses]:
    unit, every = _unit(study, view), study.queries(view)
    values = {system: study.values(view, system, unit, study.primary) for system in study.ranked(view, unit)}
    whole = [system for system, each in values.items() if len(each) == every]
    pairs = [
        ItemPair(whole[0], other, tuple(a - b for a, b in zip(values[whole[0]], values[other], strict=True)))
        for other in whole[1 : _PAIRS + 1]
    ]
    if pairs:
        rivals = listed([pair.b for pair in pairs], most=_PAIRS)
        caption = f"{whole[0]} against {rivals}, a bar a query: right and blue it won, left and orange it lost."
        x = f"queries, sorted by the difference in {study.primary}"
        yield WinsAndLosses("Query by query", caption, tuple(pairs), x)


def _curves(study: Experiment, view: SetView) -> Iterator[Curves]:
    families: dict[str, dict[int, str]] = {}
    for measure in study.measures:
        if found := _FAMILY.fullmatch(measure):
            axis = "success over tokens read" if found[3] else _AXES.get(found[1])
            if axis:
                families.setdefault(axis, {})[int(found[2])] = measure
    chosen = {axis: dict(sorted(names.items())) for axis, names in families.items() if len(names) > 1}
    chosen = dict(sorted(chosen.items(), key=lambda each: -len(each[1]))[:_CURVES])
    if chosen:
        panels = tuple(CurvePanel(axis, tuple(_lines(study, view, names))) for axis, names in chosen.items())
        yield Curves("With more to read", "What a reader gains by reading further down.", panels, log=True)


def _lines(study: Experiment, view: SetView, names: dict[int, str]) -> Iterator[Series]:
    for system in study.here(view):
        found = {x: study.figure(view, system, _unit(study, view), name) for x, name in names.items()}
        known = {float(x): mean for x, mean in found.items() if mean}
        if known:
            yield Series(system, study.systems.index(system), tuple(known), tuple(known.values()))
