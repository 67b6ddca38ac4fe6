"""A snapshot in, what it defines and calls out, by name and by file: the facts of its chunks, read as they are needed.

Terms that no word has (`:name`, `(name`) find the chunks of a name in the inverted lists, so that nothing is read but
what is about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from posixpath import dirname
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from assay.corpus.call_facts import CodeCall, Definition, FieldType, calls_of, definitions_of, fields_of
from assay.store.snapshot import Snapshot

_FAMILIES = {
    "typescript": "javascript",
    "tsx": "javascript",
    "vue": "javascript",
    "cpp": "c",
    "kotlin": "java",
    "scala": "java",
}
"""Languages that call one another."""


@dataclass(frozen=True, slots=True)
class PlacedDefinition:
    """A definition, and where it is."""

    path: str
    family: str
    chunk: int
    """The number of the chunk that it begins in."""
    at: Definition

    @property
    def key(self) -> tuple[str, int, str]:
        """What tells it from any other."""
        return self.path, self.at.line, self.at.name

    def holds(self, path: str, line: int) -> bool:
        """Say whether a line is one of it."""
        return self.path == path and self.at.start <= line <= self.at.end


@dataclass(frozen=True, slots=True)
class PlacedCall:
    """A call, and where it is."""

    path: str
    family: str
    chunk: int
    at: CodeCall


@dataclass(frozen=True, slots=True)
class FileReferences:
    """What one file defines and calls."""

    definitions: tuple[PlacedDefinition, ...]
    calls: tuple[PlacedCall, ...]
    fields: tuple[FieldType, ...]


class ReferenceTable:
    """The definitions and calls of one snapshot; each name and file is read once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._definitions: dict[str, tuple[PlacedDefinition, ...]] = {}
        self._files: dict[str, FileReferences] = {}

    def definitions(self, name: str) -> tuple[PlacedDefinition, ...]:
        """Return every definition of a name, in the order of paths."""
        found = self._definitions.get(name)
        if found is None:
            numbers, _ = self.snapshot.postings(f":{name}")
            placed = [
                each
                for number in self.snapshot.order.ordered(numbers).tolist()
                for each in self._definitions_of(number)
                if each.at.name == name or name in each.at.name.split(", ")
            ]
            found = self._definitions[name] = tuple(placed)
        return found

    def calls(self, name: str) -> list[PlacedCall]:
        """Return every call of a name, in the order of paths."""
        numbers, _ = self.snapshot.postings(f"({name}")
        ordered = self.snapshot.order.ordered(numbers).tolist()
        return [each for number in ordered for each in self._calls_of(number, name)]

    def file(self, path: str) -> FileReferences:
        """Return what a file defines and calls, in order."""
        found = self._files.get(path)
        if found is None:
            numbers = numbers_in(self.snapshot, path).tolist()
            found = self._files[path] = FileReferences(
                tuple(each for number in numbers for each in self._definitions_of(number)),
                tuple(each for number in numbers for each in self._calls_of(number)),
                tuple(each for number in numbers for each in fields_of(self.snapshot.facts(number))),
            )
        return found

    def _definitions_of(self, number: int) -> list[PlacedDefinition]:
        facts = self.snapshot.facts(number)
        path, family = self.snapshot.path(number), family_of(self.snapshot.language(number))
        return [PlacedDefinition(path, family, number, each) for each in definitions_of(facts)]

    def _calls_of(self, number: int, name: str = "") -> list[PlacedCall]:
        facts = self.snapshot.facts(number)
        path, family = self.snapshot.path(number), family_of(self.snapshot.language(number))
        return [PlacedCall(path, family, number, each) for each in calls_of(facts, name)]

    @cached_property
    def paths(self) -> dict[str, str]:
        """Return every path of a living chunk, with the family of its language."""
        found: dict[str, str] = {}
        for segment, live in self.snapshot.parts:
            used = np.unique(segment.file if live is None else segment.file[live]).tolist()
            paths, languages = segment.paths.all(), segment.languages.all()
            found.update((paths[file], family_of(languages[file])) for file in used)
        return found

    @cached_property
    def folders(self) -> set[tuple[str, str]]:
        """Return every folder that directly holds code, with the family of that."""
        return {(dirname(path), family) for path, family in self.paths.items()}

    def text(self, path: str) -> str:
        """Return the text of a file as its chunks hold it."""
        return "".join(self.snapshot.chunk(number).text for number in numbers_in(self.snapshot, path).tolist())


def family_of(language: str) -> str:
    """Return what a language and those that call it have in common."""
    return _FAMILIES.get(language, language)


_tables: WeakKeyDictionary[Snapshot, ReferenceTable] = WeakKeyDictionary()


def table_of(snapshot: Snapshot) -> ReferenceTable:
    """Return the table of a snapshot, the same one each time."""
    found = _tables.get(snapshot)
    if found is None:
        found = _tables[snapshot] = ReferenceTable(snapshot)
    return found


def numbers_in(snapshot: Snapshot, path: str) -> NDArray[np.int64]:
    """Return the numbers of the living chunks of a file, in the order of their first lines."""
    found = [np.zeros(0, dtype=np.int64)]
    for base, (segment, live) in zip(snapshot.bases[:-1], snapshot.parts, strict=True):
        for file in segment.paths.positions(path):
            here = segment.file == file
            found.append(base + np.flatnonzero(here if live is None else here & live))
    numbers = np.concatenate(found)
    ordered: NDArray[np.int64] = numbers[np.argsort(snapshot.rows("lines", numbers)[:, 0], kind="stable")]
    return ordered
