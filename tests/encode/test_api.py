# ruff: noqa: E402  what may be missing is asked for before it is imported
from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

httpx = pytest.importorskip("httpx", reason="the api extra is not installed")

from assay.encode.api import ApiEncoder
from assay.errors import InputError


class Endpoint(ThreadingHTTPServer):
    """A server that answers with planned statuses first, then with vectors in reverse order."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.statuses: list[int] = []
        self.width = 3
        self.body: bytes | None = None
        self.questions: list[dict[str, Any]] = []
        self.keys: list[str | None] = []

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.questions.append(question)
        self.server.keys.append(self.headers.get("authorization"))
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        texts = question["input"]
        data = [
            {"index": place, "embedding": [float(len(text)), 1.0, 0.0][: self.server.width]}
            for place, text in enumerate(texts)
        ]
        body = self.server.body or json.dumps({"data": data[::-1]}).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    for name in ("ASSAY_API_BASE", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with Endpoint() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def encoder(endpoint: Endpoint) -> ApiEncoder:
    return ApiEncoder("some-model", base=endpoint.base, pause_s=0.001)


def test_vectors_come_in_the_order_of_the_texts_and_of_unit_length(endpoint: Endpoint) -> None:
    vectors = encoder(endpoint).encode(["a", "four", ""], "query")
    wanted = np.array([[1, 1, 0], [4, 1, 0], [1, 1, 0]], float)
    np.testing.assert_allclose(vectors, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), rtol=1e-6)
    assert vectors.dtype == np.float32


def test_many_texts_go_in_batches(endpoint: Endpoint) -> None:
    assert encoder(endpoint).encode(["x"] * 200, "code").shape == (200, 3)
    assert [len(question["input"]) for question in endpoint.questions] == [96, 96, 8]
    assert {question["model"] for question in endpoint.questions} == {"some-model"}


def test_busy_servers_are_asked_again(endpoint: Endpoint) -> None:
    endpoint.statuses = [429, 503, 500]
    assert encoder(endpoint).encode(["a"], "query").shape == (1, 3)
    assert len(endpoint.questions) == 4


def test_servers_that_stay_busy_are_given_up(endpoint: Endpoint) -> None:
    endpoint.statuses = [503] * 100
    with pytest.raises(InputError, match="6 times, last with HTTP 503"):
        encoder(endpoint).encode(["a"], "query")


def test_refusals_are_shown_at_once(endpoint: Endpoint) -> None:
    endpoint.statuses, endpoint.body = [401], b'{"error": "bad key"}'
    with pytest.raises(InputError, match=r"HTTP 401.*bad key.*OPENAI_API_KEY"):
        encoder(endpoint).encode(["a"], "query")
    assert len(endpoint.questions) == 1


def test_a_changed_width_is_refused(endpoint: Endpoint) -> None:
    asked = encoder(endpoint)
    assert asked.dimension == 3
    endpoint.width = 2
    with pytest.raises(InputError, match="did the model change"):
        asked.encode(["a"], "query")


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"data": [{"index": 0}]}', b'{"data": []}'])
def test_answers_without_vectors_are_refused(endpoint: Endpoint, body: bytes) -> None:
    endpoint.body = body
    with pytest.raises(InputError, match=r"OpenAI-compatible|JSON|shape"):
        encoder(endpoint).encode(["a"], "query")


def test_address_and_key_come_from_the_environment(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/never-asked")
    monkeypatch.setenv("ASSAY_API_BASE", endpoint.base + "/")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert ApiEncoder("some-model").dimension == 3
    assert endpoint.keys == ["Bearer secret"]


def test_a_dropped_connection_is_tried_again_and_then_named() -> None:
    with pytest.raises(InputError, match="ConnectError"):
        ApiEncoder("some-model", base="http://127.0.0.1:1", pause_s=0.001).encode(["a"], "query")
