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
DEPTH = 20
"""Results of a query that are asked for."""
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
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """What others published of their systems, by measure and system."""


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
    threshold: float | None = None
    """Results that score below this are left out before they are measured."""


@dataclass(frozen=True, slots=True)
class BenchPlan:
    """All of an experiment that is known before it runs."""

    sets: tuple[SetSpec, ...]
    systems: tuple[SystemSpec, ...]
    measures: tuple[Measure, ...] = tuple(map(parse, MEASURES))
    k: int = DEPTH
    seed: int = 0
    timeout_s: float = 30.0
    index_timeout_s: float = 3600.0
    threads: int = 1
    """What numeric libraries of every system may use; more helps a transformer index."""

    all_pairs: bool = False
    """Compare every two systems, not only variants with their base and systems that vary nothing."""
    asked: frozenset[str] = frozenset()
    """The systems to ask; of the others the answers of earlier runs are shown. Empty is all of them."""

    def only(self, patterns: Sequence[str]) -> BenchPlan:
        """Ask the systems whose name holds or matches one of some patterns."""
        if not patterns:
            return self
        names = [each.name for each in self.systems]
        kept = frozenset(name for name in names if any(p in name or fnmatchcase(name, p) for p in patterns))
        if not kept:
            raise InputError(f"no system is called like '{patterns[0]}'; {nearest(patterns[0], names)}")
        return replace(self, asked=kept)


def measures_of(names: Sequence[str], k: int) -> tuple[Measure, ...]:
    """Return measures of the first `k` results; without names the usual ones that look no further."""
    if not names:
        return tuple(measure for measure in map(parse, MEASURES) if _reach(measure) <= k)
    measures = tuple(dict.fromkeys(map(parse, names)))
    for measure in measures:
        if _reach(measure) > k:
            raise InputError(f"{measure} looks at {_reach(measure)} results, and {k} are asked for: raise k")
    return measures


def _reach(measure: Measure) -> int:
    """Return how many results a measure looks at; one without a cut-off takes what there is."""
    return 0 if measure.name == "success" else measure.depth or 0
