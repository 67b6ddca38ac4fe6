"""Where nobody ever answered the second try is the last; who answered once is waited for."""

from __future__ import annotations

import socket
import threading

import pytest

pytest.importorskip("httpx", reason="the api extra is not installed")

from assay.errors import HttpError
from assay.io.http import HttpClient, HttpOptions

OPTIONS = HttpOptions(timeout_s=5, pause_s=0.001)


def test_an_address_where_nobody_ever_was_is_given_up_soon():
    client = HttpClient("service", "http://127.0.0.1:1", OPTIONS, {})
    with pytest.raises(HttpError, match="service failed 2 times, last with ConnectError"):
        client.ask_text("http://127.0.0.1:1/x", {})
    client.close()


def answer_once(listening: socket.socket) -> None:
    connection, _ = listening.accept()
    with listening, connection:
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")


def test_a_server_that_went_away_is_waited_for():
    listening = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/x"
    thread = threading.Thread(target=answer_once, args=(listening,))
    thread.start()
    client = HttpClient("service", url, OPTIONS, {})
    assert client.ask_text(url, {}) == "{}"
    thread.join()
    with pytest.raises(HttpError, match="failed 6 times, last with ConnectError"):
        client.ask_text(url, {})
    client.close()
