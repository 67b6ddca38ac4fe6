"""Judge many pairs into a file that only grows.

Each reply and each run is on disk before it is used, each verdict when it is there: killed at any point, the same
command goes on. Verdicts hold nothing but what follows from pair and steps.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from assay.errors import BudgetSpent, EndpointRefused, Interrupted, lasting, rate_text
from assay.judge.pairs import Judge, Pair, Together, Verdict
from assay.judge.records import pair_journal, past
from assay.runs.local import in_flight
from assay.runs.record import Journal, Steps, begin, sole_writer, version_changes
from assay.values import Chunk, Problem, Query


@dataclass(slots=True)
class Tally:
    """Counts of this run."""

    before: int = 0
    """Pairs that had a verdict already."""
    problems: int = 0
    """Pairs that cannot be judged."""
    grades: Counter[int | None] = field(default_factory=Counter)
    paths: Counter[str] = field(default_factory=Counter)
    unclear: int = 0
    """Pairs with a grade whose record says that they are unclear."""
    cost: float = 0.0
    unpriced: int = 0
    """Pairs of which nobody knows what they cost."""
    lost_in_a_row: int = 0
    last_problem: str = ""
    """Why the last undecided pair is undecided."""
    stopped: str = ""
    """Why it ended early, empty where it did not."""
    on_verdict: Callable[[Tally], None] | None = None
    """Called after each verdict."""
    total: int = 0
    """How many pairs there are, 0 where nobody knows."""
    began: float = 0.0

    @property
    def judged(self) -> int:
        """Pairs that got a verdict, undecided ones included."""
        return sum(self.grades.values())

    @property
    def matches(self) -> int:
        """Pairs with a grade above 0."""
        return self.judged - self.undecided - self.grades[0]

    @property
    def undecided(self) -> int:
        """Pairs that got no grade."""
        return self.grades[None]

    @property
    def rate(self) -> float:
        """Pairs a second."""
        return self.judged / max(time.monotonic() - self.began, 1e-9)

    def add(self, verdict: Verdict) -> None:
        """Count a verdict."""
        self.grades[verdict.grade] += 1
        self.paths[verdict.path or verdict.problem] += 1
        self.unclear += verdict.details.get("call") == "unclear"
        cost = verdict.details.get("cost", 0.0)
        self.unpriced += cost is None
        self.cost += cost or 0.0
        self.lost_in_a_row = self.lost_in_a_row + 1 if verdict.problem in FAILED else 0
        self.last_problem = verdict.reason if verdict.problem else self.last_problem
        if self.on_verdict:
            self.on_verdict(self)

    @property
    def done(self) -> int:
        """Pairs of which there is nothing left to do."""
        return self.before + self.judged + self.problems

    def line(self) -> str:
        """Return where it stands."""
        done, total = self.done, self.total
        parts = {
            f"{done:,} of {total:,} pairs" if total else f"{done:,} pairs": True,
            rate_text(self.rate): self.judged,
            f"${self.cost:.4f}": self.cost,
            f"{self.undecided:,} undecided": self.undecided,
            f"{lasting((total - done) / (self.rate or 1))} left": total > done and self.judged,
        }
        return ", ".join(part for part, is_shown in parts.items() if is_shown)


_AHEAD = 4
"""Pairs that are read ahead for each worker."""
_TOGETHER = 64
"""Pairs that a judge gets at once who wants many."""
FAILED = frozenset({"chat", "reply", "sandbox"})
"""Problems of whoever judges, not of the pair: there is no step of what went wrong."""
_MAX_LOST_IN_A_ROW = 25
"""Pairs in a row that no model answers: then there is none, and the rest waits for another day."""


@dataclass(frozen=True, slots=True)
class CampaignSettings:
    """What decides about the verdicts of a campaign, as the manifest says it."""

    judge: str
    """`agents`, `signals`, `asks`, `signals+asks` or `grades`."""
    chats: tuple[str, ...] = ()
    """One model, two of which each is asked, or with a third that decides between them."""
    config: str = "all"
    screener: str = ""
    """`signals` where no model screens."""
    weights: str = ""
    """The folder of weights of `signals`; empty for what ships."""
    weights_version: str = ""
    """A hash of these weights; empty where `signals` has no part."""
    encoder: str = ""
    """The encoder whose cosine `signals` goes by; empty for none."""
    prior: float = 0.5
    """The fraction of matches that `signals` and `asks` expect."""
    asks: dict[str, float] = field(default_factory=dict)
    """The options of `asks`, as its spec has them."""
    max_tries: int = 3
    votes: int = 1
    prompts: dict[str, str] = field(default_factory=dict)
    """Each prompt file with its hash."""
    sandbox: str = ""
    limits: dict[str, float] = field(default_factory=dict)
    install: str = ""
    """A hash of the list of what may be installed; empty where nothing is."""
    sample: str = ""
    """How the pairs were drawn from a larger file; empty where all are judged."""
    importable: tuple[str, ...] = field(default=(), metadata={"changes": version_changes})
    """What is there for code and tests without that; nothing where none are run."""


def run(  # noqa: PLR0913  # each is one thing
    pairs: Iterable[Pair | Problem],
    judge_of: Callable[[Steps], Judge],
    out: Path,
    *,
    settings: CampaignSettings,
    workers: int = 8,
    retry: bool = False,
    seed: int = 0,
    total: int = 0,
    on_verdict: Callable[[Tally], None] | None = None,
    on_problem: Callable[[Problem], None] | None = None,
) -> Tally:
    """Judge what has no verdict in `out` yet; `retry` judges undecided pairs again.

    `on_problem` hears of what is not judged, `on_verdict` of each verdict. A budget that is spent ends it cleanly.
    """
    with sole_writer(out):
        begin(out, settings, "verdicts", seed=seed)
        before = past(out)
        done = before.decided if retry else before.decided | before.undecided.keys()
        journal = pair_journal(out, skip=done, since=before.undecided)
        tally = Tally(on_verdict=on_verdict, total=total)
        fresh = _fresh(pairs, done, tally, on_problem)
        _judge_all(judge_of(journal), fresh, journal, tally, workers)
    return tally


def _fresh(
    pairs: Iterable[Pair | Problem], done: Container[str], tally: Tally, on_problem: Callable[[Problem], None] | None
) -> Iterator[Pair]:
    for pair in pairs:
        if isinstance(pair, Problem):
            tally.problems += 1
            if on_problem:
                on_problem(pair)
        elif pair.digest not in done:
            tally.began = tally.began or time.monotonic()  # what was done before takes no time to speak of
            yield pair
        else:
            tally.before += 1


def _judge_all(judge: Judge, pairs: Iterator[Pair], journal: Journal, tally: Tally, workers: int) -> None:
    """Judge all pairs, or stop where that has no sense; what was begun is finished and written."""

    def judge_some(some: Sequence[Pair]) -> list[Verdict]:
        made = judge.judge_all(some) if isinstance(judge, Together) else [judge.judge(pair) for pair in some]
        journal.put(*(line(pair, verdict, judge.name) for pair, verdict in zip(some, made, strict=True)))
        return made

    size = _TOGETHER if isinstance(judge, Together) else 1
    groups = iter(lambda: list(islice(pairs, size)), [])
    with closing(in_flight(judge_some, groups, workers, ahead=_AHEAD, is_stopped=lambda: bool(tally.stopped))) as ends:
        for future in ends:
            try:
                for verdict in future.result():
                    tally.add(verdict)
            except EndpointRefused as end:
                if not tally.judged:
                    raise  # a wrong address, key or model: there is nothing to sum up
                tally.stopped = str(end)
            except BudgetSpent as end:
                tally.stopped = str(end)
            except Interrupted:
                continue
            if tally.lost_in_a_row >= _MAX_LOST_IN_A_ROW:
                tally.stopped = f"{_MAX_LOST_IN_A_ROW} pairs in a row could not be judged: {tally.last_problem}"


def line(pair: Pair, verdict: Verdict, judge: str) -> dict[str, Any]:
    """Return the record of a verdict."""
    return {
        "kind": "verdict",
        "pair": pair.digest,
        "query_id": pair.query.id,
        "code_id": pair.code.id,
        **{name: getattr(verdict, name) for name in ("grade", "reason", "path", "problem")},
        "probability": None if math.isnan(verdict.probability) else round(verdict.probability, 6),
        "judge": judge,
        **verdict.details,
        "query": pair.query.text,
        "code": pair.code.text,
        "language": pair.code.language,
    }


class CampaignReporter(Protocol):
    """Who hears how a campaign goes."""

    def on_start(self, total: int) -> None:
        """Hear how many pairs there are."""

    def on_verdict(self, tally: Tally) -> None:
        """Hear how far it came."""

    def on_problem(self, problem: Problem) -> None:
        """Hear of what cannot be judged."""


@dataclass(frozen=True, slots=True)
class JudgeFactory:
    """A judge to be, which wants to know where steps are kept, and the settings that make it again."""

    judge_of: Callable[[Steps], Judge]
    settings: CampaignSettings


def pair_of(record: dict[str, Any]) -> Pair:
    """Return the pair that a verdict is about."""
    code = Chunk(record["code_id"], record["code"], record["language"])
    return Pair(Query(record["query_id"], record["query"]), code)
