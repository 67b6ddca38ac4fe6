"""A list of repositories is fetched, indexed and served while it changes; a signed delivery has one fetched at once."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.corpus.git import FetchLimits
from assay.corpus.remotes import Mirror, mirror_of
from assay.errors import InputError
from assay.operations.requests import Search, SearchFilter
from assay.operations.search import search
from assay.serve import served_roots
from assay.serve.mirrors import MirrorLoop
from assay.serve.reader import StillIndexing, Waits
from assay.serve.served_roots import ListedRoots, ListState, MirrorState, NotSigned, StateFile, Webhook, WrongSignature
from assay.serve.session import Session
from assay.serve.writer import Pace
from assay.settings import EncoderSettings, Settings
from assay.values import Problem
from git_repositories import commit, repository
from waiting import LIMIT_S, until

SETTINGS = Settings(encoder=EncoderSettings("hash:16"))
PACE = Pace(again_s=0.1, longest_s=0.3, least_s=0.0, idle_s=0.2)
PAY = "def pay_bill():\n    return 1\n"
WEB = {"web.py": "def route_request():\n    return 1\n"}
NOWHERE = "file:///nowhere/at/all"


class Once:
    """Asks a loop to stop when it has looked at each repository of its list, all of which were due at 0."""

    def __init__(self, loop: MirrorLoop) -> None:
        self.loop = loop

    def is_set(self) -> bool:
        states = self.loop._states.values()
        return not self.loop._busy and all(each.due for each in states)


class Kept:
    """A list that is kept up to date, and a session that serves it."""

    def __init__(self, folder: Path) -> None:
        self.file, self.mirrors = folder / "list", folder / "mirrors"
        self.said: list[str] = []
        self.listed = ListedRoots({}, StateFile(self.mirrors, self.file), lambda _: SETTINGS)
        self.session = Session(self.listed, waits=Waits(first_s=5.0))

    def loop(self, pace: Pace = PACE, every_s: float = 3600) -> MirrorLoop:
        return MirrorLoop(self.file, self.mirrors, lambda _: SETTINGS, self.said.append, every_s=every_s, pace=pace)

    def once(self, loop: MirrorLoop | None = None) -> ListState:
        """Have each repository looked at once, and return what came of it."""
        loop = loop or self.loop(replace(PACE, again_s=30, longest_s=100))
        loop.store.make_folder()
        loop._read_list()
        loop._states = {root: replace(state, due=0.0) for root, state in loop._states.items()}
        loop.run(Once(loop))
        return loop.store.read()

    @contextmanager
    def running(self) -> Iterator[None]:
        stop = threading.Event()
        thread = threading.Thread(target=self.loop().run, args=(stop,))
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(LIMIT_S)
            assert not thread.is_alive()

    def write(self, *lines: object) -> None:
        self.file.write_text("".join(f"{line}\n" for line in lines))

    def state(self, place: object) -> MirrorState:
        return next((each for each in self.listed.state.mirrors if each.place == str(place)), MirrorState("", ""))

    def indexed(self, place: object) -> MirrorState:
        until(lambda: self.state(place).generation, f"{place} is indexed")
        return self.state(place)

    def symbols(self, text: str, **keep: tuple[str, ...]) -> list[str]:
        answer = search(Search(text, keep=SearchFilter(**keep)), self.session)
        return [hit.symbol for hit in answer.hits]

    def finds(self, symbol: str) -> None:
        until(lambda: symbol in self.symbols(symbol.replace("_", " ")), f"{symbol} is found")

    def problems(self) -> list[str]:
        return search(Search("x"), self.session).problems


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    return repository(tmp_path / "origin", {"mail.py": "def send_mail():\n    return 1\n"})


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Kept(tmp_path)


def test_a_changing_list_is_fetched_indexed_and_searched(kept: Kept, origin: Path, tmp_path: Path):
    url, other = origin.as_uri(), tmp_path / "folder"
    other.mkdir()
    (other / "pay.py").write_text(PAY)
    kept.write(url)
    with kept.running():
        root = kept.indexed(url).root
        assert kept.symbols("send mail") == kept.symbols("send mail", repo=("origin",)) == ["send_mail"]
        assert kept.problems() == []
        assert kept.session.place("origin/mail.py").inside == "mail.py"
        newer = commit(origin, WEB)
        kept.listed.store.want([root])  # else it would be an hour
        until(lambda: kept.state(url).commit == newer, "the new commit is fetched")
        kept.finds("route_request")
        kept.write(url, other, NOWHERE)
        kept.indexed(other)
        kept.finds("pay_bill")
        until(lambda: kept.state(NOWHERE).failures > 1, "it was tried again")
        assert kept.problems() == [f"{NOWHERE}: '/nowhere/at/all' does not appear to be a git repository"]
        assert len([line for line in kept.said if line.startswith(NOWHERE)]) == 1
        (other / "pay.py").write_text(PAY.replace("pay", "refund"))
        kept.finds("refund_bill")
        kept.write(other, "not a line branch=")
        until(lambda: kept.listed.state.problem, "a word about the list")
        assert "send_mail" in kept.symbols("send mail"), "a list that cannot be used changes nothing"
        kept.write(other)
        until(lambda: "send_mail" not in kept.symbols("send mail"), "it is no longer served")
        assert kept.listed.state.problem == ""
        assert f"{url}: no longer in the list" in kept.said
        stop, second = threading.Event(), kept.loop()
        thread = threading.Thread(target=second.run, args=(stop,))  # waits for its turn, and can be stopped
        thread.start()
        stop.set()
        thread.join(LIMIT_S)
        assert not thread.is_alive()


def test_an_answer_before_the_first_index_is_refused(kept: Kept, origin: Path):
    for given in ((), ("x",)):
        with pytest.raises(StillIndexing, match="the list of repositories is being read; ask again"):
            kept.session.everything.view(given)
    kept.mirrors.mkdir()
    for text in ("", "{", "[]", '{"form": 2}', '{"form": 1, "mirrors": [{"x": 1}], "problem": "", "written": 0}'):
        kept.listed.store.path.write_text(text)
        assert kept.listed.store.read() == ListState(), "what cannot be read is as none"
    kept.listed.store.write(ListState((MirrorState(str(kept.mirrors / "x"), origin.as_uri()),)))
    with pytest.raises(StillIndexing, match="the served folders are being indexed, 0 of 1; ask again"):
        Kept(kept.file.parent).symbols("mail")


def test_once_updates_all_and_a_later_start_knows_their_state(kept: Kept, origin: Path, tmp_path: Path):
    kept.write(origin.as_uri(), NOWHERE)
    state = kept.once()
    assert [bool(each.generation) for each in state.mirrors] == [True, False]
    assert state.mirrors[1].problem.startswith(f"cannot get {NOWHERE}: ")
    assert kept.symbols("send mail") == ["send_mail"]
    again = kept.once()
    assert again.mirrors[0].commit == state.mirrors[0].commit
    assert again.mirrors[1].failures == 1, "a new start tries at once"
    for file in (tmp_path / "cache" / "assay").rglob("*.segment"):
        file.write_bytes(file.read_bytes()[:-100])
    kept.once()
    assert Kept(tmp_path).symbols("send mail") == ["send_mail"], "a damaged index is made again"


def test_a_wrong_line_is_reported_and_the_others_and_the_list_before_serve_on(kept: Kept, origin: Path, tmp_path: Path):
    other = repository(tmp_path / "other", {"pay.py": PAY})
    kept.write(origin.as_uri(), other.as_uri())
    kept.once()
    newer = commit(origin, WEB)
    kept.write(f"{origin.as_uri()} every=20s", "nonsense://x")
    with kept.running():
        until(lambda: kept.state(origin.as_uri()).commit == newer, "the line that can be used is")
        problem = kept.listed.state.problem
        assert "list:2: 'nonsense://x' is not a folder or a URL" in problem
        assert f"the list of repositories stays as it was: {problem}" in kept.said
        assert kept.symbols("pay bill", repo=("other",)) == ["pay_bill"]
    kept.mirrors.rename(kept.mirrors.with_name("away"))
    kept.mirrors.write_text("")
    with pytest.raises(InputError, match=r"cannot make '.*mirrors': File exists; name another folder with --mirrors"):
        kept.once()


def test_a_request_during_a_fetch_fetches_again(kept: Kept, origin: Path, monkeypatch: pytest.MonkeyPatch):
    kept.write(origin.as_uri())
    fetched, goes_on = threading.Event(), threading.Event()
    update = Mirror.update

    def slow(self: Mirror, limits: FetchLimits) -> str:
        found = update(self, limits)
        fetched.set()
        goes_on.wait(LIMIT_S)
        return found

    monkeypatch.setattr(Mirror, "update", slow)
    with kept.running():
        assert fetched.wait(LIMIT_S)
        newer = commit(origin, {"web.py": "WEB = 1\n"})
        kept.listed.store.want([str(mirror_of(origin.as_uri(), kept.mirrors).folder)])
        until(lambda: not list(kept.mirrors.glob(".wanted-*/*")), "the wish is taken")
        goes_on.set()
        until(lambda: kept.state(origin.as_uri()).commit == newer, "it is fetched again")


def test_another_pace_applies_at_once_and_retries_back_off(kept: Kept, origin: Path):
    kept.write(origin.as_uri(), NOWHERE)
    before = kept.once().mirrors
    loop = kept.loop()
    loop._read_list()
    assert [loop._states[each.root].due for each in before] == [before[0].due, 0.0], "what failed is tried at a start"
    kept.write(f"{origin.as_uri()} every=30m", NOWHERE)
    for each in (loop, kept.loop(), kept.loop(every_s=60)):
        each._read_list()
        assert (each._states[before[0].root].due, each._states[before[1].root].failures) == (0.0, 0)
    kept.write(f"{NOWHERE} every=10s")
    loop, pauses = kept.loop(replace(PACE, again_s=30, longest_s=100)), []
    for _ in range(4):
        asked = time.time()
        (state,) = kept.once(loop).mirrors
        pauses.append(next(each for each in (100, 60, 30, 0) if state.due >= asked + each))
    assert pauses == [30, 60, 100, 100]


def test_broken_settings_affect_one_root_alone(kept: Kept, origin: Path, tmp_path: Path):
    kept.write(origin.as_uri(), tmp_path / "origin")
    kept.once()

    def settings(state: MirrorState) -> Settings:
        if state.place.startswith("file:"):
            raise InputError("bad settings")
        return SETTINGS

    served = ListedRoots({}, kept.listed.store, settings).current()
    assert list(served.settings) == [tmp_path / "origin"]
    assert list(served.missing.values()) == [Problem(origin.as_uri(), "bad settings")]


SECRET, TOKEN = "a secret of some length", "a-token-of-some-length"
GITHUB = {"clone_url": "https://github.com/a/b.git", "ssh_url": "git@github.com:a/b.git", "default_branch": "main"}
PUSH = {"ref": "refs/heads/main", "repository": GITHUB}
STATES = (
    MirrorState("/m/b", "git@github.com:a/b.git", generation="1", commit="12ab", checked=time.time()),
    MirrorState("/m/b@next", "https://github.com/a/b", "next", generation="1"),
    MirrorState("/m/c", "https://gitlab.com/g/c", problem="cannot get it", due=time.time() + 3600),
)
ROOTS = [each.root for each in STATES]


@pytest.fixture
def store(tmp_path: Path) -> StateFile:
    made = StateFile(tmp_path, tmp_path / "list")
    made.write(ListState(STATES, "bad"))
    return made


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def hook(store: StateFile, said: list[str]) -> Webhook:
    return Webhook(SECRET, ListedRoots({}, store, lambda _: Settings()), said.append)


def delivery(
    payload: object, header: str = "x-hub-signature-256", secret: str = SECRET
) -> tuple[dict[str, str], bytes]:
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    if header == "x-gitlab-token":
        return {header: secret}, body
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {header: digest if header == "x-gitea-signature" else f"sha256={digest}"}, body


def test_a_signed_push_of_a_served_branch_is_fetched(hook: Webhook, store: StateFile):
    for header in ("x-hub-signature-256", "x-gitea-signature", "x-gitlab-token", "x-hub-signature"):
        answer = hook.deliver(*delivery(PUSH, header))
        assert (answer.fetched, answer.ignored) == (["git@github.com:a/b.git"], ""), header
        assert (store.take_wanted(ROOTS), store.take_wanted(ROOTS)) == (["/m/b"], [])
    assert hook.deliver(*delivery({**PUSH, "ref": "refs/heads/next"})).fetched == ["https://github.com/a/b"]
    assert hook.deliver(*delivery({**PUSH, "ref": "refs/heads/mine"})).ignored == "the branch mine is not served"
    project = {"git_http_url": "https://gitlab.com/g/c.git", "default_branch": "main"}
    payload = {"ref": "refs/heads/main", "project": project, "repository": {"name": "c"}}
    assert hook.deliver(*delivery(payload, "x-gitlab-token")).fetched == ["https://gitlab.com/g/c"]
    headers, body = delivery({"zen": "x", "repository": GITHUB})
    assert hook.deliver({**headers, "x-github-event": "ping"}, body).ignored == "not a push, but ping"


def test_a_delivery_without_the_secret_is_refused(hook: Webhook, store: StateFile, said: list[str]):
    body = delivery(PUSH)[1]
    for headers, error, message in (
        ({}, NotSigned, "not signed: send one of the headers x-hub-signature-256, "),
        ({"x-gitlab-token": ""}, NotSigned, "not signed"),
        (delivery(PUSH, secret="another secret of some length")[0], WrongSignature, "wrong signature in x-hub-sig"),
        ({"x-hub-signature-256": "sha256=ünï"}, WrongSignature, "wrong signature"),
        ({"x-hub-signature": "sha1=00"}, WrongSignature, "wrong signature in x-hub-signature"),
        ({"x-gitlab-token": "x"}, WrongSignature, "wrong signature in x-gitlab-token"),
    ):
        for _ in range(3):
            with pytest.raises(error, match=message):
                hook.deliver(headers, body)
    assert (len(said), SECRET in repr(said), store.take_wanted(ROOTS)) == (1, False, []), "one line a minute"
    for payload in (
        {"ref": "refs/heads/main", "repository": {"clone_url": "https://github.com/x/y"}},
        {"ref": "refs/heads/main"},
        {"ref": "refs/heads/main", "repository": 3, "project": [1]},
        {"ref": {"a": 1}, "repository": {"clone_url": ["x"], "links": {"html": 3}}},
        [PUSH],
        b"payload=%7B%7D",
    ):
        with pytest.raises(InputError, match=r"no listed repository is|is not a JSON object|choose application/json"):
            hook.deliver(*delivery(payload))


def test_webhooks_need_a_secret_and_a_list(store: StateFile):
    listed = ListedRoots({}, store, lambda _: Settings())
    with pytest.raises(NotSigned, match="webhooks are off: start the server with ASSAY_WEBHOOK_SECRET"):
        Webhook("", listed, print).deliver(*delivery(PUSH, secret=""))
    with pytest.raises(NotSigned, match="webhooks are off: start the server with --repos FILE"):
        Webhook(SECRET, None, print).deliver(*delivery(PUSH))
    with pytest.raises(InputError, match="ASSAY_WEBHOOK_SECRET is too short"):
        Webhook("short", listed, print)


def test_repositories_are_listed_with_a_token_and_a_push_needs_none(store: StateFile):
    pytest.importorskip("fastapi")
    from starlette.testclient import TestClient

    from assay.serve.answer_threads import AnswerThreads
    from assay.serve.http.access import AccessRules, shared_token
    from assay.serve.http.app import app_of
    from assay.serve.http.guard import MAX_BODY_BYTES, Guard
    from assay.serve.http.routes import MirrorRoutes
    from assay.serve.labels import Labeller

    listed, workers = ListedRoots({}, store, lambda _: Settings()), AnswerThreads(most=2)
    session = Session(listed)
    routes = MirrorRoutes(listed, Webhook(SECRET, listed, print), workers)
    app = app_of(session, Labeller(session, "me"), {}, workers, with_token=True, mirrors=routes)
    rules = AccessRules(7777, frozenset(("127.0.0.1",)), shared_token(TOKEN))
    client = TestClient(Guard(app, rules, signatures=served_roots.SIGNATURES), base_url="http://127.0.0.1:7777")

    def push(payload: object = PUSH, secret: str = SECRET, path: str = "/api/webhook") -> Any:
        headers, body = delivery(payload, secret=secret)
        return client.post(path, content=body, headers={"Content-Type": "application/json", **headers})

    assert client.get("/api/repositories").status_code == 401
    answer = client.get("/api/repositories", headers={"Authorization": f"Bearer {TOKEN}"}).json()
    assert answer["problem"] == "bad"
    shown = [(each["place"], each["is_searched"], each["problem"]) for each in answer["repositories"]]
    assert shown[0] == ("https://gitlab.com/g/c", False, "cannot get it"), "those with problems first"
    assert set(shown[1:]) == {("git@github.com:a/b.git", True, ""), ("https://github.com/a/b", True, "")}
    assert answer["repositories"][0]["checked_s"] == -1
    assert 0 < answer["repositories"][0]["next_s"] <= 3600
    wrong = push(secret="another secret of some length")
    assert (wrong.status_code, wrong.json()["error"][:38]) == (403, "wrong signature in x-hub-signature-256")
    assert client.post("/api/webhook", json={"ref": "x"}).status_code == 401
    assert push({**PUSH, "repository": {"clone_url": "https://github.com/x/y"}}).status_code == 400
    large = {"Content-Type": "application/json", "X-Gitlab-Token": "x"}
    assert client.post("/api/webhook", content=b" " * (MAX_BODY_BYTES + 1), headers=large).status_code == 413
    assert client.get("/api/webhook").status_code == 401
    assert push(path="/api/webhook/../rank").status_code == 401
    assert store.take_wanted(ROOTS) == []
    answer = push()
    assert (answer.status_code, answer.json()) == (200, {"fetched": ["git@github.com:a/b.git"], "ignored": ""})
    assert store.take_wanted(ROOTS) == ["/m/b"]
