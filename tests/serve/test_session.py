"""Folders that are served: what may be asked about, and an index that keeps up while it is asked."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.corpus.addresses import CloneRules
from assay.errors import InputError
from assay.io.files import alone
from assay.operations import search as searching
from assay.operations.counts import facets
from assay.operations.hits import Answer
from assay.operations.indexes import index_of, location_of
from assay.operations.joint_search import joint_searches
from assay.operations.requests import Facets, Search, SearchFilter
from assay.operations.workspace import open_workspace
from assay.serve.reader import StillIndexing, Waits
from assay.serve.session import NotServed, Session
from assay.serve.writer import Pace, Writer, WrittenRoot
from assay.settings import SearchSettings, Settings
from assay.store.folder import LOCK
from assay.store.index_location import MANIFEST
from assay.values import Query
from waiting import until

PATIENT = Waits(fresh_s=0.0, refresh_s=60.0, fraction=float("inf"))
HASTY = Waits(fresh_s=0.0, refresh_s=0.0, first_s=0.0)
SHORT = Waits(first_s=0.1)
LONG = "def long_one(mailbox):\n" + "".join(f"    step_{number} = mailbox + {number}\n" for number in range(90))


@pytest.fixture
def session(project: Path) -> Session:
    return Session({project: Settings()}, waits=PATIENT)


@pytest.fixture
def several(project: Path) -> Session:
    return Session({project / "mail": Settings(), project / "web": Settings()}, waits=PATIENT)


def found(session: Session, *texts: str, path: str = "", repo: tuple[str, ...] = (), **page: object) -> Answer:
    return searching.search(
        Search(texts[0], more=tuple(texts[1:]), path=path, keep=SearchFilter(repo=repo), **page), session
    )


def git(*arguments: str | Path) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True)


def symbols(session: Session, path: str = "") -> set[str]:
    snapshot = session.place(path).reader.view().workspace.snapshot
    return {snapshot.symbol(number) for number in range(snapshot.size) if number not in snapshot.dead}


def unless(error: type[Exception], ask: Callable[[], object]) -> Callable[[], object]:
    """Return what asks until it is no longer told an error."""

    def once() -> object:
        try:
            return ask()
        except error:
            return None

    return once


def test_a_place_is_a_served_folder_or_file(session: Session, project: Path):
    for asked, inside in (
        ("", ""),
        (".", ""),
        (str(project), ""),
        ("mail/", "mail"),
        ("mail/../web/router.js", "web/router.js"),
        (str(project / "mail"), "mail"),
    ):
        place = session.place(asked)
        assert (place.reader.root, place.inside) == (project, inside)
        assert place.reader is session.place("").reader
    git("init", "--quiet", project / "mail")
    place = session.place("mail/send.py")
    assert (place.reader.root, place.inside) == (project / "mail", "send.py"), "a checkout has an index of its own"
    assert session.place("web").reader.root == project


OUTSIDE = (
    "..|../outside|mail/../../outside/secret.py|{project}/../outside|/|/etc/passwd|{project}x|sneaky|sneaky/secret.py|"
    "mail/sneaky.py|mail/up|mail/up/outside|up-and-back/../outside|file:///etc|git@example.org:a/b.git|"
    "ssh://example.org/a|git://example.org/a|http://127.0.0.1/a"
)


def test_nothing_outside_is_a_place_whatever_leads_there(session: Session, project: Path):
    outside = project.parent / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("SECRET = 1\n")
    (project.parent / f"{project.name}x").mkdir()
    (project / "sneaky").symlink_to(outside)
    (project / "mail" / "sneaky.py").symlink_to(outside / "secret.py")
    (project / "mail" / "up").symlink_to("../..")
    (project / "up-and-back").symlink_to(project)
    (project / "loop").symlink_to("loop")
    for asked in OUTSIDE.split("|"):
        with pytest.raises(InputError, match=r"is outside of what is served|is not served"):
            session.place(asked.format(project=project))
    for asked in ("nothing", "mail/none.py", "a\0b", "x" * 5000, "~", "%2e%2e", "\udcff", "loop/x"):
        with pytest.raises(InputError, match=r"no such file or folder|cannot read the path"):
            session.place(asked)


PARTS = ["..", ".", "mail", "web", "\\..", "..\\", "....", "\uff0e\uff0e", "%2e%2e", ""]


@settings(max_examples=50)
@given(st.lists(st.sampled_from(PARTS), max_size=8))
def test_no_spelling_of_a_path_leads_out(tmp_path_factory: pytest.TempPathFactory, parts: list[str]):
    root = tmp_path_factory.getbasetemp() / "served"
    (root / "mail").mkdir(parents=True, exist_ok=True)
    with suppress(InputError):
        place = Session({root: Settings()}).place("/".join(parts))
        assert (place.reader.root / place.inside).resolve().is_relative_to(root.resolve())


def test_the_name_of_a_served_folder_is_that_folder(tmp_path: Path):
    for name in ("one", "two", "two/one", "elsewhere/two"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / name / "a.py").write_text("def a(): ...\n")
    (tmp_path / "one" / "link").symlink_to(tmp_path / "two")
    session = Session({tmp_path / "one": Settings(), tmp_path / "two": Settings()})
    for asked, root, inside in (
        ("two", "two", ""),
        ("two/a.py", "two", "a.py"),
        ("one", "two", "one"),  # nearer than the name of a root
        ("link/a.py", "two", "a.py"),
        (str(tmp_path / "one"), "one", ""),
    ):
        place = session.place(asked)
        assert (place.reader.root.name, place.inside) == (root, inside), asked
    for asked in ("two/../elsewhere", "two//etc", "two/none.py", "three", "elsewhere"):
        with pytest.raises(NotServed):
            session.place(asked)
    with pytest.raises(InputError, match="several folders are served; name one"):
        session.place()
    same = Session({tmp_path / "two": Settings(), tmp_path / "elsewhere" / "two": Settings()})
    with pytest.raises(NotServed, match="'two' is in several folders: begin it with one of"):
        same.place("two")
    assert same.place("elsewhere/two/a.py").reader.root == tmp_path / "elsewhere" / "two"
    by_name = Session({tmp_path / "two": Settings(), tmp_path / "one": Settings()}, by_name=True)
    assert (by_name.place("two/one").reader.root.name, by_name.place("one").inside) == ("two", "")


def test_globs_are_relative_to_the_place_and_bounded(session: Session, project: Path):
    (project / "odd[1]").mkdir()
    for place, globs, found in (
        ("", ["*.py"], ("*.py",)),
        ("mail", [], ("/mail",)),
        ("mail", ["*.py", "!send.py"], ("/mail/**/*.py", "!/mail/*send.py*")),
        ("mail", ["./a/*.py", "/b.py"], ("/mail/a/*.py", "/mail/b.py")),
        ("odd[1]", [], ("/odd[[]1]",)),
        ("", ["x" * 500] * 100, ("x" * 500,) * 100),
    ):
        assert session.place(place).globs(globs) == found
    for globs in (["*.py"] * 101, ["x" * 501]):
        with pytest.raises(InputError, match="at most 100 globs of 500 characters"):
            session.place("").globs(globs)


def test_a_change_is_seen_by_the_next_question(session: Session, project: Path):
    assert "send_mail" in symbols(session)
    first = session.place().reader.view()
    assert session.place().reader.view().workspace is first.workspace
    (project / "mail" / "new.py").write_text("def fetch_mail():\n    return receive()\n")
    (project / "mail" / "send.py").unlink()
    assert "fetch_mail" in symbols(session)
    assert "send_mail" not in symbols(session)
    assert session.place().reader.view().version != first.version


def test_a_question_does_not_wait_for_a_slow_index(several: Session, project: Path):
    with pytest.raises(StillIndexing, match="ask again"):
        found(Session({project / "mail": Settings(), project / "web": Settings()}, waits=HASTY), "mail")
    assert not found(several, "mail").truncated
    session = Session({project: Settings()}, waits=HASTY)
    location = location_of(project, Settings())
    location.mkdir(parents=True)
    with alone(location / LOCK), pytest.raises(StillIndexing, match="is being made"):  # nobody can write it meanwhile
        session.place().reader.view()
    view = until(unless(StillIndexing, session.place().reader.view), "the index is made")
    assert view.report.files == 4


def test_many_ask_at_once_and_a_missing_root_is_an_error_until_it_is_back(session: Session, project: Path):
    with ThreadPoolExecutor(16) as pool:
        views = list(pool.map(lambda _: session.place().reader.view(), range(64)))
    assert {(view.version, view.report.chunks) for view in views} == {(views[0].version, views[0].report.chunks)}
    project.rename(project.parent / "gone")
    with pytest.raises(InputError):
        session.place().reader.view()
    (project.parent / "gone").rename(project)
    assert session.place().reader.view().report.files == 4
    session = Session({project / "mail": Settings(), project / "web": Settings()}, most=1)
    first = session.place(str(project / "mail")).reader
    session.place(str(project / "web"))
    assert session.place(str(project / "mail")).reader is not first, "the one asked longest ago was closed"


def test_a_repository_is_cloned_where_its_scheme_is_served(project: Path, tmp_path: Path):
    git("init", "--quiet", project)
    git("-C", project, "add", ".")
    git("-C", project, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "one")
    (tmp_path / "other").mkdir()
    session = Session({tmp_path / "other": Settings()}, clones=CloneRules(("file",)), waits=PATIENT)
    assert "send_mail" in symbols(session, project.as_uri())
    with pytest.raises(InputError, match="cloning is off"):
        Session({tmp_path / "other": Settings()}).place("https://example.org/a.git")


def test_a_host_that_never_answers_delays_nobody_else(project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("assay.corpus.addresses._is_public", lambda _: True)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}/a"
        session = Session({project: Settings()}, clones=CloneRules(("https",)), waits=Waits(first_s=0.2))
        for number in range(4):
            with pytest.raises(StillIndexing, match="is being cloned"):
                session.place(f"{url}{number}")
        with pytest.raises(StillIndexing, match="4 other repositories"):
            session.place(f"{url}4")
        assert session.place("").reader.root == project

    def refused() -> bool:
        with pytest.raises(InputError, match="cannot get"):
            session.place(f"{url}4")
        return True

    until(unless(StillIndexing, refused), "the host is gone, and its clones are")


def test_without_a_path_all_folders_are_searched_and_kept_by_name(several: Session, project: Path):
    mail, web = f"{project}/mail", f"{project}/web"
    answer = found(several, "where is mail sent", "find the handler of a request")
    assert (answer.root, answer.relevant, answer.problems, answer.truncated) == ("", True, [], False)
    assert {(mail, "send.py"), (web, "router.js")} <= {(hit.root, hit.path) for hit in answer.hits}
    assert {hit.root for hit in found(several, "mail", repo=("web",)).hits} == {web}
    assert {hit.root for hit in found(several, "mail", repo=("!w*",)).hits} == {mail}
    with pytest.raises(InputError, match=r"no served folder is called 'wep'; did you mean 'web'\?"):
        found(several, "mail", repo=("wep",))
    with pytest.raises(InputError, match="give only one of the two"):
        found(several, "mail", path="web", repo=("web",))
    view = several.everything.view()
    assert several.everything.view() is view, "while nothing changes"
    assert several.everything.view(["web"]) is not view
    first = found(several, "mailbox", limit=2)
    assert [*first.hits, *found(several, "mailbox", limit=2, cursor=first.cursor).hits] == found(
        several, "mailbox", limit=4
    ).hits


def test_all_folders_follow_their_files(several: Session, project: Path):
    assert "long_one" not in {hit.symbol for hit in found(several, "long_one").hits}
    (project / "mail" / "long.py").write_text(LONG)
    (project / "web" / "long.py").write_text("def other():\n    return 1\n")
    (hit,) = [hit for hit in found(several, "long_one", limit=1).hits if hit.symbol == "long_one"]
    assert (hit.root, hit.complete, hit.text) == (f"{project}/mail", True, LONG)
    shutil.rmtree(project / "web")
    answer = found(several, "where is mail sent")
    assert answer.hits[0].path == "send.py"
    assert [problem.partition(":")[0] for problem in answer.problems] == [f"{project}/web"], "what is gone is named"


def writer(root: Path, said: list[str]) -> Writer:
    always = Pace(idle_s=0.0, least_s=0.0, fraction=float("inf"), again_s=0.0)
    return Writer([WrittenRoot(root, lambda: index_of(root, Settings()), always)], said.append)


def test_a_reader_waits_for_a_readable_index_and_never_builds_one(project: Path):
    said: list[str] = []
    manifest = location_of(project, Settings()) / MANIFEST
    for damage in (None, lambda text: json.dumps({**json.loads(text), "format": 1}), lambda _: "{"):
        if damage:
            manifest.write_text(damage(manifest.read_text()))
        reader = Session({project: Settings()}, waits=SHORT, is_kept=True)
        with pytest.raises(StillIndexing, match="is being made"):
            reader.place().reader.view()
        assert manifest.exists() == bool(damage)
        writer(project, said).look(Event())
        assert reader.place().reader.view().report.files == 4
    assert said == []


def test_answers_are_marked_stale_while_another_process_writes(project: Path):
    made = writer(project, [])
    made.look(Event())
    reader = Session({project: Settings()}, waits=replace(PATIENT, refresh_s=0.0), is_kept=True).place().reader
    until(lambda: not reader.view().stale, "it answers of now")
    with alone(location_of(project, Settings()) / LOCK):
        (project / "mail" / "new.py").write_text("def later():\n    pass\n")
        report = made.roots[0].look()
        assert report.busy
        assert made.roots[0].is_due
        until(lambda: reader.view().stale, "it says that it is old")
    assert not made.roots[0].look().busy
    until(lambda: not reader.view().stale, "it answers of now")
    until(lambda: reader.view().report.files == 5, "it has the new file")


def test_a_problem_of_an_index_is_reported_once(project: Path, tmp_path: Path):
    said: list[str] = []
    made = writer(project, said)
    project.rename(tmp_path / "away")
    for _ in range(2):
        made.look(Event())
    (line,) = said
    assert "trying again" in line
    (tmp_path / "away").rename(project)
    made.look(Event())
    assert Session({project: Settings()}, waits=SHORT, is_kept=True).place().reader.view().report.files == 4


def test_pauses_grow_with_the_time_taken_and_with_failures():
    pace = Pace(least_s=1, idle_s=40, fraction=0.1, most_s=60, again_s=30, longest_s=100)
    assert [pace.pause_s(took_s) for took_s in (0, 0.5, 3, 100)] == [1, 5, 30, 60]
    assert [pace.idle_pause_s(took_s) for took_s in (0, 3, 100)] == [40, 40, 60]
    assert [pace.retry_s(failures) for failures in (1, 2, 3, 4, 5000)] == [30, 60, 100, 100, 100]


def test_searches_that_compute_take_turns_and_others_do_not_wait(session: Session):
    def asked(text: str) -> list[str]:
        return [hit.symbol for hit in found(session, text).hits]

    with ThreadPoolExecutor(2) as pool:
        with searching._turn:
            quick = pool.submit(asked, "where is mail sent")
            counted = pool.submit(facets, Facets("where is mail sent"), session)
            assert "send_mail" in asked('"send_mail"')
            assert "send_mail" in asked("mail /send_[a-z]+/")
            assert not quick.done()
            assert not counted.done()
        assert "send_mail" in quick.result(60)
        assert counted.result(60).counted


@pytest.mark.parametrize(
    ("is_quick", "reranker", "waits"), [(True, "", True), (False, "", False), (True, "rerank:some-model", False)]
)
def test_a_search_that_waits_for_a_service_takes_no_turn(project: Path, *, is_quick: bool, reranker: str, waits: bool):
    index = SimpleNamespace(encoder=SimpleNamespace(is_quick=is_quick))
    settings = Settings(search=SearchSettings(reranker=reranker))
    workspace = replace(open_workspace(project, Settings()), settings=settings, index=index)
    given = searching.turn(joint_searches([workspace]), [Query("q", "where is mail sent")])
    assert (given is searching._turn) == waits
