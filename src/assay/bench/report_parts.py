"""Tables, figures and missed queries of an experiment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from math import isclose

from assay.bench import results
from assay.bench.gates import MAX_LISTED, summary_of
from assay.bench.results_view import ResultsView, SetView, significant, turned
from assay.errors import counted
from assay.report import document as doc

_PAIRS = 60
_MAX_LABEL_CHARS = 24
(SYSTEM,) = doc.columns("System")


def system_phrase(study: ResultsView, system: str) -> doc.Phrase:
    """Return a system's name in its colour."""
    return doc.Phrase(system, color=study.systems.index(system))


def quality(
    study: ResultsView, views: Sequence[SetView], measures: Sequence[str], title: str, unit: str = ""
) -> doc.Table:
    """Return what systems score in some views, by the main unit or a given one, and against what each varies."""
    based = any(system.base for system in study.results.systems.values())
    columns, by = [SYSTEM], [(view, unit or study.units(view)[0]) for view in views]
    for view, counted_by in by:
        over = f"{view.label} [{study.size(view)}, by {counted_by}]"
        columns += [doc.Column(measure, over=over if len(views) > 1 else "") for measure in measures]
        if based:
            hint = "Difference to the system that this one varies; bold where chance is unlikely"
            columns.append(doc.Column("vs base", hint, over=over if len(views) > 1 else ""))
    systems = ordered(study, {name for view in views for name in view.sets})
    rows = [(_described(study, system), *_scores(study, system, by, measures, based=based)) for system in systems]
    empty = (doc.Number(None),) if based else ()
    return doc.table(title, columns, [*rows, *published(study, by, measures, empty)])


def published(
    study: ResultsView, by: Sequence[tuple[SetView, str]], measures: Sequence[str], after: tuple[doc.Cell, ...]
) -> Iterator[tuple[doc.Cell, ...]]:
    """Yield rows of systems with published figures, each view's followed by the cells that these leave empty."""
    told = [[study.published(view, measure, unit) for measure in measures] for view, unit in by]
    for name in dict.fromkeys(name for of_view in told for figures in of_view for name in figures):
        cells = ((*(doc.Number(figures.get(name)) for figures in of_view), *after) for of_view in told)
        yield (doc.Phrase(name, badges=("published, not measured here",)), *chain.from_iterable(cells))


def ordered(study: ResultsView, sets: set[str]) -> list[str]:
    """Return the systems of some sets as the first view ranks them, so that a row is found in all tables."""
    first = study.overviews[0]
    here = {cell.system for cell in study.results.cells if cell.set in sets}
    ranked = study.ranked(first, study.units(first)[0])
    return [system for system in dict.fromkeys((*ranked, *study.systems)) if system in here]


def _described(study: ResultsView, system: str) -> doc.Phrase:
    about = study.results.systems[system]
    warnings = ["chosen on test"] if about.chosen_on == "test" else []
    partly = [view for view in study.overviews if not study.whole(view, system)]
    warnings += [f"{len(study.of(view, system))} of {len(view.sets)} sets" for view in partly]
    badges = (f"varies {about.base}",) if about.base else ()
    return doc.Phrase(system, color=study.systems.index(system), badges=badges, warnings=tuple(warnings))


def _scores(
    study: ResultsView, system: str, views: Sequence[tuple[SetView, str]], measures: Sequence[str], *, based: bool
) -> Iterator[doc.Cell]:
    for view, unit in views:
        yield from (score(study, view, system, unit, measure) for measure in measures)
        if based:
            base = study.results.systems[system].base
            pair = study.compared(view, unit, study.primary, (system, base)) if base else None
            yield _difference(pair) if pair else doc.Number(None)


def _difference(pair: results.SetComparison) -> doc.Number:
    p = f"p {pair.holm:.3f}" if pair.holm >= 0.001 else "p < 0.001"
    mark: doc.Mark = "" if not significant(pair) else "best" if pair.difference > 0 else "bad"
    return doc.Number(pair.difference, signed=True, mark=mark, remark=p)


