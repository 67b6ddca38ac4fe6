"""The server as agents meet it: the SDK's own client, over both transports, an index of real files."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

import anyio
from mcp import Client, StdioServerParameters  # noqa: TID253

import assay
from assay.serve.engine import Waits
from assay.serve.mcp_server import ToolChoice, server_of
from assay.serve.session import Session
from assay.settings import IndexSettings, Settings
from assay.store.folder import IndexFolder

TOOLS = {"search", "read", "related", "outline", "pattern", "log", "status", "rank"}
ENVIRONMENT = {"PYTHONPATH": str(Path(assay.__file__).parents[1]), "PATH": os.environ["PATH"]}
STRUCTURED = ToolChoice(structured=True, rank=True)
SECRET = "SECRET_OF_ANOTHER_FOLDER"


@pytest.fixture
def root(project: Path) -> Path:
    outside = project.parent / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text(f"def {SECRET}():\n    return send_mail\n")
    (project / "link").symlink_to(outside)
    (project / "mail" / "link.py").symlink_to(outside / "secret.py")
    return project


@pytest.fixture
def stdio(root: Path, cache: Path) -> StdioServerParameters:
    environment = {**ENVIRONMENT, "XDG_CACHE_HOME": str(cache)}
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "assay", "mcp", "--structured", "--rank", str(root)],
        env=environment,
    )


@pytest.fixture
def http(root: Path, cache: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "assay",
        "mcp",
        "--structured",
        "--rank",
        "--http",
        str(port),
        str(root),
    ]
    environment = {**os.environ, **ENVIRONMENT, "XDG_CACHE_HOME": str(cache)}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)
    try:
        _wait_for(port, process)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        assert process.wait(20) in (0, -15, 130, 143)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    ends = time.monotonic() + 30
    while time.monotonic() < ends:
        assert process.poll() is None, process.stderr.read().decode()
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("the server did not listen")


def asking(server: Any, talk: Callable[[Client], Any], **options: Any) -> Any:
    async def run() -> Any:
        async with Client(server, **options) as client:
            return await talk(client)

    return anyio.run(run)


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
    near = await _good(client, "related", path="mail/send.py", line=6)
    assert near["hits"]
    (outlined,) = (await _good(client, "outline", globs=["*.js"]))["files"]
    assert outlined["signatures"] == ["1: export function matchRoute(routes, path)"]
    (found,) = (await _good(client, "pattern", pattern="$S.deliver($M)", language="python"))["matches"]
    assert (found["path"], found["start_line"], found["holes"]) == ("mail/send.py", 9, {"S": "server", "M": "message"})
    assert (await _good(client, "status"))["files"] == 4
    order = await _good(client, "rank", programs=["def f(x:\n", "def f(x):\n    return x\n"], entry_point="f")
    assert order["programs"][0]["index"] == 1


async def _good(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content[0].text
    assert answer.content[0].text
    return answer.structured_content


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_tool_answers_over_stdio(stdio: StdioServerParameters, mode: str):
    asking(stdio, _everything, mode=mode)


def test_every_tool_answers_over_http(http: str):
    asking(http, _everything)
    asking(http, _everything, mode="legacy")


def test_every_served_folder_is_searched_without_a_path(project: Path):
    async def ask(client: Client) -> None:
        called = await client.call_tool("search", {"query": "where is mail sent"})
        best = called.structured_content["hits"][0]
        assert (best["root"], best["path"]) == (f"{project}/mail", "send.py")
        assert called.content[0].text.startswith(f"{project}/mail/send.py:6-")
        kept = await _good(client, "search", query="mail repo:web")
        assert {hit["root"] for hit in kept["hits"]} == {f"{project}/web"}

    asking(server_of(Session({project / "mail": Settings(), project / "web": Settings()}), STRUCTURED), ask)


def test_several_folders_are_listed_at_once(project: Path):
    async def ask(client: Client) -> None:
        outlined = (await client.call_tool("outline", {})).content[0].text
        assert f"{project}/mail/send.py\n" in outlined
        assert f"{project}/web/router.js\n" in outlined
        found = (await client.call_tool("pattern", {"pattern": "$S.deliver($M)", "language": "py"})).content[0].text
        assert found.startswith(f"{project}/mail/send.py:9-9")

    asking(server_of(Session({project / "mail": Settings(), project / "web": Settings()})), ask)


def test_many_clients_ask_at_once(http: str):
    async def one(results: list[Any], number: int) -> None:
        async with Client(http) as client:
            results += [await _good(client, "search", query=f"send mail {number}") for _ in range(3)]

    async def all_of_them() -> list[Any]:
        results: list[Any] = []
        async with anyio.create_task_group() as group:
            for number in range(16):
                group.start_soon(one, results, number)
        return results

    results = anyio.run(all_of_them)
    assert len(results) == 48
    assert all(result["hits"] for result in results)


def test_pages_in_a_browser_are_no_clients(http: str):
    httpx = pytest.importorskip("httpx")
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = {"accept": "application/json, text/event-stream"}
    assert httpx.post(http, json=body, headers={**accept, "origin": "https://evil.example"}).status_code == 403
    assert httpx.post(http, json=body, headers={**accept, "host": "evil.example"}).status_code == 421
    assert httpx.post(http, content=b"x" * 5_000_000, headers=accept).status_code == 413


def test_no_raw_request_ends_the_server(http: str):
    httpx = pytest.importorskip("httpx")
    accept = {"accept": "application/json, text/event-stream", "content-type": "application/json"}

    def post(content: bytes) -> int:
        return httpx.post(http, content=content, headers=accept, timeout=30).status_code

    def call(arguments: str, tool: str = "search") -> bytes:
        params = f'{{"name": "{tool}", "arguments": {arguments}}}'
        return f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {params}}}'.encode()

    odd = ["null", "[]", "1", '"x"', '{"query": null}', '{"query": {"a": 1}}', '{"query": "a", "k": 1e999}']
    odd += ['{"query": "\\ud800 a"}', '{"query": "a", "path": "\\udcff"}', '{"query": "a", "path": "\\u0000"}']
    odd += ['{"query": "a", "globs": ["[", "**", "\\\\", ""]}', '{"query": "a", "cursor": "\\u00e9"}']
    for content in [b"", b"{", b"[" * 100_000, b"\xff", b"null", *map(call, odd), call("{}", "none")]:
        assert post(content) < 500, content[:80]
    asking(http, lambda client: _good(client, "search", query="send mail"))


ESCAPES = ["..", "/", "/etc/passwd", "link", "link/secret.py", "mail/link.py", "mail/../../outside/secret.py"]
GLOBS = ["../outside/*", "/**", "../**", "link/*", "**/secret.py", "mail/link.py"]


def test_no_argument_of_any_tool_leads_out_of_what_is_served(root: Path):
    async def attack(client: Client) -> None:
        asked = {
            "search": {"query": SECRET},
            "outline": {},
            "pattern": {"pattern": f"def {SECRET}(): $$$", "language": "py"},
        }
        for path in [*ESCAPES, str(root.parent / "outside"), "file:///etc", "https://127.0.0.1/a.git"]:
            for tool, arguments in {**asked, "status": {}, "related": {"line": 1}}.items():
                answer = await client.call_tool(tool, {**arguments, "path": path})
                assert answer.is_error, (tool, path)
                assert SECRET not in answer.content[0].text
        for glob in GLOBS:
            for tool, arguments in asked.items():
                kept = {"query": f'{SECRET} file:"{glob}"'} if tool == "search" else {**arguments, "globs": [glob]}
                answer = await client.call_tool(tool, kept)
                assert SECRET not in json.dumps(answer.structured_content), (tool, glob)

    asking(server_of(Session({root: Settings()}), STRUCTURED), attack)


def test_errors_say_what_to_do_and_end_nothing(root: Path):
    async def err(client: Client) -> None:
        for tool, arguments, said in (
            ("search", {"query": "?"}, "holds no word"),
            ("search", {"query": "a lang:pythn"}, "did you mean 'python'"),
            ("search", {"query": "a", "budget": 1}, "greater than or equal to 500"),
            ("search", {"query": "a", "cursor": "zzz"}, "no cursor of this server"),
            ("search", {}, "query: wanted, and not given; known: query, path, more_queries, detail"),
            ("search", {"query": "a", "limit": 3}, "limit: unknown argument; known: query, path"),
            ("search", {"qurey": "a"}, "qurey: unknown argument (and 1 more); known: query, path"),
            ("search", {"query": "a", "k": "many"}, "k: input should be a valid integer"),
            ("search", {"query": "a", "mode": "both"}, "mode: input should be '', 'code', 'docs' or 'all'; known: "),
            ("search", {"query": "/(?=a)/"}, "not a regular expression"),
            ("related", {"path": "mail/send.py", "line": 999}, "last line"),
            ("related", {"path": "mail/none.py", "line": 1}, "no such file"),
            ("pattern", {"pattern": "", "language": "python"}, "no pattern of python"),
            ("pattern", {"pattern": "a", "language": "cobol"}, "unknown language 'cobol'"),
            ("read", {"path": "mail/send.py", "name": "send_male"}, "did you mean 'send_mail'"),
            ("read", {"path": "mail/send.py", "line": 999}, "has no line 999"),
            ("read", {"path": "mail/send.py", "line": 9, "end_line": 3}, "before line 9"),
            ("read", {"path": "mail", "line": 1}, "is a folder"),
            ("log", {"since": "soon"}, "give YYYY-MM-DD"),
            ("log", {"path": "mail/send.py", "line": 1, "author": "x"}, "leave out query, author"),
            ("log", {"query": "mail"}, "git"),
            ("rank", {"programs": []}, "0 programs"),
        ):
            answer = await client.call_tool(tool, arguments)
            assert answer.is_error, (tool, arguments)
            assert said in answer.content[0].text
            assert "Traceback" not in answer.content[0].text
            assert "pydantic" not in answer.content[0].text
            assert "\n" not in answer.content[0].text
        assert not (await client.call_tool("search", {"query": "send mail"})).is_error

    asking(server_of(Session({root: Settings()}), STRUCTURED), err)


def test_a_change_is_found_by_the_next_question(root: Path):
    async def change(client: Client) -> None:
        await _good(client, "search", query="send mail")
        (root / "mail" / "fetch.py").write_text("def fetch_inbox(server):\n    return server.messages()\n")
        found = await _good(client, "search", query="fetch_inbox")
        assert found["hits"][0]["symbol"] == "fetch_inbox"

    asking(server_of(Session({root: Settings()}, waits=Waits(fresh_s=0.0, refresh_s=30.0)), STRUCTURED), change)


def test_who_waits_for_a_first_index_hears_of_it(root: Path, tmp_path: Path):
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


def test_the_command_says_what_is_wrong(assay: Callable[..., Any], project: Path):
    assert "no such folder" in assay("mcp", project / "none").err
    ran = assay("mcp", project / "mail", project / "web", "--index", "x")
    assert (ran.status, "--index names one index" in ran.err) == (2, True)


def test_a_port_that_is_taken_is_an_error(assay: Callable[..., Any], project: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = assay("mcp", project, "--http", port)
    assert (ran.status, "serving" in ran.err) == (2, False)
    assert f"cannot listen on 127.0.0.1, port {port}: Address already in use; give another --http, or 0" in ran.err


def test_any_free_port_is_printed_and_answers(root: Path, cache: Path):
    command = [sys.executable, "-m", "assay", "mcp", "--structured", "--http", "0", str(root)]
    environment = {**os.environ, **ENVIRONMENT, "XDG_CACHE_HOME": str(cache)}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        told = process.stderr.readline()
        assert told.startswith(f"assay: serving {root} at http://127.0.0.1:"), told
        asking(told.split(" at ")[1].strip(), lambda client: _good(client, "search", query="send mail"))
    finally:
        process.terminate()
        process.communicate()
