"""Find what has to do with a place in a file: callers, callees, tests, definitions, what is alike.

A place is one line, so that an answer takes few tokens; a page of it holds as many of each group as fit a budget.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, field, replace
from typing import Literal, TypeVar

from assay.errors import InputError
from assay.operations.answer import RelatedAnswer, related_answer
from assay.search.related import GROUPS, Group, RelatedCode, RelatedPlace, place_text
from assay.serve.engine import WorkspaceView
from assay.serve.responses import OVERHEAD, answer_type, cost, fitting, offset_of
from assay.serve.responses import cursor as cursor_of
from assay.serve.search_tools import DEEPEST, Page
from assay.serve.session import NotServed, ServedPlace, Session
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


def related(session: Session, path: str, line: int, name: str = "", *, page: Page) -> RelatedFound:
    """Return what has to do with the unit at a line of a file, or with the one of a name, there or anywhere."""
    if bool(line) == bool(name):
        raise InputError("give a line of a file, or a name: one of them")
    place, view = _open_place(session, path, is_file=not name)
    question = ("related", path, line, name)
    start = offset_of(page.cursor, question, view.version)
    depth = min(start + page.k, DEEPEST)
    answer = _places_found(lambda: related_answer(view.workspace, place.inside, line, depth, name))
    shown, taken = _fitting(answer, start, page)
    code = answer.code
    more = any(code.total[group] > start + taken for group in GROUPS if group != "alike") and start + taken < DEEPEST
    return RelatedFound(
        place.engine.name,
        related_unit(answer.subject, page),
        shown,
        {group: code.total[group] for group in GROUPS},
        answer.note,
        answer.stale or view.stale,
        cursor_of(start + taken, question, view.version) if more else "",
    )


def definitions(session: Session, path: str, line: int, name: str, *, page: Page) -> PlacesFound:
    """Return where a name on a line of a file is defined."""
    from assay.search.related import definitions_at

    return _places(session, path, page, lambda snapshot, inside: definitions_at(snapshot, inside, line, name))


def references(session: Session, path: str, line: int, *, page: Page) -> PlacesFound:
    """Return every place that calls the unit at a line of a file."""
    from assay.search.related import references_at

    return _places(session, path, page, lambda snapshot, inside: references_at(snapshot, inside, line))


def _places(
    session: Session, path: str, page: Page, find: Callable[[Snapshot, str], Sequence[RelatedPlace]]
) -> PlacesFound:
    place, view = _open_place(session, path)
    found = _places_found(lambda: find(view.workspace.snapshot, place.inside))
    shown = fitting([related_unit(each, page) for each in found[: page.k]], page.budget - OVERHEAD)
    return PlacesFound(place.engine.name, shown, len(found), view.stale)


def _open_place(session: Session, path: str, *, is_file: bool = True) -> tuple[ServedPlace, WorkspaceView]:
    place = session.place(path)
    if is_file and (place.engine.root / place.inside).is_dir():
        raise NotServed(f"'{path}' is a folder: give a file, and a line of it")
    return place, place.engine.view()


def _places_found(find: Callable[[], _T]) -> _T:
    try:
        return find()
    except InputError as error:
        raise NotServed(str(error)) from error


def _fitting(answer: RelatedAnswer, start: int, page: Page) -> tuple[list[RelatedUnit], int]:
    """Return as many places of each group as a budget holds, and how many that are at most."""
    groups = {group: [related_unit(each, page) for each in answer.of(group)[start:]] for group in GROUPS}
    if page.is_text:
        groups["alike"] = groups["alike"][:_ALIKE_FOR_MODELS]
    left = page.budget - OVERHEAD - cost(related_unit(answer.subject, page)) - len(answer.note)
    taken: dict[Group, int] = dict.fromkeys(GROUPS, 0)
    for count in range(page.k):
        row = [groups[group][count] for group in GROUPS if count < len(groups[group])]
        left -= sum(tokens(place_text(_place(unit))) + 1 if page.is_text else cost(unit) for unit in row)
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


def related_unit(place: RelatedPlace, page: Page) -> RelatedUnit:
    """Return a place as it is answered."""
    unit = RelatedUnit(*astuple(place)[:-1])
    return replace(unit, lines=list(place.lines) if page.explain else [], score=round(place.score, 3))
