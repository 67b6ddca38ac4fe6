"""Algorithm 1 with parts that are handed in, and one question to a model: what is asked, and what is never asked."""

from __future__ import annotations

import math
import re
import threading
from collections import Counter
from dataclasses import replace

import pytest
from acting import Actor, pair

from assay.errors import BudgetSpent, EndpointFailed, InputError, NoAnswer
from assay.judge.agents import Agents, Fix, Parts, configured
from assay.judge.asks import AsksJudge
from assay.judge.pairs import MajorityJudge, Pair, Verdict
from assay.judge.records import PairSession
from assay.judge.requests import CONFIGURATIONS, RUNNING
from assay.judge.screeners import LikelihoodScreener
from assay.judge.signals import SignalsJudge
from assay.judge.written_tests import Case, CaseReport, SandboxFailed, TestProgram
from assay.llm.yes_no import BIAS, SCALE, WITH_SIGNALS, probability
from assay.runs.record import NoSteps
from assay.values import Chunk, Prompt, Query, Reply

GOOD = CaseReport((Case(1, "passed", 1),))
IN_CODE = CaseReport(
    (Case(1, "error", detail="ZeroDivisionError: division by zero", line=2),), "case 1: ZeroDivisionError"
)
BAD = CaseReport((Case(1, "error", detail="NameError: x"),), "case 1: NameError: x")


class Always:
    """Reports that come one after the other, and a fixer that counts."""

    def __init__(self, *reports: CaseReport) -> None:
        self.reports = list(reports)
        self.fixed = 0

    def execute(self, _session, _program: TestProgram) -> CaseReport:
        return self.reports.pop(0) if len(self.reports) > 1 else self.reports[0]

    def fix(self, _session, program: TestProgram, _report: CaseReport, notes) -> Fix:
        self.fixed += 1
        return Fix(replace(program, setup=f"{program.setup}#"), "model", (*notes, "tried"))


def judged(parts: Parts, kind: str = "passes", **more) -> tuple[Verdict, Actor]:
    actor = Actor()
    return Agents(actor, parts, **more).judge(pair(kind, 3)), actor


def test_a_clear_pair_takes_one_call_and_an_unclear_one_is_tested_and_arbitrated():
    for kind, grade in (("match", 1), ("differs", 0)):
        verdict, actor = judged(configured("all", Always(GOOD).execute, Always(GOOD).fix), kind)
        assert (verdict.grade, verdict.path, dict(actor.asked)) == (grade, "screen", {"pair": 1})
        assert verdict.details["cost"] == 0.001
    room = Always(GOOD)
    verdict, actor = judged(configured("all", room.execute, room.fix))
    assert (verdict.grade, verdict.path, room.fixed) == (1, "tests", 0)
    assert dict(actor.asked) == {"pair": 1, "tests": 1, "arbitrate": 1}


def test_a_repair_that_helps_max_tries_or_what_is_irreparable_end_the_loop():
    for most in (0, 1, 3):
        room = Always(BAD)
        verdict, _ = judged(configured("all", room.execute, room.fix), max_tries=most)
        assert room.fixed == verdict.details["tries"] == most + 1
        assert (verdict.details["executable"], verdict.grade) == (False, 1)
    room = Always(BAD, BAD, GOOD)
    verdict, _ = judged(configured("all", room.execute, room.fix))
    assert (room.fixed, verdict.details["executable"], verdict.details["fixes"]) == (2, True, ["model", "model"])
    verdict, _ = judged(configured("all", Always(BAD).execute, lambda *_: Fix(None, "model")))
    assert (verdict.details["tries"], verdict.details["fixes"]) == (0, ["irreparable"])
    verdict, _ = judged(configured("all", Always(BAD).execute, lambda _session, program, *_: Fix(program, "model")))
    assert (verdict.details["tries"], verdict.details["fixes"]) == (0, ["unchanged"])


def test_the_arbiter_hears_of_what_tests_saw_and_nothing_of_tests_that_broke():
    for report, path, heard in ((BAD, "arbiter", False), (GOOD, "tests", True), (IN_CODE, "tests", True)):
        verdict, actor = judged(configured("ps+tpg+te+fa", Always(report).execute))
        asked = actor.prompts[-1].text
        assert (actor.prompts[-1].name, verdict.path) == ("arbitrate", path)
        assert ("1 cases" in asked, "the sum" in asked, "No test ran." in asked) == (heard, heard, not heard)
        assert "NameError" not in asked


