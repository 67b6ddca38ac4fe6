"""The plots with what they say in words: which figures go into which drawing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.bench.page import plots
from assay.bench.page.html import Html, join, tag, text
from assay.bench.page.parts import listed, section
from assay.bench.page.study import Figure, Study, View

_FAMILY = re.compile(r"(Hit|Recall|nDCG|Precision|success)@(\d+)(tokens|)")
_AXES = {"Hit": "Hit@k over k", "Recall": "Recall@k over k", "nDCG": "nDCG@k over k", "Precision": "Precision@k over k"}
_PAIRS = 4
_CURVES = 2


def figures(study: Study) -> Html:
    """Return the section of all plots."""
    parts = [_measures(study)]
    for view in study.overviews:
        drawn = [*_latency(study, view), *_differences(study, view), *_curves(study, view)]
        if drawn and len(study.overviews) > 1:
            parts.append(tag("h3", view.label))
        parts.append(tag("div", *drawn, class_="figures"))
    return section("plots", "Plots", *parts)


def _figure(title: str, drawing: str, told: str, class_: str | None = None) -> Html:
    """Return a drawing with its title and caption; the caption is what those hear who cannot see it."""
    label = text(f"{title}. {told}")
    image = Html(drawing.replace("<svg ", f'<svg aria-label="{label}" ', 1))
    plot = tag("div", image, class_="plot", tabindex=0, role="region", aria_label=title)
    return tag("figure", tag("h4", title), plot, tag("figcaption", told), class_=class_)


def _unit(study: Study, view: View) -> str:
    return study.units(view)[0]


def _measures(study: Study) -> Html:
    roles = [view.name for view in study.overviews][:2]
    ranked = study.ranked(study.overviews[0], _unit(study, study.overviews[0]))
    rows = [plots.Row(system, study.systems.index(system), _told(study, system)) for system in ranked]
    told = "Dots are means, lines 95% intervals."
    if len(roles) > 1:
        first, second = (view.label for view in study.overviews[:2])
        told += f" Filled: {first}. Hollow: {second}."
        told += " A hollow dot far to the right of its filled one: tuned too closely, or easier queries."
    return _figure(
        "Measures, a system a row", plots.measures(rows, study.main or study.measures[:1], roles), told, "wide"
    )


def _told(study: Study, system: str) -> dict[str, dict[str, Figure]]:
    return {
        view.name: {
            measure: figure
            for measure in study.measures
            if (figure := study.figure(view, system, _unit(study, view), measure))
        }
        for view in study.overviews[:2]
    }


def _latency(study: Study, view: View) -> Iterator[Html]:
    points, untimed = [], []
    for system in study.here(view):
        figure = study.figure(view, system, _unit(study, view), study.primary)
        p50 = study.cost(view, system, "warm_p50_ms")
        if figure and p50:
            points.append(plots.Line(system, study.systems.index(system), (p50,), (figure,)))
        else:
            untimed.append(system)
    if points:
        told = "Up is better, left is faster; vertical lines are 95% intervals."
        told += f" Without a time: {listed(untimed)}." if untimed else ""
        yield _figure("Quality against latency", plots.against_latency(points, study.primary), told)


def _differences(study: Study, view: View) -> Iterator[Html]:
    unit = _unit(study, view)
    every = study.queries(view)
    whole = [
        system for system in study.ranked(view, unit) if len(study.values(view, system, unit, study.primary)) == every
    ]
    pairs = []
    for other in whole[1 : _PAIRS + 1]:
        ours, theirs = (study.values(view, system, unit, study.primary) for system in (whole[0], other))
        pairs.append(plots.Pair(whole[0], other, tuple(a - b for a, b in zip(ours, theirs, strict=True))))
    if pairs:
        rivals = listed([pair.b for pair in pairs], most=_PAIRS)
        told = f"{whole[0]} against {rivals}, a bar a query: right and blue it won, left and orange it lost."
        yield _figure(
            "Query by query", plots.differences(pairs, study.primary), told, "tall" if len(pairs) > 2 else None
        )


def _curves(study: Study, view: View) -> Iterator[Html]:
    families: dict[str, dict[int, str]] = {}
    for measure in study.measures:
        if found := _FAMILY.fullmatch(measure):
            axis = "success over tokens read" if found[3] else _AXES.get(found[1])
            if axis:
                families.setdefault(axis, {})[int(found[2])] = measure
    chosen = {axis: dict(sorted(names.items())) for axis, names in families.items() if len(names) > 1}
    chosen = dict(sorted(chosen.items(), key=lambda each: -len(each[1]))[:_CURVES])
    if chosen:
        drawn = {axis: _lines(study, view, names) for axis, names in chosen.items()}
        yield _figure("With more to read", plots.curves(drawn), "What a reader gains by reading further down.")


def _lines(study: Study, view: View, names: dict[int, str]) -> Sequence[plots.Line]:
    lines = []
    for system in study.here(view):
        found = {x: study.figure(view, system, _unit(study, view), name) for x, name in names.items()}
        known = {x: figure for x, figure in found.items() if figure}
        if known:
            lines.append(
                plots.Line(system, study.systems.index(system), tuple(map(float, known)), tuple(known.values()))
            )
    return lines


def drawn(study: Study) -> Html:
    """Return the plots, or nothing where nothing was measured."""
    return figures(study) if study.overviews and study.measures else join([])
