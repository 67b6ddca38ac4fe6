"""What came out, in one sentence, one table of quality and one of cost, and what to be wary of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.bench.caveats import caveats
from assay.bench.page.html import Html, join, said, tag, text
from assay.bench.page.parts import (
    Column,
    chance,
    counted,
    listed,
    name,
    note,
    number,
    row,
    score,
    section,
    signed,
    span,
    table,
)
from assay.bench.page.study import Study, View, significant
from assay.measure.compare import Comparison

_BESIDE = 4
"""Measures a role, where two roles stand side by side."""

_CAUTIONS = 4


def title(study: Study) -> str:
    """Return the verdict, short."""
    if not study.overviews or not study.measures:
        return "Nothing was measured"
    view = study.overviews[0]
    best, *others = [system for system in study.ranked(view, study.units(view)[0]) if study.whole(view, system)] or [""]
    if not others:
        return f"{best or 'No system'} was measured on {counted(study.queries(view), 'query')}"
    pairs = {other: _pair(study, view, best, other) for other in others}
    tied = [other for other, pair in pairs.items() if pair and not significant(pair)]
    if tied:
        return f"{best} leads, but {listed(tied)} cannot be told apart from it"
    if all(pairs.values()):
        return f"{best} is ahead of {'all ' + str(len(others)) + ' others' if len(others) > 1 else others[0]}"
    return f"{best} has the highest {study.primary}"


def verdict(study: Study) -> Html:
    """Return the top of the page below its title."""
    told = [*caveats(dict(study.results))]
    cautions = [tag("li", said(words, longest=160)) for words in told[:_CAUTIONS]]
    if len(told) > _CAUTIONS:
        cautions.append(
            tag("li", f"{len(told) - _CAUTIONS} more, under ", tag("a", "Errors and problems", href="#errors"))
        )
    warned = (
        tag("aside", tag("h2", "Before you believe a figure"), tag("ul", *cautions), class_="warning")
        if cautions
        else ""
    )
    if not study.overviews or not study.measures:
        return join([warned])
    return section(
        "verdict",
        "Verdict",
        _sentence(study, study.overviews[0]),
        warned,
        _quality(study),
        _legend(study),
        _cost(study),
    )


def _pair(study: Study, view: View, one: str, other: str) -> Comparison | None:
    return study.compared(view, study.units(view)[0], study.primary, (one, other))


def _sentence(study: Study, view: View) -> Html:
    unit = study.units(view)[0]
    best, *others = study.ranked(view, unit)
    figure = study.figure(view, best, unit, study.primary)
    if figure is None:
        return Html("")
    sets = f" of {counted(len(view.sets), 'set')}" if len(view.sets) > 1 else ""
    told = f" scores {study.primary} {number(study.primary, figure.mean)} (95% interval {span(study.primary, figure)})"
    start = (name(study, best), told, f" by {unit} over {counted(study.queries(view), 'query')}{sets}, {_role(view)}.")
    rival = next((other for other in others if study.whole(view, other)), None)
    pair = _pair(study, view, best, rival) if rival else None
    if rival is None or pair is None:
        return tag("p", *start, class_="lead")
    gap = f": {signed(pair.difference)} ({span(study.primary, pair)}),"
    sure = f" p\N{NO-BREAK SPACE}{_equals(pair.holm)} after Holm's correction."
    return tag("p", *start, " Against the next, ", name(study, rival), gap, sure, class_="lead")


def _role(view: View) -> str:
    return {
        "test": "which nobody tuned on",
        "dev": "which settings were tuned on",
        "": "not told whether tuned on or unseen",
    }[view.role]


def _equals(p: float) -> str:
    return chance(p) if p < 0.001 else f"=\N{NO-BREAK SPACE}{chance(p)}"


def _quality(study: Study) -> Html:
    views = study.overviews
    measures = study.main[:_BESIDE] if len(views) > 1 else study.main
    based = any(told["base"] for told in study.results["systems"].values())
    columns = [Column("System", number=False)]
    columns += [column for _ in views for column in _columns(measures, based=based)]
    wide = len(measures) + based
    spans = [tag("th", _over(study, view), scope="colgroup", colspan=wide, class_="over") for view in views]
    above = tag("tr", tag("td"), *spans)
    everything = View("", "", tuple(study.sets))
    rows = [
        row(_called(study, system), _scores(study, system, measures, based=based))
        for system in _order(study, everything)
    ]
    return table("Quality: mean, and its 95% interval below", columns, rows, above)


def _order(study: Study, view: View) -> list[str]:
    """Return the systems of a view as the first table ranks them, so that one row is found in all of them."""
    first = study.overviews[0]
    ranked = study.ranked(first, study.units(first)[0])
    here = study.here(view)
    return [*(system for system in ranked if system in here), *(system for system in here if system not in ranked)]


def _columns(measures: Sequence[str], *, based: bool) -> Iterator[Column]:
    yield from map(Column, measures)
    if based:
        yield Column("vs base", "Difference to the system that this one varies; bold where chance is unlikely")


def _over(study: Study, view: View) -> Html:
    counts = f"{counted(study.queries(view), 'query')}, by {study.units(view)[0]}"
    return join([text(view.label), tag("small", counts)])


def _scores(study: Study, system: str, measures: Sequence[str], *, based: bool) -> Iterator[Html]:
    for view in study.overviews:
        unit = study.units(view)[0]
        yield from (score(study, view, system, unit, measure) for measure in measures)
        if based:
            yield _against_base(study, view, system)


def _against_base(study: Study, view: View, system: str) -> Html:
    base = study.results["systems"][system]["base"]
    pair = _pair(study, view, system, base) if base else None
    if pair is None:
        return tag("td", class_="none")
    told = tag("strong" if significant(pair) else "span", signed(pair.difference), class_="mean")
    return tag("td", told, tag("small", f"p {chance(pair.holm)}"))


def _called(study: Study, system: str) -> Html:
    told = study.results["systems"][system]
    badges = [tag("span", f"varies {told['base']}", class_="badge")] if told["base"] else []
    if told["chosen_on"] == "test":
        badges.append(tag("span", "chosen on test", class_="badge bad"))
    badges += [
        tag("span", f"{len(study.of(view, system))} of {len(view.sets)} sets", class_="badge bad")
        for view in study.overviews
        if not study.whole(view, system)
    ]
    return join([name(study, system), *badges])


def _legend(study: Study) -> Html:
    parts = [
        tag("span", "bold", class_="best"),
        " best of its column \N{MIDDLE DOT} ",
        tag("span", "\N{ALMOST EQUAL TO}", class_="tied"),
        " chance may explain the distance to the best \N{MIDDLE DOT} ",
        tag("span", "\N{BLACK DOWN-POINTING SMALL TRIANGLE}", class_="below"),
        " below the best by more than chance (paired randomisation test, Holm-adjusted p < 0.05; ",
        f"tested for {study.primary}).",
        " A query without an answer counts zero.",
    ]
    if any(len(view.sets) > 1 for view in study.overviews):
        parts.append(" Several sets: the mean over all their queries; their intervals combine as independent samples.")
    return note(*parts)


_COSTS = (
    ("warm_p50_ms", Column("Query p50", "median of warm queries")),
    ("warm_p95_ms", Column("Query p95", "95 of 100 warm queries are faster")),
    ("cold_ms", Column("First query", "the first one after a start")),
    ("index_s", Column("Index", "seconds to index")),
    ("peak_mb", Column("Peak memory")),
    ("index_bytes", Column("Index size")),
)


def cost_table(study: Study, view: View, caption: str) -> Html:
    """Return what systems cost in a view, and how much of what they found nobody judged."""
    columns = [Column("System", number=False), *(column for _, column in _COSTS)]
    columns += [
        Column("Errors", "queries that failed, counted as zero"),
        Column("Unjudged", "share of the first ten results that nobody judged"),
    ]
    rows = []
    for system in _order(study, view):
        cells = [tag("td", cost(key, study.cost(view, system, key))) for key, _ in _COSTS]
        failed = sum(len(cell["errors"]) for cell in study.of(view, system))
        errors = tag("td", f"{failed:,}", class_="bad" if failed else None)
        rows.append(row(name(study, system), [*cells, errors, tag("td", f"{study.unjudged(view, system):.0%}")]))
    return table(caption, columns, rows)


def _cost(study: Study) -> Html:
    view = View("", "", tuple(dict.fromkeys(name for name, _ in study.cells)))
    several = ": times and sizes are those of the set where they are largest" if len(view.sets) > 1 else ""
    return cost_table(study, view, f"Cost, over {counted(len(view.sets), 'set')}{several}")


def cost(key: str, value: float | None) -> str:
    """Return a time or a size as people read it."""
    if value is None:
        return "\N{EN DASH}"
    unit = key.rpartition("_")[2]
    if unit == "ms":
        return (
            f"{value:.2g} ms"
            if value < 1
            else f"{value:.1f} ms"
            if value < 10
            else f"{value:,.0f} ms"
            if value < 10_000
            else f"{value / 1000:,.0f} s"
        )
    if unit == "s":
        return f"{value:.2f} s" if value < 10 else f"{value:,.0f} s"
    megabytes = value / 1e6 if unit == "bytes" else value
    return f"{megabytes:,.1f} MB" if megabytes < 10 else f"{megabytes:,.0f} MB"
