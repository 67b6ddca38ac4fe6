"""Write results as a report: all of it for a page, each set for Markdown, the first figures for a terminal."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.bench import report_misses, report_plots
from assay.bench import report_tables as tables
from assay.bench.results import MeasuredSet, MeasuredSystem, Results, RunManifest
from assay.bench.results_view import AS_PUBLISHED, ResultsView, SetView, significant
from assay.errors import counted
from assay.io.fields import as_json
from assay.measure.measures import parse
from assay.report import document as doc
from assay.report.plain_text import cell_text, interval_text, value_text

_PAGE = 10
"""Results that a measure without a cut-off should see at least."""


def caveats(results: Results) -> Iterator[str]:
    """Yield what a reader should know before believing a figure."""
    yield from _tuned(results)
    for name, why in results.unusable.items():
        yield f"{name} could not be measured: {why}"
    for system, told in results.systems.items():
        yield from _of_system(system, told, results)
    for name, of in results.sets.items():
        if of.problems:
            rows = counted(len(of.problems), "row")
            yield f"{rows} of {name} could not be used; the first: {of.problems[0]}"
        bare = sum(not any(grade > 0 for _, grade in query.expected) for query in of.queries)
        if bare and any(query.expected for query in of.queries):
            yield f"{bare} of {len(of.queries)} queries of {name} have no right answer: they count zero for all"
    yield from _cut(results.manifest)
    yield from _favoured(results.sets)


def _tuned(results: Results) -> Iterator[str]:
    """Yield where figures were chosen by looking at them."""
    tests = [name for name, told in results.sets.items() if told.role == "test"]
    chosen = [name for name, told in results.systems.items() if told.chosen_on == "test"]
    if chosen:
        yield f"settings of {', '.join(chosen)} were chosen on test sets: their figures there are tuned, not unseen"
    if any(told.base for told in results.systems.values()) and tests and len(tests) == len(results.sets):
        yield "variants are compared on test sets only: whoever picks the best of them has tuned on these sets"


def _of_system(system: str, measured: MeasuredSystem, results: Results) -> Iterator[str]:
    """Yield what a system left out, or did not answer."""
    if measured.threshold is not None:
        yield f"results of {system} that score below {measured.threshold:g} are left out"
    for name, why in measured.failed.items():
        yield f"{system} answered no query of {name} and is left out there: {why}"
    failed = [cell for cell in results.cells if cell.system == system and cell.errors]
    if failed:
        where = ", ".join(f"{counted(len(cell.errors), 'query')} of {cell.set}" for cell in failed)
        first = next(iter(failed[0].errors.values()))
        yield f"{system} had errors on {where}; what it did answer counts ({first})"


def _cut(about: RunManifest) -> Iterator[str]:
    """Yield the measures that would look at more results than were asked for."""
    measures = [parse(name) for name in about.measures] if about.kind == "retrieval" else []
    ranks = [each for each in measures if each.name != "success"]
    short = [str(each) for each in ranks if (_PAGE if each.depth is None else each.depth) > about.k]
    if short:
        yield f"only {about.k} results of a query were asked for: {', '.join(short)} would look at more (-k)"


def _favoured(sets: Mapping[str, MeasuredSet]) -> Iterator[str]:
    """Yield which labels were made from what some systems rank by."""
    favoured = [name for name, told in sets.items() if told.unseen and told.unseen.judge.partition(":")[0] == "signals"]
    if favoured:
        what = "come from words and static vectors, and favour systems that rank by these"
        yield f"labels of signals on {', '.join(favoured)} {what}"


_BESIDE = 4
"""Measures a role, where two roles stand side by side."""
_SPACE = "\N{NO-BREAK SPACE}"
_DASH = "\N{EN DASH}"
_ROLES = {
    "test": "which nobody tuned on",
    "dev": "which settings were tuned on",
    "": "not told whether tuned on or unseen",
}


def title(study: ResultsView) -> str:
    """Return the verdict, short."""
    if not study.measured:
        return "Nothing was measured"
    view = study.overviews[0]
    unit = study.units(view)[0]
    best, *others = [system for system in study.ranked(view, unit) if study.whole(view, system)] or [""]
    if not others:
        return f"{best or 'No system'} was measured on {study.size(view)}"
    pairs = {other: study.compared(view, unit, study.primary, (best, other)) for other in others}
    tied = [other for other, pair in pairs.items() if pair and not significant(pair)]
    if tied:
        return f"{best} leads, but {doc.listed(tied)} cannot be told apart from it"
    if all(pairs.values()):
        return f"{best} is ahead of {'all ' + str(len(others)) + ' others' if len(others) > 1 else others[0]}"
    return f"{best} has the highest {study.primary}"


def verdict(study: ResultsView) -> doc.Section:
    """Return the top of the report."""
    found = tuple(map(doc.words, caveats(study.results)))
    warned: list[doc.Block] = [doc.Bullets("Before you believe a figure", found, warning=True)] if found else []
    if not study.measured:
        return doc.Section("verdict", "Verdict", tuple(warned), untitled=True)
    views = study.overviews
    measures = study.main[:_BESIDE] if len(views) > 1 else study.main
    table = tables.quality(study, views, measures, "Quality: mean and 95% interval")
    blocks = (*sentence(study, views[0]), *warned, table, _legend(study), _cost_of_all(study))
    return doc.Section("verdict", "Verdict", blocks, untitled=True)


def sentence(study: ResultsView, view: SetView) -> list[doc.Paragraph]:
    """Return who scores how much, and what is known of the next."""
    unit = study.units(view)[0]
    best, *others = study.ranked(view, unit)
    mean = study.figure(view, best, unit, study.primary)
    if mean is None:
        return []
    shown = doc.figure(mean, tables.digits_of(study.primary))
    sets = f" of {counted(len(view.sets), 'set')}" if len(view.sets) > 1 else ""
    interval = f"95% interval {interval_text(shown, to=_DASH)}"
    queries = f"over {study.size(view)}{sets}, {_ROLES[view.role]}"
    scored = doc.Phrase(f" scores {study.primary} {value_text(shown)} ({interval}) by {unit} {queries}.")
    start = (tables.system_phrase(study, best), scored)
    rival = next((other for other in others if study.whole(view, other)), None)
    pair = study.compared(view, unit, study.primary, (best, rival)) if rival else None
    if rival is None or pair is None:
        return [doc.Paragraph(start, "lead")]
    gap = doc.Number(pair.difference, pair.low, pair.high, signed=True)
    p = value_text(doc.probability(pair.holm))
    equals = "" if p.startswith("<") else "= "
    span = interval_text(gap).replace(", ", " to ")
    gap_text = f"{value_text(gap)} ({span})".replace("-", "\N{MINUS SIGN}")
    rest = f": {gap_text}, p{_SPACE}{equals}{p} after Holm's correction."
    against = (doc.Phrase(" Against the next, "), tables.system_phrase(study, rival), doc.Phrase(rest))
    return [doc.Paragraph((*start, *against), "lead")]


def _legend(study: ResultsView) -> doc.Paragraph:
    text = (
        " below the best by more than chance (paired randomisation test, Holm-adjusted p < 0.05; "
        f"tested for {study.primary}). A query without an answer counts zero."
    )
    if any(len(view.sets) > 1 for view in study.overviews):
        text += " Several sets: the mean over all of them; their intervals combine as independent samples."
    parts = (
        doc.Phrase("bold", mark="best"),
        doc.Phrase(" best of its column \N{MIDDLE DOT} "),
        doc.Phrase("\N{ALMOST EQUAL TO}", mark="tied"),
        doc.Phrase(" chance may explain the distance to the best \N{MIDDLE DOT} "),
        doc.Phrase("\N{BLACK DOWN-POINTING SMALL TRIANGLE}", mark="below"),
        doc.Phrase(text),
    )
    return doc.Paragraph(parts, "note")


def _cost_of_all(study: ResultsView) -> doc.Block:
    view = SetView("", "", tuple(dict.fromkeys(name for name, _ in study.cells)))
    several = ": times and sizes are those of the set where they are largest" if len(view.sets) > 1 else ""
    return tables.cost(study, view, f"Cost, over {counted(len(view.sets), 'set')}{several}")


_PROBLEMS = 40
_REASONS = 8


def troubles(study: ResultsView) -> doc.Section:
    """Return the section of errors and of ground truth that could not be used."""
    rows = list(_errors(study))
    columns = (tables.SYSTEM, *doc.columns("Set"), "Queries", *doc.columns("Reason", "Such as"))
    title = "Queries that failed, counted as zero"
    failed = doc.table(title, columns, rows) if rows else doc.words("No query failed.")
    problems = [block for name, of in study.sets.items() if of.problems for block in _problems(name, of.problems)]
    none = doc.words("Every row of the ground truth could be used.")
    return doc.Section("errors", "Errors and problems", (failed, *(problems or [none])), "Errors")


def _errors(study: ResultsView) -> Iterator[tuple[doc.Cell | str | int, ...]]:
    for (of, system), cell in study.cells.items():
        reasons = Counter(cell.errors.values()).most_common()
        for reason, count in reasons[:_REASONS]:
            such = next(key for key, why in cell.errors.items() if why == reason)
            yield tables.system_phrase(study, system), of, count, reason, f"query\N{NO-BREAK SPACE}{such}"
        if rest := sum(count for _, count in reasons[_REASONS:]):
            yield tables.system_phrase(study, system), of, rest, "other reasons: see results.json", ""


def _problems(of: str, problems: tuple[str, ...]) -> Iterator[doc.Block]:
    title = f"Ground truth of {of}: {counted(len(problems), 'problem')}"
    yield doc.Bullets(title, tuple(map(doc.words, problems[:_PROBLEMS])))
    if len(problems) > _PROBLEMS:
        yield doc.words(f"{len(problems) - _PROBLEMS:,} more are in results.json.", "note")


def repeating(study: ResultsView) -> doc.Section:
    """Return the section of sets, systems and the manifest."""
    command = study.manifest.command
    no_command = [doc.words("The manifest holds no command.", "note")]
    again = [doc.words("To repeat:"), doc.Verbatim(command)] if command else no_command
    rest = {key: value for key, value in as_json(study.manifest).items() if key != "command"}
    manifest = doc.table("Manifest", doc.columns("Key", "Value"), _flat(rest))
    folded = doc.Fold("Manifest: settings, versions, hardware, seed", manifest)
    blocks = (*again, _sets(study), _systems(study), folded)
    return doc.Section("about", "How to repeat this", blocks, "How to repeat")


def _sets(study: ResultsView) -> doc.Table:
    hashes = doc.columns("Commit", "Hash of judgments", "Hash of corpus")
    rows = []
    for name, of in study.sets.items():
        codes = (doc.Phrase(each[:12] or _DASH, code=True) for each in (of.commit, of.qrels, of.corpus))
        rows.append((name, of.role or _DASH, of.truth, len(of.queries), *codes))
    return doc.table("Sets of queries", (*doc.columns("Set", "Role", "Ground truth"), "Queries", *hashes), rows)


def _systems(study: ResultsView) -> doc.Table:
    rows = []
    for name, system in study.results.systems.items():
        spec, chosen_on = doc.Phrase(system.spec, code=True), system.chosen_on or _DASH
        rows.append((tables.system_phrase(study, name), spec, system.how, chosen_on, _settings(study, system)))
    return doc.table("Systems", (tables.SYSTEM, *doc.columns("Spec", "Asked", "Chosen on", "Settings")), rows)


def _settings(study: ResultsView, system: MeasuredSystem) -> doc.Phrase:
    """Return all settings, or for a variant what it changes."""
    own = dict(_flat(system.settings))
    base = study.results.systems.get(system.base)
    if base is None:
        lines = tuple(f"{key} = {value}" for key, value in own.items())
        return doc.Phrase(counted(len(own), "setting"), lines=lines) if own else doc.Phrase(_DASH)
    before = dict(_flat(base.settings))
    changed = [key for key in {**before, **own} if before.get(key) != own.get(key)]
    return doc.Phrase(f"{system.base} with", lines=tuple(f"{key} = {own.get(key, '(unset)')}" for key in changed))


def _flat(value: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield the leaves of nested tables by their dotted keys."""
    for key, inner in value.items():
        if isinstance(inner, Mapping) and inner:
            yield from _flat(inner, f"{above}{key}.")
        else:
            yield f"{above}{key}", inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)


