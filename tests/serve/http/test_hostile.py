"""A server in a process of its own, and requests that no decent client sends: 4xx in JSON, no trace, and it goes on."""

from __future__ import annotations

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

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

import assay

SECRET = "SECRET_OF_ANOTHER_FOLDER"


@dataclass(frozen=True)
class Server:
    port: int
    process: subprocess.Popen[bytes]

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def raw(self, data: bytes) -> tuple[int, dict[str, str], bytes]:
        """Send bytes as they are and return what comes back."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as line:
            with contextlib.suppress(ConnectionError):  # it has hung up on us already
                line.sendall(data)
            answer = http.client.HTTPResponse(line)
            answer.begin()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()

    def get(self, target: str | bytes, *headers: str, method: str = "GET", body: bytes = b"") -> tuple[int, bytes]:
        raw = target.encode("latin-1") if isinstance(target, str) else target
        lines = [f"Host: {self.host}", *headers]
        head = method.encode() + b" " + raw + b" HTTP/1.1\r\n" + "".join(f"{each}\r\n" for each in lines).encode()
        status, _, told = self.raw(head + b"\r\n" + body)
        return status, told


def started(*arguments: str, env: dict[str, str], cwd: Path) -> Server:
    command = [sys.executable, "-m", "assay", "serve", "--port", "0", *arguments]
    process = subprocess.Popen(command, env=env, cwd=cwd, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    line = process.stderr.readline().decode()
    found = re.search(r"http://[^:]+:(\d+)/", line)
    assert found, line + process.stderr.read().decode()
    return Server(int(found[1]), process)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[Server]:
    root = tmp_path_factory.mktemp("served") / "box"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("def send_mail(to):\n    return to\n")
    (root.parent / "secret.py").write_text(f"{SECRET} = 1\n")
    (root / "link").symlink_to(root.parent)
    environment = {**os.environ, "PYTHONPATH": str(Path(assay.__file__).parents[1]), "XDG_CACHE_HOME": str(cache)}
    made = started("--rate", "0", str(root), env=environment, cwd=root)
    yield made
    made.process.terminate()
    out, err = made.process.communicate(timeout=20)
    assert made.process.returncode == 0
    assert b"Traceback" not in err, err.decode()
    assert out == b""


TRAVERSALS = [
    f"{start}{middle}{end}"
    for start in ("/page/", "/api/status?path=", "/api/related?line=1&path=", "/api/bench/", "/api/labels?path=")
    for middle in (
        "../",
        "..%2f",
        "%2e%2e/",
        "%2e%2e%2f",
        "%252e%252e%252f",
        "..%5c",
        "..%c0%af",
        "%c0%ae%c0%ae/",
        "....//",
        "/",
        "%2f",
        "link/",
        "src/../link/",
        "file:///",
        "~/",
    )
    for end in ("secret.py", "etc/passwd", "a.py%00.js")
]


def test_no_way_leads_out(server: Server):
    for target in TRAVERSALS:
        status, told = server.get(target)
        assert status in {400, 404, 422}, (target, status)
        assert json.loads(told)["error"], target
        assert SECRET.encode() not in told
        assert b"root:" not in told


@pytest.mark.parametrize(
    "target",
    [
        b"/api/search?query=\xff\xfe",
        b"/api/search?query=%ff%fe%f0",
        b"/api/search?query=%00",
        b"/api/search?query=a%00b",
        b"/api/search?query=%ed%a0%80",
        b"/api/search?query=%e2%80%ae%e2%81%a6a",
        b"/api/search?query=" + b"%f0%9f%92%a9" * 1000,
        b"/api/search?query=a&glob=[",
        b"/api/search?query=a&glob=" + b"*" * 500,
        b"/api/search?query=a&glob=" + b"**/" * 160,
        b"/api/search?query=a&path=%00",
        b"/api/search?query=a&path=con",
        b"/api/search?query",
        b"/api/search?=a",
        b"/api/search?&&&=&",
        b"/api/search?query=a;k=3",
        b"/api/search?query[]=a",
        b"/api/search?query=a&k=%00",
        b"/api/search?query=a&k=99999999999999999999999999",
        b"/api/search?query=a&k=-1",
        b"/api/search?query=a&k=0x10",
        b"/api/search?query=a&k=1_0",
        b"/api/search?query=a&k=NaN",
        b"/api/search?query=a&budget=1e9",
        b"/api/search?query=a&cursor=" + b"%41" * 27,
        b"/api/search?query=a&cursor=" + b"A" * 60_000,
        b"/api/related?path=src/a.py&line=0",
        b"/api/related?path=src/a.py&line=1000000000",
        b"/api/pattern?pattern=%24&language=python",
        b"/api/pattern?pattern=" + b"(" * 4000 + b"&language=python",
        b"/api/pattern?pattern=%00&language=python",
        b"/api/bench/%00",
        b"/api/bench/a%2fb",
        b"/api/bench/box/plots/-1.svg",
        b"/api/bench/box/plots/999999999999.svg",
        b"/api/bench/box/plots/0.svg%00",
        b"//api/roots",
        b"/api//roots",
        b"/API/roots",
        b"/page",
        b"/page/",
        b"/page/.",
        b"/page/..",
        b"/page/../index.html",
        b"/page/index.html/",
        b"/page/%69ndex.html%20",
        b"/..",
        b"/\x80",
        b"*",
        b"http://evil.example/",
        b"?",
    ],
)
def test_an_odd_address_is_answered_in_json(server: Server, target: bytes):
    status, told = server.get(target)
    assert status == 200 or 400 <= status < 500
    answer = json.loads(told)
    assert ("error" in answer) == (status != 200)
    assert "Traceback" not in told.decode()


def test_an_address_that_is_too_long_is_told_so(server: Server):
    for size in (65_536, 100_000, 250_000):
        status, told = server.get("/api/search?query=" + "a" * size)
        assert (status, "error" in json.loads(told)) == (414, True)
    status, told = server.get("/api/search?query=" + "a" * 1_000_000)
    assert (status, "error" in json.loads(told)) == (400, True)


@pytest.mark.parametrize(
    "data",
    [
        b"hello\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 200,
        b"GET / HTTP/1.1\r\nHost : {host}\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: {host}\r\nHost: {host}\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: {host}\r\nBad\x00Name: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: {host}\r\nA: \x00\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: {host}\r\n folded: a\r\n\r\n",
        b"POST /api/rank HTTP/1.1\r\nHost: {host}\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/rank HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1e3\r\n\r\n",
        b"POST /api/rank HTTP/1.1\r\nHost: {host}\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        b"POST /api/rank HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"POST /api/rank HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\nHost: {host}\r\n" + b"A: b\r\n" * 100_000 + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: {host}\r\nOrigin: http://evil.example\r\n\r\n",
        b"POST /api/labels HTTP/1.1\r\nHost: {host}\r\nSec-Fetch-Site: cross-site\r\nContent-Length: 2\r\n\r\n{}",
        b"CONNECT evil.example:443 HTTP/1.1\r\nHost: {host}\r\n\r\n",
        b"TRACE / HTTP/1.1\r\nHost: {host}\r\nX-Secret: a\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_what_is_no_request_of_ours_is_refused(server: Server, data: bytes):
    status, headers, told = server.raw(data.replace(b"{host}", server.host.encode()))
    assert 400 <= status < 500
    assert headers["content-type"] == "application/json"
    assert json.loads(told).keys() == {"error"}
    assert b"X-Secret" not in told


def test_a_body_that_is_too_large_is_refused_before_it_has_come(server: Server):
    declared = f"POST /api/rank HTTP/1.1\r\nHost: {server.host}\r\nContent-Type: application/json\r\n".encode()
    assert server.raw(declared + b"Content-Length: 99999999999\r\n\r\nab")[0] == 413
    chunks = b"100000\r\n" + b"a" * 0x100000 + b"\r\n"
    assert server.raw(declared + b"Transfer-Encoding: chunked\r\n\r\n" + chunks * 5)[0] == 413


def test_a_body_in_chunks_is_read(server: Server):
    body = json.dumps({"programs": ["def f():\n    return 1\n"]}).encode()
    chunks = b"".join(b"1\r\n" + bytes((each,)) + b"\r\n" for each in body) + b"0\r\n\r\n"
    head = f"POST /api/rank HTTP/1.1\r\nHost: {server.host}\r\nContent-Type: application/json\r\n".encode()
    assert server.raw(head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks)[0] == 200


def test_whoever_goes_away_in_the_middle_harms_nobody(server: Server):
    for data in (b"GET /api/sea", b"POST /api/rank HTTP/1.1\r\nHost: {host}\r\nContent-Length: 100\r\n\r\nab"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as line:
            line.sendall(data.replace(b"{host}", server.host.encode()))
    assert server.get("/api/roots")[0] == 200


def test_it_still_searches(server: Server):
    status, told = server.get("/api/search?query=send+mail")
    assert status == 200
    assert json.loads(told)["hits"][0]["path"] == "src/a.py"
