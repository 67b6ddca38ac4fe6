"""The tables of an experiment: quality, cost, groups of queries, pairs of systems, figures with labels of a judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from math import isclose

from assay.bench.comparisons import is_quality
from assay.bench.results import MeasuredCell, SetComparison, UnseenCounts
from assay.bench.study import Experiment, SetView, significant, turned
from assay.errors import counted
from assay.report.document import (
    Cell,
    Column,
    Count,
    Mark,
    Mean,
    Number,
    Phrase,
    Rows,
    Table,
    figure,
    fraction,
    megabytes,
    milliseconds,
    probability,
    seconds,
)

_PAIRS = 60
_LONGEST = 24
SYSTEM = Column("System", words=True)


def system_phrase(study: Experiment, system: str) -> Phrase:
    """Return a system's name in its colour."""
    return Phrase(system, color=study.systems.index(system))


def quality(study: Experiment, views: Sequence[SetView], measures: Sequence[str], title: str) -> Table:
    """Return what systems score in some views, and against the system that each varies."""
    based = any(system.base for system in study.results.systems.values())
    columns = [SYSTEM]
    for view in views:
        over = f"{view.label} [{counted(study.queries(view), 'query')}, by {study.units(view)[0]}]"
        columns += [Column(measure, over=over if len(views) > 1 else "") for measure in measures]
        if based:
            hint = "Difference to the system that this one varies; bold where chance is unlikely"
            columns.append(Column("vs base", hint, over=over if len(views) > 1 else ""))
    rows: list[tuple[Cell, ...]] = [
        (_described(study, system), *_scores(study, system, views, measures, based=based))
        for system in ordered(study, {name for view in views for name in view.sets})
    ]
    rows += published(study, views, measures, (Number(None),) if based else ())
    return Table(title, tuple(columns), tuple(rows))


def published(
    study: Experiment, views: Sequence[SetView], measures: Sequence[str], after: tuple[Cell, ...]
) -> Iterator[tuple[Cell, ...]]:
    """Yield rows of systems with published figures, each view's followed by the cells that these leave empty."""
    told = [[study.published(view, measure) for measure in measures] for view in views]
    for name in dict.fromkeys(name for of_view in told for figures in of_view for name in figures):
        cells = ((*(Number(figures.get(name)) for figures in of_view), *after) for of_view in told)
        yield (Phrase(name, badges=("published, not measured here",)), *chain.from_iterable(cells))


def ordered(study: Experiment, sets: set[str]) -> list[str]:
    """Return the systems of some sets as the first view ranks them, so that a row is found in all tables."""
    first = study.overviews[0]
    here = {cell.system for cell in study.results.cells if cell.set in sets}
    ranked = study.ranked(first, study.units(first)[0])
    return [system for system in dict.fromkeys((*ranked, *study.systems)) if system in here]


def _described(study: Experiment, system: str) -> Phrase:
    about = study.results.systems[system]
    warnings = ["chosen on test"] if about.chosen_on == "test" else []
    warnings += [
        f"{len(study.of(view, system))} of {len(view.sets)} sets"
        for view in study.overviews
        if not study.whole(view, system)
    ]
    badges = (f"varies {about.base}",) if about.base else ()
    return Phrase(system, color=study.systems.index(system), badges=badges, warnings=tuple(warnings))


def _scores(
    study: Experiment, system: str, views: Sequence[SetView], measures: Sequence[str], *, based: bool
) -> Iterator[Cell]:
    for view in views:
        unit = study.units(view)[0]
        yield from (score(study, view, system, unit, measure) for measure in measures)
        if based:
            base = study.results.systems[system].base
            pair = study.compared(view, unit, study.primary, (system, base)) if base else None
            yield _difference(pair) if pair else Number(None)


def _difference(pair: SetComparison) -> Number:
    p = f"p {pair.holm:.3f}" if pair.holm >= 0.001 else "p < 0.001"
    mark: Mark = "" if not significant(pair) else "best" if pair.difference > 0 else "bad"
    return Number(pair.difference, signed=True, mark=mark, remark=p)


def score(study: Experiment, view: SetView, system: str, unit: str, measure: str) -> Number:
    """Return a figure with what is known against the best of its column."""
    digits, mean = digits_of(measure), study.figure(view, system, unit, measure)
    best = study.best(view, unit, measure) if is_quality(measure) else []
    if mean is None or not best:
        return figure(mean, digits)
    if system in best:
        return figure(mean, digits, mark="best")
    pair = study.compared(view, unit, measure, (system, best[0])) if study.whole(view, system) else None
    return figure(mean, digits, mark="" if pair is None else "below" if significant(pair) else "tied")


def digits_of(measure: str) -> int:
    """Return how many digits of a measure say something: none of a count of lines."""
    return 0 if measure.startswith("lines@") else 3


def cost(study: Experiment, view: SetView, title: str) -> Table:
    """Return what systems cost in a view, and how much of what they found nobody judged."""
    columns = (
        SYSTEM,
        Column("Query p50", "median of warm queries"),
        Column("Query p95", "95 of 100 warm queries are faster"),
        Column("First query", "the first one after a start"),
        Column("Index", "seconds to index"),
        Column("Peak memory"),
        Column("Index size"),
        Column("Errors", "queries that failed, counted as zero"),
        Column("Unjudged", "the fraction of the first ten results that nobody judged"),
    )
    rows: Rows = tuple(
        (
            system_phrase(study, system),
            *costs(study, view, system),
            _errors(study, view, system),
            fraction(study.unjudged(view, system)),
        )
        for system in ordered(study, {*view.sets})
    )
    return Table(title, columns, rows)


