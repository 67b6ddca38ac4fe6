"""Find code related to a unit: callers, callees, tests, and similar code.

Who calls and what is called is read from the calls of the code, never from words; what is alike from the vectors. A
line of prose, or of a language whose calls are not read, has only what is alike, and the answer says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from operator import itemgetter
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from assay.corpus.call_facts import CALLABLES, TYPES, CodeCall
from assay.corpus.grammars import grammar_of
from assay.corpus.parts import is_mixed
from assay.errors import InputError
from assay.search.declared_names import QueryNames, declarations, declared_places, is_owner, typed_names, unit_of
from assay.search.display import declared_line
from assay.search.path_filters import PROSE, traits_of
from assay.search.reference_table import PlacedCall, PlacedDefinition, family_of, numbers_in, table_of
from assay.search.resolve import Resolver, resolver_of
from assay.store.snapshot import Snapshot
from assay.values import CALLABLE_KINDS, Chunk

Group = Literal["callers", "callees", "tests", "alike"]
GROUPS: tuple[Group, ...] = ("callers", "callees", "tests", "alike")

_CONSTRUCTORS = frozenset("__init__ constructor __construct initialize init new".split())
_LOOKED_AT = 200
_MAX_LINE_CHARS = 200
"""Characters of a line that is shown."""
_ASIDE = 0.1
"""What tests and examples lose among similar code, unless the unit is in one itself."""


@dataclass(frozen=True, slots=True)
class RelatedPlace:
    """A unit related to another, and the line that relates them; every interface returns it."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"use_attribute_docstrings": True}

    path: str
    """Relative to the root."""
    start_line: int
    """Of a caller the line of the call, of others where they are declared."""
    end_line: int
    """Where the unit ends."""
    symbol: str
    """The qualified name, such as Task.retry; empty outside of every unit."""
    kind: str
    language: str
    text: str
    """That line."""
    group: Group = "alike"
    among: int = 1
    """If above 1, the code does not say which definition is meant: this is one of so many of that name."""
    lines: tuple[int, ...] = ()
    """Every line of a caller or a test that calls the unit, if there are several."""
    score: float = 0.0
    """The cosine, of what is alike."""


@dataclass(frozen=True, slots=True)
class RelatedCode:
    """The code related to one unit."""

    subject: RelatedPlace
    groups: dict[Group, tuple[RelatedPlace, ...]]
    total: dict[Group, int]
    """How many there are in each group; of `alike` only as many as requested."""
    note: str = ""
    """Why there are no callers and callees, where they cannot be read."""


def related_code(snapshot: Snapshot, path: str, line: int, k: int) -> RelatedCode:
    """Return the code related to the unit at a line of a file, at most `k` per group."""
    number = chunk_at(snapshot, path, line)
    chunk = snapshot.chunk(number)
    unit = unit_at(snapshot, path, line)
    around = (unit.at.start, unit.at.end) if unit else (chunk.start_line, chunk.end_line)
    subject = defined_place(snapshot, unit) if unit else _chunk_place(chunk, 0.0)
    resolver = resolver_of(snapshot)
    found: dict[Group, list[RelatedPlace]] = {group: [] for group in GROUPS}
    if unit:
        for caller in _callers(snapshot, resolver, unit):
            is_test = (traits_of(caller.path).is_test or caller.kind == "test") and not traits_of(path).is_test
            found["tests" if is_test else "callers"].append(_test_place(snapshot, caller) if is_test else caller)
    found["callees"] = list(_callees(snapshot, resolver, path, around))
    groups = (found["callers"], found["callees"], found["tests"], [subject])
    known = {(each.path, each.symbol) for places in groups for each in places}
    found["alike"] = list(_alike(snapshot, number, (path, *around), known, k))
    grammar, what = grammar_of(chunk.language), f" is {chunk.language}, which" if chunk.language else ""
    is_read = bool(grammar and grammar.calls) or is_mixed(chunk.language)
    note = "" if is_read else f"{chunk.path}{what} has no calls: only similar code is shown"
    shown = {group: tuple(places[:k]) for group, places in found.items()}
    return RelatedCode(subject, shown, {group: len(places) for group, places in found.items()}, note)


def unit_at(snapshot: Snapshot, path: str, line: int) -> PlacedDefinition | None:
    """Return the innermost function, method or type around a line, or what else is declared there."""
    units = [each for each in table_of(snapshot).file(path).definitions if each.holds(path, line)]
    named = [each for each in units if each.at.kind in TYPES | CALLABLES] or units
    return min(named, key=lambda each: each.at.end - each.at.start, default=None)


def chunk_at(snapshot: Snapshot, path: str, line: int) -> int:
    """Return the number of the smallest chunk that holds a line."""
    numbers = numbers_in(snapshot, path)
    spans = snapshot.rows("lines", numbers).tolist() if len(numbers) else []
    found = [(last - first, number, first, last) for number, (first, last) in zip(numbers, spans, strict=True)]
    if not found:
        raise InputError(f"'{path}' is not indexed; `assay status` lists what was left out and why")
    holding = [entry for entry in found if entry[2] <= line <= entry[3]]
    if not holding:
        last = max(entry[3] for entry in found)
        raise InputError(f"no code at '{path}:{line}'; the file's last line of text is {last}")
    return int(min(holding)[1])


