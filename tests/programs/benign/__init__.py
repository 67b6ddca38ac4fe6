"""Right programs of honest people with tests that they pass where both are run in one interpreter; see the text files.

A program begins with `=== NAME`, where `entry=NAME`, `modules=NAMES` that have to be installed and `pytest` (the tests
import the program) may follow; `---` stands before its tests.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.values import Program, Pytest, Script, Task


@dataclass(frozen=True, slots=True)
class Right:
    """A program and its task."""

    program: Program
    task: Task
    modules: tuple[str, ...]

    @property
    def can_run(self) -> bool:
        """Say whether what it needs is installed."""
        return all(map(importlib.util.find_spec, self.modules))


def _read(path: Path) -> Iterator[Right]:
    for text in path.read_text(encoding="utf-8").split("=== ")[1:]:
        head, _, rest = text.partition("\n")
        name, *marks = head.split(" | ")
        given = dict(mark.partition("=")[::2] for mark in marks)
        source, _, tests = rest.partition("\n---\n")
        kind = Pytest if "pytest" in given else Script
        task = Task(name, "", given.get("entry", "f"), (kind(tests.strip("\n")),))
        yield Right(Program(name, source, id=name), task, tuple(filter(None, given.get("modules", "").split(","))))


ALL = tuple(right for path in sorted(Path(__file__).parent.glob("*.txt")) for right in _read(path))
