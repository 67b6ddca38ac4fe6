"""The server as agents meet it: the SDK's own client, over both transports, an index of real files."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

import anyio
from mcp import Client, StdioServerParameters  # noqa: TID253

import assay
from assay.serve.mcp import server_of
from assay.serve.reader import Waits
from assay.serve.session import Session
from assay.settings import IndexSettings, Settings
from assay.store.folder import IndexFolder
from source import SOURCE

TOOLS = {"search", "read", "related", "outline", "pattern", "log", "status", "rank"}
ENVIRONMENT = {"PYTHONPATH": SOURCE} | {name: os.environ.get(name, "") for name in ("PATH", "ASSAY_LOWERED")}
STRUCTURED = {"structured": True, "tools": "all,rank"}
SECRET = "SECRET_OF_ANOTHER_FOLDER"
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@pytest.fixture
def root(project: Path) -> Path:
    outside = project.parent / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text(f"def {SECRET}():\n    return send_mail\n")
    (project / "link").symlink_to(outside)
    (project / "mail" / "link.py").symlink_to(outside / "secret.py")
    return project


@contextmanager
def serving(root: Path, cache: Path, *options: str) -> Iterator[str]:
    """Serve a folder over HTTP in a process of its own; give the address that it says."""
    command = [sys.executable, "-m", "assay", "mcp", "--http", "0", *options, str(root)]
    environment = {**os.environ, **ENVIRONMENT, "XDG_CACHE_HOME": str(cache)}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
        found = re.fullmatch(rf"assay: serving {re.escape(str(root))}.* at http://[^/]+:(\d+)/mcp\n", line)
        assert found, line
        yield f"http://127.0.0.1:{found[1]}/mcp"
        process.terminate()
        assert process.wait(60) in (0, -15, 130, 143)
        assert "Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.stderr.close()


def asking(server: Any, talk: Callable[[Client], Any], **options: Any) -> Any:
    async def run() -> Any:
        async with Client(server, **options) as client:
            return await talk(client)

    return anyio.run(run)


async def _text(client: Client, tool: str, **arguments: Any) -> str:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content[0].text
    return answer.content[0].text


async def _good(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content[0].text
    assert answer.content[0].text
    return answer.structured_content


async def _everything(client: Client) -> None:
    listed = (await client.list_tools()).tools
    assert {tool.name for tool in listed} == TOOLS
    for tool in listed:
        assert tool.description
        assert tool.output_schema["type"] == "object"
        assert tool.annotations.read_only_hint
        assert all(about.get("description") for about in tool.input_schema["properties"].values()), tool.name
    best = (await _good(client, "search", query="try again when the server is busy", detail="full"))["hits"][0]
    assert (best["path"], best["symbol"], best["complete"]) == ("mail/send.py", "send_mail", True)
    assert best["text"].startswith("def send_mail(")
    assert (await _good(client, "related", path="mail/send.py", line=6))["hits"]
    assert (await _good(client, "related", name="send_mail"))["subject"]["start_line"] == 6
    (outlined,) = (await _good(client, "outline", file=["*.js"]))["files"]
    assert [each["signature"] for each in outlined["declarations"]] == ["export function matchRoute(routes, path)"]
    (found,) = (await _good(client, "pattern", pattern="$S.deliver($M)", lang="python"))["matches"]
    assert (found["path"], found["start_line"], found["holes"]) == ("mail/send.py", 9, {"S": "server", "M": "message"})
    assert (await _good(client, "status"))["files"] == 4
    order = await _good(client, "rank", programs=["def f(x:\n", "def f(x):\n    return x\n"], entry_point="f")
    assert order["programs"][0]["index"] == 1


def test_every_tool_answers_over_stdio(root: Path, cache: Path):
    arguments = ["-m", "assay", "mcp", "--structured", "--tools", "all,rank", str(root)]
    environment = {**ENVIRONMENT, "XDG_CACHE_HOME": str(cache)}
    asking(StdioServerParameters(command=sys.executable, args=arguments, env=environment), _everything, mode="auto")


ODD = ["null", "[]", "1", '"x"', '{"query": null}', '{"query": {"a": 1}}', '{"query": "a", "limit": 1e999}']
ODD += ['{"query": "\\ud800 a"}', '{"query": "a", "path": "\\udcff"}', '{"query": "a", "path": "\\u0000"}']
ODD += ['{"query": "a", "file": ["[", "**", "\\\\", ""]}', '{"query": "a", "cursor": "\\u00e9"}']


def test_over_http_agents_are_answered_and_odd_requests_refused(root: Path, cache: Path):
    httpx = pytest.importorskip("httpx")

    def post(content: bytes, **headers: str) -> int:
        return httpx.post(http, content=content, headers={**ACCEPT, **headers}, timeout=60).status_code

    def call(arguments: str, tool: str = "search") -> bytes:
        params = f'{{"name": "{tool}", "arguments": {arguments}}}'
        return f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {params}}}'.encode()

    async def one(results: list[Any], number: int) -> None:
        async with Client(http) as client:
            results += [await _good(client, "search", query=f"send mail {number}") for _ in range(2)]

    async def several() -> list[Any]:
        results: list[Any] = []
        async with anyio.create_task_group() as group:
            for number in range(4):
                group.start_soon(one, results, number)
        return results

    with serving(root, cache, "--structured", "--tools", "all,rank") as http:
        asking(http, _everything, mode="legacy")
        body = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
        refused = [post(body, origin="https://evil.example"), post(body, host="evil.example"), post(b"x" * 5_000_000)]
        assert refused == [403, 421, 413]
        for content in [b"", b"{", b"[" * 100_000, b"\xff", b"null", *map(call, ODD), call("{}", "none")]:
            assert post(content) < 500, content[:80]
        assert [bool(result["hits"]) for result in anyio.run(several)] == [True] * 8


@pytest.mark.parametrize("workers", [(), pytest.param(("--workers", "2"), marks=pytest.mark.nightly)])  # four processes
def test_an_agent_on_another_machine_needs_its_token(project: Path, cache: Path, tmp_path: Path, workers: tuple):
    httpx = pytest.importorskip("httpx2", reason="the client of the MCP library asks with it")
    from mcp.client.streamable_http import streamable_http_client

    from assay.serve.http.access import add_token

    tokens = str(tmp_path / "tokens")
    mine = {"authorization": f"Bearer {add_token(tmp_path / 'tokens', 'ann')}"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}

    async def ask() -> str:
        async with (
            httpx.AsyncClient(headers=mine, timeout=60) as line,
            Client(streamable_http_client(address, http_client=line)) as client,
        ):
            return await _text(client, "search", query="where is mail sent again")

    with serving(project, cache, "--host", "0.0.0.0", "--tokens", tokens, *workers) as address:
        assert "mail/send.py" in anyio.run(ask)
        with httpx.Client(timeout=60) as line:
            assert line.post(address, json=body, headers=ACCEPT).status_code == 401
            assert line.post(address, json=body, headers={**ACCEPT, **mine}).status_code < 400
            assert line.get(address.replace("/mcp", "/metrics"), headers=mine).status_code == 200
            assert line.get(address.replace("/mcp", "/healthz")).status_code == 200


OUTSIDE = ["..", "/etc/passwd", "link", "mail/link.py", "mail/../../outside/secret.py", "file:///etc"]
GLOBS = ["../outside/*", "/**", "link/*", "**/secret.py"]
ASKED = {"search": {"query": SECRET}, "outline": {}, "pattern": {"pattern": f"def {SECRET}(): $$$", "lang": "py"}}
ASKED |= {"status": {}, "related": {"line": 1}, "read": {"line": 1}, "log": {"line": 1}}


def test_no_argument_of_any_tool_leads_out_of_what_is_served(root: Path):
    async def attack(client: Client) -> None:
        for tool, arguments in ASKED.items():
            for path in OUTSIDE:
                answer = await client.call_tool(tool, {**arguments, "path": path})
                assert (answer.is_error, SECRET in answer.content[0].text) == (True, False), (tool, path)
            for glob in GLOBS if "line" not in arguments and arguments != {} else ():
                kept = {"query": f'{SECRET} file:"{glob}"'} if tool == "search" else {**arguments, "file": [glob]}
                answer = await client.call_tool(tool, kept)
                assert SECRET not in json.dumps(answer.structured_content), (tool, glob)

    asking(server_of(Session({root: Settings()}), **STRUCTURED), attack)


ERRORS = (
    ("search", {"query": "a lang:pythn"}, "did you mean 'python'"),
    ("search", {"query": "a", "k": 3}, "k: unknown parameter; known: budget, cursor"),
    ("search", {"query": "a", "limit": "many"}, "limit: expected a whole number, not 'many'"),
    ("related", {"path": "mail/send.py"}, "give either a line of a file or a name"),
    ("read", {"path": "mail/send.py", "name": "send_male"}, "did you mean 'send_mail'"),
    ("read", {"path": "mail/send.py", "line": 999}, "has no line 999"),
    ("read", {"path": "mail/send.py", "line": 9, "end_line": 3}, "before line 9"),
    ("read", {"path": "mail", "line": 1}, "is a folder"),
    ("log", {"path": "mail/send.py", "line": 1, "author": "x"}, "leave out query, author"),
    ("log", {"query": "mail"}, "git"),
)


def test_errors_name_the_next_step_and_answers_follow_the_files(root: Path):
    async def ask(client: Client) -> None:
        for tool, arguments, said in ERRORS:
            answer = await client.call_tool(tool, arguments)
            text = answer.content[0].text
            assert answer.is_error, (tool, arguments)
            assert said in text
            assert [each for each in ("Traceback", "pydantic", "\n") if each in text] == []
        assert not (await client.call_tool("search", {"query": "send mail"})).is_error
        (root / "mail" / "fetch.py").write_text("def fetch_inbox(server):\n    return server.messages()\n")
        found = await _good(client, "search", query="fetch_inbox")
        assert found["hits"][0]["symbol"] == "fetch_inbox"

    asking(server_of(Session({root: Settings()}, waits=Waits(fresh_s=0.0, refresh_s=60.0)), **STRUCTURED), ask)


def test_progress_of_a_first_index_is_reported(root: Path, tmp_path: Path):
    place = tmp_path / "index"
    told: list[str | None] = []
    other = IndexFolder(place).writing()

    async def hear(_done: float, _total: float | None, message: str | None) -> None:
        told.append(message)
        if len(told) == 1:
            other.__exit__(None, None, None)

    async def wait(client: Client) -> None:
        answer = await client.call_tool("search", {"query": "send mail"}, progress_callback=hear)
        assert not answer.is_error

    other.__enter__()
    asking(server_of(Session({root: Settings(index=IndexSettings(location=str(place)))})), wait)
    assert set(told) == {f"indexing {root.name}"}


def test_an_answer_is_text_of_the_requested_detail(project: Path):
    (project / "long.py").write_text(f"names = {['x' * 50] * 5000}\n")

    async def ask(client: Client) -> None:
        async def search(query: str, detail: str) -> str:
            return await _text(client, "search", query=query, detail=detail)

        async def read(**arguments: Any) -> str:
            return await _text(client, "read", path="mail/send.py", **arguments)

        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(listed) == TOOLS - {"rank"}
        assert not any(tool.output_schema for tool in listed.values())
        assert '"title"' not in json.dumps([tool.input_schema for tool in listed.values()])
        called = await client.call_tool("search", {"query": "where is mail sent"})
        assert called.structured_content is None
        assert "    6 def send_mail(" in called.content[0].text
        assert "stale     no file" in await _text(client, "status")
        names, lines, full = [await search("where is mail sent", each) for each in ("names", "lines", "full")]
        assert names.splitlines()[0].startswith("mail/send.py:6-")
        assert "def send_mail" not in names
        assert len(names) < len(lines) <= len(full)
        assert "\n    6 def send_mail(" in full
        assert '\n    7     """Deliver' in full
        counted = await search('"send_mail"', "names")
        assert (counted.splitlines()[0], counted.endswith(" at 6")) == ("1 match in 1 file", True)
        whole = await read(line=9)
        assert whole.splitlines()[0].endswith("function send_mail")
        assert whole.splitlines()[1].startswith("    6 def send_mail(")
        assert await read(name="Send_Mail") == whole
        assert (await read(line=7, end_line=8)).count("\n") == 2
        file = (project / "mail" / "send.py").read_text().splitlines()
        assert [line[6:] for line in (await read()).splitlines()[1:]] == file
        for tool, arguments in (("read", {"path": "long.py"}), ("search", {"query": "names file:long.py"})):
            assert len(await _text(client, tool, **arguments, budget=500)) < 2000, tool

    asking(server_of(Session({project: Settings()}), tools="all"), ask)


