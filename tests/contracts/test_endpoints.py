"""Whoever asks a service over HTTP, and what a hostile one can do to it: one client, six kinds of users."""

from __future__ import annotations

import gzip
import json
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from email.utils import formatdate
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from endpoint_server import ECHOES, VARIABLES, EndpointServer, Play, serving

pytest.importorskip("httpx", reason="the api extra is not installed")

from assay.bench.system import SystemCorpus
from assay.bench.systems.http_system import HttpSystem
from assay.encode.http_models import ApiEncoder, RerankEndpoint
from assay.errors import AssayError, ChatError, HttpError, InputError
from assay.io import http
from assay.io.http import HttpOptions
from assay.io.requests_in_flight import Window
from assay.llm.endpoint import endpoint
from assay.llm.openai import OpenAiChat
from assay.rank.requests import SamplingOptions
from assay.rank.samplers import EndpointSampler, SamplingQuestion
from assay.values import Chunk, Prompt, Query

KEY = "sk-9f3kQ-Zr7uW/+x2Lm=kT0"
PIECE = 10
"""Characters of a key in a row that may stand nowhere."""
TRIES = HttpOptions().tries
SCHEMA = {"type": "object", "properties": {"grade": {"type": "integer"}}, "required": ["grade"]}
GOOD = '{"grade": 1}'
PATIENT = {"pause_s": 0.001, "timeout_s": 30.0}


def ask_chat(base: str) -> object:
    chat = OpenAiChat(endpoint("openai", "m?timeout_s=30&format=object"), pause_s=0.001)
    assert base in chat.name
    return chat.reply(Prompt("", "def f(): pass", SCHEMA))


def ask_encoder(_: str, timeout_s: float = 30.0) -> object:
    return ApiEncoder("m", pause_s=0.001, timeout_s=timeout_s).encode(["text"], "query").tolist()


def ask_reranker(_: str) -> object:
    return RerankEndpoint("m", **PATIENT).score(Query("1", "text"), [Chunk("c", "text")])


def ask_completions(_: str, *, completes: bool = True) -> object:
    sampler = EndpointSampler(endpoint("openai", "m?timeout_s=30"), completes=completes, pause_s=0.001)
    return sampler.sample(SamplingQuestion("p", SamplingOptions(n=1)))


def ask_sampler(base: str) -> object:
    return ask_completions(base, completes=False)


def ask_system(base: str, timeout_s: float = 30.0) -> object:
    headers = {"Authorization": "Bearer $ASSAY_API_KEY"}
    options = {"headers": headers, "timeout_s": timeout_s, "results": "hits"}
    system = HttpSystem(f"{base}/search?q={{query}}")
    searcher = system.prepare(SystemCorpus("c", Path.cwd()), options)
    try:
        return searcher.search([Query("1", "text")], 3)
    finally:
        system.close()


@dataclass(frozen=True)
class User:
    """Something that asks a service: how, what it raises, and how often it asks where a failure may pass."""

    ask: Callable[..., object]
    error: type[AssayError]
    tries: int = TRIES


USERS = {
    "chat": User(ask_chat, ChatError),
    "encoder": User(ask_encoder, InputError),
    "reranker": User(ask_reranker, InputError, tries=3),
    "completions": User(ask_completions, ChatError),
    "sampler": User(ask_sampler, ChatError),
    "system": User(ask_system, HttpError, tries=1),
}
EVERY = pytest.mark.parametrize("user", USERS.values(), ids=USERS)
ENCODER, SYSTEM = USERS["encoder"], USERS["system"]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EndpointServer]:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with serving(lambda _: Play(text=GOOD)) as running:
        monkeypatch.setenv("ASSAY_API_BASE", running.base)
        monkeypatch.setenv("ASSAY_API_KEY", KEY)
        yield running


def error_of(user: User, base: str, **options: Any) -> str:
    with pytest.raises(user.error) as caught:
        user.ask(base, **options)
    assert str(caught.value).isprintable()
    return str(caught.value)


def everything_of(user: User, server: EndpointServer) -> str:
    """Return all that an answer or an error could bring before somebody's eyes."""
    try:
        return repr(user.ask(server.base))
    except AssayError as error:
        parts = [traceback.format_exc(), str(error), repr(error), *map(str, error.args), getattr(error, "raw", "")]
        return "\n".join([*parts, getattr(error, "text", ""), getattr(error, "what", "")])


