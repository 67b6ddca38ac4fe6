"""The HTTP API as programs meet it: what it answers, what it refuses, and the page it brings."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

from starlette.testclient import TestClient  # noqa: TID253

from assay.serve.answer_threads import AnswerThreads
from assay.serve.http.access import AccessRules
from assay.serve.http.app import app_of
from assay.serve.http.guard import Guard
from assay.serve.labels import Labeller
from assay.serve.reader import Waits
from assay.serve.session import Session
from assay.settings import IndexSettings, Settings
from postbox import write_postbox
from waiting import until

PORT = 7777
RULES = AccessRules(PORT, frozenset(("127.0.0.1", "localhost")))
GET = "log roots search read definitions references related outline pattern status facets file find tree blame matches"
ROUTES = {
    **{f"/api/{name}": ["get"] for name in f"{GET} names history raw bench question".split()},
    "/api/bench/{name}": ["get"],
    "/api/rank": ["post"],
    "/api/labels": ["get", "post"],
}
JSON = {"Content-Type": "application/json"}


def client_of(session: Session, reports: Mapping[str, Path] | None = None, **options: Any) -> TestClient:
    app = app_of(session, Labeller(session, "me"), reports or {}, AnswerThreads(most=2))
    return TestClient(Guard(app, RULES), base_url=f"http://127.0.0.1:{PORT}", **options)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """Return a client of a project that no test changes: to make a server takes as long as many requests."""
    root = write_postbox(tmp_path_factory.mktemp("read"))
    return client_of(Session({root: Settings()}, waits=Waits(fresh_s=60.0)))


@dataclass(frozen=True)
class Changing:
    """A project to which each test adds files of its own, and a client that sees them."""

    root: Path
    client: TestClient


@pytest.fixture(scope="module")
def changing(tmp_path_factory: pytest.TempPathFactory) -> Changing:
    root = write_postbox(tmp_path_factory.mktemp("changing"))
    return Changing(root, client_of(Session({root: Settings()}, waits=Waits(fresh_s=0.0, refresh_s=60.0))))


def test_filters_of_a_search_apply(client: TestClient):
    asked = {"query": "try again when the server is busy", "limit": 3, "explain": "true", "path": "mail"}
    answer = client.get("/api/search", params=asked).json()
    assert (answer["hits"][0]["symbol"], bool(answer["hits"][0]["why"])) == ("send_mail", True)
    for keep, paths in (
        ({"kind": ["method", "class"]}, {"mail/address.py"}),
        ({"file": ["*.py", "!send.py"]}, {"mail/address.py"}),
        ({"lang": "js"}, {"web/router.js"}),
        ({"mode": "docs"}, {"README.md"}),
    ):
        hits = client.get("/api/search", params={"query": "mail", "limit": 20, **keep}).json()["hits"]
        assert {hit["path"] for hit in hits} == paths, keep


def test_without_a_path_every_served_folder_is_searched(project: Path):
    folders = {project / "mail": Settings(), project / "web": Settings()}
    client = client_of(Session(folders, waits=Waits(fresh_s=60.0)))

    def got(name: str, **asked: object) -> dict[str, Any]:
        return client.get(f"/api/{name}", params=asked).json()

    asked = {"query": "where is mail sent", "more": "handler of a request"}
    assert {hit["root"] for hit in got("search", **asked)["hits"]} == {"mail", "web"}
    counts = got("facets", query="lang:py")
    assert (counts["complete"], counts["repositories"]) == (True, {"mail": counts["counted"]})
    assert got("facets", query="lang:py where is mail sent")["repositories"].keys() == {"mail"}
    named = got("names", query="SEND", limit=3)
    assert (named["files"], "send_mail" in named["names"]) == (["mail/send.py"], True)
    assert "did you mean 'web'" in got("search", **asked, repo="wab")["error"]


def test_no_answer_names_a_folder_of_the_server(project: Path):
    other = project.parent / "two" / "postbox"
    shutil.copytree(project, other)
    (other / ".git").mkdir()
    (project / "assay-truth.jsonl").write_text("no ground truth\n")
    placed = Settings(index=IndexSettings(location=str(project.parent / "index")))
    client = client_of(Session({project: Settings(), other: placed}, waits=Waits(fresh_s=60.0), by_name=True))
    mine, yours = sorted((root["name"] for root in client.get("/api/roots").json()["roots"]), key=len, reverse=True)
    asked = {"query": "mail", "pattern": "def $F", "lang": "py", "line": 6, "name": "send_mail", "text": "def"}
    paths, said = client.get("/openapi.json").json()["paths"], {}
    for name in f"{GET} names history raw bench labels none".split():
        told = paths.get(f"/api/{name}", {}).get("get", {})
        known = {each["name"] for each in told.get("parameters", ())}
        for path in ("", mine, f"{yours}/mail/send.py", f"{mine}/none", "/etc"):
            for query in ("mail", '"def"', "repo:none x"):
                given = {**asked, "path": path, "query": query}
                address = f"/api/{name}?{urlencode({key: given[key] for key in sorted(known & given.keys())})}"
                said[address] = said.get(address) or client.get(address).text
    label = {"query": "x", "target": "mail/send.py", "grade": 1, "path": mine}
    said["a label"] = client.post("/api/labels", json=label).text
    assert len(said) > 100
    assert [at for at, text in said.items() if str(project.parent) in text or f"{Path.home()}/" in text] == []


def test_every_matching_line_is_listed_cut_at_its_matches(client: TestClient):
    asked = {"query": '/deliver\\w*/ "message" -file:README', "limit": 2}
    first = client.get("/api/matches", params=asked).json()
    rest = client.get("/api/matches", params={**asked, "limit": 2, "cursor": first["cursor"]}).json()
    lines = first["lines"] + rest["lines"]
    assert {line["path"] for line in lines} == {"mail/send.py"}
    assert [line["line"] for line in lines] == sorted({line["line"] for line in lines})
    assert all({"message", "deliver"} & {piece.lower() for piece in line["pieces"][1::2]} for line in lines)
    assert client.get("/api/matches", params={"query": "message"}).json()["lines"] == []


def test_markdown_comes_as_elements_without_html_of_its_own(changing: Changing):
    (changing.root / "page.md").write_text(
        '# <img alt="Post" onerror=x>\n\n<div onclick=x>in a block</div>\n\n'
        "by <b onclick=x>hand</b> [go](javascript:alert(1)) ![pic](https://x.org/a.png)\n"
        f"\n[a]: https://x.org/{'a' * 1000}\n\n[a]\n"
    )
    told = changing.client.get("/api/file", params={"path": "page.md", "styled": "true"}).json()["rendered"]
    image = ["a", {"href": "https://x.org/a.png"}, ["pic"]]
    words = ["p", {}, ["by ", "", "hand", "", " [go](javascript:alert(1)) ", image]]
    assert told == [["h1", {}, ["Post"]], "in a block\n", words, ["p", {}, ["a"]]]


def test_styled_lines_are_the_text(client: TestClient):
    asked = {"query": "deliver a message", "styled": "true"}
    for hit in client.get("/api/search", params=asked).json()["hits"]:
        assert "\n".join("".join(text for _, text in line) for line in hit["styled"]) == hit["text"].rstrip("\n")
    related = client.get("/api/related", params={"path": "mail/send.py", "line": 6, "styled": "true"}).json()
    assert all(hit["styled"] for hit in related["hits"])
    assert "styled" not in client.get("/api/search", params={"query": "message"}).json()["hits"][0]


def test_definitions_and_references_of_a_name(changing: Changing):
    client = changing.client
    (changing.root / "mail" / "again.py").write_text(
        "from mail.send import send_mail\n\n\ndef send_again(server, message):\n    return send_mail(server, message)\n"
    )
    place = {"path": "mail/again.py", "line": 5}
    (defined,) = client.get("/api/definitions", params={**place, "name": "send_mail"}).json()["hits"]
    assert (defined["path"], defined["symbol"], defined["among"]) == ("mail/send.py", "send_mail", 1)
    called = client.get("/api/references", params={"path": "mail/send.py", "line": defined["start_line"]}).json()
    (hit,) = called["hits"]
    assert (hit["path"], hit["start_line"], hit["symbol"]) == ("mail/again.py", 5, "send_again")
    assert client.get("/api/definitions", params={**place, "name": "a b"}).status_code == 422
    assert client.get("/api/references", params={"path": "README.md", "line": 1}).status_code == 404


def test_roots_status_rank_and_reports_are_answered(client: TestClient):
    assert client.get("/api/roots").json()["roots"] == [{"name": "postbox", "folder": ""}]
    client.get("/api/search", params={"query": "mail"})
    status = client.get("/api/status", params={"path": "mail"}).json()
    assert (status["files"], set(status["languages"])) == (4, {"python", "markdown", "javascript"})
    assert sum(status["languages"].values()) == status["chunks"]
    assert list(status["kinds"].values()) == sorted(status["kinds"].values(), reverse=True)
    assert "function" in status["kinds"]
    programs = {"programs": ["def f(x:\n", "def f(x):\n    return x\n"], "entry_point": "f"}
    assert client.post("/api/rank", json=programs).json()["programs"][0]["index"] == 1
    assert client.get("/api/bench").json() == {"reports": []}


def test_a_report_is_served_unchanged_in_a_sandbox(project: Path, tmp_path: Path):
    files = {f"{name}/x": tmp_path / name for name in ("old", "new", "link", "none")}
    for at, name in enumerate(("old", "new")):
        (tmp_path / name).write_text(f"<script>{name}</script>")
        os.utime(tmp_path / name, (at, at))
    (tmp_path / "link").symlink_to("new")
    cell = {"system": "assay", "set": "own", "figures": {"line": {"MRR": [0.5, 0.4, 0.6]}}}
    results = {"manifest": {"measures": ["MRR"]}, "cells": [cell]}
    (tmp_path / "results.json").write_text(json.dumps(results))
    client = client_of(Session({project: Settings()}), files)
    listed = client.get("/api/bench").json()["reports"]
    assert [each["name"] for each in listed] == ["new/x", "old/x"]
    assert listed[0]["written"] == "1970-01-01T00:00:01+00:00"
    assert listed[0]["figures"] == ["assay on own: MRR 0.500"]
    shown = client.get("/api/bench/new%2Fx")
    assert (shown.text, shown.headers["content-type"]) == ("<script>new</script>", "text/html; charset=utf-8")
    policy = shown.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'sha256-" in policy
    assert policy.endswith("sandbox allow-scripts")
    assert [client.get(f"/api/bench/{name}/x").status_code for name in ("link", "none")] == [404, 404]


def test_a_label_becomes_ground_truth(changing: Changing):
    client, truth = changing.client, changing.root / "assay-truth.jsonl"

    def post(**label: object) -> Any:
        return client.post("/api/labels", json={"query": "where is mail sent", "target": "mail/send.py:6-12", **label})

    said = post(grade=1).json()
    kept = {"target": "mail/send.py::send_mail", "lines": "mail/send.py:6-12"}
    assert said["judgments"] == [{**kept, "grade": 1, "judge": "me"}]
    assert client.get("/api/labels").json() == {"file": "assay-truth.jsonl", "queries": [said]}
    part = post(target="mail/send.py:9-10", symbol="send_mail", grade=0)
    assert part.json()["judgments"] == [{**kept, "grade": 0, "judge": "me"}]
    assert post(grade=None).json()["judgments"] == []
    assert {post(grade=grade).status_code for grade in (True, "1", 2, -1, 0.5, [1])} == {422}
    half = json.dumps("half \ud800 a pair")
    truth.write_text(f'{{"type": "truth", "format": 1}}\n{{"type": "query", "id": "1", "text": {half}}}\n')
    answer = client.get("/api/labels")
    assert (answer.status_code, half.encode() in answer.content) == (200, True), "what is no Unicode is escaped"
    body = f'{{"query": {half}, "target": "mail/send.py", "grade": 1}}'.encode()
    assert client.post("/api/labels", content=body, headers=JSON).status_code == 422
    truth.write_text("no ground truth\n")
    assert post(grade=1).status_code == 409
    truth.unlink()


REFUSED = [
    ("/api/search", 422, "query: missing"),
    ("/api/search?query=", 400, "the query holds no word"),
    ("/api/search?query=a&limit=0", 422, "limit: "),
    ("/api/search?query=a&limit=1&limit=2", 422, "limit: given more than once"),
    ("/api/search?query=a&k=3", 422, "k: unknown parameter; known: budget"),
    ("/api/search?query=a&cursor=!", 409, "invalid cursor"),
    ("/api/search?query=a&cursor=" + "A" * 27, 409, "another question"),
    ("/api/search?query=a&path=../..", 404, "is outside of what is served"),
    ("/api/status?path=%00", 404, "cannot read the path"),
    ("/api/status?path=%ff%fe", 404, "no such file or folder"),
    ("/api/roots?a=b", 422, "a: unknown parameter"),
    ("/api/related?path=mail/send.py&line=9999", 404, "the file's last line of text"),
    ("/api/bench/none", 404, "no report 'none'"),
    ("/api/bench/..%2f..%2fetc", 404, ""),
    ("/api/none", 404, "no such page"),
    ("/api/search/", 404, "no such page"),
    ("/docs", 404, "no such page"),
]
BODIES = [
    (b"", 422),
    (b"{", 422),
    (b"\xff\xfe", 422),
    (b"[]", 422),
    (b'{"programs": ["a"], "prompt": NaN}', 422),
    (b"[" * 100_000, 422),
    (b'{"programs": ["\\ud800"], "prompt": "\\u0000", "entry_point": "\\udfff"}', 200),
]


def test_a_wrong_request_is_refused_in_a_sentence(client: TestClient):
    for path, status, told in REFUSED:
        answer = client.get(path)
        assert (answer.status_code, set(answer.json())) == (status, {"error"}), path
        assert told in answer.json()["error"]
    for body, status in BODIES:
        answer = client.post("/api/rank", content=body, headers=JSON)
        assert (answer.status_code, "error" in answer.json()) == (status, status != 200), body[:40]
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""):
        assert client.post("/api/labels", content=b"{}", headers={"Content-Type": kind}).status_code == 415, kind
    kind = {"Content-Type": "application/json; charset=utf-8"}
    assert client.post("/api/rank", content=b'{"programs": ["a"]}', headers=kind).status_code == 200
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "HEAD", "PROPFIND"):
        answer = client.request(method, "/api/labels")
        assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, POST")
        assert client.request(method, "/api/search").headers["Allow"] == "GET"


def test_the_schema_lists_every_route(client: TestClient):
    schema = client.get("/openapi.json").json()
    assert {path: sorted(told) for path, told in schema["paths"].items()} == ROUTES
    known = {each["name"]: each["schema"] for each in schema["paths"]["/api/search"]["get"]["parameters"]}
    assert (known["limit"]["minimum"], known["limit"]["maximum"], known["limit"]["default"]) == (1, 1000, 8)
    assert known["more"]["maxItems"] == 9
    assert "python" in known["lang"]["items"]["enum"]
    for told in schema["paths"].values():
        for operation in told.values():
            assert operation["description"]
            assert {"401", "403", "414", "421", "422", "429", "503"} < operation["responses"].keys()


def test_a_question_before_the_first_index_gets_its_progress(project: Path):
    client = client_of(Session({project: Settings()}, waits=Waits(fresh_s=60.0, first_s=0.0)))
    answer = client.get("/api/search?query=mail")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    assert "the index of 'postbox' is being made" in answer.json()["error"]
    until(lambda: client.get("/api/search?query=mail").status_code != 503, "the index is made")
    assert client.get("/api/search?query=mail").json()["hits"]


class Broken(Session):
    def place(self, asked: str = "") -> Any:
        raise RuntimeError(f"a secret in a trace: {asked}")


def test_an_internal_error_shows_no_trace(project: Path):
    answer = client_of(Broken({project: Settings()}), raise_server_exceptions=False).get("/api/search?query=mail")
    assert answer.status_code == 500
    assert answer.json() == {"error": "internal error, please report it; the server's log says where"}


def test_a_link_out_of_a_root_is_not_followed(changing: Changing):
    client, secret = changing.client, changing.root.parent / "secret.py"
    secret.write_text("def secret_of_another_folder():\n    return 1\n")
    (changing.root / "link.py").symlink_to(secret)
    for name in ("search?query=secret&", "related?line=1&", "file?", "raw?", "blame?", "find?text=secret&"):
        assert client.get(f"/api/{name}path=link.py").status_code == 404, name
    assert "secret_of" not in client.get("/api/search?query=secret_of_another_folder&mode=all").text
    label = {"query": "a secret", "target": "link.py:1-2", "grade": 1}
    assert client.post("/api/labels", json=label).status_code == 404


def test_the_page_is_served_by_exact_names_and_nothing_is_open_to_other_sites(client: TestClient):
    page = client.get("/?query=what+the+page+keeps")
    assert (page.status_code, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    same = client.get("/", headers={"If-None-Match": page.headers["ETag"]})
    assert (same.status_code, same.content) == (304, b"")
    assert client.head("/").headers["Content-Length"] == str(len(page.content))
    style = client.get("/page/style.css")
    assert (style.status_code, style.headers["Content-Type"]) == (200, "text/css; charset=utf-8")
    for name in ("", "Index.html", "%2e%2e%2fhttp.py", "..%5chttp.py", "%252e%252e%252fhttp.py", "a%00.js"):
        answer = client.get(f"/page/{name}")
        assert (answer.status_code, "error" in answer.json()) == (404, True)
    for path in ("/", "/api/roots", "/api/none", "/openapi.json", "/page/style.css"):
        headers = client.get(path).headers
        assert not [name for name in headers if name.startswith("access-control")]
        assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == ("no-cache" if path in {"/", "/page/style.css"} else "no-store")
        assert "server" not in headers
