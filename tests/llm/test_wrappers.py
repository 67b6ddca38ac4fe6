"""Chats in chats: within a budget, with remembered replies, and at a pace."""

from __future__ import annotations

import math
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import BudgetSpent, InputError, NoAnswer, StorageError
from assay.llm.endpoint import Spend
from assay.llm.wrappers import Budget, BudgetedChat, CachedChat, Pace, PacedChat
from assay.values import Prompt, Reply

PROMPT = Prompt("", "", {})
MOST = Spend(100, 0.01)


class Model:
    """Takes what it is told, and less than it may."""

    name = "model"

    def __init__(self, took=(), most=MOST):
        self.took = iter(took)
        self.bound = most
        self.asked = 0

    def most(self, prompt):  # noqa: ARG002  the protocol wants it
        return self.bound

    def reply(self, prompt, more=None):  # noqa: ARG002  the protocol wants it
        self.asked += 1
        took = next(self.took, Reply({}, "m", 50, 10, 0.005))
        if isinstance(took, BaseException):
            raise took
        return took


def test_calls_stop_before_the_limit_and_say_so():
    model, budget = Model(), Budget(tokens=200)
    chat = BudgetedChat(model, budget)
    for _ in range(2):
        chat.reply(PROMPT)
    with pytest.raises(BudgetSpent, match=r"120 of 200 tokens, the next call may take 100.*go on with a larger one"):
        chat.reply(PROMPT)
    assert model.asked == 2
    assert budget.spent == Spend(120, pytest.approx(0.01))


def test_money_is_a_limit_of_its_own_needs_a_price_and_what_was_spent_before_counts():
    chat = BudgetedChat(Model(), Budget(usd=1.0, spent=Spend(5, 0.995)))
    with pytest.raises(BudgetSpent, match=r"0\.9950 of 1 USD are spent, the next call may take 0\.0100"):
        chat.reply(PROMPT)
    unpriced = Model(most=Spend(100, math.nan))
    with pytest.raises(InputError, match=r"the price of model is not known: add \?usd_in="):
        BudgetedChat(unpriced, Budget(usd=1.0))
    chat = BudgetedChat(unpriced, Budget(tokens=150))
    chat.reply(PROMPT)
    with pytest.raises(BudgetSpent):
        chat.reply(PROMPT)
    for limits in ({"usd": -1}, {"usd": math.nan}, {"tokens": -1}, {"tokens": math.nan}):
        with pytest.raises(InputError, match="wanted 0 or more"):
            Budget(**limits)


TAKEN = (
    (Reply({}, "m", 0, 0, math.nan), Spend(100, 0.01)),
    (Reply({}, "m", 7, 0, math.nan), Spend(7, 0.01)),
    (Reply({}, "m", 50, 10, 0.0, cached=True), Spend(0, 0.0)),
    (NoAnswer("no", tokens_in=9, tokens_out=1, cost=0.002), Spend(10, 0.002)),
    (KeyboardInterrupt(), Spend(100, 0.01)),
)
"""What a call took, and what counts: of what is not told, the most that it may have been."""


def test_what_was_taken_is_spent_whatever_happened():
    for took, spent in TAKEN:
        budget = Budget(usd=1, tokens=1000)
        chat = BudgetedChat(Model([took]), budget)
        with suppress(NoAnswer, KeyboardInterrupt):
            chat.reply(PROMPT)
        assert budget.spent == spent, took
        chat.reply(PROMPT)


def test_a_call_waits_for_those_in_flight_and_not_for_ever():
    """There is room for two at once, and for three one after the other; the fourth is refused."""
    budget, both, go = Budget(tokens=250), threading.Barrier(3), threading.Event()

    class Slow(Model):
        def reply(self, prompt, more=None):  # noqa: ARG002  the protocol wants it
            if self.asked < 2:
                with lock:
                    self.asked += 1
                both.wait(60)
                go.wait(60)
            return Reply({}, "m", 50, 10, 0.005)

    lock, chat = threading.Lock(), BudgetedChat(Slow(), budget)
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(chat.reply, PROMPT) for _ in range(2)]
        both.wait(60)
        calls += [pool.submit(chat.reply, PROMPT) for _ in range(2)]
        assert not any(call.done() for call in calls)
        go.set()
        failed = [call.exception(60) for call in calls]
    assert failed.count(None) == 3
    assert sum(isinstance(each, BudgetSpent) for each in failed) == 1
    assert budget.spent.tokens == 180


