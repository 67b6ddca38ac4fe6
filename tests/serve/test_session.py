"""Folders that are served: what may be asked about, and an index that keeps up while it is asked."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.corpus.clone_rules import CloneRules
from assay.errors import InputError
from assay.serve.engine import StillIndexing, Waits
from assay.serve.session import NotServed, Session
from assay.settings import Settings

WAYS = ["..", ".", "mail", "web", "\\..", "..\\", "....", "\uff0e\uff0e", "%2e%2e", ""]
PATIENT = Waits(fresh_s=0.0, refresh_s=60.0)


@pytest.fixture
def session(project: Path) -> Session:
    return Session({project: Settings()}, waits=PATIENT)


def git(*arguments: str | Path) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True)


def symbols(session: Session, path: str = "") -> set[str]:
    snapshot = session.place(path).engine.view().workspace.snapshot
    return {snapshot.symbol(number) for number in range(snapshot.size) if number not in snapshot.dead}


def test_a_place_is_a_folder_or_a_file_of_what_is_served(session: Session, project: Path):
    for asked, inside in (
        ("", ""),
        (".", ""),
        (str(project), ""),
        ("mail", "mail"),
        ("mail/", "mail"),
        ("mail/../web/router.js", "web/router.js"),
        (str(project / "mail"), "mail"),
    ):
        place = session.place(asked)
        assert (place.engine.root, place.inside) == (project, inside)
        assert place.engine is session.place("").engine


@pytest.mark.parametrize(
    "asked",
    [
        "..",
        "../outside",
        "mail/../../outside/secret.py",
        "{project}/../outside",
        "/",
        "/etc/passwd",
        "{project}x",
        "sneaky",
        "sneaky/secret.py",
        "mail/sneaky.py",
        "mail/up",
        "mail/up/outside",
        "up-and-back/../outside",
        "file:///etc",
        "git@example.org:a/b.git",
        "ssh://example.org/a",
        "git://example.org/a",
        "http://127.0.0.1/a",
    ],
)
def test_nothing_outside_is_a_place_wherever_a_link_hides_it(session: Session, project: Path, asked: str):
    outside = project.parent / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("SECRET = 1\n")
    (project.parent / f"{project.name}x").mkdir()
    (project / "sneaky").symlink_to(outside)
    (project / "mail" / "sneaky.py").symlink_to(outside / "secret.py")
    (project / "mail" / "up").symlink_to("../..")
    (project / "up-and-back").symlink_to(project)
    with pytest.raises(InputError, match=r"is outside of what is served|is not served"):
        session.place(asked.format(project=project))


@pytest.mark.parametrize("asked", ["nothing", "mail/none.py", "a\0b", "x" * 5000, "~", "%2e%2e", "\udcff", "loop/x"])
def test_what_is_no_place_is_said(session: Session, project: Path, asked: str):
    (project / "loop").symlink_to("loop")
    with pytest.raises(InputError, match=r"no such file or folder|is no path"):
        session.place(asked)


@given(
    st.lists(
        st.sampled_from(["..", ".", "mail", "web", "\\..", "..\\", "....", "\uff0e\uff0e", "%2e%2e", ""]), max_size=8
    )
)
def test_no_way_of_writing_a_path_leads_out(tmp_path_factory: pytest.TempPathFactory, parts: list[str]):
    root = tmp_path_factory.getbasetemp() / "served"
    (root / "mail").mkdir(parents=True, exist_ok=True)
    served = Session({root: Settings()})
    try:
        place = served.place("/".join(parts))
    except InputError:
        return
    assert (place.engine.root / place.inside).resolve().is_relative_to(root.resolve())


def test_a_checkout_below_has_an_index_of_its_own(session: Session, project: Path):
    git("init", "--quiet", project / "mail")
    place = session.place("mail/send.py")
    assert (place.engine.root, place.inside) == (project / "mail", "send.py")
    assert session.place("web").engine.root == project


def test_of_several_folders_one_has_to_be_named(project: Path):
    session = Session({project / "mail": Settings(), project / "web": Settings()})
    with pytest.raises(InputError, match="several folders are served, say which"):
        session.place()
    assert session.place("router.js").engine.root == project / "web"
    assert session.place(str(project / "mail")).engine.root == project / "mail"


def test_globs_are_relative_to_the_place(session: Session, project: Path):
    (project / "odd[1]").mkdir()
    assert session.place("").globs(["*.py"]) == ("*.py",)
    assert session.place("mail").globs() == ("/mail",)
    assert session.place("mail").globs(["*.py", "!send.py"]) == ("/mail/**/*.py", "!/mail/**/send.py")
    assert session.place("mail").globs(["./a/*.py", "/b.py"]) == ("/mail/a/*.py", "/mail/b.py")
    assert session.place("odd[1]").globs() == ("/odd[[]1]",)


def test_globs_are_so_many_and_so_long(session: Session):
    for globs in (["*.py"] * 101, ["x" * 501]):
        with pytest.raises(InputError, match="at most 100 globs of 500 characters"):
            session.place("").globs(globs)


def test_a_change_is_seen_by_the_next_question(session: Session, project: Path):
    assert "send_mail" in symbols(session)
    first = session.place().engine.view()
    assert session.place().engine.view().workspace is first.workspace
    (project / "mail" / "new.py").write_text("def fetch_mail():\n    return receive()\n")
    (project / "mail" / "send.py").unlink()
    second = session.place().engine.view()
    assert {"fetch_mail"} <= symbols(session)
    assert "send_mail" not in symbols(session)
    assert second.version != first.version


def test_a_question_does_not_wait_for_a_slow_index(project: Path):
    session = Session({project: Settings()}, waits=Waits(fresh_s=0.0, refresh_s=0.0, first_s=0.0))
    with pytest.raises(StillIndexing, match="is being made"):
        session.place().engine.view()
    view = eventually(session.place().engine.view, StillIndexing)
    assert view.report.files == 4
    assert view.stale  # it was looked at again, for no longer than nothing


def test_many_ask_at_once_and_one_writes(project: Path):
    session = Session({project: Settings()}, waits=PATIENT)
    with ThreadPoolExecutor(16) as pool:
        views = list(pool.map(lambda _: session.place().engine.view(), range(64)))
    assert {view.version for view in views} == {views[0].version}
    assert {view.report.chunks for view in views} == {views[0].report.chunks}


def test_an_index_that_fails_is_an_error_once(project: Path):
    session = Session({project: Settings()}, waits=PATIENT)
    session.place().engine.view()
    project.rename(project.parent / "gone")
    with pytest.raises(InputError):
        session.place().engine.view()
    (project.parent / "gone").rename(project)
    assert session.place().engine.view().report.files == 4


def test_the_roots_asked_longest_ago_are_closed(project: Path):
    roots = {project / "mail": Settings(), project / "web": Settings()}
    session = Session(roots, most=1)
    first = session.place(str(project / "mail")).engine
    session.place(str(project / "web"))
    assert session.place(str(project / "mail")).engine is not first


def test_a_repository_is_cloned_where_its_scheme_is_served(project: Path, tmp_path: Path):
    git("init", "--quiet", project)
    git("-C", project, "add", ".")
    git("-C", project, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "one")
    (tmp_path / "other").mkdir()
    session = Session({tmp_path / "other": Settings()}, clones=CloneRules(("file",)), waits=PATIENT)
    assert "send_mail" in symbols(session, project.as_uri())
    refusing = Session({tmp_path / "other": Settings()})
    with pytest.raises(InputError, match="cloning is off"):
        refusing.place("https://example.org/a.git")


def test_a_host_that_never_answers_holds_up_nobody_else(project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("assay.corpus.clone_rules._is_public", lambda _: True)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}/a"
        session = Session({project: Settings()}, clones=CloneRules(("https",)), waits=Waits(first_s=0.2))
        for number in range(4):
            with pytest.raises(StillIndexing, match="is being cloned"):
                session.place(f"{url}{number}")
        with pytest.raises(StillIndexing, match="4 other repositories"):
            session.place(f"{url}4")
        assert session.place("").engine.root == project

    def refused() -> None:
        with pytest.raises(InputError, match="cannot get"):
            session.place(f"{url}4")

    eventually(refused, StillIndexing)


def eventually(ask: Callable, error: type[Exception], patience_s: float = 30.0):
    ends = time.monotonic() + patience_s
    while True:
        try:
            return ask()
        except error:
            assert time.monotonic() < ends
            time.sleep(0.05)


def test_the_name_of_a_served_folder_is_that_folder(tmp_path: Path):
    for name in ("one", "two", "two/one", "elsewhere/two"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / name / "a.py").write_text("def a(): ...\n")
    session = Session({tmp_path / "one": Settings(), tmp_path / "two": Settings()})
    assert session.place("two").engine.root == tmp_path / "two"
    place = session.place("two/a.py")
    assert (place.engine.root, place.inside) == (tmp_path / "two", "a.py")
    nearer = session.place("one")
    assert (nearer.engine.root, nearer.inside) == (tmp_path / "two", "one")
    for asked in ("two/../elsewhere", "two//etc", "two/none.py", "three", "elsewhere"):
        with pytest.raises(NotServed):
            session.place(asked)
    several = Session({tmp_path / "two": Settings(), tmp_path / "elsewhere" / "two": Settings()})
    with pytest.raises(NotServed, match="'two' is the name of several folders: give the whole path"):
        several.place("two")


def test_a_relative_path_is_that_of_its_root_before_a_name_and_a_link(tmp_path: Path):
    for name in ("one", "two"):
        (tmp_path / name / name).mkdir(parents=True)
        (tmp_path / name / f"{name}.py").write_text("A = 1\n")
    (tmp_path / "one" / "link").symlink_to(tmp_path / "two")
    session = Session({tmp_path / name: Settings() for name in ("one", "two")})
    for asked, root, inside in (
        ("two.py", "two", "two.py"),
        ("one", "one", "one"),
        ("one/one.py", "one", "one.py"),
        ("link/two.py", "two", "two.py"),
    ):
        place = session.place(asked)
        assert (place.engine.root.name, place.inside) == (root, inside)
