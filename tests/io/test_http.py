"""A service that refuses slows all threads down; one that nobody ever reached is given up soon."""

from __future__ import annotations

import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from assay.errors import HttpError
from endpoint_server import Play, serving
from waiting import until

pytest.importorskip("httpx", reason="the api extra is not installed")
from assay.io.http import HttpClient, HttpOptions, Turns


class Clock:
    """Time that passes when somebody sleeps, which nobody does before it is `open`."""

    def __init__(self, *, is_open: bool = True):
        self.at, self.asleep, self._lock, self._opened = 0.0, 0, threading.Lock(), threading.Event()
        if is_open:
            self._opened.set()

    def now(self):
        return self.at

    def sleep(self, seconds):
        with self._lock:
            self.asleep += 1
        assert self._opened.wait(60)
        with self._lock:
            self.at += seconds

    def open(self):
        self._opened.set()


@pytest.fixture
def clock():
    return Clock()


def test_nobody_waits_where_nothing_was_refused_or_no_pause_is_wanted(clock):
    turns = Turns(clock.now, clock.sleep)
    assert [turns.wait() for _ in range(5)] == [0.0] * 5
    turns.slow_down(turns.wait(), 0.0)
    assert [turns.wait() for _ in range(3)] == [0.0] * 3


def test_what_one_is_told_to_wait_all_wait_and_then_start_one_by_one(clock):
    turns = Turns(clock.now, clock.sleep)
    turns.slow_down(turns.wait(), 30.0)
    assert [round(turns.wait(), 6) for _ in range(3)] == [30.0, 30.02, 30.04]


def test_refusals_of_one_moment_count_once_later_ones_double_the_gap_and_answers_close_it(clock):
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
    for _ in range(40):
        turns.speed_up()
    clock.at = 9.0
    assert [turns.wait() for _ in range(3)] == [9.0] * 3


def test_a_refusal_of_one_request_holds_the_others_back_too():
    """Nine threads: after the first 429 with a pause nobody asks until it is over, and then one by one."""

    class Noted(Turns):
        def wait(self):
            starts.append(super().wait())
            return starts[-1]

    clock, starts = Clock(is_open=False), list[float]()
    plays = [Play(status=429, headers={"retry-after": "0.05"})]
    with serving(lambda _: Play(value={}), plays) as server, ThreadPoolExecutor(9) as pool:
        client = HttpClient("it", server.base, HttpOptions(pause_s=0.001), {})
        client._turns = Noted(clock.now, clock.sleep)

        def ask(number: int):
            return client.ask_json(f"{server.base}/chat/completions", {"n": number}, lambda body: body)

        first = pool.submit(ask, 0)
        until(lambda: client._turns._from > client._turns._now(), "the refusal is heard")
        others = [pool.submit(ask, number) for number in range(1, 9)]
        until(lambda: clock.asleep == 9, "all wait")
        asked_meanwhile = len(server.questions)
        clock.open()
        for each in (first, *others):
            each.result()
        client.close()
        assert (asked_meanwhile, len(server.questions)) == (1, 10)
    assert sorted(starts)[1] >= 0.05
    assert len(set(starts)) == 10, "they came back all at once"


def answer_once(listening: socket.socket) -> None:
    connection, _ = listening.accept()
    with listening, connection:
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")


def test_an_address_where_nobody_ever_was_is_given_up_soon_and_a_server_that_went_away_is_waited_for():
    options = HttpOptions(timeout_s=60, pause_s=0.001)
    listening = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/x"
    thread = threading.Thread(target=answer_once, args=(listening,))
    thread.start()
    client = HttpClient("service", url, options, {})
    assert client.ask_text(url, {}) == "{}"
    thread.join()
    with pytest.raises(HttpError, match="service failed 6 times, last with ConnectError"):
        client.ask_text(url, {})
    client.close()
    client = HttpClient("service", url, options, {})
    with pytest.raises(HttpError, match="service failed 2 times, last with ConnectError"):
        client.ask_text(url, {})
    client.close()


def test_a_proxy_of_the_environment_is_used_but_not_for_the_hosts_that_it_excepts(monkeypatch):
    with serving(lambda _: Play(text="proxy")) as proxy, serving(lambda _: Play(text="it")) as server:
        monkeypatch.setenv("http_proxy", proxy.base)
        monkeypatch.setenv("no_proxy", "")
        for url, excepted, by in ((server.base, "", "proxy"), (server.base, "127.0.0.1", "it")):
            monkeypatch.setenv("no_proxy", excepted)
            client = HttpClient("it", url, HttpOptions(tries=1), {})
            assert (
                client.ask_json(f"{url}/chat/completions", {}, lambda body: body["choices"][0]["message"]["content"])
                == by
            )
            client.close()
