"""Find where a name is declared, typed alone or at a line of a file, and every place that calls a unit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from operator import itemgetter

from assay.corpus.call_facts import CodeCall
from assay.errors import InputError
from assay.search.declared_names import QueryNames, declarations, declared_places, is_owner, typed_names, unit_of
from assay.search.excerpt import declared_line
from assay.search.reference_table import PlacedCall, family_of, table_of
from assay.search.related_code import RelatedPlace, call_place, calls_of_unit, chunk_at, defined_place, unit_at
from assay.search.resolve import resolver_of
from assay.store.snapshot import Snapshot
from assay.types import Chunk


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


def declaration_of(snapshot: Snapshot, typed: str, inside: str = "") -> tuple[str, int, int]:
    """Return the path and line of the best declaration of a name, and how many declarations it has.

    `inside` is the file or folder to keep to.
    """
    names = typed_names(typed)
    found = _declared(snapshot, names, inside)
    worth = declared_places(names, found, [True] * len(found))
    if not worth.any():
        raise InputError(f"nothing here declares '{typed}'{_close_to(snapshot, typed)}")
    _, _, best = max(zip(worth.tolist(), (not each.parent for each in found), found, strict=True), key=itemgetter(0, 1))
    units = {unit_of(each) for each in found if each.kind not in {"impl", "block", "section", "constructor"}}
    return best.path, declared_line(best), len(units | {unit_of(best)})


def _declared(snapshot: Snapshot, names: QueryNames, inside: str) -> list[Chunk]:
    """Return what declares the name that is asked for; if nothing is written exactly so, what nearly is."""
    name = names.asked
    if name is None:
        return []

    def filter_chunks(chunks: Iterable[Chunk]) -> list[Chunk]:
        below = [each for each in chunks if f"{each.path}/".startswith(inside and f"{inside}/")]
        return [each for each in below if not name.owner or is_owner(each, name)]

    exact = table_of(snapshot).definitions(name.name)
    units = (Chunk("", "", "", e.path, e.at.line, e.at.end, e.at.name, e.at.kind, e.at.owner) for e in exact)
    return filter_chunks(units) or filter_chunks(map(snapshot.chunk, declarations(snapshot, names, None).tolist()))


def _close_to(snapshot: Snapshot, typed: str) -> str:
    """Return the end of a message about a name that nothing declares: names that are nearly that, or the next step."""
    last = re.split(r"\W+", typed)[-1]
    known = (term[1:] for term in snapshot.terms() if term[:1] == ":" and term[1:2].lower() == last[:1].lower())
    close = get_close_matches(last, list(known), n=3)
    return f"; near to it: {', '.join(close)}" if close else "; assay search finds code by meaning"


def references_at(snapshot: Snapshot, path: str, line: int) -> Sequence[RelatedPlace]:
    """Return every place that calls the unit at a line, one for each line; those that are sure first."""
    chunk_at(snapshot, path, line)
    unit = unit_at(snapshot, path, line)
    if unit is None:
        raise InputError(f"nothing is defined at '{path}:{line}': give a line of a function, a method or a type")
    calls = {(call.path, call.at.line): (call, among) for call, among in calls_of_unit(resolver_of(snapshot), unit)}
    places = [call_place(snapshot, [each]) for each in calls.values()]
    return sorted(places, key=lambda each: (each.among > 1, each.path, each.line))
