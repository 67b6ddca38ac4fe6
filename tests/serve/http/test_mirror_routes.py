"""Listed repositories over HTTP: how they stand, and the one route that a signature opens instead of a token."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from pathlib import Path

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

from starlette.testclient import TestClient  # noqa: TID253

from assay.serve.http.access import AccessRules
from assay.serve.http.access_tokens import shared_token
from assay.serve.http.app import app_of
from assay.serve.http.guard import LARGEST_BODY, Guard
from assay.serve.http.mirror_routes import MirrorRoutes
from assay.serve.http.work import AnswerThreads
from assay.serve.labels import Labeller
from assay.serve.mirror_state import ListState, MirrorState, StateFile
from assay.serve.report_data import Reports
from assay.serve.served_roots import ListedRoots
from assay.serve.session import Session
from assay.serve.webhook import SIGNATURES, Webhook
from assay.settings import Settings

PORT = 7777
BASE = f"http://127.0.0.1:{PORT}"
SECRET, TOKEN = "a secret of some length", "a-token-of-some-length"
URL = "https://github.com/a/b"


@pytest.fixture
def store(tmp_path: Path) -> StateFile:
    made = StateFile(tmp_path, tmp_path / "list")
    late = MirrorState("/m/c", "https://github.com/a/c", problem="cannot get it", due=time.time() + 60)
    made.write(ListState((MirrorState("/m/b", URL, generation="1", commit="12ab", checked=time.time()), late), "bad"))
    return made


@pytest.fixture
def client(store: StateFile) -> TestClient:
    listed = ListedRoots({}, store, lambda _: Settings())
    session, workers = Session(listed), AnswerThreads(most=2)
    mirrors = MirrorRoutes(listed, Webhook(SECRET, listed, print), workers)
    app = app_of(session, Labeller(session, "me"), Reports(()), workers, with_token=True, mirrors=mirrors)
    rules = AccessRules(PORT, frozenset(("127.0.0.1",)), shared_token(TOKEN))
    return TestClient(Guard(app, rules, signatures=SIGNATURES), base_url=BASE)


def push(secret: str = SECRET, url: str = URL) -> dict[str, object]:
    body = json.dumps({"ref": "refs/heads/main", "repository": {"clone_url": url}}).encode()
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {"content": body, "headers": {"Content-Type": "application/json", "X-Hub-Signature-256": f"sha256={digest}"}}


def test_each_repository_is_listed_those_with_problems_first(client: TestClient):
    assert client.get("/api/repositories").status_code == 401
    answer = client.get("/api/repositories", headers={"Authorization": f"Bearer {TOKEN}"}).json()
    assert answer["problem"] == "bad"
    assert [(each["place"], each["is_searched"], each["problem"]) for each in answer["repositories"]] == [
        ("https://github.com/a/c", False, "cannot get it"),
        (URL, True, ""),
    ]
    assert 50 < answer["repositories"][0]["next_s"] <= 60
    assert answer["repositories"][0]["checked_s"] == -1


def test_a_signed_push_needs_no_token(client: TestClient, store: StateFile):
    answer = client.post("/api/webhook", **push())
    assert (answer.status_code, answer.json()) == (200, {"fetched": [URL], "ignored": ""})
    assert store.take_wanted(["/m/b", "/m/c"]) == ["/m/b"]


def test_what_is_not_signed_is_refused(client: TestClient, store: StateFile):
    wrong = client.post("/api/webhook", **push("another secret of some length"))
    assert (wrong.status_code, wrong.json()["error"][:38]) == (403, "wrong signature in x-hub-signature-256")
    assert client.post("/api/webhook", json={"ref": "x"}).status_code == 401
    assert client.post("/api/webhook", **push(url="https://github.com/x/y")).status_code == 400
    signed = {"Content-Type": "application/json", "X-Gitlab-Token": "x"}
    assert client.post("/api/webhook", content=b" " * (LARGEST_BODY + 1), headers=signed).status_code == 413
    assert client.get("/api/webhook").status_code == 401
    assert client.post("/api/webhook/../rank", **push()).status_code == 401
    assert store.take_wanted(["/m/b", "/m/c"]) == []