def score(study: ResultsView, view: SetView, system: str, unit: str, measure: str) -> doc.Number:
    """Return a figure with what is known against the best of its column."""
    digits, mean = digits_of(measure), study.figure(view, system, unit, measure)
    best = study.best(view, unit, measure) if results.is_quality(measure) else []
    if mean is None or not best:
        return doc.figure(mean, digits)
    if system in best:
        return doc.figure(mean, digits, mark="best")
    pair = study.compared(view, unit, measure, (system, best[0])) if study.whole(view, system) else None
    return doc.figure(mean, digits, mark="" if pair is None else "below" if significant(pair) else "tied")


def digits_of(measure: str) -> int:
    """Return how many digits of a measure say something: none of a count of lines."""
    return 0 if measure.startswith(("lines@", "tokens@")) else 3


def cost(study: ResultsView, view: SetView, title: str) -> doc.Table:
    """Return what systems cost in a view, and how much of what they found nobody judged."""
    columns = (
        SYSTEM,
        doc.Column("Query p50", "median of warm queries"),
        doc.Column("Query p95", "95 of 100 warm queries are faster"),
        doc.Column("First query", "the first one after a start"),
        doc.Column("Index", "seconds to index"),
        "Peak memory",
        "Index size",
        doc.Column("Errors", "queries that failed, counted as zero"),
        doc.Column("Unjudged", "the fraction of the first ten results that nobody judged"),
    )
    rows = []
    for system in ordered(study, {*view.sets}):
        failed = sum(len(cell.errors) for cell in study.of(view, system))
        last = (doc.Count(failed, "bad" if failed else ""), doc.fraction(study.unjudged(view, system)))
        rows.append((system_phrase(study, system), *costs(study, view, system), *last))
    return doc.table(title, columns, rows)


def costs(study: ResultsView, view: SetView, system: str) -> tuple[doc.Number, ...]:
    """Return times and sizes: a warm query, one of the slowest, the first one, the index, memory, the index's size."""
    keys = ("warm_p50_ms", "warm_p95_ms", "cold_ms", "index_s", "peak_mb", "index_bytes")
    *times, index_s, peak_mb, size = (study.cost(view, system, key) for key in keys)
    sizes = (peak_mb, None if size is None else size / 1e6)
    return (*map(doc.milliseconds, times), doc.seconds(index_s), *map(doc.megabytes, sizes))


def groups(study: ResultsView, view: SetView, unit: str, tag: str, values: Sequence[str]) -> doc.Table:
    """Return what systems score on the queries of each value of a tag, by the measure that decides."""
    systems = study.here(view)
    columns = (*doc.columns(tag.capitalize()), "Queries", *map(_cut, systems))
    of = {"kind": "kind of query", "folder": "folder of the answer"}.get(tag, tag)
    rows = []
    for value in values:
        found = [study.group(view, system, unit, tag, value) for system in systems]
        best = max((mean.mean for _, mean in found if mean), default=0.0)
        queries = max(count for count, _ in found)
        rows.append((_cut(value, 60), queries, *(_of_group(study, mean, queries, best) for _, mean in found)))
    return doc.table(f"{study.primary} by {of}", columns, rows)


def _of_group(study: ResultsView, mean: doc.Mean | None, queries: int, best: float) -> doc.Number:
    mark: doc.Mark = "best" if mean and isclose(mean.mean, best) else ""
    if mean and queries == 1:  # which says nothing of others
        return doc.Number(mean.mean, digits=digits_of(study.primary), mark=mark)
    return doc.figure(mean, digits_of(study.primary), mark=mark)


def pairs(study: ResultsView, view: SetView, unit: str, most: int = _PAIRS) -> list[doc.Table]:
    """Return how systems differ, the surest first; nothing where none were compared."""
    here = [(measure, pair) for of, measure, pair in study.comparisons(view) if of == unit]
    found = [(measure, pair if pair.difference >= 0 else turned(pair)) for measure, pair in here]
    if not found:
        return []
    found.sort(key=lambda each: (round(each[1].holm, 3), -each[1].difference))
    tests = {"p": "paired randomisation test", "p (t)": "paired t-test", "p (Holm)": "of the randomisation test"}
    columns = (
        *doc.columns("Ahead", "Behind"),
        "Difference",
        *(doc.Column(title, hint) for title, hint in tests.items()),
    )
    rows = []
    for _, pair in found[:most]:
        mark: doc.Mark = "best" if significant(pair) else ""
        mean = doc.Mean(pair.difference, pair.low, pair.high)
        names = (system_phrase(study, name) for name in (pair.a, pair.b))
        chances = map(doc.probability, (pair.randomisation, pair.t, pair.holm))
        rows.append((*names, doc.figure(mean, signed=True, mark=mark), *chances))
    left = len(found) - len(rows)
    note = f"{left} more pairs, less sure, are in results.json." if left > 0 else ""
    item = study.manifest.item
    title = f"Pairs of systems by {found[0][0]}, {item} by {item}: bold where Holm's p is below 0.05"
    return [doc.table(title, columns, rows, note)]