def test_a_lean_server_does_not_repeat_itself(project: Path):
    file = project / "mail" / "long.py"
    file.write_text("def pack_parcel(\n    parcel,\n    *,\n    label=None,\n):\n    return parcel, label\n")

    async def ask(client: Client) -> None:
        assert {tool.name for tool in (await client.list_tools()).tools} == {"search", "read"}
        assert "related" not in client.instructions
        first = await _text(client, "search", query="pack_parcel")
        assert first.split("\n\n")[0].splitlines()[1:] == [
            "    1 def pack_parcel(",
            "    2     parcel,",
            "    3     *,",
            "    4     label=None,",
            "    5 ):",
        ]
        again = await _text(client, "search", query="pack_parcel")
        assert again.splitlines()[0].startswith("mail/long.py:1-6 shown above: function pack_parcel")
        assert "label=None" not in again
        assert "label=None" in await _text(client, "read", path="mail/long.py", line=1)
        file.write_text(file.read_text().replace("label=None", "label=''"))
        assert "label=''" in await _text(client, "search", query="pack_parcel")

    session = Session({project: Settings()}, waits=Waits(fresh_s=0.0, refresh_s=60.0))
    asking(server_of(session, sent_lines=set()), ask)
    with pytest.raises(assay.InputError, match="unknown tool 'serch'; did you mean 'search'"):
        server_of(session, tools="read,serch")


def test_every_unit_with_a_quoted_text_is_shown_with_its_lines(tmp_path: Path):
    for name in "abcdefgh":
        (tmp_path / f"{name}.py").write_text(
            f"def {name}(order):\n    pay(order)\n    total = 1\n    pay(order, total)\n    return pay(total)\n"
        )

    async def ask(client: Client) -> None:
        told = await _text(client, "search", query='"pay("', detail="lines")
        assert told.startswith("24 matches in 8 files")
        assert told.count("function ") == 8
        assert told.count("\n    2     pay(order)\n    4     pay(order, total)\n    5     return pay(total)") == 8

    asking(server_of(Session({tmp_path: Settings()})), ask)


def test_a_mistake_is_refused_in_one_line(refuses, project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(project)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = f"cannot listen on 127.0.0.1, port {port}: Address already in use; give another --http, or 0"
        refuses([
            ("mcp mail web --index x", "--index names one index"),
            ("mcp --public-url https://code.example.com", "--public-url is for a server over HTTP: give --http PORT"),
            (f"mcp --http {port}", said),
        ])  # fmt: skip
