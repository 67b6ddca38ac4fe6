"""Results in, what a reader should know before believing a figure out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.bench.results import MeasuredSet, MeasuredSystem, Results, RunManifest
from assay.errors import counted
from assay.measure.measures import parse

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
    variants = [name for name, told in results.systems.items() if told.base]
    if variants and tests and len(tests) == len(results.sets):
        yield "variants are compared on test sets only: whoever picks the best of them has tuned on these sets"


def _of_system(system: str, told: MeasuredSystem, results: Results) -> Iterator[str]:
    """Yield what a system left out, or did not answer."""
    if told.threshold is not None:
        yield f"results of {system} that score below {told.threshold:g} are left out"
    for name, why in told.failed.items():
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
