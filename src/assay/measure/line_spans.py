"""What a ranking is made of and what it is held against: lines of files, and right answers with their grades.

A document is a file without lines whose id is its path, so collections of texts need nothing of their own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from assay.errors import InputError

Unit = Literal["line", "line published", "file", "function"]
"""What an answer is found by."""
UNITS: tuple[Unit, ...] = get_args(Unit)

_LINES = re.compile(r"(?P<path>.+):(?P<start>\d+)(?:-(?P<end>\d+))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of a file, 1-based and inclusive; without lines it is the whole file."""

    path: str
    start: int = 0
    end: int = 0

    def overlaps(self, other: Span) -> bool:
        """Say whether the two share a line; a whole file shares one with everything in it."""
        if self.path != other.path:
            return False
        return not self.start or not other.start or (self.start <= other.end and other.start <= self.end)

    def __str__(self) -> str:
        """Return the target that `span_of` reads back."""
        return f"{self.path}:{self.start}-{self.end}" if self.start else self.path


@dataclass(frozen=True, slots=True)
class Entry:
    """One judged answer with its grade; 0 is judged and wrong."""

    span: Span
    grade: int
    also: tuple[str, ...] = ()
    """Other files that a published script takes for this one; only the unit `line published` does, too."""


def span_of(target: str) -> Span:
    """Return what `path:3-9`, `path:3` or `path` names; what ends in a colon and digits has lines."""
    found = _LINES.fullmatch(target)
    if not found:
        if "::" in target:
            raise InputError(f"'{target}' names a symbol, wanted lines: look its lines up in a checkout first")
        return Span(target)
    start = int(found["start"])
    end = int(found["end"] or start)
    if not 1 <= start <= end:
        raise InputError(f"invalid line range '{target}'; lines count from 1, a range ends where it starts or later")
    return Span(found["path"], start, end)
