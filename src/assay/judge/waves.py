"""A campaign in waves, for models that answer later: all pairs go as far as they can, then what they wait for comes.

A pair that meets a question without an answer is put off; the next wave finds its steps in the records and goes on.
Each wave asks all that it can at once: all screens first, then all tests, and so on. Without such a model there is one.
A wave that got no further than the one before, with nothing under way, is the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from assay.errors import ChatError
from assay.judge import campaign
from assay.judge.pair_verdict import Judge
from assay.judge.pairs import Pair
from assay.judge.tally import Tally
from assay.protocols import Say
from assay.runs.record import Steps
from assay.types import Problem

_STUCK = "no pair gets further, and nothing is under way"


class LaterChat(Protocol):
    """A model whose answers come later."""

    @property
    def refusal(self) -> str:
        """What the budget had no room for, empty where it had."""

    def submit(self) -> int:
        """Send what was put off; return how much is under way."""

    def collect(self, say: Say) -> None:
        """Wait for what is under way."""


def run_in_waves(  # noqa: PLR0913  # each is one thing
    pairs_of: Callable[[], Iterable[Pair | Problem]],
    judge_of: Callable[[Steps], Judge],
    out: Path,
    *,
    later: Sequence[LaterChat],
    say: Say,
    told: Callable[[Problem], None] | None = None,
    **options: Any,
) -> Tally:
    """Judge what has no verdict in `out` yet, wave by wave; the options are those of `campaign.run`."""
    before = _size(out)
    tally = wave = campaign.run(pairs_of(), judge_of, out, told=told, **options)
    while wave.waiting and not wave.stopped:
        try:
            under_way = sum(chat.submit() for chat in later)
            for chat in later:
                chat.collect(say)
        except ChatError as error:
            return replace(tally, stopped=str(error), waiting=wave.waiting)
        if not under_way and _size(out) == before:
            reason = next((chat.refusal for chat in later if chat.refusal), _STUCK)
            return replace(tally, stopped=reason, waiting=wave.waiting)
        before = _size(out)
        wave = campaign.run(pairs_of(), judge_of, out, **{**options, "only": wave.waiting})
        tally = tally.followed_by(wave)
    return tally


def _size(out: Path) -> int:
    """Return how much is recorded."""
    return out.stat().st_size if out.exists() else 0
