"""Find where a name is declared, typed alone or at a line of a file, and every place that calls a unit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from assay.corpus.call_facts import CodeCall
from assay.errors import InputError
from assay.search.declared_names import (
    CALLABLE,
    TYPES,
    declarations,
    declared_places,
    exactness,
    fold,
    owners_of,
    typed_names,
    unit_of,
)
from assay.search.excerpt import declared_line
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


def declaration_of(snapshot: Snapshot, typed: str, inside: str = "") -> tuple[str, int, int]:
    """Return the path and line of the best declaration of a name, and how many declarations it has.

    `inside` is the file or folder to keep to.
    """
    names = typed_names(typed)
    numbers = declarations(snapshot, names, None).tolist() if names.asked else []
    chunks = [each for each in map(snapshot.chunk, numbers) if f"{each.path}/".startswith(inside and f"{inside}/")]
    if names.asked and names.asked.owner:
        chunks = [each for each in chunks if fold(names.asked.owner) in {fold(each.symbol), *owners_of(each)}]
    worth = declared_places(names, chunks, [True] * len(chunks))
    if not names.asked or not worth.any():
        raise InputError(f"nothing here declares '{typed}'{_close_to(snapshot, typed)}")
    best, name = chunks[int(worth.argmax())], names.asked.name
    how = exactness(best, names.asked)
    declaring = [each for each in chunks if each.kind in TYPES | CALLABLE]
    alike = {unit_of(each) for each in declaring if exactness(each, names.asked) in {how, 0.0}}  # 0 holds it inside
    units = [each.at for each in table_of(snapshot).file(best.path).definitions if name in each.at.name.split(", ")]
    lines = [each.line for each in units if best.start_line <= each.line <= best.end_line]
    return best.path, lines[0] if lines else declared_line(best), len(alike | {unit_of(best)})


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
