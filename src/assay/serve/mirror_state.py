"""What is known of listed repositories, as a file: one process writes it, any number of others read it.

The process that fetches and indexes says here what there is to search. Who answers opens that, and looks at one file
rather than at hundreds of repositories to learn that something is new. What somebody wants fetched now, such as a
webhook, is one empty file a repository beside it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from hashlib import blake2b
from pathlib import Path
from typing import Any

from assay.errors import InputError, StorageError
from assay.io.files import write

_FORM = 1


@dataclass(frozen=True, slots=True)
class MirrorState:
    """One listed repository, as it was last looked at."""

    root: str
    """The folder of its files."""
    place: str
    """The folder or URL that the list names, without a login."""
    branch: str = ""
    changes: tuple[str, ...] = ()
    """Its own settings, as `section.key=value`."""
    generation: str = ""
    """What names this version of its index; empty: there is none yet."""
    commit: str = ""
    """The commit that is indexed; empty for a folder."""
    checked: float = 0.0
    """When it was last looked at without trouble, in seconds since 1970; 0 never."""
    problem: str = ""
    """Why it could not be brought up to date, or empty."""
    failures: int = 0
    """How often in a row that went wrong."""
    due: float = 0.0
    """When it is looked at again, in seconds since 1970."""
    every_s: float = 0.0
    """How often it is looked at, by its line or the options; 0: the usual of a folder."""


@dataclass(frozen=True, slots=True)
class ListState:
    """All repositories of a list."""

    mirrors: tuple[MirrorState, ...] = ()
    problem: str = ""
    """Why the list as it is now cannot be used, so that these are of the one before; or empty."""
    written: float = 0.0
    """When this was written, in seconds since 1970."""


class StateFile:
    """Where the state of one list lies, in the folder of the mirrors."""

    def __init__(self, mirrors: Path, listed: Path) -> None:
        name = blake2b(os.fsencode(listed.resolve()), digest_size=8).hexdigest()
        self.path = mirrors / f".state-{name}.json"
        self.lock = mirrors / f".state-{name}.lock"
        self._wanted = mirrors / f".wanted-{name}"

    def make_folder(self) -> None:
        """Make the folder of the mirrors, where this lies."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            why = error.strerror
            raise InputError(f"cannot make '{self.path.parent}': {why}; name another folder with --mirrors") from error

    def stamp(self) -> tuple[int, int, int] | None:
        """Return what is another one when the state was written again; None where there is none."""
        try:
            found = os.stat(self.path)  # noqa: PTH116  once a question: half the time of Path.stat
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def read(self) -> ListState:
        """Return the state; an empty one where there is none that can be read."""
        try:
            stored = json.loads(self.path.read_text("utf-8"))
            if stored["form"] != _FORM:
                return ListState()
            mirrors = tuple(_mirror_in(each) for each in stored["mirrors"])
            return ListState(mirrors, str(stored["problem"]), float(stored["written"]))
        except (OSError, ValueError, KeyError, TypeError):  # it is made again from the list and the indexes
            return ListState()

    def write(self, state: ListState) -> None:
        """Put a state in the place of the one before."""
        stored = {"form": _FORM, **asdict(state)}
        write(self.path, json.dumps(stored, ensure_ascii=True), durable=False)

    def want(self, roots: Collection[str]) -> None:
        """Have some repositories looked at now."""
        try:
            self._wanted.mkdir(exist_ok=True)
            for root in roots:
                (self._wanted / _digest(root)).touch()
        except OSError as error:
            raise StorageError(f"cannot write {self._wanted}: {error.strerror}") from error

    def take_wanted(self, roots: Collection[str]) -> list[str]:
        """Return those of some repositories that somebody wants to be looked at, and forget who that is."""
        with suppress(OSError):
            names = {each.name for each in self._wanted.iterdir()}
            wanted = [root for root in roots if _digest(root) in names] if names else []
            for name in names:
                (self._wanted / name).unlink(missing_ok=True)
            return wanted
        return []


def _mirror_in(stored: Mapping[str, Any]) -> MirrorState:
    known = {each.name for each in fields(MirrorState)}
    values = {name: value for name, value in stored.items() if name in known}
    return MirrorState(**{**values, "changes": tuple(values.get("changes", ()))})


def _digest(root: str) -> str:
    return blake2b(os.fsencode(root), digest_size=8).hexdigest()
