"""A server of several processes as people start it, and one on a Unix socket for a proxy beside it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import urlencode

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

from assay.cli.options import MAX_WORKERS
from source import SOURCE
from waiting import LIMIT_S, until

QUERY = urlencode({"query": "where is mail sent again"})
TOKEN = "a-token-of-some-length"
LOWERED = {"ASSAY_LOWERED": "all", "PYTHONPATH": f"{Path(__file__).parents[2] / 'lowered'}{os.pathsep}{SOURCE}"}
"""What has whatever begins above a size begin in a small project."""


@dataclass
class Team:
    """A server, and the port on which it listens."""

    process: subprocess.Popen[str]
    port: int

    def ask(self, path: str, body: object = None, **headers: str) -> tuple[int, bytes]:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT_S)
        with contextlib.closing(line):
            data = None if body is None else json.dumps(body)
            content = {} if body is None else {"Content-Type": "application/json"}
            line.request("GET" if data is None else "POST", path, data, {**content, **headers})
            answer = line.getresponse()
            return answer.status, answer.read()

    def json(self, path: str) -> Any:
        return json.loads(self.ask(path)[1])

    def children(self) -> set[int]:
        found = children_of(self.process.pid)
        return {each for each in found if b"spawn_main" in Path(f"/proc/{each}/cmdline").read_bytes()}

    def worker(self) -> int:
        """Return a process that answers: the one that writes indexes has not loaded what that takes."""
        maps = {each: Path(f"/proc/{each}/maps").read_text() for each in self.children()}
        return min(each for each, text in maps.items() if "pydantic_core" in text)

    def are_all_there(self) -> bool:
        return len(self.children()) == 3 and self.ask("/readyz")[0] == 200

    def said(self, what: str) -> str:
        return next((line for line in self.process.stderr if what in line), "")


def children_of(process: int) -> set[int]:
    try:
        return set(map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split()))
    except (FileNotFoundError, ProcessLookupError):
        return set()


@contextlib.contextmanager
def serving(cache: Path, *options: str | Path, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a server; give its process and the first line that it says, and see it end well on SIGTERM."""
    known = {**os.environ, "PYTHONPATH": SOURCE, "XDG_CACHE_HOME": str(cache), **environment}
    command = [sys.executable, "-m", "assay", "serve", *map(str, options)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=known)
    try:
        yield process, process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT_S) == 0
        assert "Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.stderr.close()


@contextlib.contextmanager
def load(team: Team, *, keeps: bool) -> Iterator[list[object]]:
    """Ask all the time, with three clients; give what came back, the status or what went wrong."""
    stop, came = Event(), []

    def ask() -> None:
        line = http.client.HTTPConnection("127.0.0.1", team.port, timeout=LIMIT_S)
        while not stop.is_set():
            try:
                line.request("GET", f"/api/search?{QUERY}", headers={} if keeps else {"Connection": "close"})
                answer = line.getresponse()
                came.append(answer.status if json.loads(answer.read())["hits"] else "nothing")
            except (OSError, http.client.HTTPException) as error:
                came.append(error)
                line.close()
            stop.wait(0.03)  # what starts meanwhile needs the processor, too
        line.close()

    threads = [Thread(target=ask) for _ in range(3)]
    for each in threads:
        each.start()
    try:
        until(lambda: len(came) > 10, "ten answers")
        yield came
        so_far = len(came)
        until(lambda: len(came) > so_far + 10, "ten more answers")
    finally:
        stop.set()
        for each in threads:
            each.join()


IN_PROC = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are looked up in /proc")


@contextlib.contextmanager
def served_by_two(cache: Path, project: Path, **environment: str) -> Iterator[Team]:
    options = ("--port", "0", "--workers", "2", "--rate", "0", project)
    with serving(cache, *options, **environment) as (process, line):
        found = re.search(r"with 2 workers at http://[^:]+:(\d+)/", line)
        assert found, line
        team = Team(process, int(found[1]))
        until(lambda: team.ask("/readyz")[0] == 200, "it is ready")
        until(team.are_all_there, "two workers and who writes the index")
        yield team


