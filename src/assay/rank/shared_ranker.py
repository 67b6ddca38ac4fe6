"""A ranker that several others are joined from, asked about each pool once: what it said of a task's pools is kept.

`examples` and `examples+consensus` of one command run the examples once, and a model is asked once, whoever wants to
know.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.protocols import Pool, Ranker
from assay.rank.ranked_pools import ranked_pools
from assay.types import Program, Ranked, Task

_Key = tuple[Task, tuple[Program, ...]]


class SharedRanker:
    """The ranker that it wraps, with a memory of the pools of the tasks that it was asked about last."""

    def __init__(self, ranker: Ranker) -> None:
        self.name = ranker.name
        self._ranker = ranker
        self._known: list[tuple[_Key, list[Ranked]]] = []

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return what the ranker says of each program."""
        return self.rank_many([(task, programs)])[0]

    def rank_many(self, pools: Sequence[Pool]) -> list[list[Ranked]]:
        """Return what the ranker says of each program of several pools."""
        keys = [(task, tuple(programs)) for task, programs in pools]
        self._known = [(key, ranked) for key, ranked in self._known if any(key[0] == task for task, _ in keys)]
        missing = [key for key in keys if self._found(key) is None]
        self._known += zip(missing, ranked_pools(self._ranker, missing), strict=True)
        return [list(self._found(key) or ()) for key in keys]

    def _found(self, key: _Key) -> list[Ranked] | None:
        return next((ranked for known, ranked in self._known if known == key), None)
