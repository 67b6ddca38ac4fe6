from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from assay.io.http_turns import Turns
from endpoint_server import Play, serving


class Clock:
    """Time that passes when somebody sleeps."""

    def __init__(self):
        self.at = 0.0

    def now(self):
        return self.at

    def sleep(self, seconds):
        self.at += seconds


@pytest.fixture
def clock():
    return Clock()


def test_nobody_waits_where_nothing_was_refused(clock):
    turns = Turns(clock.now, clock.sleep)
    assert [turns.wait() for _ in range(5)] == [0.0] * 5


def test_what_one_is_told_to_wait_all_wait_and_then_start_one_by_one(clock):
    turns = Turns(clock.now, clock.sleep)
    turns.slow_down(turns.wait(), 30.0)
    assert [round(turns.wait(), 6) for _ in range(3)] == [30.0, 30.02, 30.04]


def test_refusals_of_one_moment_count_once_and_later_ones_double_the_gap(clock):
    turns = Turns(clock.now, clock.sleep)
    starts = [turns.wait() for _ in range(8)]
    clock.at = 1.0
    for start in starts:
        turns.slow_down(start, None)
    first, second = turns.wait(), turns.wait()
    assert second - first == pytest.approx(0.02)
    turns.slow_down(second, None)
    third, fourth = turns.wait(), turns.wait()
    assert fourth - third == pytest.approx(0.04)


def test_answers_close_the_gap(clock):
    turns = Turns(clock.now, clock.sleep)
    turns.slow_down(turns.wait(), 1.0)
    for _ in range(20):
        turns.speed_up()
    clock.at = 5.0
    assert [turns.wait() for _ in range(3)] == [5.0] * 3


def test_a_server_that_wants_no_pause_gets_none(clock):
    turns = Turns(clock.now, clock.sleep)
    turns.slow_down(turns.wait(), 0.0)
    assert [turns.wait() for _ in range(3)] == [0.0] * 3


def test_a_refusal_of_one_request_holds_the_others_back_too():
    """Sixteen threads: after the first 429 with a pause, nobody asks until it is over, and then one by one."""
    pytest.importorskip("httpx", reason="the api extra is not installed")
    from assay.io.http import HttpClient, HttpOptions

    plays = [Play(status=429, headers={"retry-after": "0.5"})]
    with serving(lambda _: Play(value={}), plays) as server, ThreadPoolExecutor(16) as pool:
        client = HttpClient("it", server.base, HttpOptions(pause_s=0.01), {})

        def ask(number: int):
            return client.ask_json(f"{server.base}/chat/completions", {"n": number}, lambda body: body)

        first = pool.submit(ask, 0)
        while client._turns.is_free:
            threading.Event().wait(0.001)
        list(pool.map(ask, range(1, 16)))
        first.result()
        client.close()
        times = sorted(server.times)
    assert len(times) == 17
    assert times[1] - times[0] >= 0.4
    assert times[-1] - times[1] >= 0.1, "they came back all at once"
