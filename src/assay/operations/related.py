"""Find what has to do with a place in a file: callers, callees, tests, definitions, what is alike.

A place is one line, so that an answer takes few tokens; a page of it holds as many of each group as fit a budget.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, field, replace
from typing import Literal, TypeVar

from assay.errors import InputError
from assay.operations.answer import RelatedAnswer, related_answer
from assay.operations.places import NotServed, Place, Roots, WorkspaceView
from assay.operations.requests import Definitions, References, Related
from assay.operations.search import DEEPEST
from assay.operations.sizing import OVERHEAD, answer_type, cost, fitting, offset_of
from assay.operations.sizing import cursor as cursor_of
from assay.search.related import GROUPS, Group, RelatedCode, RelatedPlace, place_text
from assay.store.snapshot import Snapshot
from assay.terms import tokens

_ALIKE_FOR_MODELS = 3
"""Similar units that a model is shown: unlike calls they are a guess."""
_T = TypeVar("_T")


@answer_type
class RelatedUnit:
    """A unit, and the line that tells what it has to do with the one that was asked about."""

    path: str
    """Relative to the root."""
    start_line: int
    """Of a caller the line of the call, of others where they are declared."""
    end_line: int
    """Where the unit ends."""
    symbol: str
    """The name with what it is a member of, such as Task.retry; empty outside of every unit."""
    kind: str
    language: str
    text: str
    """That line."""
    group: Literal["callers", "callees", "tests", "alike"]
    among: int = 1
    """Above 1: the code does not say which definition is meant; this is one of so many of that name."""
    lines: list[int] = field(default_factory=list)
    """Every line of a caller or a test that calls the unit."""
    score: float = 0.0
    """The cosine, of what is alike."""


@answer_type
class RelatedFound:
    """What has to do with a unit, in the groups callers, callees, tests and alike, in this order."""

    root: str
    subject: RelatedUnit
    """The unit around the line; its group means nothing."""
    hits: list[RelatedUnit]
    total: dict[str, int]
    """How many each group has in all."""
    note: str = ""
    """Why there are no callers and callees, where they cannot be read."""
    stale: bool = False
    """True: files changed that are not in the index yet; ask again for what is in them."""
    cursor: str = ""
    """For the next page; empty at the end."""


@answer_type
class PlacesFound:
    """Places of one name: where it is defined, or where it is called."""

    root: str
    hits: list[RelatedUnit]
    total: int
    stale: bool = False
    """True: files changed that are not in the index yet; ask again for what is in them."""


def related(request: Related, roots: Roots, *, is_text: bool = False) -> RelatedFound:
    """Return what has to do with the unit at a line of a file, or with the one of a name, there or anywhere."""
    path, line, name = request.path, request.line, request.name
    if bool(line) == bool(name):
        raise InputError("give a line of a file, or a name: one of them")
    place, view = _open_place(roots, path, is_file=not name)
    question = ("related", path, line, name)
    start = offset_of(request.cursor, question, view.version)
    depth = min(start + request.limit, DEEPEST)
    answer = _places_found(lambda: related_answer(view.workspace, place.inside, line, depth, name))
    shown, taken = _fitting(answer, start, request, is_text=is_text)
    code = answer.code
    more = any(code.total[group] > start + taken for group in GROUPS if group != "alike") and start + taken < DEEPEST
    return RelatedFound(
        place.reader.name,
        related_unit(answer.subject, explain=request.explain),
        shown,
        {group: code.total[group] for group in GROUPS},
        answer.note,
        answer.stale or view.stale,
        cursor_of(start + taken, question, view.version) if more else "",
    )


def definitions(request: Definitions, roots: Roots) -> PlacesFound:
    """Return where a name on a line of a file is defined."""
    from assay.search.related import definitions_at

    return _places(
        request, roots, lambda snapshot, inside: definitions_at(snapshot, inside, request.line, request.name)
    )


def references(request: References, roots: Roots) -> PlacesFound:
    """Return every place that calls the unit at a line of a file."""
    from assay.search.related import references_at

    return _places(request, roots, lambda snapshot, inside: references_at(snapshot, inside, request.line))


def _places(
    request: Definitions | References, roots: Roots, find: Callable[[Snapshot, str], Sequence[RelatedPlace]]
) -> PlacesFound:
    place, view = _open_place(roots, request.path)
    found = _places_found(lambda: find(view.workspace.snapshot, place.inside))
    every = [related_unit(each, explain=isinstance(request, References)) for each in found[: request.limit]]
    return PlacesFound(place.reader.name, fitting(every, request.budget - OVERHEAD), len(found), view.stale)


def _open_place(roots: Roots, path: str, *, is_file: bool = True) -> tuple[Place, WorkspaceView]:
    place = roots.place(path)
    if is_file and (place.reader.root / place.inside).is_dir():
        raise NotServed(f"'{path}' is a folder: give a file, and a line of it")
    return place, place.reader.view()


def _places_found(find: Callable[[], _T]) -> _T:
    try:
        return find()
    except InputError as error:
        raise NotServed(str(error)) from error


def _fitting(answer: RelatedAnswer, start: int, request: Related, *, is_text: bool) -> tuple[list[RelatedUnit], int]:
    """Return as many places of each group as a budget holds, and how many that are at most."""
    explain = request.explain
    groups = {group: [related_unit(each, explain=explain) for each in answer.of(group)[start:]] for group in GROUPS}
    if is_text:
        groups["alike"] = groups["alike"][:_ALIKE_FOR_MODELS]
    left = request.budget - OVERHEAD - cost(related_unit(answer.subject, explain=explain)) - len(answer.note)
    taken: dict[Group, int] = dict.fromkeys(GROUPS, 0)
    for count in range(request.limit):
        row = [groups[group][count] for group in GROUPS if count < len(groups[group])]
        left -= sum(tokens(place_text(_place(unit))) + 1 if is_text else cost(unit) for unit in row)
        if left < 0 and count:
            break
        for unit in row:
            taken[unit.group] = count + 1
    shown = [unit for group in GROUPS for unit in groups[group][: taken[group]]]
    return shown, max(taken.values())


def related_code_of(found: RelatedFound) -> RelatedCode:
    """Return what a record says as what it was made of, for whoever writes it as text."""
    groups = {group: tuple(_place(unit) for unit in found.hits if unit.group == group) for group in GROUPS}
    return RelatedCode(_place(found.subject), groups, {group: found.total[group] for group in GROUPS}, found.note)


def _place(unit: RelatedUnit) -> RelatedPlace:
    return RelatedPlace(*astuple(unit))


def related_unit(place: RelatedPlace, *, explain: bool) -> RelatedUnit:
    """Return a place as it is answered."""
    unit = RelatedUnit(*astuple(place)[:-1])
    return replace(unit, lines=list(place.lines) if explain else [], score=round(place.score, 3))
