"""Tables of a report: what systems score, what they cost, and how sure a difference is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from math import isclose

from assay.bench import results
from assay.bench.comparisons import is_quality
from assay.bench.gates import MAX_LISTED, summary_of
from assay.bench.results_view import ResultsView, SetView, significant, turned
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
    best = study.best(view, unit, measure) if is_quality(measure) else []
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
            rows.append((question, ranks, values, target_phrase(move.answer, ""), target_phrase(move.right, "")))
        more = f"{len(moves) - MAX_LISTED:,} more are in results.json." if len(moves) > MAX_LISTED else ""
        if rows:
            yield doc.table(f"{len(moves):,} {what}, the greatest change first", columns, rows, more)


def target_phrase(target: str, remark: str) -> doc.Phrase:
    """Return a place as code, cut where it is very long."""
    return doc.Phrase(target if len(target) <= 200 else f"{target[:200]} …", code=True, remark=remark)


def _cut(words: str, longest: int = _MAX_LABEL_CHARS) -> str:
    return words if len(words) <= longest else words[: longest - 1] + "…"