_UNITS = {
    "line": "Lines: a result is right when its lines overlap a right answer that no earlier result took.",
    AS_PUBLISHED: "Lines as the published script counts them: several results may hit the same answer.",
    "function": "Functions: a result stands for the functions it overlaps.",
    "file": "Files: the first result of each file counts.",
}
_TITLES = {AS_PUBLISHED: "line, as published"}
_SETS = 4
_BEST = "bold is the best of its column"
_MAX_MEASURES = 8
"""Measures in a table of Markdown; results.json has all of them."""
_FIRST = 3
"""Measures in a table of a terminal."""


def report_of(results: Results, plots: Sequence[doc.Block] = ()) -> doc.Report:
    """Return everything that there is to read; `plots` stand behind those of every experiment."""
    study = ResultsView(results)
    figures: tuple[doc.Section, ...] = ()
    if study.measured:
        misses = (report_misses.misses(study),) if study.manifest.kind == "retrieval" else ()
        figures = (report_plots.figures(study, plots), _all_figures(study), *_labelled(study), *misses)
    sections = (verdict(study), *tables.against(results), *figures, troubles(study), repeating(study))
    footer = "Written by Assay. Every figure of this page is in results.json."
    return doc.Report(title(study), "Assay bench", _facts(study), sections, footer)


