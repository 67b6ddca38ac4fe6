"""Steps that cost something, written down before they are used, and found again by a hash of what was asked.

So the same steps lead to the same end: after a crash nothing is paid twice, and what was done is told again from its
records with nobody asked. In memory stands only where the steps lie in the file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

from assay.errors import StorageError
from assay.runs.record import append_lines

Record = Mapping[str, Any]
Wanted = Callable[[int, Record], bool]
"""Called with the number of a line and its record: whether it is a step that may be found."""


class Steps(Protocol):
    """Where steps are kept."""

    def get(self, key: str) -> Record | None:
        """Return the step of a key, None where it was not made yet."""

    def put(self, *steps: Record) -> None:
        """Keep steps; they are safe when this returns."""


class NoSteps:
    """Keeps nothing: for single questions, and for work whose record somebody else keeps."""

    def get(self, key: str) -> Record | None:  # noqa: ARG002
        """Find nothing."""
        return None

    def put(self, *steps: Record) -> None:
        """Drop steps."""


class Journal:
    """A file to which many threads append: one write for all that wait at that moment."""

    def __init__(self, file: Path, wanted: Wanted) -> None:
        """Find the steps of a file that are wanted; each has its `key`."""
        self.file = file
        self._at = {key: place for place, key in _places(file, wanted)}
        self._lock, self._writing = Lock(), Lock()
        self._waiting: list[Record] = []

    def get(self, key: str) -> Record | None:
        """Return the step of a key that was on disk when this was opened."""
        place = self._at.get(key)
        if place is None:
            return None
        with self.file.open("rb") as lines:
            lines.seek(place)
            found: Record = json.loads(lines.readline())
        return found

    def put(self, *steps: Record) -> None:
        """Append records; they are on disk when this returns, written by this thread or by one before it."""
        with self._lock:
            self._waiting.extend(steps)
        with self._writing:
            with self._lock:
                batch, self._waiting = self._waiting, []
            if batch:
                append_lines(self.file, batch)


class ReadOnlySteps:
    """The steps of a file, to which nothing is added."""

    def __init__(self, file: Path, wanted: Wanted) -> None:
        self._journal = Journal(file, wanted)

    def get(self, key: str) -> Record | None:
        """Return the step of a key."""
        return self._journal.get(key)

    def put(self, *steps: Record) -> None:
        """Drop steps: whoever made them differs from what was recorded."""


def _places(file: Path, wanted: Wanted) -> Iterator[tuple[int, str]]:
    """Yield where the steps of a file lie, and their keys."""
    if not file.exists():
        return
    place = 0
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.endswith(b"\n"):
                try:
                    record = json.loads(line)
                    if wanted(number, record):
                        yield place, record["key"]
                except (ValueError, KeyError, TypeError) as error:
                    raise StorageError(f"{file}:{number}: no record ({error!r}); take the line out to go on") from error
            place += len(line)
