"""Results in, a report out: all of it for a page, each set for Markdown, the first figures for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.bench.caveats import caveats
from assay.bench.report.bench_verdict import sentence, title, verdict
from assay.bench.report.misses import misses
from assay.bench.report.repeating import repeating, troubles
from assay.bench.report.result_figures import figures
from assay.bench.report.result_tables import (
    SYSTEM,
    cost,
    costs,
    groups,
    judged,
    pairs,
    published,
    quality,
    score,
    system_phrase,
    with_labels,
)
from assay.bench.results import Results
from assay.bench.study import Experiment, SetView
from assay.errors import counted
from assay.report.document import (
    Bullets,
    Cell,
    Choice,
    Column,
    Count,
    Leaf,
    Mean,
    Number,
    Panel,
    Panels,
    Paragraph,
    Phrase,
    Report,
    Rows,
    Section,
    Table,
    Verbatim,
    figure,
    probability,
    words,
)
from assay.report.plain_text import cell_text, value_text

_UNITS = {
    "line": "Lines: a result is right when its lines overlap a right answer that no earlier result took.",
    "line published": "Lines as the published script counts them: several results may hit the same answer.",
    "function": "Functions: a result stands for the functions it overlaps.",
    "file": "Files: the first result of each file counts.",
}
_TITLES = {"line published": "line, as published"}
_SETS = 4
_BESIDE = 4
"""Measures a role, where two roles stand side by side."""
_BEST = "bold is the best of its column"
_WIDEST = 8
"""Measures in a table of Markdown; results.json has all of them."""
_FIRST = 3
"""Measures in a table of a terminal."""


def report_of(results: Results) -> Report:
    """Return everything that there is to read."""
    study = Experiment(results)
    found = (figures(study), _all_figures(study), *_labelled(study), misses(study)) if study.measured else ()
    sections = (verdict(study), *found, troubles(study), repeating(study))
    footer = "Written by Assay. Every figure of this page is in results.json."
    return Report(title(study), "Assay bench", _facts(study), sections, footer, tuple(study.systems), tuple(study.sets))


def overview_of(results: Results) -> Report:
    """Return the figures of each set, and of all sets of a role, one after another."""
    study = Experiment(results)
    measures = study.measures[:_WIDEST]
    notes = Bullets("Note", tuple(map(words, caveats(results))), warning=True)
    sections = [Section("notes", "Notes", (notes,), untitled=True)]
    if study.measured:
        if len(study.overviews) > 1:
            together = quality(study, study.overviews, study.main[:_BESIDE], f"Means with 95% intervals; {_BEST}")
            sections.append(Section("together", "Tuned and unseen", (*sentence(study, study.overviews[0]), together)))
        sections += [
            Section(
                view.name,
                view.label,
                (_described(study, view, study.units(view)[0]), *_inside(study, view, study.units(view)[0], measures)),
            )
            for view in study.views
        ]
    sections.append(Section("about", "To repeat", (Verbatim(study.manifest.command),)))
    return Report("Results", "", (*_facts(study), f"Assay {study.manifest.versions.get('assay', '')}"), tuple(sections))


def summary_of(results: Results) -> Report:
    """Return the first figures of each set, and what to be wary of."""
    study = Experiment(results)
    sections = [_summary(study, view) for view in _in_order(study)] if study.measured else []
    notes = Bullets("note", tuple(map(words, caveats(results))))
    return Report("", "", (), (*sections, Section("notes", "", (notes,), untitled=not notes.items)))


def _in_order(study: Experiment) -> list[SetView]:
    """Return the views as sets were named, those of several sets last."""
    single = sorted((v for v in study.views if len(v.sets) == 1), key=lambda view: [*study.sets].index(view.sets[0]))
    return [*single, *(view for view in study.views if len(view.sets) > 1)]


def _summary(study: Experiment, view: SetView) -> Section:
    unit = study.units(view)[0]
    measures = study.measures[:_FIRST]
    commit = study.sets[view.sets[0]].commit[:12] if len(view.sets) == 1 else ""
    asked = f"{counted(study.queries(view), 'query')}{f' at {commit}' if commit else ''}"
    columns = tuple(map(Column, ("system", *measures, "query", "95th", "index", "memory", "errors")))
    rows: Rows = tuple(
        (
            Phrase(system),
            *(score(study, view, system, unit, measure) for measure in measures),
            *_times(study, view, system),
            _failed(sum(len(cell.errors) for cell in study.of(view, system))),
        )
        for system in study.here(view)
        if study.whole(view, system)
    )
    rows += tuple(published(study, [view], measures, (*(Number(None),) * 4, Phrase(""))))
    blocks = (Table("", columns, rows), *_tests(study, view, unit), *_unseen(study, view, measures))
    return Section(view.name, f"{view.label}: {asked}, by {unit}; means with 95% intervals", blocks)


def _failed(errors: int) -> Cell:
    """Return how many queries failed; nothing where none did, so that the column goes where it says nothing."""
    return Count(errors) if errors else Phrase("")


def _times(study: Experiment, view: SetView, system: str) -> tuple[Number, ...]:
    """Return what a warm query takes, a slow one, the index, and memory."""
    p50, p95, _, index, memory, _ = costs(study, view, system)
    return p50, p95, index, memory


def _tests(study: Experiment, view: SetView, unit: str) -> Iterator[Paragraph]:
    """Yield how the first system differs from each other one, and each variant from its base."""
    first = study.here(view)[0]
    for of, measure, pair in study.comparisons(view):
        if of == unit and (study.results.systems[pair.a].base == pair.b or first in {pair.a, pair.b}):
            difference = cell_text(figure(Mean(pair.difference, pair.low, pair.high), signed=True))
            p = value_text(probability(pair.holm))
            yield words(f"{pair.a} - {pair.b}: {measure} {difference}, p {p} (Holm)")


def _unseen(study: Experiment, view: SetView, measures: Sequence[str]) -> Iterator[Leaf]:
    """Yield the figures with the labels of a judge, where one was asked."""
    for name in view.sets:
        if (counts := study.sets[name].unseen) and len(view.sets) == 1:
            yield words(f"{with_labels(counts)}; nothing else counts them.", "note")
            yield judged(study, name, measures)


def _described(study: Experiment, view: SetView, unit: str) -> Paragraph:
    """Return which queries a view has, of which ground truth."""
    parts = [Phrase(f"{counted(study.queries(view), 'query')} of ")]
    for place, name in enumerate(view.sets):
        of = study.sets[name]
        parts.append(Phrase(f"{', ' if place else ''}"))
        parts.append(Phrase(of.truth, code=True))
        parts += [Phrase(" at "), Phrase(of.commit[:12], code=True)] if of.commit else []
    parts.append(Phrase(f". {_UNITS.get(unit, f'By {unit}.')}"))
    return Paragraph(tuple(parts))


def _inside(study: Experiment, view: SetView, unit: str, measures: Sequence[str]) -> Iterator[Leaf]:
    """Yield the tables of one view as Markdown has them."""
    yield quality(study, [view], measures, f"Means with 95% bootstrap intervals over queries; {_BEST}")
    if study.manifest.kind == "retrieval":
        yield cost(study, view, "Cost")
    tags = study.tagged(view)
    for tag in ("kind", "folder"):
        if tag in tags:
            yield groups(study, view, unit, tag, tags[tag])
    yield from pairs(study, view, unit)
    yield from _unseen(study, view, measures)


def _labelled(study: Experiment) -> tuple[Section, ...]:
    """Return the section of a judge's labels, where one was asked."""
    sets = {name: of.unseen for name, of in study.sets.items() if of.unseen}
    blocks = [
        block
        for name, counts in sets.items()
        for block in (words(f"{name}: {with_labels(counts)}.", "note"), judged(study, name, study.measures))
    ]
    note = words("Nothing else on this page counts these labels.", "note")
    return (Section("judged", "With labels of a judge", (note, *blocks)),) if sets else ()


