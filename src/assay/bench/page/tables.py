"""Every figure by set and unit: all measures, groups of queries, pairs of systems. All of it stands in the page.

A switch shows one set and one unit at a time; without a script they stand one below another.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from assay.bench.page.html import Html, join, tag
from assay.bench.page.parts import (
    Column,
    chance,
    counted,
    figure_cell,
    name,
    note,
    options,
    row,
    score,
    section,
    signed,
    span,
    table,
)
from assay.bench.page.study import Study, View, significant, turned
from assay.bench.page.verdict import cost_table

_UNITS = {
    "line": "Lines: a result is right when its lines overlap a right answer that no earlier result took.",
    "line published": "Lines as the published script counts them: several results may hit the same answer.",
    "function": "Functions: a result stands for the functions it overlaps.",
    "file": "Files: the first result of each file counts.",
}
_TITLES = {"line published": "line, as published"}
_PAIRS = 60


def tables(study: Study) -> Html:
    """Return the section of all tables."""
    panels = [panel for at, view in enumerate(study.views) for panel in _panels(study, view, at)]
    return section("tables", "All figures", _switch(study), *panels)


def _switch(study: Study) -> Html:
    """Return the controls; they show when a script can serve them."""
    units = list(dict.fromkeys(unit for view in study.views for unit in study.units(view)))
    views = options((str(at), view.label) for at, view in enumerate(study.views))
    choices = [
        tag(
            "label",
            tag("input", type="radio", name="unit", value=unit, checked=at == 0),
            tag("span", _TITLES.get(unit, unit)),
        )
        for at, unit in enumerate(units)
    ]
    sets = tag("label", "Queries ", tag("select", views, id="view"))
    return tag(
        "form", sets, tag("fieldset", tag("legend", "Counted by"), *choices), class_="switch", id="switch", hidden=True
    )


def _panels(study: Study, view: View, at: int) -> Iterator[Html]:
    for unit in study.units(view):
        heading = tag(
            "h3", view.label, tag("small", f"{counted(study.queries(view), 'query')}, by {_TITLES.get(unit, unit)}")
        )
        yield tag(
            "div",
            heading,
            note(_UNITS[unit]),
            *_inside(study, view, unit),
            class_="panel",
            data_view=at,
            data_unit=unit,
        )
    yield tag("div", cost_table(study, view, f"Cost on {view.label}"), class_="panel", data_view=at)


def _inside(study: Study, view: View, unit: str) -> Iterator[Html]:
    columns = [Column("System", number=False), *map(Column, study.measures)]
    rows = [
        row(name(study, system), (score(study, view, system, unit, measure) for measure in study.measures))
        for system in study.ranked(view, unit)
    ]
    yield table("All measures: mean, and its 95% interval below", columns, rows)
    for told, values in study.tagged(view).items():
        yield _groups(study, view, unit, (told, values))
    yield _pairs(study, view, unit)


def _groups(study: Study, view: View, unit: str, tagged: tuple[str, list[str]]) -> Html:
    told, values = tagged
    systems = study.here(view)
    columns = [
        Column(told.capitalize(), number=False),
        Column("Queries"),
        *(Column(_cut(system)) for system in systems),
    ]
    rows = []
    for value in values:
        found = [study.group(view, system, unit, told, value) for system in systems]
        best = max((figure.mean for _, figure in found if figure), default=0.0)
        cells = [
            figure_cell(study.primary, figure, class_="best" if isclose(figure.mean, best) else None)
            if figure
            else tag("td", class_="none")
            for _, figure in found
        ]
        rows.append(row(_cut(value, 60), [tag("td", f"{max(count for count, _ in found):,}"), *cells]))
    return table(f"{study.primary} by {told}", columns, rows)


def _pairs(study: Study, view: View, unit: str) -> Html:
    found = [
        (measure, pair if pair.difference >= 0 else turned(pair))
        for of, measure, pair in study.comparisons(view)
        if of == unit
    ]
    if not found:
        return Html("")
    found.sort(key=lambda each: (round(each[1].holm, 3), -each[1].difference))
    columns = [
        Column("Ahead", number=False),
        Column("Behind", number=False),
        Column("Difference"),
        Column("95% interval"),
    ]
    columns += [
        Column("p", "paired randomisation test"),
        Column("p (t)", "paired t-test"),
        Column("p (Holm)", "of the randomisation test"),
    ]
    rows = []
    for measure, pair in found[:_PAIRS]:
        difference = tag("td", signed(pair.difference), class_="best" if significant(pair) else None)
        cells = [
            tag("td", text)
            for text in (span(measure, pair), chance(pair.randomisation), chance(pair.t), chance(pair.holm))
        ]
        rows.append(row(name(study, pair.a), [tag("td", name(study, pair.b), class_="words"), difference, *cells]))
    left = len(found) - len(rows)
    more = note(f"{left} more pairs, less sure, are in results.json.") if left > 0 else ""
    caption = f"Pairs of systems by {found[0][0]}: bold where Holm's p is below 0.05"
    return join([table(caption, columns, rows), more])


def _cut(words: str, longest: int = 24) -> str:
    return words if len(words) <= longest else words[: longest - 1] + "…"
