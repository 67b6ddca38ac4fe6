"""A list of repositories is fetched, indexed and served while it changes; what cannot be had costs itself alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from assay.corpus.git import FetchLimits
from assay.corpus.mirror import Mirror, mirror_of
from assay.errors import InputError
from assay.serve import search_tools
from assay.serve.engine import StillIndexing, Waits
from assay.serve.mirror_loop import MirrorLoop, MirrorPace
from assay.serve.mirror_state import ListState, MirrorState, StateFile
from assay.serve.search_tools import Page, SearchFilter
from assay.serve.served_roots import ListedRoots
from assay.serve.session import Session
from assay.settings import EncoderSettings, Settings
from assay.types import Problem
from git_repositories import commit, repository

SETTINGS = Settings(encoder=EncoderSettings("hash:16"))
PACE = MirrorPace(every_s=3600, again_s=0.1, longest_s=0.3, least_s=0.0, folder_s=0.2)
PATIENCE_S = 20.0


class Kept:
    """A list that is kept up to date, and a session that serves it."""

    def __init__(self, folder: Path) -> None:
        self.file, self.mirrors = folder / "list", folder / "mirrors"
        self.said: list[str] = []
        self.stop = threading.Event()
        store = StateFile(self.mirrors, self.file)
        self.listed = ListedRoots({}, store, lambda _: SETTINGS)
        self.session = Session(self.listed, waits=Waits(first_s=5.0))

    def loop(self, pace: MirrorPace = PACE) -> MirrorLoop:
        return MirrorLoop(self.file, self.mirrors, lambda _: SETTINGS, self.said.append, pace)

    def write(self, *lines: object) -> None:
        self.file.write_text("".join(f"{line}\n" for line in lines))

    def state(self, place: object) -> MirrorState:
        return next((each for each in self.listed.state.mirrors if each.place == str(place)), MirrorState("", ""))

    def symbols(self, text: str, **keep: tuple[str, ...]) -> list[str]:
        answer = search_tools.search(self.session, [text], "", keep=SearchFilter(**keep), page=Page())
        return [hit.symbol for hit in answer.hits]

    def problems(self) -> list[str]:
        return search_tools.search(self.session, ["x"], "", keep=SearchFilter(), page=Page()).problems


def until(holds: Callable[[], object]) -> None:
    """Wait until something holds."""
    ends = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < ends, "it never did"
        time.sleep(0.02)


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    return repository(tmp_path / "origin", {"mail.py": "def send_mail():\n    return 1\n"})


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Kept(tmp_path)


@pytest.fixture
def running(kept: Kept, origin: Path) -> Iterator[Kept]:
    kept.write(origin.as_uri())
    thread = threading.Thread(target=kept.loop().run, args=(kept.stop,))
    thread.start()
    yield kept
    kept.stop.set()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def test_a_repository_is_fetched_indexed_and_searched_by_its_name(running: Kept, origin: Path):
    until(lambda: running.state(origin.as_uri()).generation)
    assert running.symbols("send mail") == ["send_mail"]
    assert running.symbols("send mail", repositories=("origin",)) == ["send_mail"]
    assert running.problems() == []
    assert running.session.place("origin/mail.py").inside == "mail.py"


def test_what_is_new_is_searched_once_somebody_wants_it_fetched(running: Kept, origin: Path):
    until(lambda: running.state(origin.as_uri()).generation)
    newer = commit(origin, {"web.py": "def route_request():\n    return 1\n"})
    running.listed.store.want([running.state(origin.as_uri()).root])
    until(lambda: running.state(origin.as_uri()).commit == newer)
    until(lambda: "route_request" in running.symbols("route request"))


def test_the_list_may_change_at_any_time(running: Kept, origin: Path, tmp_path: Path):
    other = tmp_path / "folder"
    other.mkdir()
    (other / "pay.py").write_text("def pay_bill():\n    return 1\n")
    until(lambda: running.state(origin.as_uri()).generation)
    running.write(origin.as_uri(), other, "file:///nowhere/at/all")
    until(lambda: running.state(other).generation)
    until(lambda: "pay_bill" in running.symbols("pay bill"))
    until(lambda: running.state("file:///nowhere/at/all").failures > 1)
    (problem,) = running.problems()
    assert problem == "file:///nowhere/at/all: '/nowhere/at/all' does not appear to be a git repository"
    assert len([line for line in running.said if line.startswith("file:///nowhere/at/all")]) == 1
    running.write(other, "not a line branch=")
    until(lambda: running.listed.state.problem)
    assert "send_mail" in running.symbols("send mail"), "a list that cannot be used changes nothing"
    running.write(other)
    until(lambda: "send_mail" not in running.symbols("send mail"))
    assert running.listed.state.problem == ""
    assert f"{origin.as_uri()}: no longer in the list" in running.said


def test_a_folder_is_looked_at_again_and_again(running: Kept, tmp_path: Path):
    other = tmp_path / "folder"
    other.mkdir()
    (other / "pay.py").write_text("def pay_bill():\n    return 1\n")
    running.write(other)
    until(lambda: running.state(other).generation)
    (other / "pay.py").write_text("def refund_bill():\n    return 1\n")
    until(lambda: "refund_bill" in running.symbols("refund bill"))


def test_before_anything_is_indexed_an_answer_says_so(kept: Kept, origin: Path):
    kept.write(origin.as_uri())
    kept.mirrors.mkdir()
    kept.listed.store.write(ListState((MirrorState(str(kept.mirrors / "x"), origin.as_uri()),)))
    with pytest.raises(StillIndexing, match="the served folders are being indexed, 0 of 1; ask again"):
        kept.symbols("mail")


def test_once_brings_all_up_to_date_and_a_later_start_knows_what_was_there(kept: Kept, origin: Path):
    kept.write(origin.as_uri(), "file:///nowhere")
    state = kept.loop().once()
    assert [bool(each.generation) for each in state.mirrors] == [True, False]
    assert state.mirrors[1].problem.startswith("cannot get file:///nowhere: ")
    assert kept.symbols("send mail") == ["send_mail"]
    again = kept.loop().once()
    assert again.mirrors[0].commit == state.mirrors[0].commit
    assert kept.symbols("send mail") == ["send_mail"]
    assert again.mirrors[1].failures == 1, "a new start tries at once"


def test_a_list_that_cannot_be_used_is_refused_at_once(kept: Kept):
    kept.write("nonsense://x")
    with pytest.raises(InputError, match=r"list:1: 'nonsense://x' is not a folder or a URL"):
        kept.loop().once()


def test_a_list_that_cannot_be_used_at_a_new_start_leaves_the_one_before(kept: Kept, origin: Path):
    other = repository(origin.parent / "other", {"pay.py": "def pay_bill():\n    return 1\n"})
    kept.write(origin.as_uri(), other.as_uri())
    kept.loop().once()
    newer = commit(origin, {"web.py": "def route_request():\n    return 1\n"})
    kept.write(f"{origin.as_uri()} every=20s", "nonsense://x")
    thread = threading.Thread(target=kept.loop().run, args=(kept.stop,))
    thread.start()
    try:
        until(lambda: kept.state(origin.as_uri()).commit == newer)
        assert "nonsense" in kept.listed.state.problem
        assert kept.symbols("pay bill", repositories=("other",)) == ["pay_bill"]
    finally:
        kept.stop.set()
        thread.join(PATIENCE_S)


def test_what_is_wanted_during_a_fetch_is_fetched_again(kept: Kept, origin: Path, monkeypatch: pytest.MonkeyPatch):
    kept.write(origin.as_uri())
    fetched, goes_on, commits = threading.Event(), threading.Event(), []
    update = Mirror.update

    def slow(self: Mirror, limits: FetchLimits) -> str:
        commits.append(update(self, limits))
        fetched.set()
        goes_on.wait(PATIENCE_S)
        return commits[-1]

    monkeypatch.setattr(Mirror, "update", slow)
    thread = threading.Thread(target=kept.loop().run, args=(kept.stop,))
    thread.start()
    try:
        assert fetched.wait(PATIENCE_S)
        newer = commit(origin, {"web.py": "WEB = 1\n"})
        root = str(mirror_of(origin.as_uri(), kept.mirrors).folder)
        kept.listed.store.want([root])
        until(lambda: not list(kept.mirrors.glob(".wanted-*/*")))
        goes_on.set()
        until(lambda: kept.state(origin.as_uri()).commit == newer)
    finally:
        goes_on.set()
        kept.stop.set()
        thread.join(PATIENCE_S)


def test_another_pace_or_login_is_in_force_at_once(kept: Kept, origin: Path):
    kept.write(origin.as_uri(), "file:///nowhere")
    before = kept.loop().once().mirrors
    loop = kept.loop()
    loop._read_list()
    assert [loop._states[each.root].due for each in before] == [before[0].due, 0.0], "what failed is tried at a start"
    kept.write(f"{origin.as_uri()} every=30m", "file:///nowhere")
    for each in (loop, kept.loop(), kept.loop(replace(PACE, every_s=60))):
        each._read_list()
        assert (each._states[before[0].root].due, each._states[before[1].root].failures) == (0.0, 0)


def test_settings_that_cannot_be_read_are_of_one_root_alone(kept: Kept, origin: Path, tmp_path: Path):
    kept.write(origin.as_uri(), tmp_path / "origin")
    kept.loop().once()

    def settings(state: MirrorState) -> Settings:
        if state.place.startswith("file:"):
            raise InputError("bad settings")
        return SETTINGS

    served = ListedRoots({}, kept.listed.store, settings).current()
    assert list(served.settings) == [tmp_path / "origin"]
    assert list(served.missing.values()) == [Problem(origin.as_uri(), "bad settings")]


def test_a_list_that_was_never_read_is_still_coming(kept: Kept):
    for given in ((), ("x",)):
        with pytest.raises(StillIndexing, match="the list of repositories is being read; ask again"):
            kept.session.everything.view(given)


def test_a_folder_of_mirrors_that_cannot_be_made_is_named(kept: Kept):
    kept.mirrors.write_text("")
    with pytest.raises(InputError, match=r"cannot make '.*mirrors': File exists; name another folder with --mirrors"):
        kept.loop().once()


def test_tries_are_further_and_further_apart(kept: Kept):
    kept.write("file:///nowhere every=10s")
    loop = kept.loop(replace(PACE, again_s=30, longest_s=100))
    pauses = []
    for _ in range(4):
        (state,) = loop.once().mirrors
        pauses.append(round(state.due - time.time()))
    assert pauses == [30, 60, 100, 100]


def test_a_damaged_index_is_made_again(kept: Kept, origin: Path, tmp_path: Path):
    kept.write(origin.as_uri())
    before = kept.loop().once().mirrors[0].generation
    for file in (tmp_path / "cache" / "assay").rglob("*.segment"):
        file.write_bytes(file.read_bytes()[:-100])
    assert kept.loop().once().mirrors[0].generation != before
    assert kept.symbols("send mail") == ["send_mail"]


def test_one_process_keeps_a_list_and_another_waits(running: Kept, origin: Path):
    until(lambda: running.state(origin.as_uri()).generation)
    stop, second = threading.Event(), running.loop()
    thread = threading.Thread(target=second.run, args=(stop,))
    thread.start()
    stop.set()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"form": 2}', '{"form": 1, "mirrors": [{"x": 1}], "problem": "", "written": 0}']
)
def test_a_state_that_cannot_be_read_is_as_none(kept: Kept, text: str):
    kept.mirrors.mkdir()
    kept.listed.store.path.write_text(text)
    assert kept.listed.store.read() == ListState()
