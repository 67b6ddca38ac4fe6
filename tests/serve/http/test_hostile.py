"""Requests that no decent client sends: 4xx in JSON, no trace, nobody waits for ever, and the server goes on."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

import uvicorn  # noqa: TID253
from hypothesis import HealthCheck, given, settings

from assay.serve.answer_threads import AnswerThreads, Busy
from assay.serve.http.app import app_of
from assay.serve.http.server import Protocol
from assay.serve.labels import Labeller
from assay.serve.reader import Waits
from assay.serve.session import Session
from assay.settings import Settings
from source import SOURCE
from waiting import LIMIT_S

SECRET = "SECRET_OF_ANOTHER_FOLDER"


@dataclass(frozen=True)
class Server:
    port: int

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def raw(self, data: bytes) -> tuple[int, dict[str, str], bytes]:
        """Send bytes as they are and return what comes back."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT_S) as line:
            with contextlib.suppress(ConnectionError):  # it has hung up on us already
                line.sendall(data.replace(b"{host}", self.host.encode()))
            answer = http.client.HTTPResponse(line)
            answer.begin()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()

    def get(self, target: str | bytes) -> tuple[int, bytes]:
        raw = target.encode("latin-1") if isinstance(target, str) else target
        status, _, told = self.raw(b"GET " + raw + b" HTTP/1.1\r\nHost: {host}\r\n\r\n")
        return status, told


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[Server]:
    root = tmp_path_factory.mktemp("served") / "box"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("def send_mail(to):\n    return to\n")
    (root.parent / "secret.py").write_text(f"{SECRET} = 1\n")
    (root / "link").symlink_to(root.parent)
    environment = {**os.environ, "PYTHONPATH": SOURCE, "XDG_CACHE_HOME": str(cache)}
    command = [sys.executable, "-m", "assay", "serve", "--port", "0", "--rate", "0", str(root)]
    process = subprocess.Popen(command, env=environment, cwd=root, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        line = process.stderr.readline().decode()
        found = re.search(r"http://[^:]+:(\d+)/", line)
        assert found, line
        yield Server(int(found[1]))
        process.terminate()
        out, err = process.communicate(timeout=LIMIT_S)
        assert (process.returncode, out) == (0, b"")
        assert b"Traceback" not in err, err.decode()
    finally:
        process.kill()


STARTS = "/page/ /api/status?path= /api/related?line=1&path= /api/bench/ /api/labels?path= /api/raw?path="
MIDDLES = (
    "../ ..%2f %2e%2e/ %2e%2e%2f %252e%252e%252f ..%5c ..%c0%af %c0%ae%c0%ae/ ....// / %2f link/ src/../link/ "
    "file:/// ~/"
)


def test_no_way_leads_out(server: Server):
    for middle in MIDDLES.split():
        for start in STARTS.split():
            for end in ("secret.py", "etc/passwd", "a.py%00.js"):
                status, told = server.get(f"{start}{middle}{end}")
                assert status in {400, 404, 422}, (start, middle, end, status)
                assert json.loads(told)["error"]
                assert SECRET.encode() not in told
                assert b"root:" not in told


ODD = [
    *(f"/api/search?query={each}".encode() for each in ("%ff%fe%f0", "%00", "a%00b", "%ed%a0%80", "%e2%80%aea")),
    b"/api/search?query=\xff\xfe",
    b"/api/search?query=" + b"%f0%9f%92%a9" * 1000,
    *(b"/api/search?query=a&file=" + each for each in (b"[", b"*" * 500, b"**/" * 160)),
    *(b"/api/search?query=a&cursor=" + each for each in (b"%41" * 27, b"A" * 60_000)),
    *(
        f"/api/search?{each}".encode()
        for each in ("query", "=a", "&&&=&", "query=a;limit=3", "query[]=a", "query=a&path=con")
    ),
    b"/api/related?path=src/a.py&line=1000000000",
    *(b"/api/pattern?lang=python&pattern=" + each for each in (b"%24", b"(" * 4000, b"%00")),
    *(f"/api/bench/{each}".encode() for each in ("%00", "a%2fb", "box/plots/-1.svg", "box/plots/999999999999.svg")),
    *b"//api/roots /api//roots /API/roots /page /page/ /page/. /page/.. /page/../index.html /page/index.html/".split(),
    *b"/page/%69ndex.html%20 /.. /\x80 * http://evil.example/ ?".split(),
]


def test_an_odd_address_is_answered_in_json(server: Server):
    for target in ODD:
        status, told = server.get(target)
        assert status == 200 or 400 <= status < 500, target[:80]
        assert ("error" in json.loads(told)) == (status != 200), target[:80]
        assert b"Traceback" not in told
    for size, status in ((65_536, 414), (250_000, 414), (1_000_000, 400)):
        answer = server.get("/api/search?query=" + "a" * size)
        assert (answer[0], "error" in json.loads(answer[1])) == (status, True)


RANK = b"POST /api/rank HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
WRONG = [
    b"hello\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 200,
    b"GET / HTTP/1.1\r\nHost : {host}\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: {host}\r\nHost: {host}\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: {host}\r\nBad\x00Name: a\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: {host}\r\n folded: a\r\n\r\n",
    *(
        RANK + each + b"\r\n\r\n"
        for each in (b"Content-Length: -1", b"Content-Length: 1e3", b"Transfer-Encoding: gzip")
    ),
    RANK + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    RANK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET / HTTP/1.1\r\nHost: {host}\r\n" + b"A: b\r\n" * 100_000 + b"\r\n",
    b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    b"CONNECT evil.example:443 HTTP/1.1\r\nHost: {host}\r\n\r\n",
    b"TRACE / HTTP/1.1\r\nHost: {host}\r\nX-Secret: a\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
]


def test_a_malformed_request_is_refused_and_the_server_goes_on(server: Server):
    for data in WRONG:
        status, headers, told = server.raw(data)
        assert 400 <= status < 500, data[:80]
        assert headers["content-type"] == "application/json", data[:80]
        assert json.loads(told).keys() == {"error"}
        assert b"X-Secret" not in told
    assert server.raw(RANK + b"Content-Length: 99999999999\r\n\r\nab")[0] == 413, "before it has come"
    chunks = b"100000\r\n" + b"a" * 0x100000 + b"\r\n"
    assert server.raw(RANK + b"Transfer-Encoding: chunked\r\n\r\n" + chunks * 20 + b"0\r\n\r\n")[0] == 413
    body = json.dumps({"programs": ["def f():\n    return 1\n"]}).encode()
    pieces = b"".join(b"1\r\n" + bytes((each,)) + b"\r\n" for each in body) + b"0\r\n\r\n"
    assert server.raw(RANK + b"Transfer-Encoding: chunked\r\n\r\n" + pieces)[0] == 200
    for data in (b"GET /api/sea", RANK + b"Content-Length: 100\r\n\r\nab"):  # and they go away
        with socket.create_connection(("127.0.0.1", server.port), timeout=LIMIT_S) as line:
            line.sendall(data.replace(b"{host}", server.host.encode()))
    status, told = server.get("/api/search?query=send+mail")
    assert (status, json.loads(told)["hits"][0]["path"]) == (200, "src/a.py")


CONFIG = """
[checks]
positive_data_acceptance.expected-statuses = ["2xx", "400", "404", "409"]
"""
"""No schema can say which paths are there, and which text is a pattern."""
NEVER_WRONG = {("/api/roots", "negative"), ("/api/bench", "negative")}


@pytest.mark.parametrize("examples", [1, pytest.param(10, marks=pytest.mark.nightly)])  # each example is a request
def test_the_server_does_what_its_schema_says(tmp_path: Path, examples: int):
    schemathesis = pytest.importorskip("schemathesis")
    (tmp_path / "a.py").write_text("def send_mail(to):\n    return to\n")
    session = Session({tmp_path: Settings()}, waits=Waits(fresh_s=60.0))
    app = app_of(session, Labeller(session, "me"), {}, AnswerThreads(most=2))
    api = schemathesis.openapi.from_asgi("/openapi.json", app, config=schemathesis.Config.from_str(CONFIG))
    asked = set()
    for path, method in [(each, method) for each in api for method in api[each]]:
        for mode in schemathesis.GenerationMode:
            if (path, mode.value) in NEVER_WRONG or path in {"/api/log", "/api/raw"}:
                continue

            @settings(max_examples=examples, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
            @given(api[path][method].as_strategy(generation_mode=mode))
            def ask(case: Any) -> None:
                case.call_and_validate()

            ask()
            asked.add(path)
    assert len(asked) > 15


LARGE = b"a" * 50_000_000
HEAD = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n"


class Hasty(Protocol):
    head_s = 0.5
    answer_s = 1.5


async def answer(scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    body = LARGE if scope["path"] == "/large" else b"ok"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


async def read_to_end(reader: asyncio.StreamReader) -> int:
    size = 0
    with contextlib.suppress(ConnectionError):
        while part := await reader.read(1_000_000):
            size += len(part)
    return size


async def trickle(address: tuple[str, int], before: bytes) -> None:
    """Send a head that never ends, perhaps after a whole request, and see the server hang up."""
    reader, writer = await asyncio.open_connection(*address)
    writer.write(before)
    if before:
        assert (await reader.readuntil(b"\r\nok")).startswith(b"HTTP/1.1 200 ")

    async def write() -> None:
        while True:
            writer.write(b"A")
            await asyncio.sleep(0.05)

    writing = asyncio.create_task(write())
    assert await read_to_end(reader) == 0
    writing.cancel()


async def send_slow_bodies(address: tuple[str, int]) -> None:
    """Send a body that takes longer than a head may, and another request after it."""
    reader, writer = await asyncio.open_connection(*address)
    for _ in range(2):
        writer.write(HEAD + b"\r\na")
        await asyncio.sleep(1.5 * Hasty.head_s)
        writer.write(b"b")
        assert (await reader.readuntil(b"\r\nok")).startswith(b"HTTP/1.1 200 ")
    writer.close()


async def read_nothing(address: tuple[str, int], state: Any) -> None:
    """Ask for a large answer, and read of it only once the server has given it up."""
    before = state.total_requests
    reader, writer = await asyncio.open_connection(*address)
    writer.write(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
    while state.total_requests == before or state.connections:  # noqa: ASYNC110  the library has no event for it
        await asyncio.sleep(0.02)
    assert await read_to_end(reader) < len(LARGE)


def test_idle_connections_are_closed_and_slow_bodies_are_answered():
    async def run() -> None:
        config = uvicorn.Config(answer, lifespan="off", log_level="critical")
        config.load()
        state = uvicorn.server.ServerState()
        made = await asyncio.get_running_loop().create_server(
            lambda: Hasty(config=config, server_state=state, app_state={}), "127.0.0.1", 0
        )
        address = made.sockets[0].getsockname()
        async with asyncio.timeout(LIMIT_S):
            before = HEAD + b"\r\nab"
            await asyncio.gather(trickle(address, b""), trickle(address, before), send_slow_bodies(address))
            await read_nothing(address, state)
        made.close()

    asyncio.run(run())


def test_only_so_many_requests_work_or_wait_at_once():
    running, most, lock, together = [0], [0], Lock(), Event()

    def work(number: int) -> int:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
            if running[0] == 3:
                together.set()
        assert together.wait(LIMIT_S)
        with lock:
            running[0] -= 1
        return number

    async def ask() -> None:
        threads = AnswerThreads(most=3)
        asked = await asyncio.gather(*(threads.do(lambda number=number: work(number)) for number in range(20)))
        assert (asked, most) == (list(range(20)), [3])
        go = Event()
        threads = AnswerThreads(most=1, waiting=2)
        held = [asyncio.create_task(threads.do(go.wait)) for _ in range(3)]
        await asyncio.sleep(0)  # each has begun
        assert threads._pending == 3
        with pytest.raises(Busy, match="2 requests are waiting already"):
            await threads.do(lambda: 1)
        go.set()
        assert await asyncio.gather(*held) == [True] * 3
        assert await threads.do(lambda: 1) == 1
        with pytest.raises(ZeroDivisionError):
            await threads.do(lambda: 1 / 0)

    asyncio.run(ask())


def test_a_late_answer_is_given_up_and_a_waiting_request_never_begun():
    go, begun = Event(), []

    async def ask() -> None:
        threads = AnswerThreads(most=1, waiting=1, deadline_s=0.05)
        late = asyncio.create_task(threads.do(go.wait))
        await asyncio.sleep(0)
        in_line = asyncio.create_task(threads.do(lambda: begun.append(1)))
        for task in (late, in_line):
            with pytest.raises(Busy, match=r"no answer within 0\.05 seconds"):
                await task
        go.set()
        threads._deadline_s = LIMIT_S
        assert await threads.do(lambda: 2) == 2

    asyncio.run(ask())
    assert not begun
