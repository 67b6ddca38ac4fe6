"""One question to a model as judge, alone and beside `signals`, and as screener."""

from __future__ import annotations

import math

import pytest
from acting import Actor, pair

from assay.errors import BudgetSpent, EndpointFailed
from assay.judge.asks import AsksJudge
from assay.judge.pairs import Pair
from assay.judge.records import PairSession
from assay.judge.screeners import LikelihoodScreener
from assay.judge.signals import SignalsJudge
from assay.llm.yes_no import BIAS, SCALE, WITH_SIGNALS, probability
from assay.runs.record import NoSteps
from assay.values import Chunk, Prompt, Query, Reply

SENDS = Pair(Query("1", "send a mail"), Chunk("a", "def send_mail(server, message):\n    server.send(message)\n"))
FOREIGN = Pair(Query("2", "wie sende ich eine mail"), SENDS.code)


class Says(Actor):
    """Says yes with one probability."""

    def __init__(self, likely: float) -> None:
        super().__init__()
        self.likely = likely

    def reply(self, _prompt: Prompt) -> Reply:
        return Reply({"Yes": self.likely, "No": 1 - self.likely, "mass": 1.0}, "says", 100, 1, 0.001, 0.5)


class Raises(Says):
    def __init__(self, error: Exception) -> None:
        super().__init__(0.5)
        self.error = error

    def reply(self, _prompt: Prompt) -> Reply:
        raise self.error


def judge(chat: Actor, prior: float = 0.5, signals: SignalsJudge | None = None, **options: float) -> AsksJudge:
    return AsksJudge(chat, NoSteps(), options, prior, signals)


def test_the_answer_is_calibrated_and_moved_by_what_is_expected():
    odds = math.log(9)
    verdict = judge(Says(0.9), scale=1, bias=0).judge(SENDS)
    assert (verdict.grade, verdict.path, verdict.probability) == (1, "asks", pytest.approx(0.9))
    told = verdict.details
    assert (told["calls"], told["cost"], told["log_odds"]) == ({"pair": 1}, 0.001, round(odds, 6))
    few = judge(Says(0.9), prior=0.01, scale=0.5, bias=-1).judge(SENDS)
    assert (few.grade, few.probability) == (0, pytest.approx(probability(odds / 2 - 1 - math.log(99))))
    assert judge(Says(0.9)).judge(SENDS).probability == pytest.approx(probability(SCALE * odds + BIAS))


def test_signals_add_their_log_odds_and_what_they_cannot_read_is_left_to_the_model():
    signals = SignalsJudge()
    alone, both = judge(Says(0.6)), judge(Says(0.6), signals=signals)
    assert both.name.startswith("signals+asks:")
    other = Pair(Query("3", "parse a date"), SENDS.code)
    assert both.judge(SENDS).probability > both.judge(other).probability
    assert alone.judge(SENDS).probability == alone.judge(other).probability
    read = signals.judge(SENDS).probability
    assert both.judge(SENDS).details["signals"] == round(read, 6)
    sums = {scale: WITH_SIGNALS.weights[0] * math.log(read / (1 - read)) + scale * math.log(1.5) for scale in (1.53, 3)}
    assert both.judge(SENDS).probability == pytest.approx(probability(sums[1.53] + WITH_SIGNALS.bias))
    own = judge(Says(0.6), signals=signals, scale=3, bias=1).judge(SENDS)
    assert own.probability == pytest.approx(probability(sums[3] + 1))
    assert both.judge(FOREIGN).probability == alone.judge(FOREIGN).probability
    silent = judge(Raises(AssertionError()), signals=signals)
    assert silent.judge(Pair(Query("4", "send a mail"), Chunk("b", " "))).grade == 0


def test_a_model_that_fails_leaves_the_pair_undecided_and_a_spent_budget_is_no_verdict():
    verdict = judge(Raises(EndpointFailed("down"))).judge(SENDS)
    assert (verdict.grade, verdict.problem) == (None, "chat")
    with pytest.raises(BudgetSpent):
        judge(Raises(BudgetSpent("spent"))).judge(SENDS)


def test_a_screener_is_unclear_between_two_probabilities():
    calls = {}
    for likely in (0.72, 0.76, 0.81):
        calls[likely] = LikelihoodScreener()(PairSession(pair("passes", 1), Says(likely), NoSteps()))[0]
    assert calls == {0.72: "non-match", 0.76: "unclear", 0.81: "match"}
