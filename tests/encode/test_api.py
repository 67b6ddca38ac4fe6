"""What encoder and reranker make of a service's answers; what any may do to them is in `contracts/test_endpoints`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from endpoint_server import VARIABLES, EndpointServer, Play, Question, serving

pytest.importorskip("httpx", reason="the api extra is not installed")

from assay import plugins
from assay.encode.http_models import RERANKERS, ApiEncoder, RerankEndpoint
from assay.encode.view import source
from assay.errors import InputError, ModelUnavailable
from assay.protocols import Scorer
from assay.values import Chunk, Query

QUERY = Query("1", "where are retries handled")
CHUNKS = [Chunk(f"c{n}", text, path="a.py") for n, text in enumerate(["nothing", "retries handled", "are", "retries"])]
SCORES = [0.0, 2.0, 1.0, 1.0]
"""How many words of the query stand in each: what the server answers."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EndpointServer]:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with serving() as running:
        yield running


def encoder(server: EndpointServer) -> ApiEncoder:
    return ApiEncoder("some-model", base=server.base, pause_s=0.001)


def reranker(server: EndpointServer) -> RerankEndpoint:
    return RerankEndpoint(f"some-model@{server.base}", pause_s=0.001)


def test_vectors_come_in_the_order_of_the_texts_and_of_unit_length(server: EndpointServer) -> None:
    vectors = encoder(server).encode(["a", "four", ""], "query")
    wanted = np.array([[1, 1, 0], [4, 1, 0], [1, 1, 0]], float)
    np.testing.assert_allclose(vectors, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), rtol=1e-6)
    assert vectors.dtype == np.float32
    data = [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]
    server.plays = [Play(body=json.dumps({"data": data}).encode())]
    np.testing.assert_array_equal(encoder(server).encode(["a", "b"], "query"), [[1, 0], [0, 1]])


def test_many_texts_and_chunks_go_in_batches(server: EndpointServer) -> None:
    assert encoder(server).encode(["x"] * 200, "code").shape == (200, 3)
    assert [len(question["input"]) for question in server.questions] == [96, 96, 8]
    assert {question["model"] for question in server.questions} == {"some-model"}
    assert reranker(server).score(QUERY, CHUNKS * 150) == SCORES * 150
    assert [len(question["documents"]) for question in server.questions[3:]] == [500, 100]


def test_answers_without_vectors_or_of_another_width_are_refused(server: EndpointServer) -> None:
    asked = encoder(server)
    assert asked.dimension == 3
    server.plays = [Play(body=json.dumps({"data": [{"index": 0, "embedding": [1, 2]}]}).encode())]
    with pytest.raises(InputError, match="did the model change"):
        asked.encode(["a"], "query")
    for body in (b"[]", b'{"data": [{"index": 0}]}', b'{"data": []}'):
        server.plays = [Play(body=body)]
        with pytest.raises(InputError, match=r"OpenAI-compatible|shape"):
            encoder(server).encode(["a"], "query")


def test_address_and_key_come_from_the_environment(server: EndpointServer, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"OPENAI_BASE_URL": "http://127.0.0.1:1/never-asked", "ASSAY_API_BASE": f"{server.base}/"}
    for name, value in {**known, "OPENAI_API_KEY": "secret"}.items():
        monkeypatch.setenv(name, value)
    assert ApiEncoder("some-model").dimension == 3
    monkeypatch.setenv("ASSAY_API_KEY", "better secret")
    assert ApiEncoder("some-model").dimension == 3
    assert server.keys == ["Bearer secret", "Bearer better secret"]
    for base in (f"{server.base}/", "http://127.0.0.1:1/v1"):  # a key goes only where the environment says
        monkeypatch.setenv("ASSAY_API_BASE", base)
        assert reranker(server).score(QUERY, CHUNKS) == SCORES
    assert server.keys[2:] == ["Bearer better secret", None]


