"""A ranker that several others are joined from, asked about each pool once: what it said of a task's pools is kept.

`examples` and `examples+consensus` of one command run the examples once, and a model is asked once, whoever wants to
know.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.protocols import Ranker
from assay.types import Program, Ranked, Task


class SharedRanker:
    """The ranker that it wraps, with a memory of the pools of one task."""

    def __init__(self, ranker: Ranker) -> None:
        self.name = ranker.name
        self._ranker = ranker
        self._task: Task | None = None
        self._known: list[tuple[tuple[Program, ...], list[Ranked]]] = []

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return what the ranker says of each program."""
        if task != self._task:
            self._task, self._known = task, []
        pool = tuple(programs)
        found = next((ranked for known, ranked in self._known if known == pool), None)
        if found is None:
            found = self._ranker.rank(task, programs)
            self._known.append((pool, found))
        return list(found)