def judged(study: ResultsView, of: str, measures: Sequence[str]) -> doc.Table:
    """Return the figures of a set with the labels of a judge, which are never mixed with the others."""
    cells = [cell for (where, _), cell in study.cells.items() if where == of]
    rows = ((system_phrase(study, cell.system), *_judged(cell, measures)) for cell in cells)
    return doc.table(f"With labels of a judge on {of}", (SYSTEM, *measures, "Unjudged"), rows)


def _judged(cell: results.MeasuredCell, measures: Sequence[str]) -> Iterator[doc.Cell]:
    assert cell.judged  # which reading has seen to
    figures = cell.judged.figures[cell.unit]
    yield from (doc.figure(figures.get(measure), digits_of(measure)) for measure in measures)
    yield doc.fraction(cell.judged.unjudged, remark=f"before {cell.unjudged:.0%}")


def with_labels(counts: results.UnseenCounts) -> str:
    """Return what a judge labelled that no person had."""
    undecided = f", {counts.undecided:,} undecided" if counts.undecided else ""
    stopped = ", stopped early" if counts.stopped else ""
    return (
        f"With labels of {counts.judge} on what nobody judged of the first {counts.depth} of any system "
        f"({counts.asked:,} pairs: {counts.right:,} right, {counts.wrong:,} wrong{undecided}{stopped})"
    )


def against(found: results.Results) -> Iterator[doc.Section]:
    """Yield what changed since the baseline: which results those are, each system's figure, and which questions."""
    if since := found.against:
        commits = "".join(f", {name} at {commit[:12]}" for name, commit in since.commits.items())
        about = f", measured {since.when[:16].replace('T', ' ')} by Assay {since.version}{commits}."
        named = doc.Paragraph((doc.Phrase("Baseline: "), doc.Phrase(since.file, code=True), doc.Phrase(about)))
        blocks = (block for each in since.changes for block in _moves(each))
        yield doc.Section("baseline", "Against the baseline", (named, *blocks))


def _moves(each: results.GateChange) -> Iterator[doc.Leaf]:
    yield doc.words(summary_of(each))
    columns = (*doc.columns("Question", "Rank"), each.measure, *doc.columns("First now", "Expected"))
    for what, moves in (("fell", each.fell), ("rose", each.rose)):
        rows = []
        for move in moves[:MAX_LISTED]:
            question = f"{move.id}: {_cut(' '.join(move.text.split()), 80)}"
            ranks = f"{move.old_rank or 'none'} → {move.new_rank or 'none'}" if move.answer else ""
            values = f"{move.before:.3f} → {move.now:.3f}"
            rows.append((question, ranks, values, _target(move.answer, ""), _target(move.right, "")))
        more = f"{len(moves) - MAX_LISTED:,} more are in results.json." if len(moves) > MAX_LISTED else ""
        if rows:
            yield doc.table(f"{len(moves):,} {what}, the greatest change first", columns, rows, more)


def _cut(words: str, longest: int = _MAX_LABEL_CHARS) -> str:
    return words if len(words) <= longest else words[: longest - 1] + "…"


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


_MAX_SHOWN_ANSWERS = 5
_MAX_REPORTED_PAIRS = 1200
"""Pairs of query and system in the report: enough to read for days, and a page still opens at once."""
_TARGETS = 8


@dataclass(frozen=True, slots=True)
class Miss:
    """One query that some systems answered with nothing right."""

    set: str
    query: results.MeasuredQuery
    right: tuple[str, ...]
    got: Mapping[str, Sequence[str]]
    """By system that missed it."""
    ranks: Mapping[str, int]
    """By system that did not, where its first right result stands."""
    errors: Mapping[str, str]


