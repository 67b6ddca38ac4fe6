"""Objects of the program that its tests ask about while they stay where they are: a number for each, and what it can.

An object that is no data crosses as `[NUMBER, CLASS, ABILITIES]`. The judge uses it by its special methods, one message
each, and every answer is data or another such object. An iterator gives one item at a time, so that an endless one is
no trouble; after some it gives as many as a moment allows. What it gave out and still holds is told again where it
changed, as one list that is yielded over and over does.
"""

from __future__ import annotations

import builtins
import time
import types
from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from sys import getrefcount
from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodType
from typing import Any, Final

from assay.programs.harness.codec import pack
from assay.programs.harness.crossing import Gone, TooLarge

MOST_OBJECTS: Final = 100_000
_MOMENT_S: Final = 0.002
_MOST_HELD: Final = 64
_OURS: Final = 2
"""References to a value that only this table holds."""
_CHANGEABLE: Final = (list, dict, set, deque, bytearray)

ABILITIES: Final = frozenset(
    f"__{name}__"
    for name in (
        "iter next len getitem setitem delitem contains call eq hash lt le gt ge bool str repr format bytes fspath"
        " int float complex index round trunc floor ceil neg pos abs invert reversed array"
        " add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor"
        " radd rsub rmul rmatmul rtruediv rfloordiv rmod rdivmod rpow rlshift rrshift rand ror rxor"
        " iadd isub imul imatmul itruediv ifloordiv imod ipow ilshift irshift iand ior ixor"
    ).split()
)
"""Special methods that tests use; those of context managers are none, for one may swallow a failed assert."""
ATTRIBUTE: Final = "__getattr__"
UNHASHABLE: Final = "-__hash__"
KINDS: Final = {f"={kind.__name__}": kind for kind in (GeneratorType, FunctionType, MethodType, BuiltinFunctionType)}
"""By what stands among the abilities of their objects: classes that tests ask for by `isinstance`."""


_PYTHON_S: Final[dict[str, Any]] = {
    kind.__name__: kind for module in (types, builtins) for kind in vars(module).values() if isinstance(kind, type)
}


class ObjectTable:
    """The objects that were told of, by their numbers."""

    def __init__(self) -> None:
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._held: dict[int, list[tuple[int, Any]]] = {}
        self._serial = 0
        self._late: dict[int, BaseException] = {}

    def keep(self, value: Any) -> Any:
        """Return what stands for an object; raises NotPlainData where there are too many."""
        number = self._numbers.get(id(value))
        if number is None:
            if len(self._objects) >= MOST_OBJECTS:
                raise TooLarge(f"more than {MOST_OBJECTS} objects")
            number = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        kind: Any = type(value)
        return {"h": [number, _name_of(kind), abilities(kind)]}

    def find(self, told: Any) -> Any:
        """Return the object of a number."""
        return self._objects[told]

    def pack(self, value: Any) -> Any:
        """Pack a value: as data, else as an object that stays here."""
        try:
            return pack(value, self.keep)
        except TooLarge:
            return self.keep(value)

    def use(self, number: int, ability: str, args: list[Any], keywords: dict[str, Any]) -> Any:
        """Do with an object what the tests do with what stands for it; return the packed result."""
        value = self._objects[number]
        if ability == ATTRIBUTE:
            return self.pack(getattr(value, *args))
        if ability == "__next__":
            return self._next(number, value, *args)
        if ability not in ABILITIES:
            raise Gone(f"asked for {ability}")
        method = getattr(type(value), ability)
        return self.pack(method(value, *args, **keywords))

    def _next(self, number: int, iterator: Any, count: int) -> Any:
        """Return how earlier items are now, the next ones, whether that was all, and which of them may change."""
        if number in self._late:
            raise self._late.pop(number)
        held = self._held.setdefault(number, [])
        held[:] = [pair for pair in held if getrefcount(pair[1]) > _OURS]
        items, ended = self._draw(number, iterator, count)
        earlier = tuple(held)
        del held[: -_MOST_HELD // 2]
        later = tuple(self._changeable(items, {id(value) for _, value in held}))
        held += later
        return pack((earlier, tuple(items), ended, later), self.keep)

    def _draw(self, number: int, iterator: Any, count: int) -> tuple[list[Any], bool]:
        items: list[Any] = []
        until = time.perf_counter() + _MOMENT_S
        try:
            while not items or (len(items) < count and time.perf_counter() < until):
                items.append(type(iterator).__next__(iterator))
        except StopIteration:
            return items, True
        except BaseException as error:
            if not items:
                raise
            self._late[number] = error
        return items, False

    def _changeable(self, items: list[Any], known: set[int]) -> Iterator[tuple[int, Any]]:
        """Number the values among the last items, and directly within them, that the program may still change."""
        for item in items[-_MOST_HELD // 2 :]:
            for value in (item, *(islice(item, 8) if type(item) in {tuple, list} else ())):
                if isinstance(value, _CHANGEABLE) and id(value) not in known:
                    known.add(id(value))
                    self._serial += 1
                    yield self._serial, value


def _name_of(kind: Any) -> str:
    """Return the name of a class; one that is called like a builtin, and is none, with its module."""
    name = str(kind.__name__)[:200]
    return name if _PYTHON_S.get(name, kind) is kind else f"solution.{name}"


@lru_cache(maxsize=512)
def abilities(kind: Any) -> list[str]:
    """Return the special methods that a class has beyond those of any object."""
    found = {name: vars(base)[name] for base in reversed(kind.__mro__[:-1]) for name in ABILITIES & vars(base).keys()}
    able = sorted(name for name, method in found.items() if method is not None)
    able += [mark for mark, each in KINDS.items() if kind is each]
    return able if found.get("__hash__", 0) is not None else [*able, UNHASHABLE]
