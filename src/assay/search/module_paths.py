"""Where an import says that a name is in, the files of a repository that it may be out; none for what lies outside.

A module is a tuple of folders, the file's name last, counted from the root. Files that stand for their folder
(`__init__`, `index`, `mod`, `lib`) have its name. In Go and on the Java machine the folder itself is the module.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import cached_property, lru_cache
from posixpath import dirname

from assay.search.reference_table import ReferenceTable

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
            for module in {part for whole in modules for part in _parts(whole)}:
                found.setdefault((family, module[-1]), []).append(module)
        return found

    @cached_property
    def _packages(self) -> dict[str, list[tuple[Module, Module]]]:
        """Return by family what packages call themselves, each with its folder, the longest names first."""
        found: dict[str, list[tuple[Module, Module]]] = {}
        for path in self._table.paths:
            name = path.rpartition("/")[2]
            said = _NAMED[name].search(self._table.text(path)) if name in _NAMED else None
            if said:
                found.setdefault(_FAMILY[name], []).append((_steps(said[1]), _steps(dirname(path))))
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
            if not top or top == here or family == "java" or not self._holds_code(top, family):
                found.append((*top, *steps))
        return found

    def _holds_code(self, folder: Module, family: str) -> bool:
        return folder in self._code_folders.get(family, ())

    @cached_property
    def _code_folders(self) -> dict[str, set[Module]]:
        found: dict[str, set[Module]] = {}
        for folder, family in self._table.folders:
            found.setdefault(family, set()).add(_steps(folder))
        return found

    def is_module(self, module: Module, family: str) -> bool:
        """Say whether there is a file or a folder of code for a module."""
        return bool(module) and module in self._by_last.get((family, module[-1]), ())


def _parts(whole: Module) -> Sequence[Module]:
    return [whole[:end] for end in range(1, len(whole) + 1)]
