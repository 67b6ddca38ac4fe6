"""The parts of `consensus` as rankers of their own, to see what each is worth: `gate`, `centrality`, `signal:NAME`.

    assay rank eval SAMPLES OUTCOMES --ranker gate --ranker gate+centrality --ranker 'consensus:?without=central'

`centrality:VIEW` is one of its five views. A signal is one feature of a program, the higher the better, or the lower
the better for those that speak against it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError, nearest
from assay.rank.consensus.feature_directions import AGAINST
from assay.rank.consensus.pool_facts import CENTRAL, FEATURES, PoolFacts, centrality, look_at
from assay.types import Program, Ranked, Task

_VIEWS = {name.removeprefix("central_"): name for name in CENTRAL}


class _PartRanker:
    """A ranker that scores the different programs of a pool by what can be seen in them."""

    def __init__(self, name: str, score: Callable[[PoolFacts], NDArray[np.float64]]) -> None:
        self.name = name
        self._score = score

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return the score of each program, in their order."""
        if not programs:
            return []
        seen = look_at(task, programs)
        scores = dict(zip(seen.sources, self._score(seen).tolist(), strict=True))
        return [Ranked(program, scores[program.source]) for program in programs]


class GateRanker(_PartRanker):
    """`gate`: 1 for a program that nothing shows to fail, else 0."""

    def __init__(self) -> None:
        super().__init__("gate", lambda seen: seen.passing.astype(np.float64))


class CentralityRanker(_PartRanker):
    """`centrality`, or one of its views: `centrality:all`, `words`, `results`, `covers`, `mass`."""

    def __init__(self, view: str = "") -> None:
        if view and view not in _VIEWS:
            raise InputError(f"no view '{view}' of centrality; {nearest(view, list(_VIEWS))}")
        column = FEATURES.index(_VIEWS[view]) if view else -1
        name = f"centrality:{view}" if view else "centrality"
        super().__init__(name, lambda seen: seen.rows[:, column] if view else centrality(seen.rows))


class SignalRanker(_PartRanker):
    """`signal:NAME`: one feature, as `words_covered` or `kind_wrong`."""

    def __init__(self, feature: str = "") -> None:
        if feature not in FEATURES:
            raise InputError(f"no signal '{feature}', as in signal:words_covered; {nearest(feature, list(FEATURES))}")
        column, sign = FEATURES.index(feature), -1.0 if feature in AGAINST else 1.0
        super().__init__(f"signal:{feature}", lambda seen: sign * seen.rows[:, column])
