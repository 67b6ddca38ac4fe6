"""Read what an index defines and calls, by name and by file, and where its imports lead.

Terms that no word has (`:name`, `(name`) find the chunks of a name in the inverted lists, so that nothing is read but
what is about it.

A module is a tuple of folders, the file's name last, counted from the root. Files that stand for their folder
(`__init__`, `index`, `mod`, `lib`) have its name. In Go and on the Java machine the folder itself is the module.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from posixpath import dirname
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from assay.corpus.call_facts import CodeCall, Definition, FieldType, calls_of, definitions_of, fields_of
from assay.store.snapshot import Snapshot

_FAMILIES = {
    **dict.fromkeys(("typescript", "tsx", "vue", "svelte", "astro", "html", "template"), "javascript"),
    **dict.fromkeys(("kotlin", "scala"), "java"),
    "cpp": "c",
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
        """A key that no other definition has."""
        return self.path, self.at.line, self.at.name

    def holds(self, path: str, line: int) -> bool:
        """Return whether a line belongs to it."""
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
        self.definitions = cache(self._definitions)
        """Returns every definition of a name, in the order of paths."""
        self.file = cache(self._file)
        """Returns what a file defines and calls, in order."""

    def _definitions(self, name: str) -> tuple[PlacedDefinition, ...]:
        numbers = self.snapshot.order.ordered(self.snapshot.postings(f":{name}")[0]).tolist()
        placed = (each for number in numbers for each in self._definitions_of(number))
        return tuple(each for each in placed if each.at.name == name or name in each.at.name.split(", "))

    def of_family(self, name: str, family: str) -> list[PlacedDefinition]:
        """Return the definitions of a name in languages that call one another, in the order of paths."""
        return [each for each in self.definitions(name) if each.family == family]

    def calls(self, name: str) -> list[PlacedCall]:
        """Return every call of a name, in the order of paths."""
        numbers, _ = self.snapshot.postings(f"({name}")
        ordered = self.snapshot.order.ordered(numbers).tolist()
        return [each for number in ordered for each in self._calls_of(number, name)]

    def _file(self, path: str) -> FileReferences:
        numbers = numbers_in(self.snapshot, path).tolist()
        return FileReferences(
            tuple(each for number in numbers for each in self._definitions_of(number)),
            tuple(each for number in numbers for each in self._calls_of(number)),
            tuple(each for number in numbers for each in fields_of(self.snapshot.facts(number))),
        )

    def _definitions_of(self, number: int) -> list[PlacedDefinition]:
        facts, place = self.snapshot.facts(number), self._place_of(number)
        return [PlacedDefinition(*place, each) for each in definitions_of(facts)]

    def _calls_of(self, number: int, name: str = "") -> list[PlacedCall]:
        facts, place = self.snapshot.facts(number), self._place_of(number)
        return [PlacedCall(*place, each) for each in calls_of(facts, name)]

    def _place_of(self, number: int) -> tuple[str, str, int]:
        return self.snapshot.path(number), family_of(self.snapshot.language(number)), number

    @cached_property
    def paths(self) -> dict[str, str]:
        """Return every path of a living chunk, with the family of its language."""
        found: dict[str, str] = {}
        for segment, live in self.snapshot.parts:
            used = np.unique(segment.file if live is None else segment.file[live]).tolist()
            paths, languages = segment.paths.all(), segment.languages.all()
            found.update((paths[file], family_of(languages[file])) for file in used)
        return found

    def text(self, path: str) -> str:
        """Return the text of a file as its chunks hold it."""
        return "".join(self.snapshot.chunk(number).text for number in numbers_in(self.snapshot, path).tolist())


def family_of(language: str) -> str:
    """Return the family of a language: the languages that call one another."""
    return _FAMILIES.get(language, language)


_tables: WeakKeyDictionary[Snapshot, ReferenceTable] = WeakKeyDictionary()


def table_of(snapshot: Snapshot) -> ReferenceTable:
    """Return the table of a snapshot, the same one each time."""
    return _tables.setdefault(snapshot, ReferenceTable(snapshot))


def numbers_in(snapshot: Snapshot, path: str) -> NDArray[np.int64]:
    """Return the numbers of the living chunks of a file, in the order of their first lines."""
    found = [np.zeros(0, dtype=np.int64)]
    for base, (segment, live) in zip(snapshot.bases[:-1], snapshot.parts, strict=True):
        for file in segment.paths.positions(path):
            here = segment.file == file
            found.append(base + np.flatnonzero(here if live is None else here & live))
    numbers = np.concatenate(found)
    return numbers[np.argsort(snapshot.rows("lines", numbers)[:, 0], kind="stable")]


Module = tuple[str, ...]

_ENDING = re.compile(r"\.d\.[mc]?ts$|\.[^.]*$")
_FOLDERS = frozenset(("__init__", "index", "mod", "lib", "main"))
_OF_FOLDER = frozenset(("go", "java", "csharp", "php"))
"""Families whose modules are folders."""
_NAMED = {
    "go.mod": re.compile(r"^module\s+\"?([^\s\"]+)", re.MULTILINE),
    "Cargo.toml": re.compile(r"^\[package\][^\[]*?^name\s*=\s*\"([^\"]+)\"", re.MULTILINE | re.DOTALL),
    "package.json": re.compile(r"\"name\"\s*:\s*\"([^\"]+)\""),
}
_FAMILY = {"go.mod": "go", "Cargo.toml": "rust", "package.json": "javascript"}


@lru_cache(maxsize=65536)
def module_of(path: str, family: str) -> Module:
    """Return the module of a file."""
    if family in _OF_FOLDER:
        return _steps(dirname(path))
    folder, _, name = path.rpartition("/")
    stem = _ENDING.sub("", name)
    whole = _steps(folder)
    return whole if stem in _FOLDERS else (*whole, _plain(stem))


def _steps(path: str) -> Module:
    return tuple(_plain(step) for step in path.split("/") if step and step not in ("src", "."))


def _plain(step: str) -> str:
    return step.replace("-", "_").replace(".", "_")


class ModulePaths:
    """The modules of one repository."""

    def __init__(self, table: ReferenceTable) -> None:
        self._table = table

    @cached_property
    def files(self) -> dict[str, dict[Module, list[str]]]:
        """Return the files of every module, by the family of their language."""
        found: dict[str, dict[Module, list[str]]] = {}
        for path, family in self._table.paths.items():
            found.setdefault(family, {}).setdefault(module_of(path, family), []).append(path)
        return found

    @cached_property
    def _by_last(self) -> dict[tuple[str, str], list[Module]]:
        """Return modules, and the folders that hold some, by family and last step."""
        found: dict[tuple[str, str], list[Module]] = {}
        for family, modules in self.files.items():
            for module in {whole[:end] for whole in modules for end in range(1, len(whole) + 1)}:
                found.setdefault((family, module[-1]), []).append(module)
        return found

    @cached_property
    def _packages(self) -> dict[str, list[tuple[Module, Module]]]:
        """Return the names that packages give themselves, by family, each with its folder, the longest names first."""
        found: dict[str, list[tuple[Module, Module]]] = {}
        for path in self._table.paths:
            name = path.rpartition("/")[2]
            package = _NAMED[name].search(self._table.text(path)) if name in _NAMED else None
            if package:
                found.setdefault(_FAMILY[name], []).append((_steps(package[1]), _steps(dirname(path))))
        return {family: sorted(each, key=lambda pair: -len(pair[0])) for family, each in found.items()}

    def locate(self, origin: str, path: str, family: str) -> list[Module]:
        """Return the modules that an origin may mean in a file, without saying that they are there."""
        steps = _steps(origin)
        if origin.startswith("/"):
            return [steps]
        for name, folder in self._packages.get(family, ()):
            if steps[: len(name)] == name:
                return [(*folder, *steps[len(name) :])]
        if family in ("go", "rust") or not steps or (family == "python" and steps[0] in sys.stdlib_module_names):
            return []
        return self._from_root(steps, path, family)

    def _from_root(self, steps: Module, path: str, family: str) -> list[Module]:
        """Return the modules whose path ends in the first of some steps, where a package may begin."""
        here = _steps(dirname(path))
        found = []
        for module in self._by_last.get((family, steps[0]), ()):
            top = module[:-1]
            if not top or top == here or family == "java" or (family, top) not in self._code_folders:
                found.append((*top, *steps))
        return found

    @cached_property
    def _code_folders(self) -> set[tuple[str, Module]]:
        folders = {(family, dirname(path)) for path, family in self._table.paths.items()}
        return {(family, _steps(folder)) for family, folder in folders}

    def is_module(self, module: Module, family: str) -> bool:
        """Return whether there is a file or a folder of code for a module."""
        return bool(module) and module in self._by_last.get((family, module[-1]), ())