def overview_of(results: Results) -> doc.Report:
    """Return the figures of each set, and of all sets of a role, one after another."""
    study = ResultsView(results)
    measures = study.measures[:_MAX_MEASURES]
    notes = doc.Bullets("Note", tuple(map(doc.words, caveats(results))), warning=True)
    sections = [doc.Section("notes", "Notes", (notes,), untitled=True), *tables.against(results)]
    if study.measured:
        if len(study.overviews) > 1:
            means = tables.quality(study, study.overviews, study.main[:_BESIDE], f"Means with 95% intervals; {_BEST}")
            together: tuple[doc.Block, ...] = (*sentence(study, study.overviews[0]), means)
            sections.append(doc.Section("together", "Tuned and unseen", together))
        sections += [
            doc.Section(view.name, view.label, (_described(study, view), *_inside(study, view, measures)))
            for view in study.views
        ]
    sections.append(doc.Section("about", "To repeat", (doc.Verbatim(study.manifest.command),)))
    facts = (*_facts(study), f"Assay {study.manifest.versions.get('assay', '')}")
    return doc.Report("Results", "", facts, tuple(sections))


def summary_of(results: Results) -> doc.Report:
    """Return the first figures of each set, and what to be wary of."""
    study = ResultsView(results)
    sections = [_summary(study, view) for view in _in_order(study)] if study.measured else []
    notes = doc.Bullets("note", tuple(map(doc.words, caveats(results))))
    return doc.Report("", "", (), (*sections, doc.Section("notes", "", (notes,), untitled=not notes.items)))