def test_scores_come_in_the_order_of_the_chunks(server: EndpointServer) -> None:
    scorer = plugins.make("scorer", f"rerank:some-model@{server.base}")
    assert isinstance(scorer, Scorer)
    assert scorer.score(QUERY, CHUNKS) == SCORES
    sent = {"model": "some-model", "query": QUERY.text, "documents": [source(chunk) for chunk in CHUNKS]}
    assert (server.paths, server.questions) == (["/v1/rerank"], [sent])
    assert scorer.score(QUERY, []) == []
    with pytest.raises(ModelUnavailable, match=r"no address of 'm': set ASSAY_API_BASE to it, or write m@URL"):
        RerankEndpoint("m")
    with pytest.raises(InputError, match="needs its model"):
        plugins.make("scorer", "rerank")
    assert len(server.questions) == 1


def of_texts(question: Question) -> Play:
    """Answer as a text-embeddings-inference server does."""
    if "texts" not in question:
        wrong = "Failed to deserialize the JSON body into the target type: missing field `texts` at line 1 column 90"
        return Play(status=422, body=wrong.encode())
    ranked = [{"index": place, "score": len(text)} for place, text in enumerate(question["texts"])]
    return Play(body=json.dumps(ranked[::-1]).encode())


def test_a_server_that_wants_texts_gets_them_in_its_batches(server: EndpointServer) -> None:
    server.say = of_texts
    scorer = reranker(server)
    wanted = [float(len(source(chunk))) for chunk in CHUNKS]
    assert scorer.score(QUERY, CHUNKS * 10) == wanted * 10
    assert scorer.score(QUERY, CHUNKS) == wanted
    assert [len(question.get("texts", ())) for question in server.questions] == [0, 32, 8, 4]


def results(*rows: tuple[Any, Any]) -> bytes:
    return json.dumps({"results": [{"index": place, "relevance_score": score} for place, score in rows]}).encode()


THREE = ((0, 1), (1, 1), (2, 1))


def test_a_bad_answer_is_an_error_and_not_a_model_that_is_away(server: EndpointServer) -> None:
    no_scores = ((3, float("nan")), (3, float("inf")), (3, "1"), (3, True), (2.5, 1))
    for body, message in (
        (results(*THREE), "scored 3 texts, not each of the 4"), (results(*THREE, (1, 1)), "scored 3 texts"),
        *((results(*THREE, (place, 1)), "not each of the 4") for place in (4, -1)),
        *((results(*THREE, each), "without scores") for each in no_scores),
        (b'{"results": [{"index": 0}]}', "is it a reranker"), (b'{"results": ["a"]}', "is it a reranker"),
        (b'{"choices": []}', "no list of results"), (b"7", "no list of results"),
    ):  # fmt: skip
        server.plays = [Play(body=body)]
        with pytest.raises(InputError, match=message) as caught:
            reranker(server).score(QUERY, CHUNKS)
        assert not isinstance(caught.value, ModelUnavailable)


def test_a_provider_is_asked_at_its_own_address_with_its_own_key(
    server: EndpointServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"index": place, "relevance_score": 0.5 + place, "document": {"text": "x"}} for place in range(4)]
    forms = {"voyage": {"object": "list", "data": rows}, "cohere": {"id": "1", "results": rows}}
    forms["jina"] = {"model": "m", "usage": {}, **forms["cohere"]}
    assert forms.keys() == RERANKERS.keys()
    monkeypatch.setenv("ASSAY_API_KEY", "sk-of-another")
    monkeypatch.setenv("ASSAY_API_BASE", "http://127.0.0.1:1/v1")
    for name, form in forms.items():
        address, variable = RERANKERS[name]
        assert address.startswith("https://api.")
        with pytest.raises(ModelUnavailable, match=f"no key for {address}: set {variable}"):
            RerankEndpoint(f"{name}:m")
        monkeypatch.setenv(variable, f"sk-of-{name}")
        monkeypatch.setitem(RERANKERS, name, (server.base, variable))
        server.plays = [Play(body=json.dumps(form).encode())]
        assert RerankEndpoint(f"{name}:m").score(QUERY, CHUNKS) == [0.5, 1.5, 2.5, 3.5]
    assert server.keys == [f"Bearer sk-of-{name}" for name in forms]
    assert {question["model"] for question in server.questions} == {"m"}
    assert {*server.paths} == {"/v1/rerank"}