@EVERY
def test_a_user_sends_its_key_and_threads_ask_at_once(user: User, server: EndpointServer):
    assert user.ask(server.base)
    assert server.keys == [f"Bearer {KEY}"]
    both = threading.Barrier(2, timeout=60)
    server.say = lambda _: Play(text=GOOD) if both.wait() >= 0 else Play()
    with ThreadPoolExecutor(2) as pool:
        assert all(pool.map(user.ask, [server.base] * 2)), "neither waits for the other"


@EVERY
def test_no_answer_or_error_repeats_the_key(user: User, server: EndpointServer):
    pieces = {KEY[start : start + PIECE] for start in range(len(KEY) - PIECE + 1)}
    for echo, status in product(ECHOES, (200, 302, 401)):
        server.say = lambda _, echo=echo, status=status: Play(echo=echo, status=status)
        said = everything_of(user, server)
        assert not [piece for piece in pieces if piece in said], f"{echo} with {status} repeats the key"
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
    server.say = lambda _: Play(body=ECHOES["answer"](KEY).replace(KEY.encode(), escaped.encode()))
    assert KEY[:PIECE] not in everything_of(user, server)


@EVERY
def test_failures_are_retried_and_redirects_refused(
    user: User, server: EndpointServer, monkeypatch: pytest.MonkeyPatch
):
    server.say = lambda _: Play(status=500, body=b"out of \x1b[31mmemory")
    times = f"failed {user.tries} times, last with" if user.tries > 1 else "failed with"
    assert f"{times} HTTP 500: out of \\x1b[31mmemory" in error_of(user, server.base)
    assert len(server.questions) == user.tries
    with serving(lambda _: Play(text=GOOD)) as other:
        to = f"{other.base}/embeddings"
        server.say = lambda _: Play(status=307, headers={"location": to})
        assert to in error_of(user, server.base)
        assert not other.questions
    if user is not SYSTEM:
        server.say = lambda _: Play(body=b'{"data": 7, "choices": 7}')
        error_of(user, server.base)
    monkeypatch.setenv("ASSAY_API_BASE", "http://127.0.0.1:1/v1")
    nobody = "failed 2 times, last with ConnectError" if user.tries > 1 else "ConnectError"
    assert nobody in error_of(user, "http://127.0.0.1:1/v1")


@EVERY
def test_a_wrong_address_or_key_is_refused(user: User, server: EndpointServer, monkeypatch: pytest.MonkeyPatch):
    for base in ("ftp://host/v1", "file:///etc/passwd", "host:80", "http://", "http://me:sesame@host/v1"):
        monkeypatch.setenv("ASSAY_API_BASE", base)
        with pytest.raises(InputError, match="address") as caught:
            user.ask(base)
        assert "sesame" not in str(caught.value)
    monkeypatch.setenv("ASSAY_API_KEY", "sk-ab\ncd\u2028ef")
    monkeypatch.setenv("ASSAY_API_BASE", server.base)
    with pytest.raises(AssayError, match="has characters that") as refused:
        user.ask(server.base)
    assert "sk-ab" not in "".join(traceback.format_exception(refused.value))


SLOW = {
    "dripping": Play(drip="body", body=b""),
    "dripping headers": Play(drip="headers"),
    "slow": Play(pause_s=0.05, text=GOOD),
}
PASSING = {
    "cut": Play(cut=30, text=GOOD),
    "gone": Play(cut=0),
    "compressed": Play(headers={"content-encoding": "gzip"}, body=gzip.compress(b" " * 10**7)),
    "busy": Play(status=429, headers={"retry-after": "0"}),
    **{str(status): Play(status=status) for status in (408, 409, 425, 500)},
    "broken and odd": Play(status=503, body=b"\xff\xfe <html>"),
    "odd pause": Play(status=503, headers={"retry-after": "\u00b2"}),
}
NO_JSON = {
    "half an object": Play(body=b'{"choices": ['),
    "a page": Play(body=b"<html>"),
    "no text": Play(body=b"\xff\xfe\x00"),
    "deep": Play(body=b"[" * 100_000),
}
OTHER_SHAPES = (
    *(b"[]", b"{}", b'{"choices": []}', b'{"choices": [{}]}', b'{"data": [{"index": 0}]}'),
    *(b'{"data": 7, "choices": 7}', b'"text"', b"null", b"NaN"),
)


