"""A name at a line of a file in, where it is defined out; and a unit in, every place that calls it."""

from __future__ import annotations

from collections.abc import Sequence

from assay.corpus.call_facts import CodeCall
from assay.errors import InputError
from assay.search.reference_table import PlacedCall, family_of, table_of
from assay.search.related_code import RelatedPlace, call_place, calls_of_unit, chunk_at, defined_place, unit_at
from assay.search.resolve import resolver_of
from assay.store.snapshot import Snapshot


def definitions_at(snapshot: Snapshot, path: str, line: int, name: str) -> list[RelatedPlace]:
    """Return what a name on a line means: what is called there, else what is seen of that name from the file.

    Where nothing is, return every definition of the name, each of which says that it is one of them.
    """
    number = chunk_at(snapshot, path, line)
    resolver, file = resolver_of(snapshot), table_of(snapshot).file(path)
    calls = [each for each in file.calls if each.at.line == line and each.at.name == name]
    unit = unit_at(snapshot, path, line)
    family = family_of(snapshot.language(number))
    inside = unit.at.full_name if unit else ""
    for call in calls or [PlacedCall(path, family, number, CodeCall(line, name, "", inside))]:
        meaning = resolver.meaning(call)
        if meaning.found:
            return [defined_place(snapshot, each, "callees", meaning.among) for each in meaning.found]
    every = [each for each in table_of(snapshot).definitions(name) if each.family == family]
    here = [each for each in every if each.path == path and each.at.line == line]
    return [defined_place(snapshot, each, "callees", len(here or every)) for each in here or every]


def references_at(snapshot: Snapshot, path: str, line: int) -> Sequence[RelatedPlace]:
    """Return every place that calls the unit at a line, one for each line; those that are sure first."""
    chunk_at(snapshot, path, line)
    unit = unit_at(snapshot, path, line)
    if unit is None:
        raise InputError(f"nothing is defined at '{path}:{line}': give a line of a function, a method or a type")
    calls = {(call.path, call.at.line): (call, among) for call, among in calls_of_unit(resolver_of(snapshot), unit)}
    places = [call_place(snapshot, [each]) for each in calls.values()]
    return sorted(places, key=lambda each: (each.among > 1, each.path, each.line))
