"""Deliveries of code hosts: who signed them, which repositories they are about, and what is refused."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest

from assay.errors import AssayError, InputError
from assay.serve.mirror_state import ListState, MirrorState, StateFile
from assay.serve.served_roots import ListedRoots
from assay.serve.webhook import NotSigned, Webhook, WrongSignature
from assay.settings import Settings

SECRET = "a secret of some length"
GITHUB = {"clone_url": "https://github.com/a/b.git", "ssh_url": "git@github.com:a/b.git", "default_branch": "main"}
PUSH = {"ref": "refs/heads/main", "repository": GITHUB}
STATES = (
    MirrorState("/m/b", "git@github.com:a/b.git", generation="1"),
    MirrorState("/m/b@next", "https://github.com/a/b", "next", generation="1"),
    MirrorState("/m/c", "https://gitlab.com/g/c", generation="1"),
)


@pytest.fixture
def store(tmp_path: Path) -> StateFile:
    made = StateFile(tmp_path, tmp_path / "list")
    made.write(ListState(STATES))
    return made


@pytest.fixture
def hook(store: StateFile) -> Webhook:
    said: list[str] = []
    made = Webhook(SECRET, ListedRoots({}, store, lambda _: Settings()), said.append)
    made.said = said  # type: ignore[attr-defined]
    return made


def delivery(
    payload: object, header: str = "x-hub-signature-256", secret: str = SECRET
) -> tuple[dict[str, str], bytes]:
    body = json.dumps(payload).encode()
    if header == "x-gitlab-token":
        return {header: secret}, body
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {header: digest if header == "x-gitea-signature" else f"sha256={digest}"}, body


@pytest.mark.parametrize("header", ["x-hub-signature-256", "x-gitea-signature", "x-gitlab-token", "x-hub-signature"])
def test_a_push_that_is_signed_is_fetched(hook: Webhook, store: StateFile, header: str):
    answer = hook.deliver(*delivery(PUSH, header))
    assert (answer.fetched, answer.ignored) == (["git@github.com:a/b.git"], "")
    assert store.take_wanted([each.root for each in STATES]) == ["/m/b"]
    assert store.take_wanted([each.root for each in STATES]) == []


def test_the_branch_decides(hook: Webhook):
    assert hook.deliver(*delivery({**PUSH, "ref": "refs/heads/next"})).fetched == ["https://github.com/a/b"]
    assert hook.deliver(*delivery({**PUSH, "ref": "refs/heads/mine"})).ignored == "the branch mine is not served"


def test_gitlab_calls_it_a_project(hook: Webhook):
    project = {"git_http_url": "https://gitlab.com/g/c.git", "default_branch": "main"}
    payload = {"ref": "refs/heads/main", "project": project, "repository": {"name": "c"}}
    assert hook.deliver(*delivery(payload, "x-gitlab-token")).fetched == ["https://gitlab.com/g/c"]


def test_what_is_no_push_is_ignored(hook: Webhook):
    headers, body = delivery({"zen": "x", "repository": GITHUB})
    assert hook.deliver({**headers, "x-github-event": "ping"}, body).ignored == "no push, but ping"


@pytest.mark.parametrize(
    ("headers", "error", "message"),
    [
        ({}, NotSigned, "not signed: wanted one of the headers x-hub-signature-256, "),
        (delivery(PUSH, secret="another secret of some length")[0], WrongSignature, "wrong signature in x-hub-sig"),
        ({"x-hub-signature-256": "sha256=ünï"}, WrongSignature, "wrong signature"),
        ({"x-hub-signature": "sha1=00"}, WrongSignature, "wrong signature in x-hub-signature"),
        ({"x-gitlab-token": "x"}, WrongSignature, "wrong signature in x-gitlab-token"),
        ({"x-gitlab-token": ""}, NotSigned, "not signed"),
    ],
)
def test_who_does_not_know_the_secret_is_refused(
    hook: Webhook, store: StateFile, headers: dict[str, str], error: type[AssayError], message: str
):
    for _ in range(3):
        with pytest.raises(error, match=message):
            hook.deliver(headers, delivery(PUSH)[1])
    assert len(hook.said) == 1  # type: ignore[attr-defined]
    assert SECRET not in repr(hook.said)  # type: ignore[attr-defined]
    assert store.take_wanted([each.root for each in STATES]) == []


@pytest.mark.parametrize(
    "payload",
    [
        {"ref": "refs/heads/main", "repository": {"clone_url": "https://github.com/x/y"}},
        {"ref": "refs/heads/main"},
        {"ref": "refs/heads/main", "repository": 3, "project": [1]},
        {"ref": {"a": 1}, "repository": {"clone_url": ["x"], "links": {"html": 3}}},
        [PUSH],
    ],
)
def test_a_signed_payload_of_something_else_is_an_error(hook: Webhook, payload: Any):
    with pytest.raises(InputError, match=r"no listed repository is|is not a JSON object"):
        hook.deliver(*delivery(payload))


def test_what_is_no_json_is_an_error(hook: Webhook):
    body = b"payload=%7B%7D"
    signed = {"x-hub-signature-256": "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()}
    with pytest.raises(InputError, match="choose application/json as content type"):
        hook.deliver(signed, body)


def test_without_a_secret_nobody_is_let_in(store: StateFile):
    listed = ListedRoots({}, store, lambda _: Settings())
    with pytest.raises(NotSigned, match="webhooks are off: start the server with ASSAY_WEBHOOK_SECRET"):
        Webhook("", listed, print).deliver(*delivery(PUSH, secret=""))
    with pytest.raises(NotSigned, match="webhooks are off: start the server with --repos FILE"):
        Webhook(SECRET, None, print).deliver(*delivery(PUSH))
    with pytest.raises(InputError, match="ASSAY_WEBHOOK_SECRET is too short"):
        Webhook("short", listed, print)
