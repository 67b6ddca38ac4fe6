"""A spec string to the ranker it names: `consensus`, `neural:PATH`, or `examples+consensus`, where the first decides.

Rankers that run programs are handed a sandbox and are made only where there is one: running is for the user to allow.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from assay import plugins
from assay.errors import InputError
from assay.protocols import Ranker

if TYPE_CHECKING:
    from assay.cage.cage_pool import ProgramRunner

EXECUTING = frozenset({"examples", "agreement"})
"""Rankers that run programs."""


def ranker_of(spec: str = "consensus", runner: ProgramRunner | None = None) -> Ranker:
    """Return the ranker of a spec; those that run programs need a sandbox, which is the user's to allow."""
    parts = parts_of(spec)
    rankers = [_one(part, runner) for part in parts]
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
    return not EXECUTING.isdisjoint(part.partition(":")[0] for part in parts_of(spec))


def _one(spec: str, runner: ProgramRunner | None) -> Ranker:
    name, colon, argument = spec.partition(":")
    if name not in EXECUTING:
        ranker: Ranker = plugins.make("ranker", spec)
        return ranker
    if runner is None:
        raise InputError(f"the ranker '{name}' runs programs: allow it with --allow-execution, or take consensus")
    given = (argument,) if colon else ()
    executing: Ranker = plugins.find("ranker", name)(runner, *given)
    return executing
