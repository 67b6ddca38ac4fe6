"""`assay serve`, and lists of repositories, as processes: where they listen, who may ask, and how they stop."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from git_repositories import git, repository
from waiting import LIMIT_S, until

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

from source import SOURCE

with suppress(ImportError):
    import mcp as _  # noqa: F401  its client writes to what is standard error when it is imported

TOKEN = "a-token-of-some-length"


class Served:
    """A command that runs, and what its server answers."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        lines = iter(process.stderr.readline, "")  # of the process beside it, too
        self.told, found = next(filter(lambda pair: pair[1], ((line, AT.search(line)) for line in lines)))
        self.address, self.name, self.port = found[1], found[2], int(found[3])

    def ask(self, path: str, method: str = "GET", body: object = None, **headers: str) -> tuple[int, dict, bytes]:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        given = {"Content-Type": "application/json"} if body else {}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        line.request(method, path, json.dumps(body) if body else None, headers=given | named)
        answer = line.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()

    def json(self, path: str, **headers: str) -> Any:
        return json.loads(self.ask(path, **headers)[2])

    def posting(self, length: int) -> socket.socket:
        """Return a line on which a request for an order was begun: its body of some bytes is awaited."""
        line = socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT_S)
        head = f"POST /api/rank HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nContent-Type: application/json\r\n"
        line.sendall(f"{head}Content-Length: {length}\r\nExpect: 100-continue\r\n\r\n".encode())
        assert line.recv(100).startswith(b"HTTP/1.1 100 ")
        return line

    def hears_nobody_new(self) -> None:
        """Wait until it takes no more connections."""
        with suppress(ConnectionRefusedError, ConnectionResetError):  # reset: while it closes its door
            while True:
                socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT_S).close()

    def stop(self, how: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        self.process.send_signal(how)
        return self.process.wait(LIMIT_S), self.process.stderr.read()  # communicate would miss what was read ahead


AT = re.compile(r" at (http://(\S+):(\d+)/)$")


@pytest.fixture
def begin(project: Path, cache: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Return what runs a command in the project; what still runs in the end is killed."""
    running: list[subprocess.Popen[str]] = []

    def begin(*arguments: object, **more: str) -> subprocess.Popen[str]:
        kept = {key: value for key, value in os.environ.items() if key not in {"ASSAY_TOKEN", "ASSAY_WEBHOOK_SECRET"}}
        path = {"PYTHONPATH": SOURCE, "XDG_CACHE_HOME": str(cache)}
        command = [sys.executable, "-u", "-m", "assay", *map(str, arguments)]
        pipe = subprocess.PIPE
        environment = {**kept, **path, **more}
        process = subprocess.Popen(command, env=environment, cwd=project, stderr=pipe, stdout=pipe, text=True)
        running.append(process)
        return process

    yield begin
    for process in running:
        process.kill()
        process.communicate()


@pytest.fixture
def start(begin: Callable) -> Callable[..., Served]:
    return lambda *arguments, **more: Served(begin("serve", "--port", 0, *arguments, **more))


def test_a_server_prints_its_address_opens_its_page_and_ends_well(start: Callable, project: Path, tmp_path: Path):
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{opened}.part" && mv "{opened}.part" "{opened}"\n')
    browser.chmod(0o755)
    served = start(".", "--open", BROWSER=f'"{browser}" %s')
    assert served.told == f"assay: serving {project} at http://127.0.0.1:{served.port}/\n"
    until(opened.exists, "the page is opened")
    assert opened.read_text().strip() == served.address
    status, _, told = served.ask("/api/search?query=deliver+a+message")
    assert (status, json.loads(told)["hits"][0]["symbol"]) == (200, "send_mail")
    assert served.ask("/")[0] == 200
    body = json.dumps({"programs": ["def f():\n    return 1\n"]}).encode()
    with served.posting(len(body)) as line:
        line.sendall(body[:5])
        served.process.send_signal(signal.SIGTERM)
        served.hears_nobody_new()
        assert served.process.poll() is None
        line.sendall(body[5:])
        answer = http.client.HTTPResponse(line)
        answer.begin()
        assert (answer.status, bool(json.loads(answer.read())["programs"])) == (200, True)
    assert served.process.wait(LIMIT_S) == 0
    assert served.process.stderr.read() == ""


@pytest.mark.nightly  # it waits the five seconds that a request may take; the test above sees one finish
def test_a_request_that_does_not_end_is_cut_off(start: Callable):
    served = start()
    with served.posting(100) as line:
        served.process.send_signal(signal.SIGINT)
        assert line.recv(100).startswith(b"HTTP/1.1 503 ")
        _, err = served.process.communicate(timeout=LIMIT_S)
    assert served.process.returncode == 0
    assert "Traceback" not in err


def test_another_address_needs_the_token_that_is_printed(start: Callable):
    served = start("--host", "0.0.0.0")
    token = re.search(r"\?token=([\w-]{32})$", served.process.stderr.readline())[1]
    assert "there is no TLS" in served.process.stderr.readline()
    assert served.name == socket.gethostname()
    assert served.ask("/api/roots")[0] == 401
    assert served.ask("/api/roots", Authorization=f"Bearer {token}")[0] == 200


def test_a_given_token_is_not_printed_and_options_apply(start: Callable, project: Path, tmp_path: Path):
    (tmp_path / "other-bench").mkdir()
    (tmp_path / "other-bench" / "report.html").write_text("<p>")
    options = ["--judge", "ann", "--truth", tmp_path / "t.jsonl", "--bench", tmp_path / "other-bench", "--rate", 3]
    served = start(project, *options, ASSAY_TOKEN=TOKEN)
    assert served.ask("/api/roots")[0] == 401, "whoever sets it expects that it counts"
    login = {"Authorization": f"Bearer {TOKEN}"}
    assert served.json("/api/roots", **login)["judge"] == "ann"
    assert served.json("/api/labels", **login)["file"] == "t.jsonl"
    assert [each["name"] for each in served.json("/api/bench", **login)["reports"]] == ["other-bench"]
    assert served.ask("/api/bench/other-bench", **login)[2] == b"<p>"
    assert 429 in [served.ask("/api/roots", **login)[0] for _ in range(20)]
    until(lambda: served.ask("/api/roots", **login)[0] == 200, "it answers again")
    status, err = served.stop()
    assert status == 0
    assert "?token=$ASSAY_TOKEN" in err
    assert TOKEN not in err


def test_a_mistake_is_refused_in_one_line(refuses, project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(project)
    Path("repos").write_text("https://h/a\n")
    Path("bad").write_text("https://h/a\nnonsense://x\n")
    Path("ranked").write_text("https://h/a search.ranking=fused search.vector_weight=0 search.keyword_weight=0\n")
    alone, gone = "--mirrors and --every are for --repos FILE", "cannot read the list of repositories"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refuses([
            (f"serve --port {port}", f"cannot listen on 127.0.0.1, port {port}: Address already in use; give another"),
            ("serve --host no.such.host.invalid", "port 7777: unknown host; give another --host"),
            ("serve --host 192.0.2.1", "not an address of this machine; give another --host, such as 127.0.0.1"),
            ("serve --encoder foo", "unknown encoder 'foo'"),
            ("serve --set search.reranker=foo", "unknown scorer 'foo'"),
            ("serve --set search.reranker=ranker:consensus", "cannot order answers to a question"),
            ("serve --bench .", "--bench '.' has no report.html: name a folder that assay bench wrote into"),
            ("serve --truth nowhere/a.jsonl", "--truth 'nowhere/a.jsonl': no such folder: 'nowhere'; make it"),
            ("serve --truth mail", "--truth 'mail' is a folder: name a file in it"),
            ("serve --port 70000", "--port: expected 0 to 65,535, not 70,000"),
            ("serve . .. --truth a.jsonl", "--truth names one file"),
            ("serve --bench nowhere", "'nowhere' does not exist"),
            ("serve --rate -1", "--rate: expected 0 or more, not -1"),
            ("serve --repos gone", gone),
            ("serve --repos bad", "bad:2: 'nonsense://x' is not a folder or a URL"),
            ("serve --mirrors .", alone),
            ("mcp --repos gone", gone),
            ("mcp --mirrors .", alone),
            ("watch --every 60", alone),
            ("watch . --repos repos", "--repos and PATH were given"),
            ("serve --repos repos --index x", "leave out --index and index.location"),
            ("serve --repos repos --truth x", "--truth names one file"),
            ("serve --repos repos --set search.limt=1", "unknown setting 'search.limt'"),
            ("watch --repos ranked", "ranked:1: search.vector_weight and search.keyword_weight are both 0"),
        ], lines=9)  # fmt: skip


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """Return a list of one repository, which has one commit."""
    origin = repository(tmp_path / "origin", {"mail.py": "def send_mail():\n    return 1\n"})
    (tmp_path / "repos.txt").write_text(f"{origin.as_uri()} every=10s\n")
    return tmp_path / "repos.txt"


def running_with(text: Path) -> list[int]:
    """Return the processes that have a path in their command."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if str(text).encode() in each.read_bytes().split(b"\0"):
                found.append(int(each.parent.name))
    return found


def test_a_list_is_served_and_a_kill_leaves_no_process(start: Callable, listed: Path):
    served = start("--repos", listed)

    def searched() -> list[dict]:
        return [each for each in served.json("/api/repositories")["repositories"] if each["is_searched"]]

    (status,) = until(searched, "the repository is searched")
    assert (status["problem"], len(status["commit"])) == ("", 40)
    hits = until(lambda: served.json("/api/search?query=send+mail").get("hits"), "it finds something")
    assert [(hit["path"], hit["root"].rpartition("/")[2]) for hit in hits] == [("mail.py", "origin")]
    assert [each["name"] for each in served.json("/api/roots")["roots"]] == ["origin"]
    assert len(running_with(listed)) >= 2
    label = {"query": "x", "target": "mail.py", "grade": 1, "path": "origin"}
    assert b"not for mirrors" in served.ask("/api/labels", "POST", label)[2]
    served.process.kill()
    until(lambda: not running_with(listed), "all of its processes end")


def test_agents_search_a_list(listed: Path, cache: Path):
    anyio, mcp = pytest.importorskip("anyio"), pytest.importorskip("mcp")
    environment = {**os.environ, "PYTHONPATH": SOURCE, "XDG_CACHE_HOME": str(cache)}
    arguments = ["-m", "assay", "mcp", "--repos", str(listed)]

    async def ask() -> str:
        server = mcp.StdioServerParameters(command=sys.executable, args=arguments, env=environment)
        with anyio.fail_after(LIMIT_S):
            async with mcp.Client(server) as client:
                told = ""
                while "mail.py:1" not in told:
                    told = (await client.call_tool("search", {"query": "send mail"})).content[0].text
                    await anyio.sleep(0.1)
                return told

    assert "origin" in anyio.run(ask)
    until(lambda: not running_with(listed), "all of its processes end")


def test_watch_updates_a_list_and_ends_on_sigterm(begin: Callable, listed: Path, tmp_path: Path):
    """When something new is fetched is held by the tests of the loop."""
    process = begin("watch", "--repos", listed, "--mirrors", tmp_path / "mirrors")
    told = re.fullmatch(r"..:..:.. file://\S*/origin: indexed at (\w{10})\n", process.stdout.readline())
    assert git(tmp_path / "origin", "rev-parse", "HEAD").startswith(told[1])
    process.send_signal(signal.SIGTERM)
    assert process.wait(LIMIT_S) == 0
    assert list((tmp_path / "mirrors").rglob("mail.py"))
