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
    from assay.sandbox.tasks.expected import Runs

EXECUTING = frozenset({"examples", "agreement"})
"""Rankers that run programs."""


def make(spec: str, sandbox: Runs | None = None) -> Ranker:
    """Return the ranker of a spec."""
    parts = parts_of(spec)
    rankers = [_one(part, sandbox) for part in parts]
    if len(rankers) == 1:
        return rankers[0]
    from assay.rank.combined import Combined

    return Combined(rankers)


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


def _one(spec: str, sandbox: Runs | None) -> Ranker:
    name, colon, argument = spec.partition(":")
    if name not in EXECUTING:
        ranker: Ranker = plugins.make("ranker", spec)
        return ranker
    if sandbox is None:
        raise InputError(f"the ranker '{name}' runs programs: allow it with --allow-execution, or take consensus")
    given = (argument,) if colon else ()
    executing: Ranker = plugins.find("ranker", name)(sandbox, *given)
    return executing
