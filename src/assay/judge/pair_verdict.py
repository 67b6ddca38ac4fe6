"""What a judge says about a pair, and what it took: the value that campaigns write down and accounts add up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from assay.judge.pairs import Pair


@dataclass(frozen=True, slots=True)
class Verdict:
    """A label with its reason; without a grade the pair is undecided.

    >>> Verdict(1, "the code sends a mail", path="single").grade
    1
    """

    grade: int | None
    """1 where the code answers the query exactly, 0 where not."""
    reason: str = ""
    path: str = ""
    """How it came about: `screen`, `tests`, `arbiter`, `single`, `signals`, or empty where it did not."""
    chance: float = math.nan
    """How likely the grade is 1, as far as the judge says."""
    problem: str = ""
    """Why there is no grade: `chat` (no model answers), `reply` (not as asked), `sandbox`, `split` (votes differ)."""
    told: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """More for the record: tests, calls, cost; plain data."""


@runtime_checkable
class Judge(Protocol):
    """Whether a code answers a query."""

    @property
    def name(self) -> str:
        """What it is, for records."""

    def judge(self, pair: Pair) -> Verdict:
        """Return the verdict; several threads may ask at once."""


@runtime_checkable
class Together(Judge, Protocol):
    """A judge that many pairs at a time cost less than one by one."""

    def judge_all(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Return a verdict a pair, in their order, each as if it were judged alone."""


def undecided(problem: str, reason: str, told: Mapping[str, Any] | None = None) -> Verdict:
    """Return the verdict that there is none."""
    return Verdict(None, reason, problem=problem, told=told or {})
