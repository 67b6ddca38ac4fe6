from __future__ import annotations

import json
import re
import socket
from http.client import HTTPConnection
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.judge.preference_ballot import Ballot, read_votes
from assay.serve.ballot_server import BallotServer


def ask(server: BallotServer, method: str, path: str, body: object = None, **headers: str) -> tuple[int, dict, bytes]:
    connection = HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, None if body is None else json.dumps(body), told)
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read()


def state(server: BallotServer, query: str = "") -> dict:
    return json.loads(ask(server, "GET", f"/{server.key}/state{query}")[2])


def vote(server: BallotServer, side: str, **headers: str) -> int:
    given = {"item": state(server)["item"]["id"], "side": side, "seconds": 1.5}
    return ask(server, "POST", f"/{server.key}/vote", given, **{"X-Assay-Token": server.token, **headers})[0]


def test_votes_go_from_the_page_to_the_file(server: BallotServer, tmp_path: Path):
    for done, side in enumerate(("left", "right", "neither", "left", "left")):
        assert state(server)["voted"] == done
        assert vote(server, side) == 200
    assert state(server) == {"voted": 5, "total": 5, "at": 5, "item": None}
    assert state(server, "?at=2")["item"]
    assert len(read_votes(tmp_path / "votes.jsonl")[1]) == 5
    assert not server.finished.is_set()
    assert ask(server, "POST", f"/{server.key}/finish", {}, X_Assay_Token=server.token)[0] == 200
    assert server.finished.wait(10)


def test_the_last_request_is_answered_before_the_end_is_told(server: BallotServer, monkeypatch):
    told = server.RequestHandlerClass.end_headers

    def slow(handler) -> None:
        told(handler)
        assert not server.finished.wait(0.2)

    monkeypatch.setattr(server.RequestHandlerClass, "end_headers", slow)
    assert ask(server, "POST", f"/{server.key}/finish", {}, X_Assay_Token=server.token)[2] == b"{}"
    assert server.finished.wait(10)


def test_a_stranger_does_not_end_it(server: BallotServer):
    assert ask(server, "POST", f"/{server.key}/finish", {}, X_Assay_Token="wrong")[0] == 403
    assert not server.finished.is_set()


def test_the_page_loads_nothing_and_may_run_nothing_else(server: BallotServer):
    status, headers, body = ask(server, "GET", f"/{server.key}/")
    page = body.decode()
    assert status == 200
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert server.token in page
    assert "$token" not in page
    assert "http" not in page
    for name in re.findall(r' (?:src|href)="([^"]+)"', page):
        assert name == "data:," or ask(server, "GET", f"/{server.key}/{name}")[0] == 200


def test_only_this_machine_is_listened_to(server: BallotServer):
    assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "evil.example:{port}", ""])
def test_a_name_that_is_pointed_here_gets_nothing(server: BallotServer, host: str):
    given = host.format(port=server.server_address[1])
    status, _, body = ask(server, "GET", f"/{server.key}/state", Host=given)
    assert status == 421
    assert b"left" not in body
    assert ask(server, "GET", f"/{server.key}/state", Host=f"localhost:{server.server_address[1]}")[0] == 200


@pytest.mark.parametrize(
    "path", ["/", "", "/state", "/wrong/state", "//", "/wrong/", "/../state", "//[", "*", "/page/base.css"]
)
def test_whoever_does_not_know_the_key_gets_nothing(server: BallotServer, path: str):
    status, _, body = ask(server, "GET", path or "/")
    assert status == 404
    assert server.key.encode() not in body
    assert server.token.encode() not in body


def test_another_page_cannot_vote(server: BallotServer, tmp_path: Path):
    assert vote(server, "left", **{"X-Assay-Token": ""}) == 403
    assert vote(server, "left", **{"X-Assay-Token": server.key}) == 403
    assert vote(server, "left", Origin="http://evil.example") == 403
    assert vote(server, "left", Origin="null") == 403
    assert not (tmp_path / "votes.jsonl").exists()
    assert vote(server, "left", Origin=server.address.removesuffix(f"/{server.key}/")) == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"item": "none", "side": "left"}, 400),
        ({}, 400),
        ([1], 400),
        ({"item": "x" * 20_000, "side": "left"}, 413),
    ],
)
def test_what_is_no_vote_is_refused(server: BallotServer, body: object, status: int):
    got, _, told = ask(server, "POST", f"/{server.key}/vote", body, X_Assay_Token=server.token)
    assert got == status
    assert json.loads(told)["error"]
    assert state(server)["voted"] == 0


def test_a_body_of_unknown_or_lying_length_is_not_read(server: BallotServer):
    head = f"POST /{server.key}/vote HTTP/1.1\r\nHost: {server.hosts[0]}\r\nX-Assay-Token: {server.token}\r\n"
    for length, status in (
        ("Transfer-Encoding: chunked", 411),
        ("Content-Length: 1e9", 411),
        (f"Content-Length: {9**9}", 413),
    ):
        with socket.create_connection(("127.0.0.1", server.server_address[1]), timeout=10) as line:
            line.sendall(f"{head}{length}\r\n\r\n".encode())
            assert int(line.recv(100).split()[1]) == status
    assert vote(server, "left") == 200


@pytest.mark.parametrize(
    "name", ["page/", "page/none.js", "page/index.html", "ballot/../prefer.html", "ballot/label.html"]
)
def test_no_other_file_can_be_had(server: BallotServer, name: str):
    assert ask(server, "GET", f"/{server.key}/{name}")[0] == 404


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE"])
def test_other_methods_do_nothing(server: BallotServer, method: str):
    assert ask(server, method, f"/{server.key}/vote")[0] == 501


def test_a_file_that_cannot_be_written_is_told(ballot: Ballot, server: BallotServer, tmp_path: Path):
    (tmp_path / "votes.jsonl").mkdir()
    given = {"item": ballot.item_to_show()["item"]["id"], "side": "left"}
    status, _, told = ask(server, "POST", f"/{server.key}/vote", given, X_Assay_Token=server.token)
    assert status == 500
    assert f"{tmp_path / 'votes.jsonl'}: Is a directory" in json.loads(told)["error"]
    assert ballot.voted == 0


def test_a_port_that_is_taken_is_refused(ballot: Ballot, server: BallotServer):
    with pytest.raises(InputError, match="cannot listen on port"):
        BallotServer(ballot, "prefer", server.server_address[1])
