"""A spec string to the ranker it names: `consensus`, `neural:PATH`, or `examples+consensus`, where the first decides.

Rankers that run programs are handed a sandbox and are made only where there is one: running is for the user to allow.
Those that ask a model are handed what opens it, likewise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from assay import plugins
from assay.errors import InputError
from assay.protocols import Pool, Ranker
from assay.rank.asking.model_spec import model_spec
from assay.rank.ranked_pools import ranked_pools
from assay.types import Program, Ranked, Task

if TYPE_CHECKING:
    from assay.cage.cage import ProgramRunner
    from assay.rank.asking.model_ranker import RankingModels

EXECUTING = frozenset({"examples", "agreement"})
"""Rankers that run programs."""
ASKING = frozenset({"chat"})
"""Rankers that ask a language model."""


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


def ranker_of(
    spec: str = "consensus", runner: ProgramRunner | None = None, models: RankingModels | None = None
) -> Ranker:
    """Return the ranker of a spec; those that run programs need a sandbox, those that ask a model what opens it."""
    return rankers_of([spec], runner, models)[0]


def rankers_of(
    specs: Sequence[str], runner: ProgramRunner | None = None, models: RankingModels | None = None
) -> list[Ranker]:
    """Return the rankers of some specs; a part that several of them name is one ranker, asked about each pool once."""
    names = [part for spec in specs for part in parts_of(spec)]
    made = {part: _one(part, runner, models) for part in dict.fromkeys(names)}
    parts = {part: SharedRanker(each) if names.count(part) > 1 else each for part, each in made.items()}
    return [_joined([parts[part] for part in parts_of(spec)]) for spec in specs]


def _joined(rankers: Sequence[Ranker]) -> Ranker:
    if len(rankers) == 1:
        return rankers[0]
    from assay.rank.combined_ranker import CombinedRanker

    return CombinedRanker(rankers)


def parts_of(spec: str) -> list[str]:
    """Return the specs that a `+` joins; one inside a path joins nothing."""
    names = "|".join(map(re.escape, plugins.names("ranker")))
    parts = re.split(rf"\+(?=(?:{names})(?:[:+]|$))", spec)
    for part in parts:
        if not part.strip():
            raise InputError(f"'{spec}' names no ranker; known: {', '.join(plugins.names('ranker'))}")
        plugins.place("ranker", part.partition(":")[0])
    return parts


def executes(spec: str) -> bool:
    """Say whether a ranker of this spec runs programs."""
    return not EXECUTING.isdisjoint(_names(spec))


def asks(spec: str) -> bool:
    """Say whether a ranker of this spec asks a language model."""
    return not ASKING.isdisjoint(_names(spec))


def specs_within(spec: str) -> Iterator[str]:
    """Yield the specs of all rankers that have a part in one, those whose order a model starts from, too."""
    for part in parts_of(spec):
        name, _, argument = part.partition(":")
        yield part
        if name in ASKING:
            yield from specs_within(model_spec(argument)[1].first)


def _names(spec: str) -> Iterator[str]:
    return (each.partition(":")[0] for each in specs_within(spec))


def _one(spec: str, runner: ProgramRunner | None, models: RankingModels | None) -> Ranker:
    name, colon, argument = spec.partition(":")
    if name in ASKING:
        if models is None:
            raise InputError(f"the ranker '{name}' asks a model, and here none can be asked: take consensus")
        made: Ranker = plugins.find("ranker", name)(argument, models, lambda first: ranker_of(first, runner, models))
        return made
    if name not in EXECUTING:
        ranker: Ranker = plugins.make("ranker", spec)
        return ranker
    if runner is None:
        raise InputError(f"the ranker '{name}' runs programs: allow it with --allow-execution, or take consensus")
    given = (argument,) if colon else ()
    executing: Ranker = plugins.find("ranker", name)(runner, *given)
    return executing