def _in_order(study: ResultsView) -> list[SetView]:
    """Return the views as sets were named, those of several sets last."""
    single = sorted((v for v in study.views if len(v.sets) == 1), key=lambda view: [*study.sets].index(view.sets[0]))
    return [*single, *(view for view in study.views if len(view.sets) > 1)]


def _summary(study: ResultsView, view: SetView) -> doc.Section:
    measures = study.measures[:_FIRST]
    main, *others = study.units_shown(view)
    unit = next((each for each in others if any(study.published(view, measure, each) for measure in measures)), main)
    commit = study.sets[view.sets[0]].commit[:12] if len(view.sets) == 1 else ""
    asked = f"{study.size(view)}{f' at {commit}' if commit else ''}"
    timed = "query" if study.manifest.kind == "retrieval" else "program"
    columns = ("system", *measures, timed, "95th", "index", "memory", "errors")
    rows: list[tuple[doc.Cell | str | int, ...]] = []
    for system in study.here(view):
        if study.whole(view, system):
            p50, p95, _, index, memory, _ = tables.costs(study, view, system)
            found = (tables.score(study, view, system, unit, measure) for measure in measures)
            errors = sum(len(cell.errors) for cell in study.of(view, system))  # no column where none failed
            rows.append((system, *found, p50, p95, index, memory, errors or ""))
    rows += tables.published(study, [(view, unit)], measures, (*(doc.Number(None),) * 4, doc.Phrase("")))
    blocks = (doc.table("", columns, rows), *_tests(study, view, unit), *_unseen(study, view, measures))
    title = f"{view.label}: {asked}, by {unit}; means with 95% intervals"
    return doc.Section(view.name, title, blocks)


def _tests(study: ResultsView, view: SetView, unit: str) -> Iterator[doc.Paragraph]:
    """Yield how the first system differs from each other one, and each variant from its base."""
    first = study.here(view)[0]
    for of, measure, pair in study.comparisons(view):
        if of == unit and (study.results.systems[pair.a].base == pair.b or first in {pair.a, pair.b}):
            difference = cell_text(doc.figure(doc.Mean(pair.difference, pair.low, pair.high), signed=True))
            p = value_text(doc.probability(pair.holm))
            yield doc.words(f"{pair.a} - {pair.b}: {measure} {difference}, p {p} (Holm)")


def _unseen(study: ResultsView, view: SetView, measures: Sequence[str]) -> Iterator[doc.Leaf]:
    """Yield the figures with the labels of a judge, where one was asked."""
    for name in view.sets:
        if (counts := study.sets[name].unseen) and len(view.sets) == 1:
            yield doc.words(f"{tables.with_labels(counts)}; nothing else counts them.", "note")
            yield tables.judged(study, name, measures)