def test_a_passing_failure_is_retried_except_where_time_counts(server: EndpointServer):
    for name, play in {**PASSING, **NO_JSON}.items():
        server.questions.clear()
        server.plays = [play]
        assert ENCODER.ask(server.base), name
        assert len(server.questions) == 2, name
        server.questions.clear()
        server.plays = [play]
        with pytest.raises(AssayError) as caught:
            SYSTEM.ask(server.base)
        assert len(server.questions) == 1, name
        assert name in NO_JSON or "the service failed with" in str(caught.value), name
    server.plays = []
    for body in OTHER_SHAPES:
        server.say = lambda _, body=body: Play(body=body)
        error_of(ENCODER, server.base)


def test_answers_are_bounded_in_time_and_size(server: EndpointServer):
    for name, play in SLOW.items():
        server.say = lambda _, play=play: replace(play)
        assert "no whole answer within 0.2 s" in error_of(SYSTEM, server.base, timeout_s=0.2), name
    server.say = lambda _: Play(text=GOOD)
    server.plays = [SLOW["dripping"]]
    server.questions.clear()
    assert ENCODER.ask(server.base, timeout_s=0.5)
    assert len(server.questions) > 1, "what is late may pass"
    server.plays = [Play(padding_mb=200)]
    assert ENCODER.ask(server.base)
    server.plays = [Play(padding_mb=200)]
    assert "more than 20,000,000 bytes" in error_of(SYSTEM, server.base)
    for status in (400, 500):
        server.plays = [Play(padding_mb=200, status=status, body=b"no")] * TRIES
        error_of(ENCODER, server.base)
    assert server.sent_mb < 200, "each is cut off long before its end"


class Clock:
    """A clock that only waiting moves."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def time(self) -> float:
        return self.now

    monotonic = time

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_retry_after_is_obeyed_and_an_hour_refused(server: EndpointServer, monkeypatch):
    clock, moments = Clock(), []
    monkeypatch.setattr(http, "time", clock)
    monkeypatch.setattr(http, "pause", clock.sleep)
    monkeypatch.setattr(http, "Window", lambda slow_s: Window(slow_s, clock.time, clock.sleep))
    date = formatdate(clock.now + 60, usegmt=True)
    plays = [
        Play(status=429, headers={"retry-after": "0.3"}),
        Play(status=503, headers={"retry-after": date}),
        Play(text=GOOD),
    ]

    def say(_: object) -> Play:
        moments.append(clock.now)
        return plays[len(moments) - 1]

    server.say = say
    assert ENCODER.ask(server.base)
    first, second, third = moments
    assert 0.3 <= second - first < 0.4
    assert 59 <= third - first < 62
    server.questions.clear()
    server.say = lambda _: Play(status=429, body=b"", headers={"retry-after": "3600"})
    assert "asks to wait 60 min before the next request (HTTP 429)" in error_of(ENCODER, server.base)
    assert len(server.questions) == 1


COMMANDS = {
    "search": ["search", "where is mail sent", "{project}", "--encoder", "api:m", "-v"],
    "search, reranked": ["search", "where is mail sent", "{project}", "--set", "search.reranker=rerank:m", "-v"],
    "rank sample": ["rank", "sample", "{tasks}", "--model", "openai:m", "--out", "{out}", "-v"],
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_no_command_prints_a_key(command, server: EndpointServer, project: Path, tmp_path: Path, assay: Any):
    tasks, out = tmp_path / "tasks.jsonl", tmp_path / "samples.jsonl"
    tasks.write_text(json.dumps({"id": "t", "prompt": "def f():\n", "entry_point": "f", "tests": []}) + "\n")
    for play in (Play(status=401, echo="json"), Play(echo="answer")):
        server.say = lambda _, play=play: play
        server.keys.clear()
        ran = assay(*(part.format(project=project, tasks=tasks, out=out) for part in command))
        assert server.keys
        written = "".join(file.read_text(errors="replace") for file in tmp_path.rglob("*") if file.is_file())
        assert KEY[:PIECE] not in ran.out + ran.err + written
        assert "Bearer" not in ran.out + ran.err
