"""`assay serve` as a process: where it listens, who may ask, and how it stops."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

import assay as package

TOKEN = "a-token-of-some-length"
Start = Callable[..., "Served"]


class Served:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.told = process.stderr.readline()
        found = re.search(r" at (http://(\S+):(\d+)/)$", self.told)
        assert found, self.told + process.stderr.read()
        self.address, self.name, self.port = found[1], found[2], int(found[3])

    def ask(self, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        line.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = line.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()

    def hears_nobody_new(self) -> None:
        """Wait until it takes no more connections."""
        with suppress(ConnectionRefusedError, ConnectionResetError):  # reset: while it closes its door
            while True:
                socket.create_connection(("127.0.0.1", self.port), timeout=20).close()

    def stop(self, how: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        self.process.send_signal(how)
        return self.process.wait(20), self.process.stderr.read()  # communicate would miss what was read ahead


@pytest.fixture
def start(project: Path, cache: Path) -> Iterator[Start]:
    running: list[subprocess.Popen[str]] = []

    def begin(*arguments: str, **more: str) -> Served:
        environment = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1]), "XDG_CACHE_HOME": str(cache)}
        environment.pop("ASSAY_TOKEN", None)
        command = [sys.executable, "-m", "assay", "serve", "--port", "0", *(arguments or (str(project),))]
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            command, env={**environment, **more}, cwd=project, stderr=pipe, stdout=pipe, text=True
        )
        running.append(process)
        return Served(process)

    yield begin
    for process in running:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_says_where_it_is_and_stops_when_told(start: Start, project: Path, how: signal.Signals):
    served = start(".")
    assert served.told == f"assay: serving {project} at http://127.0.0.1:{served.port}/\n"
    status, _, told = served.ask("/api/search?query=deliver+a+message")
    assert (status, json.loads(told)["hits"][0]["symbol"]) == (200, "send_mail")
    assert served.ask("/")[0] == 200
    assert served.stop(how) == (0, "")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_what_is_running_is_finished_first(start: Start, how: signal.Signals):
    served = start()
    body = json.dumps({"programs": ["def f():\n    return 1\n"]}).encode()
    head = f"POST /api/rank HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as line:
        line.sendall(f"{head}Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n".encode())
        assert line.recv(100).startswith(b"HTTP/1.1 100 ")  # it waits for the body
        line.sendall(body[:5])
        served.process.send_signal(how)
        served.hears_nobody_new()
        assert served.process.poll() is None
        line.sendall(body[5:])
        answer = http.client.HTTPResponse(line)
        answer.begin()
        assert answer.status == 200
        assert json.loads(answer.read())["programs"]
    assert served.process.wait(10) == 0


def test_what_does_not_end_is_not_waited_for(start: Start):
    served = start()
    head = f"POST /api/rank HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nExpect: 100-continue\r\n"
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as line:
        line.sendall(f"{head}Content-Length: 100\r\n\r\n".encode())
        assert line.recv(100).startswith(b"HTTP/1.1 100 ")
        began = time.monotonic()
        served.process.send_signal(signal.SIGTERM)
        assert line.recv(100).startswith(b"HTTP/1.1 503 ")
        _, err = served.process.communicate(timeout=60)
        assert time.monotonic() - began > 4
    assert served.process.returncode == 0
    assert "Traceback" not in err


def test_an_idle_browser_does_not_keep_it(start: Start):
    served = start()
    line = http.client.HTTPConnection("127.0.0.1", served.port, timeout=20)
    line.request("GET", "/api/roots")
    line.getresponse().read()
    other = start()
    assert other.ask("/api/roots")[0] == 200  # it listens, and to signals too
    began = time.monotonic()
    assert other.stop()[0] == 0
    without = time.monotonic() - began
    began = time.monotonic()
    assert served.stop()[0] == 0
    assert time.monotonic() - began < without + 4, "what runs is given five seconds; an idle line is nothing that runs"
    line.close()


def test_a_port_that_is_taken_is_an_error(assay: Callable[..., Any], project: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = assay("serve", project, "--port", port)
    assert ran.status == 2
    assert f"cannot listen on 127.0.0.1, port {port}: Address already in use; give another --port" in ran.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--host", "no.such.host.invalid"], "port 7777: unknown host; give another --host"),
        (["--host", "192.0.2.1"], "that is no address of this machine; give another --host, such as 127.0.0.1"),
        (["--encoder", "foo"], "unknown encoder 'foo'"),
        (["--set", "search.reranker=foo"], "unknown scorer 'foo'"),
        (["--set", "search.reranker=ranker:consensus"], "cannot order answers to a question"),
        (["--bench", "."], "--bench '.' holds no results.json: name the folder that assay bench wrote into"),
        (["--truth", "nowhere/a.jsonl"], "--truth 'nowhere/a.jsonl': no such folder: 'nowhere'; make it"),
        (["--truth", "mail"], "--truth 'mail' is a folder: name a file in it"),
        (["--port", "70000"], "70000 is not in the range"),
        (["nowhere"], "no such folder: 'nowhere'"),
        ([".", "..", "--truth", "a.jsonl"], "--truth names one file"),
        ([".", "..", "--index", "a"], "--index names one index"),
        (["--bench", "nowhere"], "'nowhere' does not exist"),
        (["--rate", "-1"], "-1.0 is not in the range"),
        (["--host", "0.0.0.0", "--port", "0"], "ASSAY_TOKEN is no token"),
    ],
)
def test_what_cannot_be_served_is_an_error(
    assay: Callable[..., Any], project: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], told: str
):
    monkeypatch.chdir(project)
    monkeypatch.setenv("ASSAY_TOKEN", "short; token")
    ran = assay("serve", *arguments)
    assert ran.status == 2
    assert told in ran.err


def test_what_is_not_installed_is_named_by_what_to_install(project: Path):
    program = "import sys; sys.modules['h11'] = None; from assay.cli.main import run; sys.exit(run(['serve', '.']))"
    environment = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (
        2,
        "assay: assay serve needs fastapi and uvicorn: pip install 'assay[serve]'\n",
    )


def test_another_address_asks_for_a_token_that_was_made(start: Start):
    served = start("--host", "0.0.0.0")
    token = re.search(r"\?token=([\w-]{32})$", served.process.stderr.readline())[1]
    assert "there is no TLS" in served.process.stderr.readline()
    assert served.name == socket.gethostname()
    assert served.ask("/api/roots")[0] == 401
    assert served.ask("/")[0] == 401
    assert served.ask("/api/roots", Authorization=f"Bearer {token}")[0] == 200
    status, headers, _ = served.ask(f"/?token={token}")
    assert (status, headers["location"]) == (303, "/")
    cookie = headers["set-cookie"].partition(";")[0]
    assert served.ask("/", Cookie=cookie)[0] == 200
    status, _, said = served.ask("/api/search?query=mail", Cookie=cookie)
    assert status == 200, said
    assert served.ask("/api/roots", Authorization=f"Bearer {token}", Host="evil.example")[0] == 421


def test_a_token_that_is_given_is_not_printed(start: Start):
    served = start("--host", "0.0.0.0", ASSAY_TOKEN=TOKEN)
    assert served.ask("/api/roots", Authorization=f"Bearer {TOKEN}")[0] == 200
    status, err = served.stop()
    assert status == 0
    assert "?token=$ASSAY_TOKEN" in err
    assert TOKEN not in err


def test_labels_reports_and_rates_are_as_the_options_say(start: Start, project: Path, tmp_path: Path):
    (tmp_path / "other-bench").mkdir()
    (tmp_path / "other-bench" / "results.json").write_text("{}")
    options = ["--judge", "ann", "--truth", str(tmp_path / "t.jsonl"), "--bench", str(tmp_path / "other-bench")]
    served = start(str(project), "--rate", "3", *options)
    assert json.loads(served.ask("/api/roots")[2])["judge"] == "ann"
    assert json.loads(served.ask("/api/labels")[2])["file"] == str(tmp_path / "t.jsonl")
    assert [each["name"] for each in json.loads(served.ask("/api/bench")[2])["reports"]] == ["other-bench"]
    statuses = [served.ask("/api/roots")[0] for _ in range(20)]
    assert 429 in statuses
    while served.ask("/api/roots")[0] == 429:
        pass


def test_its_page_is_opened(start: Start, tmp_path: Path):
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    served = start(".", "--open", BROWSER=f"{browser} %s")
    ends = time.monotonic() + 20
    while not (tmp_path / "opened").exists() and time.monotonic() < ends:
        time.sleep(0.05)
    assert (tmp_path / "opened").read_text().strip() == served.address
