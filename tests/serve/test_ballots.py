"""The ballot of labels: a server on this machine, a page that votes by key, and the file of labels."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from assay.errors import InputError
from assay.judge.label_ballots import LabelBallot, LabelSettings
from assay.judge.pairs import Pair
from assay.judge.preferences import Item, PreferenceBallot, read_choices
from assay.judge.records import verdicts
from assay.runs.options import SampleDraw

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from assay.serve.http.ballots import MAX_BODY_BYTES, BallotServer
from assay.values import Chunk, Query
from waiting import LIMIT_S, until

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"><b>bold?</b> & $token \u202eodd"
TESTS = {
    "reading": f"adds {HOSTILE}",
    "setup": "import math",
    "helpers": "from solution import add",
    "cases": [
        {"script": "assert add(1, 2) == 3", "state": "passed", "detail": "", "got": "", "expected": ""},
        {"script": "assert add(0, 0) == 1", "state": "failed", "detail": "", "got": "0", "expected": "1"},
    ],
    "error": "",
}


@contextmanager
def serving(ballot: Any) -> Iterator[BallotServer]:
    made = BallotServer(ballot)
    thread = Thread(target=made.serve, daemon=True)
    thread.start()
    yield made
    made.stop()
    thread.join(LIMIT_S)


def pairs() -> list[Pair]:
    """Return four pairs with texts that want to be markup."""
    codes = [f"def f{at}(x):\n    return x  # {HOSTILE}\n" for at in range(3)]
    codes.append(f"wide = '{'x' * 30_000}'\n" + "".join(f"line{at} = {at}\n" for at in range(400)))
    queries = [Query(f"q{at // 2}", f"how to {at // 2} {HOSTILE}") for at in range(4)]
    return [Pair(query, Chunk(f"c{at}", code)) for at, (query, code) in enumerate(zip(queries, codes, strict=True))]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[BallotServer]:
    with LabelBallot(pairs(), tmp_path, LabelSettings(person="ann")) as ballot, serving(ballot) as made:
        yield made


def ask(server: BallotServer, method: str, path: str, body: object = None, **headers: str) -> tuple[int, dict, bytes]:
    line = HTTPConnection("127.0.0.1", server.port, timeout=LIMIT_S)
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    line.request(method, path, None if body is None else json.dumps(body), told)
    answer = line.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read()


def state(server: BallotServer, query: str = "") -> dict:
    return json.loads(ask(server, "GET", f"/{server.key}/state{query}")[2])


def vote(server: BallotServer, grade: int | None, **headers: str) -> int:
    given = {"item": state(server)["item"]["id"], "grade": grade, "seconds": 1.5}
    return ask(server, "POST", f"/{server.key}/vote", given, **headers)[0]


def finish(server: BallotServer, key: str, **headers: str) -> tuple[int, bytes]:
    return ask(server, "POST", f"/{key}/finish", {}, **headers)[::2]


def test_labels_are_written_until_the_session_is_finished(server: BallotServer, tmp_path: Path):
    for done, grade in enumerate((1, 0, None, 1)):
        assert state(server)["voted"] == done
        assert vote(server, grade) == 200
    assert state(server) == {"voted": 4, "total": 4, "at": 4, "item": None, "graded": False}
    assert state(server, "?at=2")["item"]
    assert len([*verdicts(tmp_path / "ann.jsonl")]) == 4
    assert finish(server, "wrong")[0] == 404, "a stranger does not end it"
    assert finish(server, server.key, Origin="http://evil.example")[0] == 403
    assert not server.finished.is_set()
    assert finish(server, server.key) == (200, b"{}")
    assert server.finished.wait(LIMIT_S)


def test_the_page_loads_and_runs_nothing_of_others(server: BallotServer):
    status, headers, body = ask(server, "GET", f"/{server.key}/")
    page, policy = body.decode(), headers["content-security-policy"]
    assert (status, "http" in page) == (200, False)
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert ("unsafe" in policy, "frame-ancestors 'none'" in policy) == (False, True)
    wanted = {"x-content-type-options": "nosniff", "cache-control": "no-store", "referrer-policy": "no-referrer"}
    assert {name: headers[name] for name in wanted} == wanted
    served = re.findall(r' (?:src|href)="([^"]+)"', page)
    missing = ("page/", "page/none.js", "page/index.html", "ballot/../label.html", "ballot/label.html")
    found = {name: ask(server, "GET", f"/{server.key}/{name}")[0] for name in (*served, *missing)}
    assert found == dict.fromkeys(served, 200) | dict.fromkeys(missing, 404)
    with pytest.raises(InputError, match=r"cannot listen on 127.0.0.1, port"):
        BallotServer(server.ballot, server.port)


def test_other_hosts_pages_and_keys_are_refused(server: BallotServer, tmp_path: Path):
    port = server.port
    for host in ("evil.example", "127.0.0.1", "127.0.0.1:1", f"evil.example:{port}", ""):
        status, _, body = ask(server, "GET", f"/{server.key}/state", Host=host)
        assert (status, b"voted" in body) == (421, False), host
    assert ask(server, "GET", f"/{server.key}/state", Host=f"localhost:{port}")[0] == 200
    for path in ("/", "/state", "/wrong/state", "//", "/wrong/", "/../state", "//[", "*", "/page/base.css"):
        status, _, body = ask(server, "GET", path)
        assert status == 404, path
        assert server.key.encode() not in body
    for wrong in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        assert vote(server, 1, **wrong) == 403
    for method in ("PUT", "DELETE", "OPTIONS", "TRACE"):
        assert ask(server, method, f"/{server.key}/vote")[0] == 405
    assert not (tmp_path / "ann.jsonl").exists()
    assert vote(server, 1, Origin=server.address.removesuffix(f"/{server.key}/")) == 200


def test_an_invalid_vote_and_one_that_cannot_be_written_are_refused(server: BallotServer, tmp_path: Path):
    large = ({"item": "x" * size, "grade": 1} for size in (MAX_BODY_BYTES, 4 << 20))
    for body, wanted in zip(({"item": "none", "grade": 1}, {}, [1], *large), (400, 400, 400, 413, 413), strict=True):
        status, _, told = ask(server, "POST", f"/{server.key}/vote", body)
        assert (status, bool(json.loads(told)["error"])) == (wanted, True)
    (tmp_path / "ann.jsonl").mkdir()
    given = {"item": state(server)["item"]["id"], "grade": 1}
    status, _, told = ask(server, "POST", f"/{server.key}/vote", given)
    assert (status, state(server)["voted"]) == (500, 0)
    assert f"{tmp_path / 'ann.jsonl'} is not a regular file" in json.loads(told)["error"]


def test_two_codes_stand_side_by_side_and_keys_choose(look, tmp_path: Path):
    codes = [pair.code for pair in pairs()]
    items = [Item(Query(f"q{at}", f"how to {HOSTILE}"), codes[at], codes[at + 1]) for at in range(3)]
    ballot = PreferenceBallot(items, tmp_path, "ann", sample=SampleDraw())
    with ballot, serving(ballot) as made:
        seen = look(made.address)
        seen.until("document.body.dataset.busy === 'false'")
        assert HOSTILE[:20] in seen.page.locator("#query").text_content()
        boxes = [seen.page.locator(f"#{side}").bounding_box() for side in ("left", "right")]
        assert boxes[0]["y"] == boxes[1]["y"]
        assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
        assert boxes[1]["y"] + boxes[1]["height"] < 900, "what is long is scrolled"
        for done, key in enumerate(("1", "0", "2"), 1):
            seen.page.keyboard.press(key)
            seen.until(f"document.querySelector('#count').textContent === '{done} of 3'")
            seen.until("document.body.dataset.busy === 'false'")
        seen.page.keyboard.press("Enter")
        seen.page.get_by_role("heading", name="Thank you").wait_for()
    said = [each["choice"] for each in read_choices(tmp_path, items)["ann"].values()]
    assert sorted(map(len, said)) == [1, 1, 7]
    assert not seen.complaints


class Session:
    """A person with the page of labels open."""

    def __init__(self, look, folder: Path, *, tests: str = "", graded: bool = False, **options):
        settings = LabelSettings(person="ann", graded=graded, tests=tests)
        shown = {pair.digest: TESTS for pair in pairs()} if tests else {}
        self.ballot = LabelBallot(pairs(), folder, settings, tests=shown)
        self.look, self.options = look, options

    def __enter__(self):
        self.ballot.__enter__()
        self.serving = serving(self.ballot)
        self.server = self.serving.__enter__()
        self.seen = self.look(self.server.address, **self.options)
        self.page = self.seen.page
        self.idle()
        return self

    def __exit__(self, *_):
        self.serving.__exit__(None, None, None)
        self.ballot.__exit__()

    def idle(self) -> None:
        self.seen.until("document.body.dataset.busy === 'false'")

    def count(self, count: int, seen=None) -> None:
        (seen or self.seen).until(f"document.querySelector('#count').textContent === '{count} of 4'")
        self.idle()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.idle()


def grades(folder: Path) -> list[int | None]:
    return [record["grade"] for record in verdicts(folder / "ann.jsonl")]


def test_keys_label_give_reasons_go_back_and_finish(look, tmp_path: Path):
    reason = "10 of u: it does\n<i>all</i> \u202eof it"
    with Session(look, tmp_path) as ann:
        ann.press("r")
        ann.page.keyboard.type("10 of u: it does")
        ann.press("Shift+Enter")
        ann.page.keyboard.type("<i>all</i> \u202eof it")
        ann.press("Enter")
        ann.count(0)
        ann.press("1")
        ann.count(1)
        assert ann.page.locator("#reason").input_value() == ""
        ann.page.reload()
        ann.count(1)
        ann.press("0", "u")
        ann.count(3)
        ann.press("Backspace", "Backspace")
        assert ann.page.get_by_role("button", name="No match").get_attribute("aria-pressed") == "true"
        ann.press("Backspace")
        assert ann.page.locator("#reason").input_value() == reason
        ann.press("0")
        ann.count(3)
        assert ann.seen.run("document.body.dataset.at") == "3"
        ann.press("1")
        ann.page.get_by_role("heading", name="Every pair has your label.").wait_for()
        ann.press("Enter")
        ann.page.get_by_role("heading", name="Thank you").wait_for()
        assert ann.server.finished.wait(LIMIT_S)
    assert grades(tmp_path) == [0, None, 0, 1]
    assert list(verdicts(tmp_path / "ann.jsonl"))[2]["reason"] == reason
    assert not ann.seen.complaints


def test_another_tab_goes_on_and_a_lost_server_is_reported(look, tmp_path: Path):
    with Session(look, tmp_path, graded=True) as ann:
        assert ann.page.get_by_text("wants to be led here").is_visible(), "grades have a scale of their own"
        ann.press("2")
        ann.count(1)
        other = look(ann.server.address)
        ann.count(1, other)
        ann.page.get_by_role("button", name="Helps").click()
        ann.count(2)
        other.page.keyboard.press("0")  # it still shows the pair that the first tab labelled
        ann.count(2, other)
        other.page.keyboard.press("1")
        ann.count(3, other)
        assert grades(tmp_path) == [2, 0, 1]
        ann.page.reload()
        ann.count(3)
        ann.page.locator("#reason").fill("because")
        ann.server.stop()
        until(lambda: ann.server.listener.fileno() < 0, "the server is gone")
        ann.page.get_by_role("button", name="Helps").click()
        ann.page.get_by_text("Not saved").wait_for()
        assert ann.page.locator("#reason").input_value() == "because"
    assert json.dumps(ann.seen.complaints).count("ERR_CONNECTION_REFUSED") == len(ann.seen.complaints)


def test_texts_are_escaped_readable_and_fit_and_tests_are_shown(look, tmp_path: Path):
    with Session(look, tmp_path, tests="shown") as ann:
        shown = ann.page.locator("#tests")
        assert "assert add(0, 0) == 1" in shown.text_content()
        assert shown.locator(".failed").text_content() == "failed"
        assert "got 0, expected 1" in shown.text_content()
        tree = ann.page.locator("body").aria_snapshot().splitlines()
        assert [line for line in tree if line.strip() in {"- button", "- textbox", "- region"}] == []
        assert ann.page.get_by_role("textbox", name="Why?").is_visible()
        assert ann.page.get_by_role("progressbar", name="Labels").count() == 1
        assert ann.seen.least_contrasts() > 20
        ann.seen.picture("label")
        for place in range(4):
            assert ann.page.locator("main img, main b, main script").count() == 0
            assert "<b>bold?</b> & $token U+202Eodd" in ann.page.locator("#query").text_content()
            assert ann.seen.run("document.documentElement.scrollHeight <= innerHeight"), "long ones scroll inside"
            for width in (320, 760, 1280):
                ann.page.set_viewport_size({"width": width, "height": 740 if width < 1280 else 900})
                assert ann.seen.run("document.documentElement.scrollWidth") <= width
            ann.page.get_by_role("button", name="Match", exact=False).first.click()
            ann.count(place + 1)
        ann.seen.least_contrasts()
        ann.press("Backspace")
        ann.seen.least_contrasts()
        assert ann.page.title() == "Does the code answer the query?"
        assert all(url.startswith((ann.server.address, "data:")) for url in ann.seen.asked)
    record = next(verdicts(tmp_path / "ann.jsonl"))
    assert (record["tests"], bool(record["tests_hash"])) == ("shown", True)
    assert not ann.seen.complaints


@pytest.mark.parametrize("tests", ["hidden", ""])
def test_tests_are_hidden_on_request(look, tmp_path: Path, tests: str):
    with Session(look, tmp_path, tests=tests) as ann:
        assert ann.page.locator("#tests").is_hidden()
        ann.press("1")
        ann.count(1)
    record = next(verdicts(tmp_path / "ann.jsonl"))
    assert (record["tests"], bool(record["tests_hash"])) == (tests, bool(tests))
