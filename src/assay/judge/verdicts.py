"""Say what a judge decided about a pair, and join the verdicts of several judges."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from operator import itemgetter
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


COUNTED = ("tokens_in", "tokens_out", "tokens_cached", "asked_again")
"""Numbers of a verdict that are added up: of the tokens read, `tokens_cached` had been read by the endpoint before;
`asked_again` are answers that fitted no schema."""
_TESTED = ("reading", "executable", "passed", "failed", "error")


@dataclass(frozen=True, slots=True)
class MajorityJudge:
    """The grade that more than half of the judges give: two have to agree, and of three the third decides."""

    judges: Sequence[Judge]

    @property
    def name(self) -> str:
        """Whose majority it is."""
        names = dict.fromkeys(judge.name for judge in self.judges)
        return f"{'+'.join(names)} x{len(self.judges)}"

    def judge(self, pair: Pair) -> Verdict:
        """Ask as many as a majority takes side by side, then one after the other until a grade has it."""
        majority = len(self.judges) // 2 + 1
        first, *beside = self.judges[:majority]
        with ThreadPoolExecutor(len(self.judges), "beside") as threads:  # all have ended when this returns or raises
            others = [threads.submit(judge.judge, pair) for judge in beside]
            given = [first.judge(pair), *(other.result() for other in others)]
        for judge in self.judges[majority:]:
            votes = Counter(verdict.grade for verdict in given if verdict.grade is not None)
            if votes and max(votes.values()) >= majority:
                break
            given.append(judge.judge(pair))
        return _together(given, len(self.judges))


def _together(given: Sequence[Verdict], seats: int) -> Verdict:
    """Return the verdict of the majority, with what all of them took; without one it is undecided."""
    votes = Counter(verdict.grade for verdict in given if verdict.grade is not None)
    told = {**_summed([verdict.told for verdict in given]), "votes": [verdict.grade for verdict in given]}
    if any("readings" in verdict.told for verdict in given):
        told["tested"] = [_tested(verdict) for verdict in given]
    grade, count = max(votes.items(), key=itemgetter(1), default=(0, 0))
    if count * 2 > max(seats, len(given)):
        first = next(verdict for verdict in given if verdict.grade == grade)
        fraction = count / len(given) if grade else 1 - count / len(given)
        return Verdict(grade, first.reason, first.path, fraction, told={**first.told, **told})
    if lacking := next((verdict for verdict in given if verdict.grade is None), None):
        return undecided(lacking.problem, lacking.reason, told)
    return undecided("split", " / ".join(f"{verdict.grade}: {verdict.reason}" for verdict in given), told)


def _tested(verdict: Verdict) -> dict[str, Any]:
    """Return which reading a vote took, and what came of its tests."""
    return {"grade": verdict.grade, **{name: verdict.told[name] for name in _TESTED if name in verdict.told}}


def _summed(told: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Add up what several judges took."""
    spent = [each for each in told if "calls" in each]
    if not spent:
        return {}
    costs = [each["cost"] for each in spent]
    seconds = {part: round(sum(each["seconds"][part] for each in spent), 3) for part in spent[0]["seconds"]}
    return {
        "calls": dict(sum((Counter(each["calls"]) for each in spent), Counter[str]())),
        "prompts": {name: version for each in spent for name, version in each["prompts"].items()},
        "models": sorted({model for each in spent for model in each["models"]}),
        **{name: sum(each[name] for each in spent) for name in COUNTED},
        "cost": None if None in costs else round(sum(costs), 9),
        "seconds": seconds,
    }
