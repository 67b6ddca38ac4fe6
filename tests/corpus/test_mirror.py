"""A clone and a mirror follow their origin, whatever was left at their place, and nothing of a login stays."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from assay.corpus.addresses import with_login
from assay.corpus.git import FetchLimits, online
from assay.corpus.remotes import Mirror, clone, mirror_of
from assay.errors import InputError
from git_repositories import commit, git, repository
from waiting import until

SECRET = "s3cret-of-mine"


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    return repository(tmp_path / "origin", {"a.py": "A = 1\n"})


def test_a_clone_is_made_once_and_follows_its_origin(origin: Path, tmp_path: Path):
    url, cache = origin.as_uri(), tmp_path / "cache"
    folder = clone(url, cache)
    assert (folder / "a.py").read_text() == "A = 1\n"
    commit(origin, {"a.py": "A = 2\n"})
    assert clone(url, cache, refresh=False) == folder
    assert (folder / "a.py").read_text() == "A = 1\n"
    assert clone(url, cache) == folder
    assert (folder / "a.py").read_text() == "A = 2\n"
    with pytest.raises(InputError, match="cannot get file:///nowhere/at/all: "):
        clone("file:///nowhere/at/all", tmp_path / "none")
    assert list((tmp_path / "none").iterdir()) == []
    with pytest.raises(InputError, match="transport 'file' not allowed"):  # a host may redirect to no other protocol
        online("https://host/a", "clone", "--quiet", "--", url, str(tmp_path / "copy"))


def test_a_mirror_follows_its_origin(origin: Path, tmp_path: Path):
    mirror = Mirror(origin.as_uri(), tmp_path / "mirrors" / "one")
    assert mirror.update() == git(origin, "rev-parse", "HEAD").strip()
    newer = commit(origin, {"a.py": "A = 2\n", "b.py": "B = 1\n"})
    assert mirror.update() == newer == mirror.commit
    assert (mirror.folder / "a.py").read_text() == "A = 2\n"
    git(origin, "reset", "--quiet", "--hard", "HEAD~1")
    assert mirror.update() != newer
    assert not (mirror.folder / "b.py").exists()


def test_a_branch_and_a_tag_are_followed_for_themselves(origin: Path, tmp_path: Path):
    git(origin, "checkout", "--quiet", "-b", "next")
    newer = commit(origin, {"a.py": "A = 3\n"})
    git(origin, "tag", "v1")
    git(origin, "checkout", "--quiet", "main")
    for name in ("next", "v1"):
        mirror = mirror_of(origin.as_uri(), tmp_path / "mirrors", name)
        assert mirror.folder.name == f"origin@{name}"
        assert [mirror.update(), mirror.update()] == [newer, newer]
    with pytest.raises(InputError, match=r"cannot get file:.*gone"):
        mirror_of(origin.as_uri(), tmp_path / "mirrors", "gone").update()


def test_what_was_left_at_its_place_is_put_right(origin: Path, tmp_path: Path):
    mirror = Mirror(origin.as_uri(), tmp_path / "mirrors" / "one")
    mirror.update()

    def leave_locks() -> None:
        (mirror.folder / ".git" / "index.lock").touch()
        (mirror.folder / ".git" / "shallow.lock").touch()

    def leave_damage() -> None:
        (mirror.folder / ".git" / "HEAD").write_text("nothing\n")

    def leave_half_a_clone() -> None:
        (mirror.folder.parent / ".clone-a1b2c3d4-one").mkdir()

    for number, leave in enumerate((leave_locks, leave_damage, leave_half_a_clone)):
        newer = commit(origin, {"a.py": f"B = {number}\n"})
        leave()
        assert mirror.update() == newer, leave.__name__
        assert (mirror.folder / "a.py").read_text() == f"B = {number}\n"
        assert not list(mirror.folder.parent.glob(".clone-*"))


@pytest.mark.parametrize("what", ["folder", "checkout", "link"])
def test_what_is_no_mirror_stays_as_it_is(origin: Path, tmp_path: Path, what: str):
    mirror = Mirror(origin.as_uri(), tmp_path / "mirrors" / "one")
    if what == "checkout":
        repository(mirror.folder, {"own.py": "OWN = 1\n"})
    else:
        (mirror.folder if what == "folder" else tmp_path / "own").mkdir(parents=True)
    if what == "link":
        mirror.folder.parent.mkdir()
        mirror.folder.symlink_to(tmp_path / "own")
    (mirror.folder / "own.py").write_text("OWN = 2\n")
    with pytest.raises(InputError, match=r"mirrors/one' is not a mirror of assay: move it away"):
        mirror.update()
    assert (mirror.folder / "own.py").read_text() == "OWN = 2\n"


def test_what_a_repository_brings_along_is_not_run(origin: Path, tmp_path: Path):
    (origin / ".gitattributes").write_text("*.py filter=own\n")
    (origin / "link").symlink_to("/etc/hostname")
    submodule = f'[submodule "sub"]\n\tpath = sub\n\turl = {origin.as_uri()}\n'
    commit(origin, {"hooks/post-checkout": "#!/bin/sh\ntouch $PWD/ran\n", ".gitmodules": submodule})
    mirror = Mirror(origin.as_uri(), tmp_path / "mirrors" / "one")
    mirror.update()
    commit(origin, {"a.py": "A = 2\n"})
    mirror.update()
    assert not (mirror.folder / "ran").exists()
    assert not (mirror.folder / "sub").exists()


def test_an_empty_repository_and_none_are_refused(tmp_path: Path):
    git(tmp_path, "init", "--quiet", "empty")
    for url, said in (
        ((tmp_path / "empty").as_uri(), "file:///.*empty: "),
        ("file:///nowhere", "file:///nowhere: fatal: "),
    ):
        with pytest.raises(InputError, match=f"cannot get {said}"):
            Mirror(url, tmp_path / "mirrors" / "x").update()
    assert not [each for each in (tmp_path / "mirrors").iterdir() if each.name.startswith(".clone-")]


class _Locked(BaseHTTPRequestHandler):
    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.headers.get("Authorization", ""))
        self.send_response(401 if len(self.asked) < 2 else 403)
        self.send_header("WWW-Authenticate", 'Basic realm="x"')
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def locked() -> Iterator[tuple[str, list[str]]]:
    """Serve what wants a password on HTTP; give its address, and what it was sent."""
    asked: list[str] = []
    with HTTPServer(("127.0.0.1", 0), type("Locked", (_Locked,), {"asked": asked})) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


def test_a_password_reaches_the_host_and_no_message(locked: tuple[str, list[str]], tmp_path: Path, monkeypatch):
    host, asked = locked
    url = f"http://ann:{SECRET}@{host}/team/app.git"
    for fetch in (mirror_of(url, tmp_path).update, lambda: clone(url, tmp_path)):
        asked.clear()
        with pytest.raises(InputError, match=f"cannot get http://{host}/team/app.git: fatal") as raised:
            fetch()
        assert SECRET not in str(raised.value)
        assert any(each.startswith("Basic ") for each in asked)
    assert mirror_of(url, tmp_path).folder == tmp_path / host.replace(":", "+") / "team" / "app"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text('#!/bin/sh\necho "fatal: no $ASSAY_GIT_PASSWORD here" >&2\nexit 1\n')
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(InputError, match=r"fatal: no \S+ here") as raised:
        clone(url, tmp_path / "again")
    assert SECRET not in str(raised.value)
    assert SECRET not in repr([os.fspath(each) for each in tmp_path.rglob("*")])


def test_a_password_is_in_no_argument_and_goes_to_its_host_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    (tmp_path / "config").write_text(f"[credential]\n\thelper = store --file={tmp_path}/written\n")
    added = with_login(f"https://ann:{SECRET}%2F@h:8443/a/b.git", {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "a.b"})
    assert not [name for name, value in added.items() if SECRET in value and name != "ASSAY_GIT_PASSWORD"]
    assert "GIT_CONFIG_KEY_0" not in added
    environment = os.environ | {"GIT_CONFIG_KEY_0": "a.b", "GIT_CONFIG_VALUE_0": "", "GIT_TERMINAL_PROMPT": "0"} | added

    def credential(does: str, given: str) -> str:
        return subprocess.run(
            ["git", "credential", does], input=given, env=environment, capture_output=True, text=True, check=False
        ).stdout

    filled = credential("fill", "protocol=https\nhost=h:8443\n\n")
    assert f"username=ann\npassword={SECRET}/\n" in filled
    credential("approve", filled)
    assert not (tmp_path / "written").exists()
    assert SECRET not in credential("fill", "protocol=https\nhost=other\n\n")
    with pytest.raises(InputError, match="its login contains a line break"):
        with_login("https://ann:a%0ab@h/a", {})


def is_running(group: int) -> bool:
    """Say whether any process of a group is alive; what nobody has waited for yet is not."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[2]) == group and fields[0] != "Z":
                return True
    return False


def test_a_fetch_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    groups: list[int] = []

    class Noted(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            groups.append(self.pid)

    monkeypatch.setattr("assay.io.processes.subprocess.Popen", Noted)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/a.git"
        with pytest.raises(InputError, match=r"git did not end within 0.5 s and was stopped"):
            mirror_of(url, tmp_path).update(FetchLimits(0.5))
    (group,) = groups
    until(lambda: not is_running(group), "no process of the group is left")
