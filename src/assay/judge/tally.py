"""How far a campaign is: counted verdict by verdict, told as one line with rate, cost and time left."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from assay.judge.pair_verdict import Verdict


@dataclass(slots=True)
class Tally:
    """Counts of this run."""

    before: int = 0
    """Pairs that had a verdict already."""
    problems: int = 0
    """Pairs that cannot be judged."""
    grades: Counter[int | None] = field(default_factory=Counter)
    paths: Counter[str] = field(default_factory=Counter)
    cost: float = 0.0
    unpriced: int = 0
    """Pairs of which nobody knows what they cost."""
    waiting: set[str] = field(default_factory=set)
    """Digests of pairs that wait for answers of a batch."""
    lost_in_a_row: int = 0
    last_reason: str = ""
    stopped: str = ""
    """Why it ended early, empty where it did not."""
    said: Callable[[Tally], None] | None = None
    began: float = field(default_factory=time.monotonic)
    started: bool = False

    @property
    def judged(self) -> int:
        """Pairs that got a verdict, undecided ones included."""
        return sum(self.grades.values())

    @property
    def undecided(self) -> int:
        """Pairs that got no grade."""
        return self.grades[None]

    @property
    def rate(self) -> float:
        """Pairs a second."""
        return self.judged / max(time.monotonic() - self.began, 1e-9)

    def begin(self) -> None:
        """Start the clock with the first pair: what was done before takes no time to speak of."""
        if not self.started:
            self.started, self.began = True, time.monotonic()

    def add(self, verdict: Verdict) -> None:
        """Count a verdict."""
        self.grades[verdict.grade] += 1
        self.paths[verdict.path or verdict.problem] += 1
        cost = verdict.told.get("cost", 0.0)
        self.unpriced += cost is None
        self.cost += cost or 0.0
        self.lost_in_a_row = self.lost_in_a_row + 1 if verdict.problem in ("chat", "sandbox") else 0
        self.last_reason = verdict.reason
        if self.said:
            self.said(self)

    def followed_by(self, later: Tally) -> Tally:
        """Return the counts of this wave and a later one."""
        both = replace(later, before=self.before, problems=self.problems, began=self.began)
        both.grades, both.paths = self.grades + later.grades, self.paths + later.paths
        both.cost, both.unpriced = self.cost + later.cost, self.unpriced + later.unpriced
        return both

    def line(self, total: int = 0) -> str:
        """Return where it stands; `total` is how many pairs there are, 0 where nobody knows."""
        done = self.before + self.judged + self.problems
        parts = [f"{done:,} of {total:,} pairs" if total else f"{done:,} pairs", f"{self.rate:.1f} a second"]
        if self.cost:
            parts.append(f"${self.cost:.4f}")
        if self.undecided:
            parts.append(f"{self.undecided:,} undecided")
        if self.waiting:
            parts.append(f"{len(self.waiting):,} wait for a batch")
        if total > done and self.judged:
            parts.append(f"{lasting((total - done) / self.rate)} left")
        return ", ".join(parts)


def lasting(seconds: float) -> str:
    """Return a time as people say it."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 2 * 86400 else f"{seconds / 86400:.1f} days"
