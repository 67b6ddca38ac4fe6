"""What an experiment is: sets of queries, systems under test, measures. Values only; a matrix file makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from assay.errors import InputError, nearest
from assay.measure.measures import Measure, parse

MEASURES = (
    "nDCG@10",
    "MRR",
    "Hit@1",
    "Hit@5",
    "Hit@10",
    "Recall@5",
    "Recall@10",
    "MAP",
    "success@2000tokens",
    "lines@5",
)
"""What is measured unless a matrix says otherwise; the first one decides."""
ROLES = ("", "dev", "test")


@dataclass(frozen=True, slots=True)
class SetSpec:
    """One set of queries."""

    name: str
    truth: Path | None
    """A file or folder of ground truth; None when it is mined from the corpus."""
    corpus: Path | None = None
    role: str = ""
    form: str = ""
    """The format of the ground truth, where its name does not tell."""


@dataclass(frozen=True, slots=True)
class SystemSpec:
    """One system under test."""

    name: str
    spec: str
    options: Mapping[str, Any] = field(default_factory=dict)
    base: str = ""
    """The system that this one varies."""
    needs: str = ""
    """An environment variable without which it is left out: a key that is paid for."""
    chosen_on: str = ""
    """The role of the sets that its settings were chosen on."""


@dataclass(frozen=True, slots=True)
class Plan:
    """All of an experiment that is known before it runs."""

    sets: tuple[SetSpec, ...]
    systems: tuple[SystemSpec, ...]
    measures: tuple[Measure, ...] = tuple(map(parse, MEASURES))
    k: int = 20
    seed: int = 0
    timeout_s: float = 30.0
    index_timeout_s: float = 3600.0
    threads: int = 1
    """What numeric libraries of every system may use; more helps a transformer index."""

    def only(self, patterns: Sequence[str]) -> Plan:
        """Keep the systems whose name holds or matches one of some patterns."""
        if not patterns:
            return self
        kept = tuple(
            each for each in self.systems if any(p in each.name or fnmatchcase(each.name, p) for p in patterns)
        )
        if not kept:
            names = [each.name for each in self.systems]
            raise InputError(f"no system is called like '{patterns[0]}'; {nearest(patterns[0], names)}")
        return replace(self, systems=kept)