def test_each_configuration_of_table_vi_asks_what_it_has_and_needs_what_runs_programs():
    tested = ("pair", "tests", "arbitrate")
    rows = {
        "single": ("single",),
        "ps+fa": ("pair", "arbitrate"),
        "ps+tpg+fa": tested,
        "ps+tpg+te+fa": tested,
        "ps+tpg+sim+fa": (*tested, "simulate"),
        "all": tested,
    }
    assert set(rows) <= set(CONFIGURATIONS)
    for name, asked in rows.items():
        room = Always(BAD, GOOD)
        _, actor = judged(configured(name, room.execute, room.fix))
        assert actor.asked == Counter(asked), name
        assert bool(room.fixed) == (name == "all"), name
    for name in RUNNING:
        with pytest.raises(InputError, match="give what runs them"):
            configured(name)
    with pytest.raises(InputError, match="did you mean 'single'"):
        configured("singel")


class Raising:
    name = "raising"

    def __init__(self, error: Exception) -> None:
        self.error = error

    def reply(self, _prompt):
        raise self.error


def test_a_model_or_a_sandbox_that_fails_leaves_the_pair_undecided_and_a_spent_budget_is_no_verdict():
    for error, problem in ((NoAnswer("x"), "reply"), (EndpointFailed("x"), "chat")):
        verdict = Agents(Raising(error), configured("single")).judge(pair("match", 1))
        assert (verdict.grade, verdict.problem) == (None, problem)

    def execute(*_):
        raise SandboxFailed("the sandbox broke")

    verdict, _ = judged(configured("all", execute, Always(GOOD).fix))
    assert (verdict.grade, verdict.problem) == (None, "sandbox")
    with pytest.raises(BudgetSpent):
        Agents(Raising(BudgetSpent("spent")), configured("single")).judge(pair("match", 1))


class Says:
    """A judge of few words."""

    def __init__(self, grade: int | None) -> None:
        self.name, self.grade, self.asked = f"says {grade}", grade, 0

    def judge(self, _pair) -> Verdict:
        self.asked += 1
        problem = "chat" if self.grade is None else ""
        return Verdict(self.grade, f"says {self.grade}", "x", problem=problem)


def test_the_majority_decides_and_opinions_of_one_model_are_different_prompts():
    for grades, grade, asked in (
        ((1, 1, 0), 1, 2), ((1, 0, 0), 0, 3), ((0, 0, 1), 0, 2), ((1, None, 1), 1, 3), ((1, None, 0), None, 3),
    ):  # fmt: skip
        judges = [Says(each) for each in grades]
        verdict = MajorityJudge(judges).judge(pair("match", 1))
        assert (verdict.grade, sum(judge.asked for judge in judges)) == (grade, asked), grades
    for first, second, third, grade, problem in (
        (1, 1, None, 1, ""), (1, 0, None, None, "split"), (1, 0, Says(0), 0, ""), (None, 1, Says(1), 1, ""),
        (None, 1, None, None, "chat"),
    ):  # fmt: skip
        verdict = MajorityJudge([Says(first), Says(second), *([third] if third else [])]).judge(pair("match", 1))
        assert (verdict.grade, verdict.problem) == (grade, problem), (first, second, third)
    actor = Actor()
    first = Agents(actor, configured("single"))
    verdict = MajorityJudge([replace(first, opinion=number) for number in (1, 2, 3)]).judge(pair("match", 1))
    votes = {name: verdict.details[name] for name in ("votes", "cost", "calls")}
    assert votes == {"votes": [1, 1], "cost": 0.002, "calls": {"single": 2}}
    assert len({prompt.text for prompt in actor.prompts}) == len(actor.prompts) == 2


def test_no_tests_are_written_for_what_cannot_run():
    for language, text in (("go", "func add(a, b int) int { return a + b }"), ("python", "print 1")):
        room, actor = Always(GOOD), Actor()
        other = replace(pair("passes", 3), code=Chunk("c3", text, language))
        verdict = Agents(actor, configured("all", room.execute, room.fix)).judge(other)
        assert dict(actor.asked) == {"pair": 1, "arbitrate": 1}
        assert (verdict.path, verdict.grade) == ("arbiter", 1)
        assert "Python" in verdict.details["untested"]


class Reads(Actor):
    """A model to which a query means two things, of which the code does the first."""

    def reply(self, prompt) -> Reply:
        got = super().reply(prompt)
        if prompt.name != "tests":
            return got
        names = ["the sum", "the sum of squares"]
        number = int((re.findall(r"request number (\d)", prompt.text) or [1])[0])
        return replace(got, value={**got.value, "readings": names, "reading": (names[number - 1 :] or names)[0]})


