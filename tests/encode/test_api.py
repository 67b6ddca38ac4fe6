"""What an encoder makes of answers; what any endpoint may do to it stands in `contracts/test_endpoints`."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest

from endpoint_server import VARIABLES, EndpointServer, Play, serving

pytest.importorskip("httpx", reason="the api extra is not installed")

from assay.encode.api_encoder import ApiEncoder
from assay.errors import InputError


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EndpointServer]:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with serving() as running:
        yield running


def encoder(server: EndpointServer) -> ApiEncoder:
    return ApiEncoder("some-model", base=server.base, pause_s=0.001)


def test_vectors_come_in_the_order_of_the_texts_and_of_unit_length(server: EndpointServer) -> None:
    vectors = encoder(server).encode(["a", "four", ""], "query")
    wanted = np.array([[1, 1, 0], [4, 1, 0], [1, 1, 0]], float)
    np.testing.assert_allclose(vectors, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), rtol=1e-6)
    assert vectors.dtype == np.float32


def test_many_texts_go_in_batches(server: EndpointServer) -> None:
    assert encoder(server).encode(["x"] * 200, "code").shape == (200, 3)
    assert [len(question["input"]) for question in server.questions] == [96, 96, 8]
    assert {question["model"] for question in server.questions} == {"some-model"}


def test_refusals_are_shown_at_once(server: EndpointServer) -> None:
    server.plays = [Play(status=401, body=b'{"error": "bad key"}')]
    with pytest.raises(InputError, match=r"HTTP 401.*bad key.*check ASSAY_API_BASE, OPENAI_API_KEY"):
        encoder(server).encode(["a"], "query")
    assert len(server.questions) == 1


def test_a_changed_width_is_refused(server: EndpointServer) -> None:
    asked = encoder(server)
    assert asked.dimension == 3
    server.plays = [Play(body=json.dumps({"data": [{"index": 0, "embedding": [1, 2]}]}).encode())]
    with pytest.raises(InputError, match="did the model change"):
        asked.encode(["a"], "query")


@pytest.mark.parametrize("body", [b"[]", b'{"data": [{"index": 0}]}', b'{"data": []}'])
def test_answers_without_vectors_are_refused(server: EndpointServer, body: bytes) -> None:
    server.plays = [Play(body=body)]
    with pytest.raises(InputError, match=r"OpenAI-compatible|shape"):
        encoder(server).encode(["a"], "query")


@pytest.mark.parametrize("more", [{}, {"ASSAY_API_KEY": "better secret"}])
def test_address_and_key_come_from_the_environment(
    server: EndpointServer, monkeypatch: pytest.MonkeyPatch, more: dict[str, str]
) -> None:
    known = {"OPENAI_BASE_URL": "http://127.0.0.1:1/never-asked", "ASSAY_API_BASE": f"{server.base}/"}
    for name, value in {**known, "OPENAI_API_KEY": "secret", **more}.items():
        monkeypatch.setenv(name, value)
    assert ApiEncoder("some-model").dimension == 3
    assert server.keys == [f"Bearer {more.get('ASSAY_API_KEY', 'secret')}"]
