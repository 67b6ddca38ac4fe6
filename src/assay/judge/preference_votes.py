"""Votes between two sets of codes in, how often each is preferred out, with an interval and a test.

An item is one unit however many voters saw it: the side that most of them chose wins it. Items where nobody prefers
one, or as many prefer each, are draws: counted, and left out of the win rate and of the sign test.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from assay.measure.agreement import Estimate, alpha, majority
from assay.measure.compare import sign_test, wilson


@dataclass(frozen=True, slots=True)
class Preference:
    """What votes say."""

    items: int
    votes: int
    voters: int
    a: int
    """Items that the first set wins."""
    b: int
    draws: int
    rate: Estimate
    """The share of a among items that somebody wins, with Wilson's interval; nan where nobody does."""
    p: float
    """Of the two-sided exact sign test."""
    left: Estimate
    """The share of choices that fell on the left: far from a half, the place decided and not the code."""
    alpha: Estimate | None
    """Krippendorff's, where an item has votes of several."""
    seconds: float
    """The median time that a vote took."""


def preference(votes: Iterable[Mapping[str, Any]]) -> Preference:
    """Sum votes up, one a voter and item."""
    by: dict[str, dict[str, str]] = {}
    given = list(votes)
    for vote in given:
        by.setdefault(vote["item"], {})[vote["voter"]] = vote["choice"]
    won = [majority(choice for choice in choices.values() if choice != "neither") for choices in by.values()]
    a, b = won.count("a"), won.count("b")
    taken = [vote["choice"] == vote["left"] for vote in given if vote["choice"] != "neither"]
    voters = sorted({vote["voter"] for vote in given})
    several = any(len(choices) > 1 for choices in by.values())
    return Preference(
        items=len(by),
        votes=len(given),
        voters=len(voters),
        a=a,
        b=b,
        draws=len(by) - a - b,
        rate=_share(a, a + b),
        p=sign_test(a, b),
        left=_share(sum(taken), len(taken)),
        alpha=alpha([[choices.get(voter) for voter in voters] for choices in by.values()]) if several else None,
        seconds=float(median(vote.get("seconds", 0.0) for vote in given)) if given else 0.0,
    )


def _share(part: int, whole: int) -> Estimate:
    return Estimate(part / whole if whole else float("nan"), *wilson(part, whole))
