"""Find what is related to a place in a file: callers, callees, tests, definitions, similar code.

A place is one line, so that an answer takes few tokens; a page of it holds as many of each group as fit a budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from assay.errors import InputError, counted, printable, printable_name
from assay.operations.hits import answer_type, as_text, cursor, offset_of
from assay.operations.requests import Definitions, References, Related
from assay.operations.roots import NotServed, Place, Roots, WorkspaceView
from assay.operations.search import MAX_HITS
from assay.operations.sizing import OVERHEAD, cost, fitting
from assay.operations.workspace import Workspace
from assay.search.named_places import NamedPlace, files_of
from assay.search.related import (
    GROUPS,
    Group,
    RelatedCode,
    RelatedPlace,
    declaration_of,
    definitions_at,
    references_at,
    related_code,
)
from assay.store.snapshot import Snapshot
from assay.terms import tokens

_ALIKE_FOR_MODELS = 3
"""Similar units that a model is shown: unlike calls, they are a guess."""
_T = TypeVar("_T")


@answer_type
class RelatedAnswer:
    """The callers of a unit, its callees, its tests and similar code, in this order; a sequence of its hits.

    >>> import assay
    >>> answer = assay.Index(".").related("mail/send.py", 6)
    >>> answer.subject.symbol
    'send_mail'
    """

    root: str
    subject: RelatedPlace
    """The unit around the line; its group has no meaning."""
    hits: list[RelatedPlace]
    total: dict[str, int]
    """How many each group has in total."""
    note: str = ""
    """Why there are no callers and callees, if they cannot be read."""
    stale: bool = False
    """True: changed files are not in the index yet; ask again to include them."""
    cursor: str = ""
    """For the next page; empty at the end."""

    def __bool__(self) -> bool:
        """Return whether anything was found."""
        return bool(self.hits)

    def __len__(self) -> int:
        """Return the number of places."""
        return len(self.hits)

    def __iter__(self) -> Iterator[RelatedPlace]:
        """Yield every place, group by group."""
        return iter(self.hits)

    def of(self, group: Group) -> list[RelatedPlace]:
        """Return the places of one group: callers, callees, tests or alike."""
        return [unit for unit in self.hits if unit.group == group]


@answer_type
class PlacesFound:
    """The places of one name: where it is defined, or where it is called."""

    root: str
    hits: list[RelatedPlace]
    total: int
    stale: bool = False
    """True: changed files are not in the index yet; ask again to include them."""


def related(request: Related, roots: Roots, *, is_text: bool = False) -> RelatedAnswer:
    """Return what is related to the unit at a line of a file, or to the unit of a name, there or anywhere."""
    path, line, name = request.path, request.line, request.name
    if bool(line) == bool(name):
        raise InputError("give either a line of a file or a name")
    place, view = _open_place(roots, path, is_file=not name) if name else _place_of_line(roots, path, line)
    question = ("related", path, line, name)
    start = offset_of(request.cursor, question, view.version)
    depth = min(start + request.limit, MAX_HITS)
    code = _places_found(lambda: _related_code(view.workspace, place.inside, line, depth, name))
    shown, taken = _fitting(code, start, request, is_text=is_text)
    more = any(code.total[group] > start + taken for group in GROUPS if group != "alike") and start + taken < MAX_HITS
    total: dict[str, int] = {group: code.total[group] for group in GROUPS}
    stale = view.workspace.report.stale or view.stale
    after = cursor(start + taken, question, view.version) if more else ""
    return RelatedAnswer(place.reader.name, code.subject, shown, total, code.note, stale, after)


def _related_code(workspace: Workspace, path: str, line: int, k: int, name: str) -> RelatedCode:
    """Return what is related to the unit at a line, or of a name below a path, at most `k` places per group.

    The subject says of how many declarations of the name it is one.
    """
    with workspace.guard.reading():
        path, line, among = declaration_of(workspace.snapshot, name, path) if name else (path, line, 1)
        found = related_code(workspace.snapshot, path, line, k)
    return replace(found, subject=replace(found.subject, among=among))


def definitions(request: Definitions, roots: Roots) -> PlacesFound:
    """Return where a name on a line of a file is defined."""
    line, name = request.line, request.name
    return _places(request, roots, lambda snapshot, inside: definitions_at(snapshot, inside, line, name))


def references(request: References, roots: Roots) -> PlacesFound:
    """Return every place that calls the unit at a line of a file."""
    return _places(request, roots, lambda snapshot, inside: references_at(snapshot, inside, request.line))


def _places(
    request: Definitions | References, roots: Roots, find: Callable[[Snapshot, str], Sequence[RelatedPlace]]
) -> PlacesFound:
    place, view = _open_place(roots, request.path)
    found = _places_found(lambda: find(view.workspace.snapshot, place.inside))
    every = found[: request.limit]
    return PlacesFound(place.reader.name, fitting(every, request.budget - OVERHEAD), len(found), view.stale)


def _open_place(roots: Roots, path: str, *, is_file: bool = True) -> tuple[Place, WorkspaceView]:
    place = roots.place(path)
    if is_file and (place.reader.root / place.inside).is_dir():
        raise NotServed(f"'{path}' is a folder: give a file, and a line of it")
    return place, place.reader.view()


def _place_of_line(roots: Roots, path: str, line: int) -> tuple[Place, WorkspaceView]:
    """Return a file; a path that is not there is matched with one here by its last parts, as from another machine."""
    try:
        return _open_place(roots, path)
    except NotServed as error:
        named = NamedPlace(path.replace("\\", "/"), line)
        readers = [roots.place("")] if not roots.are_several else list(map(roots.place, map(str, roots.roots)))
        views = [(place, place.reader.view()) for place in readers]
        found = [(place, view, file.path) for place, view in views for file in files_of(view.workspace.snapshot, named)]
        if len(found) != 1:
            more = f"; {counted(len(found), 'file')} end so: give more of the path" if found else ""
            raise NotServed(f"{error}{more}") from error
        place, view, inside = found[0]
        return replace(place, inside=inside), view


def _places_found(find: Callable[[], _T]) -> _T:
    try:
        return find()
    except InputError as error:
        raise NotServed(str(error)) from error


def _fitting(code: RelatedCode, start: int, request: Related, *, is_text: bool) -> tuple[list[RelatedPlace], int]:
    """Return as many places of each group as a budget holds, and the highest number of places in a group."""
    groups = {group: code.groups[group][start:] for group in GROUPS}
    if is_text:
        groups["alike"] = groups["alike"][:_ALIKE_FOR_MODELS]
    left = request.budget - OVERHEAD - cost(code.subject) - len(code.note)
    counts: dict[Group, int] = dict.fromkeys(GROUPS, 0)
    for count in range(request.limit):
        row = [groups[group][count] for group in GROUPS if count < len(groups[group])]
        left -= sum(tokens(place_text(unit)) + 1 if is_text else cost(unit) for unit in row)
        if left < 0 and count:
            break
        for unit in row:
            counts[unit.group] = count + 1
    shown = [unit for group in GROUPS for unit in groups[group][: counts[group]]]
    return shown, max(counts.values())


_MAX_LINE_CHARS = 100
"""Characters of a line of code that are shown."""


def place_text(unit: RelatedPlace) -> str:
    """Return one place on one line."""
    row = f"{printable_name(unit.path)}:{unit.start_line} {printable(unit.symbol or unit.kind)}".rstrip()
    if unit.group == "callers" and unit.text:
        row += f"  {printable(unit.text)[:_MAX_LINE_CHARS]}"
    return row + among_text(unit)


def among_text(unit: RelatedPlace) -> str:
    """Return a note that this is one of several definitions of a name, or an empty text."""
    return f"  (one of {unit.among} definitions of that name)" if unit.among > 1 else ""


@as_text.register
def _(answer: RelatedAnswer) -> str:
    more = f"\nmore with cursor {answer.cursor}" if answer.cursor else ""
    return "\n".join(_related_rows(answer)) + more + "\n"


def related_text(answer: RelatedAnswer) -> str:
    """Return what is related as lines for a terminal, with the other lines of callers that call."""
    return "\n".join(_related_rows(answer, also=_ALSO)) + "\n"


_ALSO = 5
"""Other lines of a caller that call, at most."""
_NOTHING = {"callers": "no caller found", "callees": "calls nothing of this repository", "tests": "no test calls it"}


def _related_rows(answer: RelatedAnswer, also: int = 0) -> Iterator[str]:
    subject = answer.subject
    place = f"{printable_name(subject.path)}:{subject.start_line}-{subject.end_line}{among_text(subject)}"
    yield f"{subject.symbol or subject.kind or 'lines'}  {place}"
    if answer.note:
        yield answer.note
    for group in GROUPS:
        units = answer.of(group)
        if not units:
            if group in _NOTHING and not answer.note:
                yield f"{group}: {_NOTHING[group]}"
            continue
        more = answer.total[group] - len(units)
        rest = f", {more:,} more" if more > 0 and group != "alike" else ""
        yield f"{group} ({len(units)}{rest})"
        yield from (f"  {place_text(unit)}{_also(unit, also)}" for unit in units)


def _also(unit: RelatedPlace, most: int) -> str:
    """Return the other lines of a caller that call, at most a limit of them."""
    others = unit.lines[1:]
    if not most or not others or unit.group != "callers":
        return ""
    more = f" and {len(others) - most} more" if len(others) > most else ""
    return f"  (also {', '.join(map(str, others[:most]))}{more})"
