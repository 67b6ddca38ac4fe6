"""Pairs in, one verdict a pair out, in a file that only grows: many pairs at once, and never the same call twice.

Each reply and each run is on disk before it is used, each verdict when it is there. Killed at any point, the same
command goes on: pairs with a verdict are left alone, the others find their steps again. Verdicts hold nothing but what
follows from pair and steps, so one told again from its records is the same, and only their order is chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from assay.errors import BudgetSpent, Deferred, EndpointRefused, InputError
from assay.judge.pair_verdict import Judge, Together, Verdict
from assay.judge.pairs import Pair
from assay.judge.past_records import past
from assay.judge.steps import pair_journal
from assay.judge.tally import Tally
from assay.programs.modules.imports import changes
from assay.runs.local import in_flight
from assay.runs.record import Journal, Steps, begin, sole_writer, stored_settings
from assay.types import Problem

_AHEAD = 4
"""Pairs that are read ahead for each worker."""
_TOGETHER = 64
"""Pairs that a judge gets at once who wants many."""
_ENOUGH = 25
"""Pairs in a row that no model answers: then there is none, and the rest waits for another day."""


@dataclass(frozen=True, slots=True)
class CampaignSettings:
    """What decides about the verdicts of a campaign, as the manifest says it."""

    judge: str
    """`agents` or `signals`."""
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
    """The encoder whose cosines are evidence for `signals`; empty for none."""
    prior: float = 0.5
    """The fraction of matches that `signals` expects."""
    max_tries: int = 3
    votes: int = 1
    prompts: dict[str, str] = field(default_factory=dict)
    """Each prompt file with its hash."""
    tests_for: str = ""
    """`python` where tests are written for Python alone; empty for campaigns that wrote them for any code."""
    sandbox: str = ""
    limits: dict[str, float] = field(default_factory=dict)
    install: str = ""
    """A hash of the list of what may be installed; empty where nothing is."""
    sample: str = ""
    """How the pairs were drawn from a larger file; empty where all are judged."""
    importable: tuple[str, ...] = field(default=(), metadata={"changes": changes})
    """What is there for code and tests without that; nothing where none are run."""


def run(  # noqa: PLR0913  # each is one thing
    pairs: Iterable[Pair | Problem],
    judge_of: Callable[[Steps], Judge],
    out: Path,
    *,
    settings: CampaignSettings,
    workers: int = 8,
    retry: bool = False,
    only: Collection[str] | None = None,
    seed: int = 0,
    report: Callable[[Tally], None] | None = None,
    told: Callable[[Problem], None] | None = None,
) -> Tally:
    """Judge what has no verdict in `out` yet; `retry` judges undecided pairs again, `only` those of some digests.

    `told` hears of what is not judged, `report` of each verdict. A budget that is spent ends it cleanly.
    """
    with sole_writer(out):
        begin(out, settings, "verdicts", seed=seed)
        before = past(out)
        done = before.decided if retry else before.decided | before.undecided.keys()
        done = done if only is None else done - set(only)
        journal = pair_journal(out, skip=done, since=before.undecided)
        tally = Tally(said=report)
        threads = _Threads(judge_of(journal), journal, tally, workers)
        threads.work(_fresh(pairs, lambda digest: digest not in done and (only is None or digest in only), tally, told))
    return tally


def _fresh(
    pairs: Iterable[Pair | Problem],
    is_wanted: Callable[[str], bool],
    tally: Tally,
    told: Callable[[Problem], None] | None,
) -> Iterator[Pair]:
    for pair in pairs:
        if isinstance(pair, Problem):
            tally.problems += 1
            if told:
                told(pair)
        elif is_wanted(pair.digest):
            tally.begin()
            yield pair
        else:
            tally.before += 1


class _Threads:
    """Some threads that judge pairs, many at a time where the judge likes that, and what to do when one fails."""

    def __init__(self, judge: Judge, journal: Journal, tally: Tally, workers: int) -> None:
        self._judge, self._journal, self._tally, self._workers = judge, journal, tally, workers

    def work(self, pairs: Iterator[Pair]) -> None:
        """Judge all pairs, or stop where that has no sense; what was begun is finished and written."""
        size = _TOGETHER if isinstance(self._judge, Together) else 1
        groups = iter(lambda: list(islice(pairs, size)), [])
        ends = in_flight(self._some, groups, self._workers, ahead=_AHEAD, is_stopped=lambda: bool(self._tally.stopped))
        with closing(ends):
            for future in ends:
                self._hear(future)

    def _some(self, pairs: Sequence[Pair]) -> list[Verdict]:
        judge = self._judge
        if isinstance(judge, Together):
            given = list(zip(pairs, judge.judge_all(pairs), strict=True))
        else:
            given = [(pair, verdict) for pair in pairs if (verdict := self._judged(pair))]
        self._journal.put(*(line(pair, verdict, judge.name) for pair, verdict in given))
        return [verdict for _, verdict in given]

    def _judged(self, pair: Pair) -> Verdict | None:
        """Return the verdict on a pair, None where it waits for an answer."""
        try:
            return self._judge.judge(pair)
        except Deferred:
            self._tally.waiting.add(pair.digest)
            return None

    def _hear(self, future: Future[list[Verdict]]) -> None:
        """Count the verdicts of some pairs, or that there will be no more."""
        try:
            for verdict in future.result():
                self._tally.add(verdict)
        except (BudgetSpent, EndpointRefused) as end:
            self._tally.stopped = str(end)
        if self._tally.lost_in_a_row >= _ENOUGH:
            self._tally.stopped = f"{_ENOUGH} pairs in a row could not be judged: {self._tally.last_reason}"


def line(pair: Pair, verdict: Verdict, judge: str) -> dict[str, Any]:
    """Return the record of a verdict."""
    return {
        "kind": "verdict",
        "pair": pair.digest,
        "query_id": pair.query.id,
        "code_id": pair.code.id,
        "grade": verdict.grade,
        "reason": verdict.reason,
        "path": verdict.path,
        "problem": verdict.problem,
        "chance": None if math.isnan(verdict.chance) else round(verdict.chance, 6),
        "judge": judge,
        **verdict.told,
        "query": pair.query.text,
        "code": pair.code.text,
        "language": pair.code.language,
    }


def settings_of(out: Path) -> CampaignSettings:
    """Return the settings that a file of records was made with."""
    try:
        before = stored_settings(out) or {}
        if before.get("judge") == "person":
            raise InputError(f"{out} holds labels of a person: there is nothing to compute again")
        return CampaignSettings(**{**before, "chats": tuple(before["chats"])})
    except (KeyError, TypeError) as error:
        raise InputError(f"no manifest beside {out} ({error}): it says which judge made the records") from error
