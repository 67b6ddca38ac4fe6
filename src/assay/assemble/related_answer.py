"""Find what has to do with a unit of a workspace: one at a line of a file, or one of a name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from assay.assemble.workspace import Workspace
from assay.search.related import GROUPS, Group, RelatedCode, RelatedPlace


@dataclass(frozen=True, slots=True)
class RelatedAnswer:
    """What calls a unit, what it calls, what tests it, and what is alike.

    >>> import assay
    >>> answer = assay.Index(".").related("mail/send.py", 6)
    >>> answer.subject.name
    'send_mail'
    """

    code: RelatedCode
    stale: bool = False
    """Whether files changed that are not in the index."""

    def __bool__(self) -> bool:
        """Say whether anything was found."""
        return any(self.code.groups.values())

    def __iter__(self) -> Iterator[RelatedPlace]:
        """Yield every place, group by group."""
        return (place for group in GROUPS for place in self.code.groups[group])

    @property
    def subject(self) -> RelatedPlace:
        """The unit that was asked about."""
        return self.code.subject

    @property
    def note(self) -> str:
        """Why there are no callers and callees, where they cannot be read."""
        return self.code.note

    def of(self, group: Group) -> tuple[RelatedPlace, ...]:
        """Return the places of one group: callers, callees, tests or alike."""
        return self.code.groups[group]

    @property
    def callers(self) -> tuple[RelatedPlace, ...]:
        """The units that call it, but for tests."""
        return self.of("callers")

    @property
    def callees(self) -> tuple[RelatedPlace, ...]:
        """The units that it calls."""
        return self.of("callees")

    @property
    def tests(self) -> tuple[RelatedPlace, ...]:
        """The tests that call it."""
        return self.of("tests")

    @property
    def alike(self) -> tuple[RelatedPlace, ...]:
        """The units that are nearest in meaning."""
        return self.of("alike")


def related_answer(  # noqa: PLR0913  a place or a name
    workspace: Workspace, path: str, line: int, k: int, name: str = "", *, named: bool = False
) -> RelatedAnswer:
    """Return what has to do with the unit at a line of a file, at most `k` places a group.

    With a `name` instead of a line, it is the unit that declares it, below `path` where that is given; the subject says
    among how many. With `named`, each path has the name of its root before it.
    """
    from assay.search.related import (
        declaration_of,  # and what reads calls: not for a search
        related_code,
    )

    with workspace.guard.reading():
        path, line, among = declaration_of(workspace.snapshot, name, path) if name else (path, line, 1)
        found = related_code(workspace.snapshot, path, line, k)
    found = replace(found, subject=replace(found.subject, among=among))
    return RelatedAnswer(_with_root(found, workspace.name) if named else found, workspace.report.stale)


def _with_root(code: RelatedCode, root: str) -> RelatedCode:
    def with_root(place: RelatedPlace) -> RelatedPlace:
        return replace(place, path=Path(root, place.path).as_posix())

    groups = {group: tuple(map(with_root, places)) for group, places in code.groups.items()}
    return replace(code, subject=with_root(code.subject), groups=groups)
