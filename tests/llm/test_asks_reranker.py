"""A language model as reranker of search, behind a server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay import plugins
from assay.errors import InputError, ModelUnavailable
from assay.protocols import Scorer
from assay.values import Chunk, Query
from endpoint_server import VARIABLES, EndpointServer, Play, serving

pytest.importorskip("httpx", reason="the api extra is not installed")

QUERY = Query("1", "send a mail")
CHUNKS = [Chunk("1", "def load(): ...", "python", "a.py"), Chunk("2", "def send_mail(): ...", "python", "mail/b.py")]


def say(question: dict) -> Play:
    text = question["messages"][1]["content"]
    if "broken" in text:
        return Play(text="I think so.", value=None)
    return Play({"Yes": 0.8, "No": 0.2} if "send_mail" in text else {"Yes": 0.2, "No": 0.8})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EndpointServer]:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with serving(say) as running:
        yield running


def test_chunks_are_scored_by_the_probability_of_yes_and_one_without_an_answer_by_the_mean(server: EndpointServer):
    scorer = plugins.make("scorer", f"asks:openai:m@{server.base}?orders=1")
    assert isinstance(scorer, Scorer)
    assert scorer.score(QUERY, CHUNKS) == pytest.approx([0.2, 0.8])
    assert any(
        "File: mail/b.py\n```python\ndef send_mail" in each["messages"][1]["content"] for each in server.questions
    )
    assert len(server.questions) == 2
    assert scorer.score(QUERY, [*CHUNKS, Chunk("3", "broken")]) == pytest.approx([0.2, 0.8, 0.5])
    assert scorer.score(QUERY, []) == []


def test_a_model_that_answers_nothing_is_not_there_and_a_search_goes_on_without_it(server: EndpointServer):
    scorer = plugins.make("scorer", f"asks:openai:m@{server.base}")
    with pytest.raises(ModelUnavailable, match="gave no usable answer about any of 1 chunks"):
        scorer.score(QUERY, [Chunk("3", "broken")])
    server.plays = [Play(status=401, body=b"no")] * 4
    with pytest.raises(ModelUnavailable, match="refused with HTTP 401"):
        scorer.score(QUERY, CHUNKS)
    with pytest.raises(InputError, match="'asks' names no model"):
        plugins.make("scorer", "asks")