def test_votes_take_different_readings_and_the_verdict_says_which_passed():
    def execute(_session, program: TestProgram) -> CaseReport:
        return GOOD if program.reading == "the sum" else CaseReport((Case(1, "failed", 1),))

    first = Agents(Reads(), configured("ps+tpg+te+fa", execute))
    verdict = MajorityJudge([replace(first, opinion=number) for number in (1, 2, 3)]).judge(pair("passes", 3))
    assert verdict.details["readings"] == ["the sum", "the sum of squares"]
    tested = [(each["reading"], each["passed"], each["failed"]) for each in verdict.details["tested"]]
    assert tested[:2] == [("the sum", 1, 0), ("the sum of squares", 0, 1)]


def test_judges_that_have_to_agree_are_asked_side_by_side():
    both = threading.Barrier(2, timeout=60)

    class Waits(Actor):
        def reply(self, prompt) -> Reply:
            both.wait()
            return super().reply(prompt)

    one, two = (Agents(Waits(), configured("single")) for _ in range(2))
    assert MajorityJudge([one, two]).judge(pair("passes", 3)).grade == 1
    assert MajorityJudge([one, two, two]).judge(pair("passes", 3)).grade == 1


SENDS = Pair(Query("1", "send a mail"), Chunk("a", "def send_mail(server, message):\n    server.send(message)\n"))
FOREIGN = Pair(Query("2", "wie sende ich eine mail"), SENDS.code)


class SaysLikely(Actor):
    """Says yes with one probability."""

    def __init__(self, likely: float) -> None:
        super().__init__()
        self.likely = likely

    def reply(self, _prompt: Prompt) -> Reply:
        return Reply({"Yes": self.likely, "No": 1 - self.likely, "mass": 1.0}, "says", 100, 1, 0.001, 0.5)


class Raises(SaysLikely):
    def __init__(self, error: Exception) -> None:
        super().__init__(0.5)
        self.error = error

    def reply(self, _prompt: Prompt) -> Reply:
        raise self.error


def asking(chat: Actor, prior: float = 0.5, signals: SignalsJudge | None = None, **options: float) -> AsksJudge:
    return AsksJudge(chat, NoSteps(), options, prior, signals)


def test_the_answer_is_calibrated_and_moved_by_what_is_expected():
    odds = math.log(9)
    verdict = asking(SaysLikely(0.9), scale=1, bias=0).judge(SENDS)
    assert (verdict.grade, verdict.path, verdict.probability) == (1, "asks", pytest.approx(0.9))
    told = verdict.details
    assert (told["calls"], told["cost"], told["log_odds"]) == ({"pair": 1}, 0.001, round(odds, 6))
    few = asking(SaysLikely(0.9), prior=0.01, scale=0.5, bias=-1).judge(SENDS)
    assert (few.grade, few.probability) == (0, pytest.approx(probability(odds / 2 - 1 - math.log(99))))
    assert asking(SaysLikely(0.9)).judge(SENDS).probability == pytest.approx(probability(SCALE * odds + BIAS))


def test_signals_add_their_log_odds_and_what_they_cannot_read_is_left_to_the_model():
    signals = SignalsJudge()
    alone, both = asking(SaysLikely(0.6)), asking(SaysLikely(0.6), signals=signals)
    assert both.name.startswith("signals+asks:")
    other = Pair(Query("3", "parse a date"), SENDS.code)
    assert both.judge(SENDS).probability > both.judge(other).probability
    assert alone.judge(SENDS).probability == alone.judge(other).probability
    read = signals.judge(SENDS).probability
    assert both.judge(SENDS).details["signals"] == round(read, 6)
    sums = {scale: WITH_SIGNALS.weights[0] * math.log(read / (1 - read)) + scale * math.log(1.5) for scale in (1.53, 3)}
    assert both.judge(SENDS).probability == pytest.approx(probability(sums[1.53] + WITH_SIGNALS.bias))
    own = asking(SaysLikely(0.6), signals=signals, scale=3, bias=1).judge(SENDS)
    assert own.probability == pytest.approx(probability(sums[3] + 1))
    assert both.judge(FOREIGN).probability == alone.judge(FOREIGN).probability
    silent = asking(Raises(AssertionError()), signals=signals)
    assert silent.judge(Pair(Query("4", "send a mail"), Chunk("b", " "))).grade == 0


def test_a_failing_model_leaves_the_pair_undecided_and_a_screener_is_unclear_between_two_probabilities():
    verdict = asking(Raises(EndpointFailed("down"))).judge(SENDS)
    assert (verdict.grade, verdict.problem) == (None, "chat")
    with pytest.raises(BudgetSpent):
        asking(Raises(BudgetSpent("spent"))).judge(SENDS)
    calls = {}
    for likely in (0.72, 0.76, 0.81):
        calls[likely] = LikelihoodScreener()(PairSession(pair("passes", 1), SaysLikely(likely), NoSteps()))[0]
    assert calls == {0.72: "non-match", 0.76: "unclear", 0.81: "match"}