def misses(study: ResultsView) -> doc.Section:
    """Return the section of misses."""
    found = sorted(_find_misses(study), key=lambda miss: -len(miss.got))
    if not found:
        none = "Every system found something right in its first ten results of every query."
        return doc.Section("misses", "Misses", (doc.words(none),))
    pairs = list(accumulate(len(miss.got) for miss in found))
    shown = found[: max(1, sum(count <= _MAX_REPORTED_PAIRS for count in pairs))]
    left = len(found) - len(shown)
    note = (
        f"{counted(len(found), 'query')} for which some system's first ten results held nothing right, hardest first."
    )
    note += f" The {left:,} that fewest systems missed are left out; results.json has them all." if left else ""
    entries = doc.Entries("miss", "query", _choices(study, shown), tuple(_entry(study, miss) for miss in shown))
    return doc.Section("misses", "Misses", (doc.words(note, "note"), entries))


def _find_misses(study: ResultsView) -> Iterator[Miss]:
    for name, of in study.sets.items():
        cells = {system: study.cells[name, system] for system in study.systems if (name, system) in study.cells}
        for at, query in enumerate(of.queries):
            right = tuple(target for target, grade in query.expected if grade > 0)
            ranks = {system: results.rank_of(cell.answers[at], right) for system, cell in cells.items()}
            got = {system: cells[system].answers[at] for system, rank in ranks.items() if not rank}
            if right and got:
                errors = {system: cell.errors[query.id] for system, cell in cells.items() if query.id in cell.errors}
                yield Miss(name, query, right, got, {system: rank for system, rank in ranks.items() if rank}, errors)


def _choices(study: ResultsView, shown: Sequence[Miss]) -> tuple[doc.Choice, ...]:
    missed = {system for miss in shown for system in miss.got}
    numbers = {name: str(at) for at, name in enumerate(study.sets)}
    sets = {numbers[name]: name for name in dict.fromkeys(miss.set for miss in shown)}
    systems = {str(at): system for at, system in enumerate(study.systems) if system in missed}
    by_system = doc.Choice("system", "Missed by", {"": "any system", **systems})
    by_set = doc.Choice("set", "In", {"": "all sets", **sets})
    return (by_system, by_set) if len(sets) > 1 else (by_system,)


def _entry(study: ResultsView, miss: Miss) -> doc.ListEntry:
    return doc.ListEntry(
        title=miss.query.text,
        about=f"{miss.set} {miss.query.id}",
        badges=tuple(value for value in miss.query.tags.values() if value),
        status=f"missed by {len(miss.got)} of {len(miss.got) + len(miss.ranks)}",
        dots=tuple(system_phrase(study, system) for system in miss.got),
        state={
            "system": tuple(str(study.systems.index(system)) for system in miss.got),
            "set": (str([*study.sets].index(miss.set)),),
        },
        details=tuple(_details(study, miss)),
    )


def _details(study: ResultsView, miss: Miss) -> Iterator[doc.Detail]:
    grades = dict(miss.query.expected)
    several = len(set(grades.values())) > 1
    right = [_target(target, f"grade {grades[target]}" if several else "") for target in miss.right[:_TARGETS]]
    yield doc.Detail(doc.Phrase("Expected"), tuple(right), more=max(0, len(miss.right) - _TARGETS))
    files = {results.place_of(target).path for target in miss.right}
    for system, answers in miss.got.items():
        none = doc.Phrase("no result")
        why = doc.Phrase(miss.errors[system], warnings=("failed",)) if system in miss.errors else none
        if system in miss.errors or not answers:
            yield doc.Detail(system_phrase(study, system), (why,))
            continue
        near = ("right file, other lines" if results.place_of(each).path in files else "" for each in answers)
        items = tuple(map(_target, answers[:_MAX_SHOWN_ANSWERS], near))
        more = max(0, len(answers) - _MAX_SHOWN_ANSWERS)
        yield doc.Detail(system_phrase(study, system), items, ordered=True, more=more)
    if miss.ranks:
        found = sorted(miss.ranks.items(), key=lambda each: each[1])
        items = tuple(doc.Phrase(s, color=study.systems.index(s), remark=f"at {rank}") for s, rank in found)
        yield doc.Detail(doc.Phrase("Found by"), items)


def _target(target: str, remark: str) -> doc.Phrase:
    return doc.Phrase(target if len(target) <= 200 else f"{target[:200]} …", code=True, remark=remark)
