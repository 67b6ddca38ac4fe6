"""What both ways of a value between program and judge need: limits, errors, and what stands for what does not cross."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

MOST_BYTES: Final = 64 << 20
MOST_ITEMS: Final = 8_000_000
MOST_DRAWN: Final = 200_000
"""How many items of an iterator are drawn before it counts as endless."""
DEEPEST: Final = 1000
PLAIN_BITS: Final = 2000
"""Integers up to here are written in decimal: below the least limit that `sys.set_int_max_str_digits` takes."""

_RECURSION: Final = 6000
"""Frames for what is nested `DEEPEST` deep: within the stack that a thread has."""


class NotPlainData(Exception):
    """A value that is not plain data."""


class TooLarge(NotPlainData):
    """A value too large or too deep to cross."""


class Gone(BaseException):
    """The other side closed the channel, or sent what is no message; nothing that tests catch."""


class Drawn:
    """The items of an iterator that lived on the other side: an iterator again, equal to nothing else."""

    def __init__(self, kind: str, items: list[Any]) -> None:
        self.kind = kind
        self._items = iter(items)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._items)

    def __repr__(self) -> str:
        return f"<{self.kind} object>"


class Opaque:
    """Something of the program that is no plain data."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: an object of the program>"


@contextmanager
def deeply() -> Iterator[None]:
    """Allow what is nested deep: only for what the usual limit was too low for."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