def test_a_further_try_reserves_what_it_may_take_when_it_is_asked():
    class Again(Model):
        def reply(self, prompt, more=None):
            more(MOST)
            return super().reply(prompt)

    budget = Budget(tokens=250)
    assert BudgetedChat(Again([Reply({}, "m", 0, 0, math.nan)]), budget).reply(PROMPT)
    assert budget.spent.tokens == 200, "both tries, where nobody counts"
    with pytest.raises(BudgetSpent, match="the next call may take 100"):
        BudgetedChat(Again(), Budget(tokens=150)).reply(PROMPT)


SPENDS = st.builds(Spend, st.integers(0, 10**6), st.floats(0, 100))
CALLS = st.lists(st.tuples(SPENDS, st.floats(0, 1)), max_size=40)


@given(CALLS, st.integers(0, 5 * 10**6), st.floats(0, 500))
def test_however_calls_come_and_go_the_limit_holds(calls, tokens, usd):
    budget, open_calls, refused = Budget(usd=usd, tokens=tokens), [], 0
    spent: list[Spend] = []
    for most, share in calls:
        while True:
            try:
                # nothing waits here: a call in flight ends before the next one has to
                if not budget._fits(most) and open_calls:
                    ticket, took = open_calls.pop()
                    budget.settle(ticket, took)
                    spent.append(took)
                    continue
                took = Spend(int(most.tokens * share), most.usd * share)
                open_calls.append((budget.reserve(most), took))
            except BudgetSpent:
                refused += 1
                assert budget.spent.tokens + most.tokens > tokens or budget.spent.usd + most.usd > usd * (1 - 1e-9)
            break
    for ticket, took in open_calls:
        budget.settle(ticket, took)
        spent.append(took)
    assert len(spent) + refused == len(calls)
    assert budget.spent.tokens == sum(each.tokens for each in spent) <= tokens
    assert budget.spent.usd == pytest.approx(math.fsum(each.usd for each in spent))
    assert budget.spent.usd <= usd * (1 + 1e-9)


class CountingModel:
    """Counts what it is asked."""

    def __init__(self, name="model", together=1):
        self.name, self._barrier = name, threading.Barrier(together, timeout=60)
        self.asked = []
        self.fails = False

    def reply(self, prompt):
        self.asked.append(prompt.text)
        self._barrier.wait()
        if self.fails:
            raise NoAnswer("no")
        return Reply({"grade": 1, "reason": prompt.text}, "m-1", 10, 2, 0.5, 3.0)


def test_a_reply_is_paid_for_once_and_another_question_is_another_reply(tmp_path, prompt):
    model = CountingModel()
    chat = CachedChat(model, tmp_path / "deep" / "replies.db")
    first, second = chat.reply(prompt()), chat.reply(prompt())
    assert (first.cost, first.cached) == (0.5, False)
    assert second == Reply(first.value, "m-1", 10, 2, 0.0, 0.0, cached=True, saved=0.5)
    assert len(model.asked) == 1
    chat.close()
    chat = CachedChat(model, tmp_path / "deep" / "replies.db")
    assert (chat.reply(prompt()).cached, chat.name) == (True, "model")
    chat.reply(prompt("a"))
    changes = [{"text": "b"}, {"system": "x"}, {"schema": {"type": "object"}}, {"text": "a\ud800"}]
    assert not any(chat.reply(prompt(**{"text": "a", **change})).cached for change in changes)
    assert chat.reply(prompt("a", name="other", version="2")).cached, "the same question from another file"
    assert not CachedChat(CountingModel("model?seed=2"), tmp_path / "deep" / "replies.db").reply(prompt("a")).cached


