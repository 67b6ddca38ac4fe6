"""A server of several processes as people start it: one socket, one keeper, and what becomes of those who leave."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlencode

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

import assay

QUERY = urlencode({"query": "where is mail sent again"})


@dataclass
class Team:
    """A server with two workers."""

    process: subprocess.Popen[str]
    port: int
    root: Path

    def get(self, path: str) -> tuple[int, bytes]:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        with contextlib.closing(line):
            line.request("GET", path)
            answer = line.getresponse()
            return answer.status, answer.read()

    def processes(self, role: str) -> list[int]:
        """Return the processes of a role, as the kernel and the figures know them."""
        text = self.get("/metrics")[1].decode()
        assert f'process="{role}-' in text
        return sorted(map(int, Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()))

    def roles(self) -> list[str]:
        return re.findall(r'process="(\w+)-\d+",kind="own"', self.get("/metrics")[1].decode())

    def said(self, what: str) -> str:
        return next((line for line in self.process.stderr if what in line), "")


def until(what: Callable[[], object], seconds: float = 30) -> None:
    ends = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < ends, "it did not come to that"
        time.sleep(0.02)


@pytest.fixture
def team(project: Path, cache: Path) -> Iterator[Team]:
    environment = {**os.environ, "PYTHONPATH": str(Path(assay.__file__).parents[1]), "XDG_CACHE_HOME": str(cache)}
    command = [sys.executable, "-m", "assay", "serve", "--port", "0", "--workers", "2", "--rate", "0", str(project)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        line = process.stderr.readline()
        found = re.search(r"with 2 workers at http://[^:]+:(\d+)/", line)
        assert found, line
        made = Team(process, int(found[1]), project)
        until(lambda: made.get("/readyz")[0] == 200)
        until(lambda: sorted(made.roles()) == ["keeper", "worker", "worker"])
        yield made
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert "Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.stderr.close()


@contextlib.contextmanager
def load(team: Team, *, keeps: bool) -> Iterator[list[object]]:
    """Ask all the time, with three clients; give what came back, the status or what went wrong."""
    stop, came = Event(), []

    def ask() -> None:
        line = http.client.HTTPConnection("127.0.0.1", team.port, timeout=30)
        while not stop.is_set():
            try:
                line.request("GET", f"/api/search?{QUERY}", headers={} if keeps else {"Connection": "close"})
                answer = line.getresponse()
                came.append(answer.status if json.loads(answer.read())["hits"] else "nothing")
            except (OSError, http.client.HTTPException) as error:
                came.append(error)
                line.close()
        line.close()

    threads = [Thread(target=ask) for _ in range(3)]
    for each in threads:
        each.start()
    try:
        until(lambda: len(came) > 20)
        yield came
    finally:
        stop.set()
        for each in threads:
            each.join()


def test_a_change_is_indexed_by_the_keeper_and_found_by_the_workers(team: Team):
    (team.root / "mail" / "fresh.py").write_text("def fold_napkin(napkin):\n    return napkin\n")

    def found() -> bool:
        hits = json.loads(team.get("/api/search?query=fold+napkin")[1])["hits"]
        return any(hit["symbol"] == "fold_napkin" for hit in hits)

    until(lambda: all(found() for _ in range(8)))


def test_a_page_goes_on_at_any_worker(team: Team):
    first = json.loads(team.get(f"/api/search?{QUERY}&k=1")[1])
    for _ in range(8):
        status, body = team.get(f"/api/search?{QUERY}&k=1&cursor={first['cursor']}")
        assert status == 200, body
        assert json.loads(body)["hits"] != first["hits"]


def test_labels_that_several_workers_write_at_once_are_all_kept(team: Team):
    names = [f"question {number}" for number in range(24)]

    def label(name: str) -> int:
        body = json.dumps({"query": name, "target": "mail/send.py:6-12", "grade": 1})
        line = http.client.HTTPConnection("127.0.0.1", team.port, timeout=30)
        with contextlib.closing(line):
            line.request("POST", "/api/labels", body, {"Content-Type": "application/json"})
            return line.getresponse().status

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(label, names)) == {200}
    assert sorted(each["text"] for each in json.loads(team.get("/api/labels")[1])["queries"]) == sorted(names)


def test_a_worker_that_is_killed_takes_only_its_own_requests_along(team: Team):
    children = team.processes("worker")
    with load(team, keeps=False) as came:
        worker = children[0]
        os.kill(worker, signal.SIGKILL)
        assert "was killed by signal 9; another one is started" in team.said("killed")
        until(lambda: sorted(team.roles()) == ["keeper", "worker", "worker"])
        so_far = len(came)
        until(lambda: len(came) > so_far + 20)
    failed = [each for each in came if each != 200]
    assert len(failed) <= 3, failed  # what it worked on: one request of each client at most
    assert worker not in team.processes("worker")


def test_no_request_is_lost_when_a_server_is_reloaded(team: Team):
    before = team.processes("worker")
    with load(team, keeps=True) as came:
        team.process.send_signal(signal.SIGHUP)
        assert team.said("reloaded")
        until(lambda: not set(before) & set(team.processes("worker")))
        so_far = len(came)
        until(lambda: len(came) > so_far + 20)
    assert [each for each in came if each != 200] == []


def test_what_cannot_be_reloaded_leaves_the_server_as_it_was(team: Team):
    before = team.processes("worker")
    settings = team.root / "assay.toml"
    settings.write_text("[search]\nlimit = 'many'\n")
    team.process.send_signal(signal.SIGHUP)
    assert "nothing was reloaded" in team.said("nothing was reloaded")
    assert team.processes("worker") == before
    settings.unlink()
    team.process.send_signal(signal.SIGHUP)
    assert team.said("reloaded")


def test_a_server_that_cannot_start_says_why_once(project: Path):
    (project / "assay.toml").write_text("[search]\nlimit = 'many'\n")
    command = [sys.executable, "-m", "assay", "serve", "--port", "0", "--workers", "2", str(project)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert len([line for line in ended.stderr.splitlines() if "limit" in line]) == 1
    assert "Traceback" not in ended.stderr