def calls_of_unit(resolver: Resolver, unit: PlacedDefinition) -> Iterator[tuple[PlacedCall, int]]:
    """Yield the calls that may mean a unit, each with the number of definitions that are possible."""
    for name in _called_as(unit):
        for call in resolver.table.calls(name):
            if call.family == unit.family:
                meaning = resolver.meaning(call)
                if any(_is_same(each, unit) for each in meaning.definitions) and not unit.holds(
                    call.path, call.at.line
                ):
                    yield call, meaning.among


def _called_as(unit: PlacedDefinition) -> Iterable[str]:
    """Return the names by which a unit is called: a constructor has that of its type, too."""
    last = unit.at.owner.rpartition(".")[2]
    is_constructor = unit.at.name in _CONSTRUCTORS or unit.at.kind == "constructor"
    names = unit.at.name.split(", ")
    return dict.fromkeys([*names, last] if is_constructor and last else names)


def _is_same(definition: PlacedDefinition, unit: PlacedDefinition) -> bool:
    """Return whether a call of one definition is a call of the other: a type is called where its constructor is."""
    if definition.key == unit.key:
        return True
    is_constructor = unit.at.name in _CONSTRUCTORS or unit.at.kind == "constructor"
    of_type = definition.at.kind in TYPES and definition.path == unit.path
    return is_constructor and of_type and definition.at.full_name == unit.at.owner


def _callers(snapshot: Snapshot, resolver: Resolver, unit: PlacedDefinition) -> list[RelatedPlace]:
    """Return the units that call one, the certain ones first."""
    calls: dict[tuple[str, str], list[tuple[PlacedCall, int]]] = {}
    for call, among in calls_of_unit(resolver, unit):
        calls.setdefault((call.path, call.at.inside), []).append((call, among))
    placed = [call_place(snapshot, each) for each in calls.values()]
    return sorted(placed, key=lambda each: (each.among > 1, any(traits_of(each.path)), each.path, each.start_line))


def _test_place(snapshot: Snapshot, caller: RelatedPlace) -> RelatedPlace:
    """Return a test that calls a unit, at its declaration: the test is of interest, not the call."""
    unit = unit_at(snapshot, caller.path, caller.start_line)
    return replace(caller, group="tests", start_line=unit.at.line if unit else caller.start_line)


def call_place(snapshot: Snapshot, calls: Sequence[tuple[PlacedCall, int]]) -> RelatedPlace:
    """Return the place of some calls in one unit, each with the number of definitions that are possible."""
    first, among = min(calls, key=lambda each: (each[1], each[0].at.line))
    unit = unit_at(snapshot, first.path, first.at.line)
    lines = tuple(sorted({call.at.line for call, _ in calls}))
    end, kind = (unit.at.end, unit.at.kind) if unit else (first.at.line, "")
    place = _place(snapshot, first, end, first.at.inside, kind)
    return replace(place, group="callers", among=among, lines=lines if len(lines) > 1 else ())


def callees_of(resolver: Resolver, path: str, lines: tuple[int, int]) -> Iterator[tuple[PlacedDefinition, int]]:
    """Yield the definitions that calls in some lines of a file may mean, each with how many are possible."""
    for call in resolver.table.file(path).calls:
        if lines[0] <= call.at.line <= lines[1]:
            meaning = resolver.meaning(call)
            for each in meaning.definitions:
                if not (each.path == path and each.at.start == lines[0] and each.at.end == lines[1]):
                    yield each, meaning.among


def _callees(snapshot: Snapshot, resolver: Resolver, path: str, lines: tuple[int, int]) -> Iterator[RelatedPlace]:
    """Yield the definitions that some lines call, the certain ones first, each in the order of the calls."""
    found: dict[tuple[str, str], tuple[int, PlacedDefinition]] = {}
    for each, among in callees_of(resolver, path, lines):
        overloads = (each.path, each.at.full_name)
        before = found.get(overloads)
        if before is None or among < before[0]:
            found[overloads] = (among, each)
    for among, each in sorted(found.values(), key=lambda pair: pair[0] > 1):
        yield defined_place(snapshot, each, "callees", among)


def defined_place(snapshot: Snapshot, each: PlacedDefinition, group: Group = "alike", among: int = 1) -> RelatedPlace:
    """Return the place of a definition."""
    return replace(_place(snapshot, each, each.at.end, each.at.full_name, each.at.kind), group=group, among=among)


