"""A task's candidate programs to what can be seen in them, one row of features for each different program.

Several rankers look at the same pool (`consensus`, `gate`, each view of centrality): what was seen in the last one is
kept for the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from warnings import catch_warnings

import numpy as np
from numpy.typing import NDArray

from assay.rank.consensus import facts as static
from assay.rank.consensus import pool_features
from assay.rank.consensus.facts import Facts, facts
from assay.rank.consensus.paths import PathBags, bags
from assay.rank.consensus.task_wants import TaskWants, wants_of
from assay.types import Program, Task

Numbers = NDArray[np.float64]
FEATURES: Final = (*static.NAMES, *pool_features.NAMES)
_KEPT: Final = 8
"""Pools: those drawn of one task."""
_LARGE: Final = 1_000
"""Different programs of a pool that is not kept: what was seen in it takes tens of megabytes."""
_PARSES: Final = FEATURES.index("parses")
CENTRAL: Final = {"central_all": 1.0, "central_words": 1.0, "central_results": 1.0, "covers": 1.0, "mass": 0.5}
"""What centrality is made of: mean likenesses, how much of what is common a program has, and how many say the same."""


@dataclass(frozen=True, slots=True)
class PoolFacts:
    """What can be seen in the different programs of a pool."""

    facts: tuple[Facts, ...]
    held: PathBags
    rows: Numbers
    """One row a program, one column for each of `FEATURES`."""
    passing: NDArray[np.bool_]
    sources: tuple[str, ...]
    """The different programs, one for each row."""

    @property
    def python(self) -> bool:
        """Say whether any of it can be parsed."""
        return bool(self.rows[:, _PARSES].any())


def look_at(task: Task, programs: Sequence[Program]) -> PoolFacts:
    """Return what can be seen in the different programs of a pool."""
    counted: dict[str, int] = {}
    for program in programs:
        counted[program.source] = counted.get(program.source, 0) + max(program.n, 1)
    sources = sorted(counted)
    return look(task, sources, [counted[source] for source in sources])


def look(
    task: Task, sources: Sequence[str], n: Sequence[int], see: Callable[[str, TaskWants], Facts] = facts
) -> PoolFacts:
    """Return what can be seen in programs, none of them twice, each sampled so often; `see` looks at one."""
    look_once = _look if len(sources) <= _LARGE else _look.__wrapped__
    return look_once(wants_of(task), tuple(sources), tuple(n), see)


@lru_cache(_KEPT)
def _look(
    asked: TaskWants, sources: tuple[str, ...], n: tuple[int, ...], see: Callable[[str, TaskWants], Facts]
) -> PoolFacts:
    with catch_warnings(action="ignore"):
        seen = tuple(see(source, asked) for source in sources)
    held = bags([each.canon for each in seen])
    own = np.array([each.numbers for each in seen], np.float64)
    rows = np.hstack([own, pool_features.among(seen, n, held)])
    rows.flags.writeable = False
    return PoolFacts(seen, held, rows, pool_features.passing(seen), sources)


def centrality(rows: Numbers) -> Numbers:
    """Return how central each program is, from its row."""
    total: Numbers = sum(
        (weight * rows[:, FEATURES.index(name)] for name, weight in CENTRAL.items()), np.zeros(len(rows))
    )
    return total / len(CENTRAL)
