"""Draw the plots of a report: measures with intervals, latency, wins and losses, curves over k."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.bench.results_view import ResultsView, SetView
from assay.report import document as doc

_FAMILY = re.compile(r"(Hit|Recall|nDCG|Precision|success)@(\d+)(tokens|)")
_AXES = {"Hit": "Hit@k over k", "Recall": "Recall@k over k", "nDCG": "nDCG@k over k", "Precision": "Precision@k over k"}
_DRAWN_PAIRS = 4
_CURVES = 2


def figures(study: ResultsView, more: Sequence[doc.Block] = ()) -> doc.Section:
    """Return the section of all plots."""
    blocks: list[doc.Block] = [_measures(study)]
    for view in study.overviews:
        drawn: list[doc.Block] = [*_latency(study, view), *_differences(study, view), *_curves(study, view)]
        if drawn and len(study.overviews) > 1:
            blocks.append(doc.words(view.label, "heading"))
        blocks += drawn
    return doc.Section("plots", "Plots", (*blocks, *more))


def _unit(study: ResultsView, view: SetView) -> str:
    return study.units(view)[0]


def _measures(study: ResultsView) -> doc.Dots:
    views = study.overviews[:2]
    panels = study.main or study.measures[:1]
    rows = []
    for system in study.ranked(views[0], _unit(study, views[0])):
        figures = (tuple(study.figure(view, system, _unit(study, view), name) for view in views) for name in panels)
        rows.append(doc.DotRow(system, study.systems.index(system), tuple(figures)))
    caption = "Dots are means, lines 95% intervals."
    if len(views) > 1:
        caption += f" Filled: {views[0].label}. Hollow: {views[1].label}."
        caption += " A hollow dot far to the right of its filled one: tuned too closely, or easier queries."
    return doc.Dots("Measures, a system a row", caption, panels, tuple(rows))


def _latency(study: ResultsView, view: SetView) -> Iterator[doc.Scatter]:
    points, untimed = [], []
    for system in study.here(view):
        mean = study.figure(view, system, _unit(study, view), study.primary)
        p50 = study.cost(view, system, "warm_p50_ms")
        if mean and p50:
            points.append(doc.Series(system, study.systems.index(system), (p50,), (mean,)))
        else:
            untimed.append(system)
    if points:
        caption = "Up is better, left is faster; vertical lines are 95% intervals."
        caption += f" Without a time: {doc.listed(untimed)}." if untimed else ""
        x = "a warm query, median (log scale); left is faster"
        yield doc.Scatter("Quality against latency", caption, tuple(points), x, study.primary)


def _differences(study: ResultsView, view: SetView) -> Iterator[doc.WinsAndLosses]:
    unit, every = _unit(study, view), study.queries(view)
    values = {system: study.values(view, system, unit, study.primary) for system in study.ranked(view, unit)}
    whole = [system for system, each in values.items() if len(each) == every]
    pairs = [
        doc.ItemPair(whole[0], other, tuple(a - b for a, b in zip(values[whole[0]], values[other], strict=True)))
        for other in whole[1 : _DRAWN_PAIRS + 1]
    ]
    if pairs:
        rivals = doc.listed([pair.b for pair in pairs], most=_DRAWN_PAIRS)
        caption = f"{whole[0]} against {rivals}, a bar a query: right and blue it won, left and orange it lost."
        x = f"each {study.manifest.item}, sorted by the difference in {study.primary}"
        yield doc.WinsAndLosses("Query by query", caption, tuple(pairs), x)


def _curves(study: ResultsView, view: SetView) -> Iterator[doc.Curves]:
    families: dict[str, dict[int, str]] = {}
    for measure in study.measures:
        if found := _FAMILY.fullmatch(measure):
            axis = "success over tokens read" if found[3] else _AXES.get(found[1])
            if axis:
                families.setdefault(axis, {})[int(found[2])] = measure
    chosen = {axis: dict(sorted(names.items())) for axis, names in families.items() if len(names) > 1}
    chosen = dict(sorted(chosen.items(), key=lambda each: -len(each[1]))[:_CURVES])
    if chosen:
        panels = tuple(doc.CurvePanel(axis, tuple(_lines(study, view, names))) for axis, names in chosen.items())
        yield doc.Curves("With more to read", "What a reader gains by reading further down.", panels, log=True)


def _lines(study: ResultsView, view: SetView, names: dict[int, str]) -> Iterator[doc.Series]:
    for system in study.here(view):
        found = {x: study.figure(view, system, _unit(study, view), name) for x, name in names.items()}
        known = {float(x): mean for x, mean in found.items() if mean}
        if known:
            yield doc.Series(system, study.systems.index(system), tuple(known), tuple(known.values()))
