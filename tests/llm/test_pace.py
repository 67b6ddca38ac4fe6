from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from assay.errors import InputError, NoAnswer
from assay.llm.wrappers import Pace, PacedChat
from assay.values import Prompt, Reply


class Clock:
    """Time that passes when somebody sleeps."""

    def __init__(self):
        self.at = 0.0
        self.starts = []

    def now(self):
        return self.at

    def sleep(self, seconds):
        self.at += seconds


class Model:
    name = "model"

    def __init__(self, clock, tokens=0, error=None):
        self.clock, self.tokens, self.error = clock, tokens, error

    def reply(self, prompt):  # noqa: ARG002  the protocol wants it
        self.clock.starts.append(self.clock.at)
        if self.error:
            raise self.error
        return Reply({}, "m", self.tokens, 0)


PROMPT = Prompt("", "x" * 400, {})


def paced(clock, model, **limits):
    return PacedChat(model, Pace(now=clock.now, sleep=clock.sleep, **limits))


def test_requests_are_spaced_so_that_no_minute_holds_more_and_a_pause_is_no_credit():
    clock = Clock()
    chat = paced(clock, Model(clock), requests=30)
    for _ in range(100):
        chat.reply(PROMPT)
    assert clock.starts[:3] == [0, 2, 4]
    assert max(sum(start <= other < start + 60 for other in clock.starts) for start in clock.starts) == 30
    clock.starts.clear()
    clock.at = 1000.0
    for _ in range(2):
        chat.reply(PROMPT)
    assert clock.starts == [1000, 1002]


def test_tokens_are_estimated_and_put_right():
    for tokens, gap_s in ((0, 1), (100, 1), (50, 0.5), (1000, 10)):
        clock = Clock()
        chat = paced(clock, Model(clock, tokens), tokens=6000)
        for _ in range(3):
            chat.reply(PROMPT)
        assert clock.starts == [0, gap_s, 2 * gap_s]
    clock = Clock()  # failures count, too
    chat = paced(clock, Model(clock, error=NoAnswer("no", tokens_in=200)), tokens=6000)
    for _ in range(2):
        with pytest.raises(NoAnswer):
            chat.reply(PROMPT)
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
