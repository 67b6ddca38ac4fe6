"""Whoever asks a service over HTTP, and what a hostile one can do to it: one server, one set of promises."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from endpoint_server import ECHOES, VARIABLES, EndpointServer, Play, serving

pytest.importorskip("httpx", reason="the api extra is not installed")

from assay.bench.system_corpus import SystemCorpus
from assay.bench.systems.http_system import HttpSystem
from assay.encode.api_encoder import ApiEncoder
from assay.encode.rerank_endpoint import RerankEndpoint
from assay.errors import AssayError, ChatError, HttpError, InputError
from assay.io.http import HttpOptions
from assay.llm.openai import OpenAiChat
from assay.llm.providers import endpoint
from assay.rank.sampling.endpoint_sampler import ChatSampler, CompletionSampler
from assay.rank.sampling.model_answers import SamplingOptions, SamplingQuestion
from assay.types import Chunk, Prompt, Query

KEY = "sk-9f3kQ-Zr7uW/+x2Lm=kT0"
PIECE = 10
"""Characters of a key in a row that may stand nowhere."""
TRIES = HttpOptions().tries
SCHEMA = {"type": "object", "properties": {"grade": {"type": "integer"}}, "required": ["grade"]}
GOOD = '{"grade": 1}'


def ask_chat(base: str) -> object:
    chat = OpenAiChat(endpoint("openai", "m?timeout_s=0.4&format=object"), pause_s=0.001)
    assert base in chat.name
    return chat.reply(Prompt("", "def f(): pass", SCHEMA))


def ask_encoder(_: str) -> object:
    return ApiEncoder("m", pause_s=0.001, timeout_s=0.4).encode(["text"], "query").tolist()


def ask_reranker(_: str) -> object:
    return RerankEndpoint("m", pause_s=0.001, timeout_s=0.4).score(Query("1", "text"), [Chunk("c", "text")])


def ask_completions(_: str) -> object:
    return CompletionSampler("m", pause_s=0.001, timeout_s=0.4).sample([SamplingQuestion("p", SamplingOptions(n=1))])


def ask_sampler(_: str) -> object:
    return ChatSampler("m", pause_s=0.001, timeout_s=0.4).sample([SamplingQuestion("p", SamplingOptions(n=1))])


def ask_system(base: str) -> object:
    system = HttpSystem(f"{base}/search?q={{query}}")
    headers = {"Authorization": "Bearer $ASSAY_API_KEY"}
    searcher = system.prepare(SystemCorpus("c", Path.cwd()), {"headers": headers, "timeout_s": 0.4, "results": "hits"})
    try:
        return searcher.search([Query("1", "text")], 3)
    finally:
        system.close()


@dataclass(frozen=True)
class User:
    """Something that asks a service."""

    ask: Callable[[str], object]
    error: type[AssayError]
    tries: int = TRIES

    @property
    def retries(self) -> bool:
        """Whether it asks again."""
        return self.tries > 1


USERS = {
    "chat": User(ask_chat, ChatError),
    "encoder": User(ask_encoder, InputError),
    "reranker": User(ask_reranker, InputError, tries=3),
    "completions": User(ask_completions, InputError),
    "sampler": User(ask_sampler, InputError),
    "system": User(ask_system, HttpError, tries=1),
}
EVERY = pytest.mark.parametrize("user", USERS.values(), ids=USERS)
RETRYING = pytest.mark.parametrize(
    "user", [each for each in USERS.values() if each.retries], ids=[name for name in USERS if USERS[name].retries]
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EndpointServer]:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with serving(lambda _: Play(text=GOOD)) as running:
        monkeypatch.setenv("ASSAY_API_BASE", running.base)
        monkeypatch.setenv("ASSAY_API_KEY", KEY)
        yield running


def error_of(user: User, server: EndpointServer) -> AssayError:
    with pytest.raises(user.error) as caught:
        user.ask(server.base)
    assert str(caught.value).isprintable()
    return caught.value


def everything_of(user: User, server: EndpointServer) -> str:
    """Return all that an answer or an error could bring before somebody's eyes."""
    try:
        return repr(user.ask(server.base))
    except AssayError as error:
        parts = [traceback.format_exc(), str(error), repr(error), *map(str, error.args), getattr(error, "raw", "")]
        return "\n".join([*parts, getattr(error, "text", ""), getattr(error, "what", "")])


@EVERY
def test_a_service_that_answers_is_understood_and_gets_the_key(user: User, server: EndpointServer):
    assert user.ask(server.base)
    assert server.keys == [f"Bearer {KEY}"]