def costs(study: Experiment, view: SetView, system: str) -> tuple[Number, ...]:
    """Return times and sizes: a warm query, one of the slowest, the first one, the index, memory, the index's size."""

    def of(key: str) -> float | None:
        return study.cost(view, system, key)

    size = of("index_bytes")
    return (
        *(milliseconds(of(key)) for key in ("warm_p50_ms", "warm_p95_ms", "cold_ms")),
        seconds(of("index_s")),
        megabytes(of("peak_mb")),
        megabytes(None if size is None else size / 1e6),
    )


def _errors(study: Experiment, view: SetView, system: str) -> Count:
    failed = sum(len(cell.errors) for cell in study.of(view, system))
    return Count(failed, "bad" if failed else "")


def groups(study: Experiment, view: SetView, unit: str, tag: str, values: Sequence[str]) -> Table:
    """Return what systems score on the queries of each value of a tag, by the measure that decides."""
    systems = study.here(view)
    columns = (Column(tag.capitalize(), words=True), Column("Queries"), *(Column(_cut(system)) for system in systems))
    of = {"kind": "kind of query", "folder": "folder of the answer"}.get(tag, tag)
    rows: list[tuple[Cell, ...]] = []
    for value in values:
        found = [study.group(view, system, unit, tag, value) for system in systems]
        best = max((mean.mean for _, mean in found if mean), default=0.0)
        queries = max(count for count, _ in found)
        rows.append(
            (Phrase(_cut(value, 60)), Count(queries), *(_of_group(study, mean, queries, best) for _, mean in found))
        )
    return Table(f"{study.primary} by {of}", columns, tuple(rows))


def _of_group(study: Experiment, mean: Mean | None, queries: int, best: float) -> Number:
    mark: Mark = "best" if mean and isclose(mean.mean, best) else ""
    if mean and queries == 1:  # which says nothing of others
        return Number(mean.mean, digits=digits_of(study.primary), mark=mark)
    return figure(mean, digits_of(study.primary), mark=mark)


def pairs(study: Experiment, view: SetView, unit: str, most: int = _PAIRS) -> list[Table]:
    """Return how systems differ, the surest first; nothing where none were compared."""
    found = [
        (measure, pair if pair.difference >= 0 else turned(pair))
        for of, measure, pair in study.comparisons(view)
        if of == unit
    ]
    if not found:
        return []
    found.sort(key=lambda each: (round(each[1].holm, 3), -each[1].difference))
    columns = (
        Column("Ahead", words=True),
        Column("Behind", words=True),
        Column("Difference"),
        Column("p", "paired randomisation test"),
        Column("p (t)", "paired t-test"),
        Column("p (Holm)", "of the randomisation test"),
    )
    rows = [(system_phrase(study, pair.a), system_phrase(study, pair.b), *_tests(pair)) for _, pair in found[:most]]
    left = len(found) - len(rows)
    note = f"{left} more pairs, less sure, are in results.json." if left > 0 else ""
    title = f"Pairs of systems by {found[0][0]}, query by query: bold where Holm's p is below 0.05"
    return [Table(title, columns, tuple(rows), note)]


def _tests(pair: SetComparison) -> tuple[Cell, ...]:
    mean = Mean(pair.difference, pair.low, pair.high)
    chances = (probability(p) for p in (pair.randomisation, pair.t, pair.holm))
    return (figure(mean, signed=True, mark="best" if significant(pair) else ""), *chances)


def judged(study: Experiment, of: str, measures: Sequence[str]) -> Table:
    """Return the figures of a set with the labels of a judge, which are never mixed with the others."""
    cells = [cell for (where, _), cell in study.cells.items() if where == of]
    columns = (SYSTEM, *map(Column, measures), Column("Unjudged"))
    rows = tuple((system_phrase(study, cell.system), *_judged(cell, measures)) for cell in cells)
    return Table(f"With labels of a judge on {of}", columns, rows)


def _judged(cell: MeasuredCell, measures: Sequence[str]) -> Iterator[Cell]:
    assert cell.judged  # which reading has seen to
    figures = cell.judged.figures[cell.unit]
    yield from (figure(figures.get(measure), digits_of(measure)) for measure in measures)
    yield fraction(cell.judged.unjudged, remark=f"before {cell.unjudged:.0%}")


def with_labels(counts: UnseenCounts) -> str:
    """Return what a judge labelled that no person had."""
    undecided = f", {counts.undecided:,} undecided" if counts.undecided else ""
    stopped = ", stopped early" if counts.stopped else ""
    return (
        f"With labels of {counts.judge} on what nobody judged of the first {counts.depth} of any system "
        f"({counts.asked:,} pairs: {counts.right:,} right, {counts.wrong:,} wrong{undecided}{stopped})"
    )


def _cut(words: str, longest: int = _LONGEST) -> str:
    return words if len(words) <= longest else words[: longest - 1] + "…"
