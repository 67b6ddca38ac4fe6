"""List the queries that some system missed, with what it answered instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from assay.bench import results
from assay.bench.report_tables import system_phrase, target_phrase
from assay.bench.results_view import ResultsView
from assay.errors import counted
from assay.report import document as doc

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
    right = [target_phrase(target, f"grade {grades[target]}" if several else "") for target in miss.right[:_TARGETS]]
    yield doc.Detail(doc.Phrase("Expected"), tuple(right), more=max(0, len(miss.right) - _TARGETS))
    files = {results.place_of(target).path for target in miss.right}
    for system, answers in miss.got.items():
        none = doc.Phrase("no result")
        why = doc.Phrase(miss.errors[system], warnings=("failed",)) if system in miss.errors else none
        if system in miss.errors or not answers:
            yield doc.Detail(system_phrase(study, system), (why,))
            continue
        near = ("right file, other lines" if results.place_of(each).path in files else "" for each in answers)
        items = tuple(map(target_phrase, answers[:_MAX_SHOWN_ANSWERS], near))
        more = max(0, len(answers) - _MAX_SHOWN_ANSWERS)
        yield doc.Detail(system_phrase(study, system), items, ordered=True, more=more)
    if miss.ranks:
        found = sorted(miss.ranks.items(), key=lambda each: each[1])
        items = tuple(doc.Phrase(s, color=study.systems.index(s), remark=f"at {rank}") for s, rank in found)
        yield doc.Detail(doc.Phrase("Found by"), items)
