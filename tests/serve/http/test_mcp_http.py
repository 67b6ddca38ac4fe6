"""Agents over HTTP from elsewhere: the SDK's own client with a token of its own, beyond the loopback address."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")
pytest.importorskip("httpx2", reason="the client of the MCP library asks with it")

import anyio
import httpx2 as httpx
from mcp import Client  # noqa: TID253
from mcp.client.streamable_http import streamable_http_client  # noqa: TID253

import assay
from assay.serve.http.access_tokens import add_token


@pytest.fixture(params=[(), ("--workers", "2")], ids=["one process", "workers"])
def team(request: pytest.FixtureRequest, project: Path, cache: Path, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Return the address of a server that listens everywhere, and the token of a person."""
    token = add_token(tmp_path / "tokens", "ann")
    environment = {**os.environ, "PYTHONPATH": str(Path(assay.__file__).parents[1]), "XDG_CACHE_HOME": str(cache)}
    options = ["--http", "0", "--host", "0.0.0.0", "--tokens", str(tmp_path / "tokens"), *request.param]
    command = [sys.executable, "-m", "assay", "mcp", *options, str(project)]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
        found = re.search(r" at http://[^/]+:(\d+)/mcp$", line)
        assert found, line
        yield f"http://127.0.0.1:{found[1]}/mcp", token
        process.terminate()
        assert process.wait(20) == 0
        assert "Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.stderr.close()


def test_an_agent_asks_with_its_token(team: tuple[str, str]):
    address, token = team

    async def run() -> Any:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx.AsyncClient(headers=headers, timeout=30) as line,
            Client(streamable_http_client(address, http_client=line)) as client,
        ):
            return await client.call_tool("search", {"query": "where is mail sent again"})

    answer = anyio.run(run)
    assert not answer.is_error
    assert "mail/send.py" in answer.content[0].text


def test_whoever_has_no_token_or_is_a_page_is_refused(team: tuple[str, str]):
    address, token = team
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accept = {"accept": "application/json, text/event-stream"}
    mine = {**accept, "authorization": f"Bearer {token}"}
    with httpx.Client() as line:
        assert line.post(address, json=body, headers=mine).status_code < 400
        assert line.post(address, json=body, headers=accept).status_code == 401
        assert line.post(address, json=body, headers={**accept, "authorization": "Bearer wrong"}).status_code == 401
        assert line.post(address, json=body, headers={**mine, "host": "evil.example"}).status_code == 421
        assert line.post(address, json=body, headers={**mine, "origin": "https://evil.example"}).status_code == 403
        assert line.get(address.replace("/mcp", "/metrics"), headers=mine).status_code == 200
        assert line.get(address.replace("/mcp", "/healthz")).status_code == 200


def test_what_is_of_a_server_alone_is_refused_without_one(assay: Callable[..., Any], project: Path):
    ran = assay("mcp", project, "--public-url", "https://code.example.com")
    assert (ran.status, ran.err) == (2, "assay: --public-url is of a server over HTTP: give --http PORT too\n")