@EVERY
@pytest.mark.parametrize("status", [200, 302, 401, 500])
@pytest.mark.parametrize("echo", ECHOES)
def test_no_echo_of_the_key_is_repeated(user: User, server: EndpointServer, echo: str, status: int):
    server.say = lambda _: Play(echo=echo, status=status)
    said = everything_of(user, server)
    assert server.keys[0] == f"Bearer {KEY}"
    pieces = {KEY[start : start + PIECE] for start in range(len(KEY) - PIECE + 1)}
    assert not [piece for piece in pieces if piece in said]


@EVERY
def test_a_huge_answer_is_cut_off_long_before_its_end(user: User, server: EndpointServer):
    server.plays = [Play(padding_mb=200)]
    if user.retries:
        assert user.ask(server.base)
    else:
        assert "more than 20,000,000 bytes" in str(error_of(user, server))
    assert server.sent_mb < 60


@EVERY
@pytest.mark.parametrize("status", [400, 500])
def test_so_is_a_huge_refusal(user: User, server: EndpointServer, status: int):
    server.plays = [Play(padding_mb=200, status=status, body=b"no")] * TRIES
    error_of(user, server)
    assert server.sent_mb < 60


PASSING = {
    "dripping": Play(drip="body", body=b""),
    "dripping headers": Play(drip="headers"),
    "slow": Play(pause_s=0.05, text=GOOD),
    "late": Play(delay_s=0.8, text=GOOD),
    "cut": Play(cut=30, text=GOOD),
    "gone": Play(cut=0),
    "compressed": Play(headers={"content-encoding": "gzip"}, body=gzip.compress(b" " * 10**7)),
    "busy": Play(status=429, headers={"retry-after": "0"}),
    "timed out": Play(status=408),
    "too early": Play(status=425),
    "broken": Play(status=500),
    "broken and odd": Play(status=503, body=b"\xff\xfe <html>"),
    "odd pause": Play(status=503, headers={"retry-after": "\u00b2"}),
}
NO_JSON = {
    "half an object": Play(body=b'{"choices": ['),
    "a page": Play(body=b"<html>"),
    "no text": Play(body=b"\xff\xfe\x00"),
    "deep": Play(body=b"[" * 100_000),
}


@RETRYING
@pytest.mark.parametrize("play", [*PASSING.values(), *NO_JSON.values()], ids=[*PASSING, *NO_JSON])
def test_what_may_pass_is_asked_again(user: User, server: EndpointServer, play: Play):
    server.plays = [play]
    assert user.ask(server.base)
    assert len(server.questions) == 2


@pytest.mark.parametrize("play", PASSING.values(), ids=PASSING)
def test_what_is_timed_is_asked_once(server: EndpointServer, play: Play):
    server.plays = [play]
    assert "the service failed with" in str(error_of(USERS["system"], server))
    assert len(server.questions) == 1


@pytest.mark.parametrize("play", NO_JSON.values(), ids=NO_JSON)
def test_a_system_may_answer_in_words_but_not_in_noise(server: EndpointServer, play: Play):
    server.plays = [play]
    with pytest.raises(AssayError):
        USERS["system"].ask(server.base)


@RETRYING
def test_what_does_not_pass_is_given_up_and_named(user: User, server: EndpointServer):
    server.say = lambda _: Play(status=500, body=b"out of \x1b[31mmemory")
    assert f"failed {user.tries} times, last with HTTP 500: out of \\x1b[31mmemory" in str(error_of(user, server))
    assert len(server.questions) == user.tries


@RETRYING
def test_a_service_says_when(user: User, server: EndpointServer):
    date = formatdate(time.time() + 1.5, usegmt=True)
    server.plays = [
        Play(status=429, headers={"retry-after": "0.3"}),
        Play(status=503, headers={"retry-after": date}),
    ]
    assert user.ask(server.base)
    first, second, third = server.times
    assert second - first >= 0.3
    assert third > second


@RETRYING
def test_a_service_that_wants_an_hour_is_not_waited_for(user: User, server: EndpointServer):
    server.say = lambda _: Play(status=429, body=b"", headers={"retry-after": "3600"})
    assert "wants to be left alone for 3600 s (HTTP 429)" in str(error_of(user, server))
    assert len(server.questions) == 1


@RETRYING
@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"choices": []}', b'{"choices": [{}]}', b'{"data": [{"index": 0}]}',
                                  b'{"data": 7, "choices": 7}', b'"text"', b"null", b"NaN"])  # fmt: skip
def test_an_answer_of_another_shape_is_an_error(user: User, server: EndpointServer, body: bytes):
    server.say = lambda _: Play(body=body)
    error_of(user, server)


