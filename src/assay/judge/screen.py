"""The preliminary screener: a pair to a clear match, a clear non-match, or unclear, with why (CoSQA+, IV-C a)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from assay.judge.steps import PairSession

Assessment = Literal["match", "non-match", "unclear"]


@dataclass(frozen=True, slots=True)
class Screening:
    """What reading alone shows."""

    assessment: Assessment
    justification: str


def screen(session: PairSession) -> Screening:
    """Ask a model to read the pair."""
    reply = session.ask("screen")
    return Screening(cast(Assessment, reply["assessment"]), reply["justification"])
