"""Rankers joined by `+` to one: the earlier decide, and the later are asked only about programs that these hold equal.

A later ranker sees the whole pool, so what it takes from the others stays evidence; its order counts within a tie. The
scores are places: equal for programs that all rankers hold equal, a higher one for what comes before.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.errors import InputError
from assay.protocols import Ranker
from assay.types import Program, Ranked, Task


class CombinedRanker:
    """The ranker `FIRST+SECOND+…`."""

    def __init__(self, rankers: Sequence[Ranker]) -> None:
        if not rankers:
            raise InputError("a combination of no rankers; name at least one, as in examples+consensus")
        self._rankers = tuple(rankers)

    @property
    def name(self) -> str:
        """The specs of its rankers, joined by `+`."""
        return "+".join(ranker.name for ranker in self._rankers)

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return a place for each program, with what each ranker thought of it."""
        told = list(zip(*(ranker.rank(task, programs) for ranker in self._rankers), strict=True))
        keys = [tuple(each.score for each in opinions) for opinions in told]
        places = {key: float(place) for place, key in enumerate(sorted(set(keys)))}
        return [
            self._joined(program, opinions, places[key])
            for program, opinions, key in zip(programs, told, keys, strict=True)
        ]

    def _joined(self, program: Program, opinions: Sequence[Ranked], place: float) -> Ranked:
        first = next((each for each in opinions if each.fault is not None), opinions[0])
        why: dict[str, float] = {}
        for ranker, opinion in zip(self._rankers, opinions, strict=True):
            why[ranker.name] = opinion.score
            why |= {f"{ranker.name}.{part}": value for part, value in opinion.why.items()}
        return Ranked(program, place, first.fault, first.line, why)