def _all_figures(study: Experiment) -> Section:
    """Return every figure by set and unit; a switch shows one set and one unit at a time."""
    units = dict.fromkeys(unit for view in study.views for unit in study.units(view))
    choices = (
        Choice("view", "Queries", {str(at): view.label for at, view in enumerate(study.views)}),
        Choice("unit", "Counted by", {unit: _TITLES.get(unit, unit) for unit in units}, radio=True),
    )
    panels = tuple(panel for at, view in enumerate(study.views) for panel in _panels(study, view, str(at)))
    return Section("tables", "All figures", (Panels(choices, panels),))


def _panels(study: Experiment, view: SetView, at: str) -> Iterator[Panel]:
    for unit in study.units(view):
        subtitle = f"{counted(study.queries(view), 'query')}, by {_TITLES.get(unit, unit)}"
        note = words(_UNITS.get(unit, f"A value is one {unit}'s."), "note")
        yield Panel(view.label, subtitle, {"view": at, "unit": unit}, (note, *_of_unit(study, view, unit)))
    yield Panel("", "", {"view": at}, (cost(study, view, f"Cost on {view.label}"),))


def _of_unit(study: Experiment, view: SetView, unit: str) -> Iterator[Leaf]:
    columns = (SYSTEM, *map(Column, study.measures))
    rows: Rows = tuple(
        (system_phrase(study, system), *(score(study, view, system, unit, measure) for measure in study.measures))
        for system in study.ranked(view, unit)
    )
    yield Table("All measures: mean and 95% interval", columns, rows)
    for tag, values in study.tagged(view).items():
        yield groups(study, view, unit, tag, values)
    yield from pairs(study, view, unit)


def _facts(study: Experiment) -> tuple[str, ...]:
    """Return what was measured, in one line."""
    queries = sum(len(of.queries) for of in study.sets.values())
    commits = [f"{name} {of.commit[:8]}".strip() for name, of in study.sets.items()]
    parts = (
        counted(queries, "query"),
        counted(len(study.sets), "set"),
        counted(len(study.systems), "system"),
        ", ".join(commits) if len(commits) <= _SETS else "",
        f"first {study.manifest.k} results" if study.manifest.kind == "retrieval" else "",
        f"seed {study.manifest.seed}",
        study.manifest.when[:16].replace("T", " "),
    )
    return tuple(part for part in parts if part)
