"""Systems that are Python functions, services, MCP servers and saved runs."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay import plugins
from assay.bench.system import SystemCorpus
from assay.errors import AssayError, InputError
from assay.values import Chunk, Query
from endpoint_server import EndpointServer, Play, serving


def ids(spec: str, corpus: SystemCorpus, text: str = "send mail", **options: Any) -> list[str]:
    system = plugins.make("system", spec)
    try:
        return [hit.chunk.id for hit in system.prepare(corpus, options).search([Query("1", text)], 5)[0]]
    finally:
        getattr(system, "close", lambda: None)()


MAKER = """
def make(root, shift=0):
    files = sorted(str(path) for path in root.rglob("*.py"))
    return lambda text, k: [(path, 1 + shift, 2 + shift) for path in files][:k]

def odd(root):
    return lambda text, k: [("README.md",)]

value = 3
"""


def refused(said: str, spec: str, corpus: SystemCorpus, error: type[AssayError] = InputError, **options: Any) -> None:
    with pytest.raises(error, match=said):
        ids(spec, corpus, **options)


def test_a_python_function(postbox: SystemCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "maker_by_name.py").write_text(MAKER)
    spec = f"py:{tmp_path}/maker_by_name.py"
    assert ids(f"{spec}:make", postbox) == ["mail/address.py:1-2", "mail/send.py:1-2"]
    assert ids(f"{spec}:make", postbox, arguments={"shift": 1})[0] == "mail/address.py:2-3"
    monkeypatch.syspath_prepend(str(tmp_path))
    assert ids("py:maker_by_name:make", postbox)
    refused(r"wanted \(path, start, end\)", f"{spec}:odd", postbox, AssayError)
    for other, said in (
        (f"{spec}:value", "no function 'value'"),
        (f"{spec}:none", "no function 'none'"),
        ("py:nosuchmodule:make", "nosuchmodule"),
        ("py:nothing", "names no function"),
        ("py:no.py:f", "no.py"),
    ):
        refused(said, other, postbox)


@pytest.fixture
def service() -> Iterator[EndpointServer]:
    pytest.importorskip("httpx")
    with serving() as server, pytest.MonkeyPatch.context() as environment:
        environment.setenv("no_proxy", "127.0.0.1")
        yield server


def test_a_service_gets_the_query_whole_by_get_and_by_post(
    postbox: SystemCorpus, service: EndpointServer, monkeypatch: pytest.MonkeyPatch
):
    evil = "a&k=99#x /../ ü\n%41"
    assert ids(f"http:{service.base}/search?q={{query}}&k={{k}}", postbox, evil) == ["README.md:3-3"]
    assert (service.paths, service.questions) == (["/v1/search"], [{"q": evil, "k": "5"}])
    monkeypatch.setenv("TOKEN", "t")
    service.say = lambda _: Play(body=b'[{"file": "mail/send.py", "start": 1, "end": 3}]')
    body = {"text": "{query}", "top": "{k}", "filter": {"kinds": ["{query} only"]}}
    spec = f"http:{service.base}/find"
    assert ids(spec, postbox, '"}, -x', body=body, headers={"Authorization": "Bearer $TOKEN"}) == ["mail/send.py:1-3"]
    assert service.questions[1:] == [{"text": '"}, -x', "top": 5, "filter": {"kinds": ['"}, -x only']}}]
    assert service.keys[1:] == ["Bearer t"]
    refused("NO_TOKEN is not set", spec, postbox, headers={"Authorization": "$NO_TOKEN"})


def test_services_that_fail_say_how(postbox: SystemCorpus, service: EndpointServer):
    for play, options, said in (
        (Play(status=500, body=b"the index is gone"), {}, "failed with HTTP 500: the index is gone"),
        (Play(delay_s=0.5), {"timeout_s": 0.2}, r"no whole answer within 0\.2 s"),
        (Play(body=b"x" * 50_000), {"output_bytes": 1000}, "more than 1,000 bytes"),
    ):
        service.plays = [play]
        refused(said, f"http:{service.base}/search", postbox, AssayError, **options)
    for url in ("file:///etc/passwd", "ftp://host/x", "localhost:80", ""):
        refused(r"the address of the service is .* wanted http", f"http:{url}", postbox)


SERVER = """
import json, os, sys

