"""Detect changes of a program to objects that the tests rely on.

Objects are compared by identity, functions by their code, defaults and the functions that they close over, too, classes
by their methods. They are compared before each assert and at the end, so that a change that is undone in between is
seen. A name that the program's own functions declare as global may change.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from operator import is_
from types import CellType, CodeType, FunctionType
from typing import Any, Final

_COMES_BY_ITSELF: Final = frozenset({"__warningregistry__"})
_NOTHING: Final = object()


class CodeChanged(BaseException):
    """The tests changed the code under test; tests should not catch this."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the test changes '{name}' of the code under judgment, and may only ask it")


class Seal:
    """Sealed objects and their state; a broken seal stays broken."""

    def __init__(self) -> None:
        self.looks: list[Callable[[], str]] = []
        """Each returns the name that was changed, empty where none was."""
        self._broken = ""

    def hold(
        self, space: Mapping[str, Any], names: Iterable[str] | None = None, free: frozenset[str] = _COMES_BY_ITSELF
    ) -> None:
        """Seal names of a mapping; by default all but the free ones, and no new names may be added."""
        held = {name: space[name] for name in (space if names is None else names) if name not in free}
        for name, value in held.items():
            self.hold_object(name, value)

        def look() -> str:
            moved = (name for name, value in held.items() if space.get(name, _NOTHING) is not value)
            new = () if names is not None else tuple(space.keys() - held.keys() - free)
            return next(chain(moved, new), "")

        self.looks.append(look)

    def hold_program(self, space: Mapping[str, Any]) -> None:
        """Seal the module of a program."""
        codes = [part for value in tuple(space.values()) for part in _parts(value) if isinstance(part, CodeType)]
        self.hold(space, free=_COMES_BY_ITSELF.union(*map(_declared, codes)))

    def hold_object(self, name: str, value: object) -> None:
        """Seal a function or a class."""
        before = _parts(value)

        def look() -> str:
            now = _parts(value)
            return "" if len(before) == len(now) and all(map(is_, before, now)) else name

        if before:
            self.looks.append(look)

    def check(self) -> None:
        """Raise CodeChanged if any sealed object has changed."""
        self._broken = self._broken or next(filter(None, (look() for look in self.looks)), "")
        if self._broken:
            raise CodeChanged(self._broken)


def _parts(value: object, visited: frozenset[int] = frozenset()) -> tuple[object, ...]:
    """Return the parts of a function or a class, with those of its closure."""
    if id(value) in visited:
        return ()
    visited |= {id(value)}
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or () if cell != CellType()]
        inner = [each for each in cells if callable(each)]
        named = (value.__kwdefaults__ or {}).values()
        return (value.__code__, value.__defaults__, *named, *_with_parts(inner, visited))
    if isinstance(value, type):
        return _with_parts([each for each in vars(value).values() if hasattr(each, "__get__")], visited)
    if isinstance(value, (staticmethod, classmethod)):
        return _parts(value.__func__, visited)
    inner = [value.__dict__["__wrapped__"]] if "__wrapped__" in getattr(value, "__dict__", ()) else []
    return _with_parts(inner, visited)


def _with_parts(values: list[Any], visited: frozenset[int]) -> tuple[object, ...]:
    return (*values, *(part for value in values for part in _parts(value, visited)))


def _declared(code: CodeType) -> Iterator[str]:
    """Yield the globals that a function and its inner functions bind."""
    yield from (
        str(each.argval) for each in dis.get_instructions(code) if each.opname in {"STORE_GLOBAL", "DELETE_GLOBAL"}
    )
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _declared(const)