def _place(snapshot: Snapshot, each: PlacedCall | PlacedDefinition, end: int, name: str, kind: str) -> RelatedPlace:
    """Return the place of a call or a definition, with the text of its line."""
    chunk, line = snapshot.chunk(each.chunk), each.at.line
    lines, at = chunk.text.splitlines(), line - chunk.start_line
    text = lines[at].strip()[:_MAX_LINE_CHARS] if 0 <= at < len(lines) else ""
    return RelatedPlace(each.path, line, end, name, kind, chunk.language, text)


def _alike(
    snapshot: Snapshot, number: int, around: tuple[str, int, int], exclude: set[tuple[str, str]], k: int
) -> Iterator[RelatedPlace]:
    """Yield the nearest units that are neither a part of the unit nor in another group.

    Of code, only code of the same language that has a name: what other files say in the same words is not like it.
    """
    path, first, last = around
    language = snapshot.language(number)
    is_prose, family = language in PROSE, family_of(language)
    (vector,) = snapshot.vectors(np.array([number]))
    cosines = snapshot.near(vector)
    cosines[[number, *snapshot.dead]] = -np.inf
    numbers = snapshot.order.strongest(cosines, np.flatnonzero(~np.isnan(cosines)), _LOOKED_AT)
    numbers = numbers[cosines[numbers] != -np.inf]
    scores = snapshot.cosines(vector, numbers)
    if not any(traits_of(path)):
        scores -= _ASIDE * np.array([any(traits_of(snapshot.path(int(n)))) for n in numbers], dtype=np.float32)
    seen: set[tuple[str, str]] = set(exclude)
    for i in np.argsort(-scores, kind="stable").tolist():
        chunk = snapshot.chunk(int(numbers[i]))
        place = _chunk_place(chunk, float(scores[i]))
        overlaps = chunk.path == path and chunk.start_line <= last and first <= chunk.end_line
        is_other = not is_prose and (family_of(chunk.language) != family or not chunk.symbol)
        if overlaps or is_other or (place.path, place.symbol) in seen:
            continue
        seen.add((place.path, place.symbol))
        yield place
        if len(seen) - len(exclude) >= k:
            return


def _chunk_place(chunk: Chunk, score: float) -> RelatedPlace:
    joint = " > " if chunk.kind in ("section", "cell") else "."
    name = f"{chunk.parent}{joint}{chunk.symbol}" if chunk.parent and chunk.symbol else chunk.symbol or chunk.parent
    text = chunk.signature or next((line.strip() for line in chunk.text.splitlines() if line.strip()), "")
    lines, what = (chunk.start_line, chunk.end_line), (chunk.kind, chunk.language)
    return RelatedPlace(chunk.path, *lines, name, *what, text[:_MAX_LINE_CHARS], score=round(score, 3))


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
        if meaning.definitions:
            return [defined_place(snapshot, each, "callees", meaning.among) for each in meaning.definitions]
    every = table_of(snapshot).of_family(name, family)
    here = [each for each in every if each.path == path and each.at.line == line]
    return [defined_place(snapshot, each, "callees", len(here or every)) for each in here or every]


class BestDeclaration(NamedTuple):
    """Where a name is declared, and how many declarations it has."""

    path: str
    line: int
    among: int


def declaration_of(snapshot: Snapshot, typed: str, inside: str = "") -> BestDeclaration:
    """Return the best declaration of a name.

    `inside` is the file or folder to keep to.
    """
    names = typed_names(typed)
    found = _declared(snapshot, names, inside)
    worth = declared_places(names, found, [True] * len(found))
    if not worth.any():
        raise InputError(f"nothing here declares '{typed}'{_close_to(snapshot, typed)}")
    bodies = [each.kind not in CALLABLE_KINDS or each.end_line > each.start_line for each in found]
    order = zip(np.round(worth).tolist(), bodies, worth.tolist(), (not one.parent for one in found), found, strict=True)
    *_, best = max(order, key=itemgetter(0, 1, 2, 3))
    units = {unit_of(each) for each in found if each.kind not in {"impl", "block", "section", "constructor"}}
    return BestDeclaration(best.path, declared_line(best), among=len(units | {unit_of(best)}))


def _declared(snapshot: Snapshot, names: QueryNames, inside: str) -> list[Chunk]:
    """Return what declares a name; if nothing is spelt exactly so, what nearly is."""
    name = names.target
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
    return f"; similar names: {', '.join(close)}" if close else "; assay search finds code by meaning"


def references_at(snapshot: Snapshot, path: str, line: int) -> Sequence[RelatedPlace]:
    """Return every place that calls the unit at a line, one for each line; those that are sure first."""
    chunk_at(snapshot, path, line)
    unit = unit_at(snapshot, path, line)
    if unit is None:
        raise InputError(f"nothing is defined at '{path}:{line}': give a line of a function, a method or a type")
    calls = {(call.path, call.at.line): (call, among) for call, among in calls_of_unit(resolver_of(snapshot), unit)}
    places = [call_place(snapshot, [each]) for each in calls.values()]
    return sorted(places, key=lambda each: (each.among > 1, each.path, each.start_line))