def answer(method, given):
    if method == "initialize":
        about = {"name": "postbox", "version": "1"}
        return {"protocolVersion": given["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        takes = {"semantic_search": ("query", "limit"), "read_file": ("path",)}
        return {"tools": [
            {"name": name, "inputSchema": {"type": "object", "properties": {each: {} for each in names}}}
            for name, names in takes.items()
        ]}
    query, limit = given["arguments"]["query"], given["arguments"].get("limit", 10)
    if query == "die":
        os._exit(3)
    text = json.dumps({"results": [{"path": "README.md", "line": n + 1} for n in range(limit)]})
    return {"content": [{"type": "text", "text": text}], "isError": query == "break"}

print("starting", file=sys.stderr)
for line in sys.stdin:
    asked = {"params": {}, **json.loads(line)}
    if "id" in asked and asked["params"].get("arguments", {}).get("query") != "sleep":
        known = asked["method"] in ("initialize", "tools/list", "tools/call")
        unknown = {"error": {"code": -32601, "message": "no such method"}}
        told = {"result": answer(asked["method"], asked["params"])} if known else unknown
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **told}), flush=True)
"""
"""A server of one file, which starts at once; tests/serve has those of the library."""


@pytest.fixture
def server(tmp_path: Path) -> str:
    pytest.importorskip("mcp")
    (tmp_path / "server.py").write_text(SERVER)
    return f"mcp:{shlex.join([sys.executable, str(tmp_path / 'server.py')])}"


def test_a_tool_of_an_mcp_server(postbox: SystemCorpus, server: str):
    system = plugins.make("system", server)
    try:
        options = {"arguments": {"query": "{query}", "limit": "{k}"}, "timeout_s": 2}
        searcher = system.prepare(postbox, options)

        def ask(text: str) -> list[str]:
            return [hit.chunk.id for hit in searcher.search([Query("1", text)], 2)[0]]

        assert ask("--evil {k} $(x)") == ["README.md:1-1", "README.md:2-2"]
        with pytest.raises(AssayError, match="the tool 'semantic_search' failed"):
            ask("break")
        assert ask("again")
        with pytest.raises(AssayError, match="within 2 s"):
            ask("sleep")
        assert ask("after that")
    finally:
        system.close()


def test_a_server_that_dies_is_started_again_and_unusable_ones_are_refused(
    ask_all: Callable[..., Any], postbox: SystemCorpus, server: str
):
    queries = [Query("1", "die"), Query("2", "again")]
    prepared, answers = ask_all(server, {}, postbox, queries)
    assert answers[0].error == f"the worker ended with 1: the MCP server '{sys.executable}' ended"
    assert answers[1].spans
    assert prepared.restarts == 1
    refused("no tool 'other'; say tool = one of: semantic_search, read_file", server, postbox, tool="other")
    takes = "takes no 'text'; say arguments = a table of: query, limit"
    refused(takes, server, postbox, arguments={"text": "{query}"})
    refused("did not start", "mcp:nosuchserver", postbox, AssayError)


def test_a_saved_run(postbox: SystemCorpus, tmp_path: Path):
    run = tmp_path / "run.txt"
    run.write_text("1 Q0 mail/send.py:1-3 1 0.5 tool\n1 Q0 README.md 2 0.9 tool\n1 Q0 x.py:9-1 3 0.1 tool\n")
    system = plugins.make("system", f"run:{run}")
    searcher = system.prepare(postbox, {})
    assert [hit.chunk.id for hit in searcher.search([Query("1", "x")], 5)[0]] == ["README.md", "mail/send.py:1-3"]
    assert len(system.problems) == 1
    assert "run.txt:3" in system.problems[0]
    with pytest.raises(AssayError, match="has no query '2'"):
        searcher.search([Query("2", "x")], 5)


def test_a_saved_run_of_documents_names_their_files_and_what_is_no_run_is_refused(tmp_path: Path):
    (tmp_path / "run.txt").write_text("1 Q0 doc/1 1 0.5 tool\n" + "bad row\n" * 1000)
    corpus = SystemCorpus("c", tmp_path, (Chunk("doc/1", "text", path="h4sh.txt"),))
    system = plugins.make("system", f"run:{tmp_path / 'run.txt'}")
    hits = system.prepare(corpus, {}).search([Query("1", "x")], 5)[0]
    assert [hit.chunk.path for hit in hits] == ["h4sh.txt"]
    assert len(system.problems) < 50
    assert system.problems[-1] == "980 more rows cannot be used"
    (tmp_path / "empty").write_text("")
    (tmp_path / "other").write_text('{"a": 1}\n')
    for name, said in (("nowhere", "no run '.*nowhere'"), ("empty", "is empty"), ("other", "is not a run")):
        refused(said, f"run:{tmp_path}/{name}", corpus)