@EVERY
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_nobody_is_followed_to_another_host(user: User, server: EndpointServer, status: int):
    with serving(lambda _: Play(text=GOOD)) as other:
        for to in (f"{other.base}/embeddings", "file:///etc/passwd", server.base.replace("http", "https")):
            server.plays = [Play(status=status, headers={"location": to})]
            assert to in str(error_of(user, server))
        assert not other.questions
    assert len(server.questions) == 3


def test_only_a_system_is_followed_on_its_own_host_and_not_for_ever(server: EndpointServer):
    move = Play(status=302, headers={"location": "/v1/elsewhere?q=text"})
    server.plays = [move] * 3
    assert USERS["system"].ask(server.base)
    assert server.paths == ["/v1/search", *["/v1/elsewhere"] * 3]
    server.say = lambda _: move
    assert "HTTP 302, a redirect to /v1/elsewhere" in str(error_of(USERS["system"], server))
    server.plays = [move]
    assert "HTTP 302" in str(error_of(USERS["encoder"], server))


@EVERY
@pytest.mark.usefixtures("server")
def test_nobody_there_is_said(user: User, monkeypatch: pytest.MonkeyPatch):
    base = "http://127.0.0.1:1/v1"
    monkeypatch.setenv("ASSAY_API_BASE", base)
    with pytest.raises(user.error, match="failed 2 times, last with ConnectError" if user.retries else "ConnectError"):
        user.ask(base)


@EVERY
@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(
    "base", ["ftp://host/v1", "file:///etc/passwd", "host:80", "http://", "http://me:sesame@host/v1"]
)
def test_an_address_of_another_kind_or_with_a_password_is_refused(
    user: User, monkeypatch: pytest.MonkeyPatch, base: str
):
    monkeypatch.setenv("ASSAY_API_BASE", base)
    with pytest.raises(InputError, match="address") as caught:
        user.ask(base)
    assert "sesame" not in str(caught.value)


@EVERY
def test_a_key_that_no_header_can_hold_is_not_shown(
    user: User, server: EndpointServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ASSAY_API_KEY", "sk-ab\ncd\u2028ef")
    with pytest.raises(AssayError, match="holds characters that no") as caught:
        user.ask(server.base)
    assert "sk-ab" not in "".join(traceback.format_exception(caught.value))


@EVERY
def test_threads_ask_at_once(user: User, server: EndpointServer):
    server.say = lambda _: Play(text=GOOD, delay_s=0.02)
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(user.ask, [server.base] * 24))
    assert server.most_at_once > 1


COMMANDS = {
    "search": ["search", "where is mail sent", "{project}", "--encoder", "api:m", "-v"],
    "search, reranked": ["search", "where is mail sent", "{project}", "--set", "search.reranker=rerank:m", "-v"],
    "rank sample": ["rank", "sample", "{tasks}", "--model", "completions:m", "--out", "{out}", "-v"],
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("play", [Play(status=401, echo="json"), Play(echo="answer"), Play(status=400, echo="percent")])
def test_no_command_prints_a_key(  # noqa: PLR0917  fixtures
    command: list[str], play: Play, server: EndpointServer, project: Path, tmp_path: Path, assay: Any
):
    server.say = lambda _: play
    tasks, out = tmp_path / "tasks.jsonl", tmp_path / "samples.jsonl"
    tasks.write_text(json.dumps({"id": "t", "prompt": "def f():\n", "entry_point": "f", "tests": []}) + "\n")
    ran = assay(*(part.format(project=project, tasks=tasks, out=out) for part in command))
    assert server.keys
    written = "".join(file.read_text(errors="replace") for file in tmp_path.rglob("*") if file.is_file())
    assert KEY[:PIECE] not in ran.out + ran.err + written
    assert "Bearer" not in ran.out + ran.err


def test_an_old_variable_still_works_and_says_its_new_name_once(server: EndpointServer):
    code = (
        "import sys; from assay.cli import main; from assay.llm.openai import openai; from assay.types import Prompt\n"
        "main.run = lambda _: [openai('m').reply(Prompt('', 'x', {'type': 'object'})) for _ in range(3)] and 0\n"
        "main.main()"
    )
    old = {"ASSAY_CHAT_URL": server.base, "ASSAY_CHAT_KEY": "sk-old-key"}
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    ran = subprocess.run(
        [sys.executable, "-c", code], env=environment | old, capture_output=True, text=True, check=True
    )
    assert server.keys == ["Bearer sk-old-key"] * 3
    assert ran.stderr.splitlines() == [
        "assay: the environment variable ASSAY_CHAT_URL is now called ASSAY_API_BASE: set that instead",
        "assay: the environment variable ASSAY_CHAT_KEY is now called ASSAY_API_KEY: set that instead",
    ]