@IN_PROC
def test_two_workers_answer_one_that_dies_is_replaced_and_sigterm_ends_all(project: Path, cache: Path, tmp_path: Path):
    with served_by_two(cache, project, **LOWERED, ASSAY_MET=str(tmp_path / "met")) as team:
        process = team.process
        assert "forked indexing" in (tmp_path / "met").read_text()

        (project / "mail" / "fresh.py").write_text("def fold_napkin(napkin):\n    return napkin\n")
        new = lambda: team.json("/api/search?query=fold+napkin")["hits"][0]["symbol"] == "fold_napkin"  # noqa: E731
        until(lambda: all(new() for _ in range(6)), "every worker finds what is new")
        first = team.json(f"/api/search?{QUERY}&limit=1")
        for _ in range(6):
            second = team.json(f"/api/search?{QUERY}&limit=1&cursor={first['cursor']}")
            assert second["hits"] != first["hits"], "a page goes on at any worker"
        names = [f"question {number}" for number in range(16)]
        label = {"target": "mail/send.py:6-12", "grade": 1}
        with ThreadPoolExecutor(8) as pool:
            said = pool.map(lambda name: team.ask("/api/labels", {**label, "query": name})[0], names)
            assert set(said) == {200}
        assert sorted(each["text"] for each in team.json("/api/labels")["queries"]) == sorted(names)
        counted = b'assay_requests_total{route="/api/labels",status="200"} 17.0'
        until(lambda: counted in team.ask("/metrics")[1], "each request is counted, some after their answer has left")

        os.kill(killed := team.worker(), signal.SIGKILL)
        assert f"the worker {killed} ended; another one was started" in team.said("ended")
        until(lambda: team.are_all_there() and killed not in team.children(), "another one is there")
        before = team.children()
        (project / "assay.toml").write_text("[search]\nlimit = 'many'\n")
        process.send_signal(signal.SIGHUP)
        assert "nothing was reloaded" in team.said("nothing was reloaded")
        until(lambda: team.children() == before, "it is as it was")
    assert [each for each in before if Path(f"/proc/{each}").exists()] == []


@pytest.mark.nightly  # two starts of every process beside three clients that never pause
@IN_PROC
def test_neither_a_killed_worker_nor_a_reload_loses_requests(project: Path, cache: Path):
    with served_by_two(cache, project) as team:
        before = team.children()
        with load(team, keeps=False) as came:
            os.kill(killed := team.worker(), signal.SIGKILL)
            until(lambda: team.are_all_there() and killed not in team.children(), "another one is there")
        failed = [each for each in came if each != 200]
        assert len(failed) <= 3, failed  # what it worked on: one request of each client at most
        before = team.children()
        with load(team, keeps=True) as came:
            team.process.send_signal(signal.SIGHUP)
            assert team.said("reloaded")
            until(lambda: not before & team.children(), "new processes answer")
        assert [each for each in came if each != 200] == [], "no request is lost"
        until(team.are_all_there, "all are there")


@IN_PROC
def test_a_kill_while_a_first_index_is_built_leaves_no_process(project: Path, cache: Path):
    for number in range(150):
        (project / f"many{number}.py").write_text(f"def f{number}():\n    return {number}\n" * 60)
    command = [sys.executable, "-m", "assay", "serve", "--port", "0", "--workers", "1", str(project)]
    environment = {**os.environ, **LOWERED, "XDG_CACHE_HOME": str(cache)}
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environment) as server:
        forked = lambda: {each for child in children_of(server.pid) for each in children_of(child)}  # noqa: E731
        until(lambda: len(forked()) > 1, "the writer has forked")
        started = children_of(server.pid) | forked()
        server.kill()
    until(lambda: not [each for each in started if Path(f"/proc/{each}").exists()], "all have ended")


def test_a_server_that_cannot_start_reports_why_once(assay: Callable[..., Any], project: Path):
    (project / "assay.toml").write_text("[search]\nlimit = 'many'\n")
    command = [sys.executable, "-m", "assay", "serve", "--port", "0", "--workers", "2", str(project)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert ended.returncode == 2
    assert len([line for line in ended.stderr.splitlines() if "limit" in line]) == 1
    assert "Traceback" not in ended.stderr
    refused = assay("serve", "--workers", MAX_WORKERS + 1)
    assert (refused.status, f"expected 1 to {MAX_WORKERS}" in refused.err) == (2, True)


def test_a_proxy_asks_over_a_unix_socket(assay: Callable[..., Any], project: Path, cache: Path, tmp_path: Path):
    path = tmp_path / "socket"

    def ask(*headers: str) -> bytes:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.connect(str(path))
            lines = ["GET /api/roots HTTP/1.1", "Connection: close", f"Authorization: Bearer {TOKEN}", *headers]
            line.sendall("\r\n".join([*lines, "", ""]).encode())
            return b"".join(iter(lambda: line.recv(65536), b""))

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as left:
        left.bind(str(path))  # as a server leaves it that was killed
    options = ["--host", f"unix:{path}", "--public-url", "https://code.example.com"]
    with serving(cache, *options, project, ASSAY_TOKEN=TOKEN) as (_, line):
        assert "at https://code.example.com/" in line
        forwarded = ("X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https")
        assert ask("Host: code.example.com", *forwarded).startswith(b"HTTP/1.1 200 ")
        assert ask("Host: evil.example", *forwarded).startswith(b"HTTP/1.1 421 ")
        assert path.stat().st_mode & 0o777 == 0o660
    (tmp_path / "file").write_text("mine")
    for host, said in (
        ("socket", "needs --public-url"),
        ("none/socket", "No such file or directory; give another --host"),
        ("file", "Address already in use"),
    ):
        ran = assay("serve", project, "--host", f"unix:{tmp_path}/{host}")
        assert (ran.status, said in ran.err) == (2, True), ran.err
    assert (tmp_path / "file").read_text() == "mine"
