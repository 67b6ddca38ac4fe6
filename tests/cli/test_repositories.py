"""`--repos` of `assay serve`, `assay mcp` and `assay watch` as processes: what they serve, what they leave behind."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from git_repositories import commit, repository

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

import assay as package

PATIENCE_S = 30.0


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """Return a list of one repository, which has one commit."""
    origin = repository(tmp_path / "origin", {"mail.py": "def send_mail():\n    return 1\n"})
    (tmp_path / "repos.txt").write_text(f"{origin.as_uri()} every=10s\n")
    return tmp_path / "repos.txt"


def begun(cache: Path, *arguments: object, **more: str) -> subprocess.Popen[str]:
    kept = {key: value for key, value in os.environ.items() if key not in {"ASSAY_TOKEN", "ASSAY_WEBHOOK_SECRET"}}
    environment = {**kept, "PYTHONPATH": str(Path(package.__file__).parents[1]), "XDG_CACHE_HOME": str(cache)}
    command = [sys.executable, "-m", "assay", *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env={**environment, **more}, text=True, stdout=pipe, stderr=pipe)


def asked(port: int, path: str) -> Any:
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    line.request("GET", path)
    return json.loads(line.getresponse().read())


def until(holds: Callable[[], Any]) -> Any:
    ends = time.monotonic() + PATIENCE_S
    while not (found := holds()):
        assert time.monotonic() < ends, "it never did"
        time.sleep(0.05)
    return found


def running_with(text: Path) -> list[int]:
    """Return the processes that have a path in their command."""
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = each.read_bytes().split(b"\0")
        except OSError:
            continue
        if str(text).encode() in words:
            found.append(int(each.parent.name))
    return found


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_list_is_served_and_nothing_is_left_running(listed: Path, cache: Path, how: signal.Signals):
    process = begun(cache, "serve", "--repos", listed, "--port", 0)
    try:
        lines = iter(process.stderr.readline, "")  # of the process beside it, too
        found = next(filter(None, (re.search(r"http://127.0.0.1:(\d+)/", line) for line in lines)))
        port = int(found[1])
        (status,) = until(lambda: [e for e in asked(port, "/api/repositories")["repositories"] if e["is_searched"]])
        assert (status["problem"], len(status["commit"])) == ("", 40)
        hits = until(lambda: asked(port, "/api/search?query=send+mail").get("hits"))
        assert [(hit["path"], hit["root"].rpartition("/")[2]) for hit in hits] == [("mail.py", "origin")]
        assert [each["name"] for each in asked(port, "/api/roots")["roots"]] == ["origin"]
        assert len(running_with(listed)) >= 2
        refused = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        body = json.dumps({"query": "x", "target": "mail.py", "grade": 1, "path": "origin"})
        refused.request("POST", "/api/labels", body, {"Content-Type": "application/json"})
        assert "not for mirrors" in refused.getresponse().read().decode()
    finally:
        process.send_signal(how)
        process.wait(PATIENCE_S)
        process.stdout.close()
        process.stderr.close()
    until(lambda: not running_with(listed))


def test_agents_ask_a_list_too(listed: Path, cache: Path):
    anyio, mcp = pytest.importorskip("anyio"), pytest.importorskip("mcp")
    environment = {**os.environ, "PYTHONPATH": str(Path(package.__file__).parents[1]), "XDG_CACHE_HOME": str(cache)}
    arguments = ["-m", "assay", "mcp", "--repos", str(listed)]

    async def ask() -> str:
        server = mcp.StdioServerParameters(command=sys.executable, args=arguments, env=environment)
        with anyio.fail_after(PATIENCE_S):
            async with mcp.Client(server) as client:
                told = ""
                while "mail.py:1" not in told:
                    told = (await client.call_tool("search", {"query": "send mail"})).content[0].text
                    await anyio.sleep(0.1)
                return told

    assert "origin" in anyio.run(ask)
    until(lambda: not running_with(listed))


def test_watch_keeps_a_list_up_to_date(listed: Path, cache: Path, tmp_path: Path):
    process = begun(cache, "watch", "--repos", listed, "--mirrors", tmp_path / "mirrors", PYTHONUNBUFFERED="1")
    try:
        assert re.fullmatch(r"..:..:.. file://\S*/origin: indexed at \w{10}\n", process.stdout.readline())
        newer = commit(tmp_path / "origin", {"web.py": "def route():\n    return 1\n"})
        assert process.stdout.readline().endswith(f"indexed at {newer[:10]}\n")
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()
    assert list((tmp_path / "mirrors").rglob("web.py"))


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["serve", "--repos", "{tmp}/gone"], "cannot read the list of repositories"),
        (["serve", "--repos", "{tmp}/bad"], "bad:2: 'nonsense://x' is not a folder or a URL"),
        (["serve", "--mirrors", "{tmp}"], "--mirrors and --every are for --repos FILE"),
        (["mcp", "--repos", "{tmp}/gone"], "cannot read the list of repositories"),
        (["mcp", "--mirrors", "{tmp}"], "--mirrors and --every are for --repos FILE"),
        (["watch", "--every", "60"], "--mirrors and --every are for --repos FILE"),
        (["watch", "{tmp}", "--repos", "{tmp}/repos.txt"], "--repos and PATH were given"),
        (["serve", "--repos", "{tmp}/repos.txt", "--index", "{tmp}/x"], "leave out --index and index.location"),
        (["serve", "--repos", "{tmp}/repos.txt", "--truth", "{tmp}/x"], "--truth names one file"),
        (["serve", "--repos", "{tmp}/repos.txt", "--set", "search.limt=1"], "unknown setting 'search.limt'"),
        (["watch", "--repos", "{tmp}/ranked"], "ranked:1: search.vector_weight and search.keyword_weight are both 0"),
    ],
)
def test_what_cannot_be_kept_is_an_error(assay: Callable[..., Any], tmp_path: Path, arguments: list[str], message: str):
    (tmp_path / "bad").write_text("https://h/a\nnonsense://x\n")
    (tmp_path / "ranked").write_text(
        "https://h/a search.ranking=fused search.vector_weight=0 search.keyword_weight=0\n"
    )
    done = assay(*(each.replace("{tmp}", str(tmp_path)) for each in arguments))
    assert done.status == 2
    assert message in done.err
    assert "Traceback" not in done.err


def test_a_system_that_keeps_priorities_is_told_and_goes_on(monkeypatch, capsys):
    from assay.cli.watch import _step_back

    def refused(_steps: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "nice", refused)
    _step_back()
    assert "it runs at the usual priority: Operation not permitted" in capsys.readouterr().err
