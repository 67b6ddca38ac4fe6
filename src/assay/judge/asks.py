"""Judge pairs by one question to a model: how likely its first word is yes, or which grade it gives.

The judge `asks:PROVIDER:MODEL`, or `signals+asks:PROVIDER:MODEL`, which adds the log-odds of the judge without a model.
Models differ in how sure they are and in which way they lean: `calibrate_near` of `assay.train.judge` makes a scale
and a bias of a few labels, and the options `scale` and `bias` of the spec take them. `grades:PROVIDER:MODEL` asks for
2, 1 or 0 with a reason, as JSON: for endpoints without log-probabilities too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from assay.errors import ChatError
from assay.judge.agents import spent, without_answer
from assay.judge.pairs import Pair, Verdict
from assay.judge.records import PairSession
from assay.judge.signals import SignalsJudge
from assay.llm.yes_no import BIAS, SCALE, WITH_SIGNALS, Calibration, logit, probability, spec_of
from assay.protocols import Chat
from assay.runs.record import Steps


@dataclass(frozen=True, slots=True)
class AsksJudge:
    """A model that is asked whether the code answers the query, alone or beside `signals`."""

    chat: Chat
    steps: Steps
    options: Mapping[str, float] = field(default_factory=dict)
    """`scale` and `bias` of the model's log-odds, where they are not as shipped."""
    prior: float = 0.5
    """The fraction of matches to expect."""
    signals: SignalsJudge | None = None
    """Of no prior; what it decides without the words of both texts stands, and nobody is asked."""

    @property
    def name(self) -> str:
        """The spec that makes it again."""
        asks = spec_of(self.chat.name, self.options)
        return f"{self.signals.name}+{asks}" if self.signals else asks

    def judge(self, pair: Pair) -> Verdict:
        """Return the verdict on a pair, with its probability."""
        read = self.signals.judge(pair) if self.signals else None
        if read and read.grade is not None and read.path != "signals":
            return read
        session = PairSession(pair, self.chat, self.steps)
        try:
            verdict = self._verdict(session.log_odds(), read)
        except ChatError as error:
            verdict = without_answer(error)
        return replace(verdict, details={**verdict.details, **spent(session.taken)})

    def _verdict(self, log_odds: float, read: Verdict | None) -> Verdict:
        """Return the verdict of a model's log-odds and of `signals`, where that has something to go by."""
        told, given, shipped = {"log_odds": round(log_odds, 6)}, [log_odds], Calibration((SCALE,), BIAS)
        if read and read.grade is not None:
            told["signals"] = round(read.probability, 6)
            given, shipped = [logit(read.probability), log_odds], WITH_SIGNALS
        *others, scale = shipped.weights
        weights = (*others, self.options.get("scale", scale))
        odds = Calibration(weights, self.options.get("bias", shipped.bias)).log_odds(*given)
        likely = probability(odds + logit(self.prior))
        return Verdict(int(likely >= 0.5), f"{likely:.2f}: {self.chat.name} was asked", "asks", likely, details=told)


GRADE = "grade"
"""The name of the prompt file that asks for a grade."""


@dataclass(frozen=True, slots=True)
class GradesJudge:
    """A model that is asked for a grade: 2 answers the query, 1 helps, 0 does not."""

    chat: Chat
    steps: Steps

    @property
    def name(self) -> str:
        """The spec that makes it again."""
        return f"grades:{self.chat.name}"

    def judge(self, pair: Pair) -> Verdict:
        """Return the verdict on a pair."""
        session = PairSession(pair, self.chat, self.steps)
        try:
            reply = session.ask(GRADE)
            verdict = Verdict(reply["grade"], reply["reason"], "grades")
        except ChatError as error:
            verdict = without_answer(error)
        return replace(verdict, details={**verdict.details, **spent(session.taken)})
