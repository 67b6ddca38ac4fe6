"""Define a unit of a file of code: its lines, and what they declare."""

from __future__ import annotations

from dataclasses import dataclass

SMALL_CONTAINER = 15
"""A type of so few lines is one chunk with its members."""
MIN_NESTED_LINES = 10
"""A function inside a long function is a unit of its own from so many lines."""
TYPES = frozenset("class interface struct enum trait impl".split())
HOLDERS = TYPES | {"test"}
"""Where a constant is a field or a local: a line of the header, not a unit."""
MAX_SIGNATURE_CHARS = 300
MAX_NAME_CHARS = 200
"""Characters of a unit's name, and of all around it: each of its pieces and members repeats them."""


@dataclass(slots=True)
class Unit:
    """Lines `[start, end)`, counted from 0, and what they declare."""

    start: int
    end: int
    kind: str = "block"
    symbol: str = ""
    parent: str = ""
    doc: str = ""
    signature: str = ""
    inside: int = 0
    """The end of a container, whose own lines are what its members leave."""
    rest: bool = False
    """Lines that the members of a container or the functions inside a long one leave."""
    joins: bool = False
    """A part of the next unit of the same name: an overload, a signature, a clause."""
    at: int = 0
    """The line of the declaration itself, after comments and decorators."""

    @property
    def path(self) -> str:
        """The parent of units inside this one: the innermost containers, if there are thousands."""
        whole = f"{self.parent}.{self.symbol}" if self.parent and self.symbol else self.symbol or self.parent
        if len(whole) <= MAX_NAME_CHARS:
            return whole
        return whole[-MAX_NAME_CHARS:].partition(".")[2] or whole[-MAX_NAME_CHARS:]


class ParserFailed(Exception):
    """The parser understood too little of a file."""
