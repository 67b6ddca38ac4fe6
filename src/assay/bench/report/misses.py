"""The queries whose first ten results held nothing right: what was asked, what was right, what came instead.

A result counts as right when it shares a line with a right answer, whatever the measures are. Those that most systems
missed come first; how many are left out is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.bench.report.result_tables import system_phrase
from assay.bench.results import MeasuredQuery
from assay.bench.right_answers import place_of, rank_of
from assay.bench.study import Experiment
from assay.errors import counted
from assay.report.document import Choice, Detail, Entries, ListEntry, Phrase, Section, words

_SHOWN = 5
_MOST = 1200
"""Pairs of query and system in the report: enough to read for days, and a page still opens at once."""
_TARGETS = 8


@dataclass(frozen=True, slots=True)
class Miss:
    """One query that some systems answered with nothing right."""

    set: str
    query: MeasuredQuery
    right: tuple[str, ...]
    got: Mapping[str, Sequence[str]]
    """By system that missed it."""
    ranks: Mapping[str, int]
    """By system that did not, where its first right result stands."""
    errors: Mapping[str, str]


def misses(study: Experiment) -> Section:
    """Return the section of misses."""
    found = sorted(_find_misses(study), key=lambda miss: -len(miss.got))
    if not found:
        none = "Every system found something right in its first ten results of every query."
        return Section("misses", "Misses", (words(none),))
    shown: list[Miss] = []
    pairs = 0
    for miss in found:
        pairs += len(miss.got)
        if shown and pairs > _MOST:
            break
        shown.append(miss)
    left = len(found) - len(shown)
    note = (
        f"{counted(len(found), 'query')} for which some system's first ten results held nothing right, hardest first."
    )
    note += f" The {left:,} that fewest systems missed are left out; results.json has them all." if left else ""
    entries = Entries("miss", "query", _choices(study, shown), tuple(_entry(study, miss) for miss in shown))
    return Section("misses", "Misses", (words(note, "note"), entries))


def _find_misses(study: Experiment) -> Iterator[Miss]:
    for name, of in study.sets.items():
        cells = {system: study.cells[name, system] for system in study.systems if (name, system) in study.cells}
        for at, query in enumerate(of.queries):
            right = tuple(target for target, grade in query.expected if grade > 0)
            ranks = {system: rank_of(cell.answers[at], right) for system, cell in cells.items()}
            got = {system: cells[system].answers[at] for system, rank in ranks.items() if not rank}
            if right and got:
                errors = {system: cell.errors[query.id] for system, cell in cells.items() if query.id in cell.errors}
                yield Miss(name, query, right, got, {system: rank for system, rank in ranks.items() if rank}, errors)


def _choices(study: Experiment, shown: Sequence[Miss]) -> tuple[Choice, ...]:
    missed = {system for miss in shown for system in miss.got}
    sets = list(dict.fromkeys(miss.set for miss in shown))
    systems = {str(at): system for at, system in enumerate(study.systems) if system in missed}
    choices = [Choice("system", "Missed by", {"": "any system", **systems})]
    if len(sets) > 1:
        choices.append(Choice("set", "In", {"": "all sets", **{str([*study.sets].index(name)): name for name in sets}}))
    return tuple(choices)


def _entry(study: Experiment, miss: Miss) -> ListEntry:
    return ListEntry(
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


def _details(study: Experiment, miss: Miss) -> Iterator[Detail]:
    grades = dict(miss.query.expected)
    several = len(set(grades.values())) > 1
    right = [_target(target, f"grade {grades[target]}" if several else "") for target in miss.right[:_TARGETS]]
    yield Detail(Phrase("Expected"), tuple(right), more=max(0, len(miss.right) - _TARGETS))
    for system, answers in miss.got.items():
        yield _got(study, miss, system, answers)
    if miss.ranks:
        found = sorted(miss.ranks.items(), key=lambda each: each[1])
        yield Detail(
            Phrase("Found by"),
            tuple(Phrase(s, color=study.systems.index(s), remark=f"at {rank}") for s, rank in found),
        )


def _got(study: Experiment, miss: Miss, system: str, answers: Sequence[str]) -> Detail:
    if system in miss.errors:
        return Detail(system_phrase(study, system), (Phrase(miss.errors[system], warnings=("failed",)),))
    if not answers:
        return Detail(system_phrase(study, system), (Phrase("no result"),))
    files = {place_of(target).path for target in miss.right}
    items = tuple(
        _target(answer, "right file, other lines" if place_of(answer).path in files else "")
        for answer in answers[:_SHOWN]
    )
    return Detail(system_phrase(study, system), items, ordered=True, more=max(0, len(answers) - _SHOWN))


def _target(target: str, remark: str) -> Phrase:
    return Phrase(target if len(target) <= 200 else f"{target[:200]} …", code=True, remark=remark)