def test_failures_are_not_remembered_and_a_file_that_is_no_cache_is_named(tmp_path, prompt):
    model = CountingModel()
    chat = CachedChat(model, tmp_path / "replies.db")
    model.fails = True
    with pytest.raises(NoAnswer):
        chat.reply(prompt())
    model.fails = False
    assert not chat.reply(prompt()).cached
    assert not chat._asking
    (tmp_path / "folder").mkdir()
    (tmp_path / "rubbish").write_bytes(b"no database, not at all " * 100)
    for name in ("folder", "rubbish"):
        with pytest.raises(StorageError, match=rf"the cache of replies .*{name} cannot be used"):
            CachedChat(CountingModel(), tmp_path / name)


def test_threads_that_ask_the_same_at_once_pay_once(tmp_path, prompt):
    """Four questions are under way together before any is answered; whoever asks one of them waits for it."""
    model = CountingModel(together=4)
    chat = CachedChat(model, tmp_path / "replies.db")
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda place: chat.reply(prompt(f"code {place % 4}")), range(64)))
    assert sorted(model.asked) == [f"code {place}" for place in range(4)]
    assert [reply.value["reason"] for reply in replies] == [f"code {place % 4}" for place in range(64)]
    assert sum(reply.cost for reply in replies) == 2.0
    assert not chat._asking


class Clock:
    """Time that passes when somebody sleeps."""

    def __init__(self):
        self.at = 0.0
        self.starts = []

    def now(self):
        return self.at

    def sleep(self, seconds):
        self.at += seconds


class PacedModel:
    name = "model"

    def __init__(self, clock, tokens=0, error=None):
        self.clock, self.tokens, self.error = clock, tokens, error

    def reply(self, prompt):  # noqa: ARG002  the protocol wants it
        self.clock.starts.append(self.clock.at)
        if self.error:
            raise self.error
        return Reply({}, "m", self.tokens, 0)


LONG_PROMPT = Prompt("", "x" * 400, {})


def paced(clock, model, **limits):
    return PacedChat(model, Pace(now=clock.now, sleep=clock.sleep, **limits))


def test_requests_are_spaced_so_that_no_minute_holds_more_and_a_pause_is_no_credit():
    clock = Clock()
    chat = paced(clock, PacedModel(clock), requests=30)
    for _ in range(100):
        chat.reply(LONG_PROMPT)
    assert clock.starts[:3] == [0, 2, 4]
    assert max(sum(start <= other < start + 60 for other in clock.starts) for start in clock.starts) == 30
    clock.starts.clear()
    clock.at = 1000.0
    for _ in range(2):
        chat.reply(LONG_PROMPT)
    assert clock.starts == [1000, 1002]


def test_tokens_are_estimated_and_put_right():
    for tokens, gap_s in ((0, 1), (100, 1), (50, 0.5), (1000, 10)):
        clock = Clock()
        chat = paced(clock, PacedModel(clock, tokens), tokens=6000)
        for _ in range(3):
            chat.reply(LONG_PROMPT)
        assert clock.starts == [0, gap_s, 2 * gap_s]
    clock = Clock()  # failures count, too
    chat = paced(clock, PacedModel(clock, error=NoAnswer("no", tokens_in=200)), tokens=6000)
    for _ in range(2):
        with pytest.raises(NoAnswer):
            chat.reply(LONG_PROMPT)
    assert clock.starts == [0, 2]


def test_threads_take_turns_and_a_pace_is_more_than_nothing():
    starts, lock = [], threading.Lock()

    def sleep(seconds):
        with lock:
            starts.append(round(seconds, 6))

    pace = Pace(requests=60, now=lambda: 0.0, sleep=sleep)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(pace.start, [0] * 50))
    assert sorted(starts) == list(range(1, 50))
    for limit in (0, -1, float("nan")):
        with pytest.raises(InputError, match="wanted more than 0"):
            Pace(requests=limit)
