"""A service that refuses or is late gets fewer requests at once; one that nobody ever reached is given up soon."""

from __future__ import annotations

import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from assay.errors import HttpError, Interrupted, Notice
from endpoint_server import Play, serving

pytest.importorskip("httpx", reason="the api extra is not installed")
from assay.io import requests_in_flight
from assay.io.http import HttpClient, HttpOptions
from assay.io.requests_in_flight import Window


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


def rounds(window: Window, clock: Clock, count: int, seconds: float) -> list[int]:
    """Return the limit after each of some rounds of answers, in which as many are under way as may be."""
    limits = []
    for _ in range(count):
        with ExitStack() as held:
            for started in [held.enter_context(window.request()) for _ in range(window.limit)]:
                clock.at = max(clock.at, started + seconds)
                window.on_answer(started)
        limits.append(window.limit)
    return limits


def test_a_window_starts_with_one_and_grows_by_one_a_round_while_answers_are_quick(clock):
    window = Window(10.0, clock.now, clock.sleep)
    assert rounds(window, clock, 4, 1.0) == [2, 3, 4, 5]
    assert rounds(window, clock, 3, 11.0) == [5, 5, 5]
    for _ in range(9):
        with window.request() as started:
            window.on_answer(started)
    assert window.limit == 5, "nobody had to wait, so there is no evidence that more can be in flight"


def test_what_is_late_or_refused_halves_it_once_a_moment_and_what_one_is_told_to_wait_all_wait(clock):
    window = Window(10.0, clock.now, clock.sleep)
    rounds(window, clock, 7, 1.0)
    with ExitStack() as held:
        starts = [held.enter_context(window.request()) for _ in range(8)]
        clock.at += 1
        for started in starts:
            window.on_overload(started)
    assert window.limit == 4
    with window.request() as started:
        clock.at += 1
        window.on_overload(started, 30.0)
    at = clock.at
    with window.request() as started:
        assert (window.limit, started) == (2, at + 30)
    for _ in range(3):
        with window.request() as started:
            clock.at += 1
            window.on_overload(started)
    assert window.limit == 1


def test_a_refusal_holds_the_others_back_and_half_as_many_go_on():
    """Eight threads at a server that takes four at once and refuses the others."""
    with ExitStack() as stack:
        server = stack.enter_context(serving())
        server.say = lambda _: Play(status=503) if server.at_once > 4 else Play({}, delay_s=0.005)
        pool = stack.enter_context(ThreadPoolExecutor(8))
        client = HttpClient("it", server.base, HttpOptions(pause_s=0.001), {})

        def ask(_: int):
            return client.ask_json(f"{server.base}/chat/completions", {}, lambda body: body["choices"])

        with pytest.warns(Notice, match="asking again in 0 s; later retries are not reported") as said:
            answers = list(pool.map(ask, range(60)))
        client.close()
    assert all(answers)
    assert len(said) == 1
    assert 4 < server.most_at_once <= 8


def test_what_may_have_been_paid_for_is_asked_again_once_and_a_late_answer_with_twice_the_time():
    lost: list[bool] = []
    for play, what in (
        (Play(delay_s=0.6), "no whole answer within 0.4 s"),
        (Play(drip="body"), "no whole answer within 0.4 s"),
        (Play(cut=10), "ReadError|RemoteProtocolError"),
        (Play(body=b"<html>welcome</html>"), "not JSON: '<html>welcome</html>'"),
        (Play(padding_mb=6), "more than 4,000,000 bytes"),
        (Play(status=501), "HTTP 501"),
        (Play(status=501, headers={"content-encoding": "gzip"}, body=b"\x1f\x8b"), "HTTP 501"),
    ):
        with serving(lambda _, play=play: play) as server:
            client = HttpClient("it", server.base, HttpOptions(0.2, pause_s=0.001), {})
            lost.clear()
            with pytest.raises(HttpError, match=what) as caught:
                client.ask_json(f"{server.base}/chat/completions", {}, dict, lost.append)
            client.close()
            wanted = ([], 1) if play.status == 501 else ([False, True], 2)
            assert (lost, len(server.questions)) == wanted, play
            assert caught.value.is_first == (play.status != 501)


def test_ctrl_c_is_heard_while_a_handshake_never_ends(monkeypatch):
    stop = threading.Event()
    monkeypatch.setattr(requests_in_flight, "_stop", stop)
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(1) as pool:
        url = f"https://127.0.0.1:{listening.getsockname()[1]}/x"

        def take() -> socket.socket:
            taken, _ = listening.accept()
            taken.recv(1)
            stop.set()
            return taken

        held, client = pool.submit(take), HttpClient("it", url, HttpOptions(timeout_s=3600), {})
        with pytest.raises(Interrupted):
            client.ask_text(url)
        held.result().close()
        with pytest.raises(Interrupted), Window(1.0).request():
            pass
        client.close()


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
            answer = client.ask_json(
                f"{url}/chat/completions", {}, lambda body: body["choices"][0]["message"]["content"]
            )
            client.close()
            assert answer == by
