"""Write the definitions and calls of a file as lines for an index, and parse these.

A fact is a line: a letter for its sort, then its fields between tabs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

TYPES = frozenset("class interface struct enum trait impl type module".split())
CALLABLES = frozenset("function method constructor test macro".split())


class Definition(NamedTuple):
    """A unit that a file defines."""

    line: int
    """Where its declaration stands."""
    start: int
    """Where its comments begin."""
    end: int
    kind: str
    owner: str
    """What it is a member of, such as `Cart`; empty for what stands by itself."""
    name: str
    types: tuple[str, ...] = ()
    """The bases of a type; what a function returns."""

    @property
    def full_name(self) -> str:
        """The name with its owner."""
        return f"{self.owner}.{self.name}" if self.owner else self.name


class CodeCall(NamedTuple):
    """A call in a file."""

    line: int
    name: str
    receiver: str
    """What it is called on: empty, `?` for the unknown, or a start and steps, see `assay.corpus.names`."""
    inside: str = ""
    """The full name of the unit around it."""


class FieldType(NamedTuple):
    """The type of a field, or of a module's variable if `owner` is empty."""

    owner: str
    name: str
    type: str


Fact = Definition | CodeCall | FieldType


def fact_row(fact: Fact) -> str:
    """Return the line of a fact, with a type over several lines joined."""
    letter = "C" if isinstance(fact, CodeCall) else "F" if isinstance(fact, FieldType) else "D"
    columns = (",".join(each) if isinstance(each, tuple) else str(each) for each in fact)
    return letter + "\t".join(" ".join(column.split()) for column in columns)


def definitions_of(facts: str) -> Iterator[Definition]:
    """Yield the definitions among facts."""
    for row in facts.split("\n"):
        if row.startswith("D"):
            line, start, end, kind, owner, name, types = row[1:].split("\t")
            bases = tuple(filter(None, types.split(",")))
            yield Definition(int(line), int(start), int(end), kind, owner, name, bases)


def calls_of(facts: str, name: str = "") -> Iterator[CodeCall]:
    """Yield the calls among facts, or those of a name."""
    wanted = f"\t{name}\t" if name else "\t"
    for row in facts.split("\n"):
        if row.startswith("C") and wanted in row:
            line, called, receiver, inside = row[1:].split("\t")
            if called == name or not name:
                yield CodeCall(int(line), called, receiver, inside)


@lru_cache(4096)
def names_called(facts: str) -> frozenset[str]:
    """Return the names of the calls among facts."""
    return frozenset(row.split("\t", 2)[1] for row in facts.split("\n") if row.startswith("C"))


def fields_of(facts: str) -> Iterator[FieldType]:
    """Yield the types of fields among facts."""
    for row in facts.split("\n"):
        if row.startswith("F"):
            owner, name, type_ = row[1:].split("\t", 2)  # indexes of before may have more in a type
            yield FieldType(owner, name, type_)


def names_in(facts: str) -> Iterator[str]:
    """Yield the terms that index facts: `(name` for a call, `:name` for a definition."""
    for row in facts.split("\n"):
        if row.startswith("C"):
            yield "(" + row.split("\t", 2)[1]
        elif row.startswith("D"):
            for name in row.split("\t")[5].split(", "):
                yield ":" + name