def _described(study: ResultsView, view: SetView) -> doc.Paragraph:
    """Return which queries a view has, of which ground truth."""
    unit = study.units(view)[0]
    said = [doc.Phrase(f"{study.size(view)} of ")]
    for place, name in enumerate(view.sets):
        of = study.sets[name]
        said += [doc.Phrase(", " if place else ""), doc.Phrase(of.truth, code=True)]
        said += [doc.Phrase(" at "), doc.Phrase(of.commit[:12], code=True)] if of.commit else []
    return doc.Paragraph((*said, doc.Phrase(f". {_UNITS.get(unit, f'By {unit}.')}")))


def _inside(study: ResultsView, view: SetView, measures: Sequence[str]) -> Iterator[doc.Leaf]:
    """Yield the tables of one view as Markdown has them."""
    title = f"Means with 95% bootstrap intervals; {_BEST}"
    yield tables.quality(study, [view], measures, title)
    unit, *others = study.units_shown(view)
    for other in others:
        yield doc.words(_UNITS[other])
        yield tables.quality(study, [view], measures, title, other)
    if study.manifest.kind == "retrieval":
        yield tables.cost(study, view, "Cost")
    tags = study.tagged(view)
    for tag in ("kind", "folder"):
        if tag in tags:
            yield tables.groups(study, view, unit, tag, tags[tag])
    yield from tables.pairs(study, view, unit)
    yield from _unseen(study, view, measures)


def _labelled(study: ResultsView) -> tuple[doc.Section, ...]:
    """Return the section of a judge's labels, where one was asked."""
    blocks: list[doc.Block] = []
    for name, of in study.sets.items():
        if of.unseen:
            blocks.append(doc.words(f"{name}: {tables.with_labels(of.unseen)}.", "note"))
            blocks.append(tables.judged(study, name, study.measures))
    note = doc.words("Nothing else on this page counts these labels.", "note")
    return (doc.Section("judged", "With labels of a judge", (note, *blocks)),) if blocks else ()


def _all_figures(study: ResultsView) -> doc.Section:
    """Return every figure by set and unit; a switch shows one set and one unit at a time."""
    units = dict.fromkeys(unit for view in study.views for unit in study.units(view))
    queries = doc.Choice("view", "Queries", {str(at): view.label for at, view in enumerate(study.views)})
    counted_by = doc.Choice("unit", "Counted by", {unit: _TITLES.get(unit, unit) for unit in units}, radio=True)
    panels = tuple(panel for at, view in enumerate(study.views) for panel in _panels(study, view, str(at)))
    return doc.Section("tables", "All figures", (doc.Panels((queries, counted_by), panels),))


def _panels(study: ResultsView, view: SetView, at: str) -> Iterator[doc.Panel]:
    for unit in study.units(view):
        subtitle = f"{study.size(view)}, by {_TITLES.get(unit, unit)}"
        note = doc.words(_UNITS.get(unit, f"A value is one {unit}'s."), "note")
        yield doc.Panel(view.label, subtitle, {"view": at, "unit": unit}, (note, *_of_unit(study, view, unit)))
    yield doc.Panel("", "", {"view": at}, (tables.cost(study, view, f"Cost on {view.label}"),))


def _of_unit(study: ResultsView, view: SetView, unit: str) -> Iterator[doc.Leaf]:
    rows = []
    for system in study.ranked(view, unit):
        scores = (tables.score(study, view, system, unit, measure) for measure in study.measures)
        rows.append((tables.system_phrase(study, system), *scores))
    yield doc.table("All measures: mean and 95% interval", (tables.SYSTEM, *study.measures), rows)
    for tag, values in study.tagged(view).items():
        yield tables.groups(study, view, unit, tag, values)
    yield from tables.pairs(study, view, unit)


def _facts(study: ResultsView) -> tuple[str, ...]:
    """Return what was measured, in one line."""
    queries = sum(len(of.queries) for of in study.sets.values())
    commits = [f"{name} {of.commit[:8]}".strip() for name, of in study.sets.items()]
    parts = (
        counted(queries, study.manifest.item),
        counted(len(study.sets), "set"),
        counted(len(study.systems), "system"),
        ", ".join(commits) if len(commits) <= _SETS else "",
        f"first {study.manifest.k} results" if study.manifest.kind == "retrieval" else "",
        f"seed {study.manifest.seed}",
        study.manifest.when[:16].replace("T", " "),
    )
    return tuple(part for part in parts if part)
