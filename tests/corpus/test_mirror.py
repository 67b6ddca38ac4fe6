"""A mirror follows its origin, whatever was left at its place, and nothing of a login stays."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from assay.corpus.clone import clone
from assay.corpus.git import FetchLimits
from assay.corpus.git_login import mask_login, split_login, with_login, without_login
from assay.corpus.mirror import Mirror, is_branch, meant_by, mirror_of
from assay.errors import InputError
from git_repositories import commit, git, repository

SECRET = "s3cret-of-mine"


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    return repository(tmp_path / "origin", {"a.py": "A = 1\n"})


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


@pytest.mark.parametrize("left", ["lock", "damaged", "clone"])
def test_what_was_left_at_its_place_is_put_right(origin: Path, tmp_path: Path, left: str):
    mirror = Mirror(origin.as_uri(), tmp_path / "mirrors" / "one")
    mirror.update()
    commit(origin, {"a.py": "A = 2\n"})
    if left == "lock":
        (mirror.folder / ".git" / "index.lock").touch()
        (mirror.folder / ".git" / "shallow.lock").touch()
    elif left == "damaged":
        (mirror.folder / ".git" / "HEAD").write_text("nothing\n")
    else:
        (mirror.folder.parent / ".clone-a1b2c3d4-one").mkdir()
    mirror.update()
    assert (mirror.folder / "a.py").read_text() == "A = 2\n"
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
    with pytest.raises(InputError, match=r"mirrors/one' is no mirror made by assay: move it away"):
        mirror.update()
    assert (mirror.folder / "own.py").read_text() == "OWN = 2\n"


@pytest.mark.parametrize(
    "url",
    [
        "https://../a",
        "ssh://./x",
        "https:///a",
        "https://h",
        "https://h/..",
        "git@..:a",
        "https://h:x/a",
        "https://[h/a",
    ],
)
def test_a_url_that_names_no_repository_has_no_place(url: str, tmp_path: Path):
    with pytest.raises(InputError, match=r"names no repository|is no URL"):
        mirror_of(url, tmp_path)


def test_no_mirror_lies_elsewhere(tmp_path: Path):
    (tmp_path / "mirrors").mkdir()
    (tmp_path / "mirrors" / "h").symlink_to(tmp_path)
    with pytest.raises(InputError, match="leads out of the folder of the mirrors"):
        mirror_of("https://h/a", tmp_path / "mirrors")


def test_what_a_repository_brings_along_is_not_run(origin: Path, tmp_path: Path):
    (origin / ".gitattributes").write_text("*.py filter=own\n")
    (origin / "hooks").mkdir()
    (origin / "link").symlink_to("/etc/hostname")
    commit(origin, {"hooks/post-checkout": "#!/bin/sh\ntouch $PWD/ran\n", ".gitmodules": _submodule(origin)})
    mirror = Mirror(origin.as_uri(), tmp_path / "mirrors" / "one")
    mirror.update()
    commit(origin, {"a.py": "A = 2\n"})
    mirror.update()
    assert not (mirror.folder / "ran").exists()
    assert not (mirror.folder / "sub").exists()


def _submodule(origin: Path) -> str:
    return f'[submodule "sub"]\n\tpath = sub\n\turl = {origin.as_uri()}\n'


def test_an_empty_repository_and_none_are_refused(tmp_path: Path):
    git_folder = tmp_path / "empty"
    git_folder.mkdir()
    git(git_folder, "init", "--quiet")
    with pytest.raises(InputError, match=r"cannot get file:///.*empty: "):
        Mirror(git_folder.as_uri(), tmp_path / "mirrors" / "empty").update()
    with pytest.raises(InputError, match=r"cannot get file:///nowhere: fatal: "):
        Mirror("file:///nowhere", tmp_path / "mirrors" / "x").update()
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
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("by", ["mirror", "clone"])
def test_a_password_reaches_the_host_and_no_message(locked: tuple[str, list[str]], tmp_path: Path, by: str):
    host, asked = locked
    url = f"http://ann:{SECRET}@{host}/team/app.git"
    with pytest.raises(InputError, match=f"cannot get http://{host}/team/app.git: fatal") as raised:
        mirror_of(url, tmp_path).update() if by == "mirror" else clone(url, tmp_path)
    assert SECRET not in str(raised.value)
    assert any(each.startswith("Basic ") for each in asked)
    assert mirror_of(url, tmp_path).folder == tmp_path / host.replace(":", "+") / "team" / "app"
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
    with pytest.raises(InputError, match="its login holds a line break"):
        with_login("https://ann:a%0ab@h/a", {})


def test_a_fetch_that_hangs_is_ended(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/a.git"
        started = time.monotonic()
        with pytest.raises(InputError, match=r"git did not end within 0.5 s and was stopped"):
            mirror_of(url, tmp_path).update(FetchLimits(0.5))
        assert time.monotonic() - started < 10


def test_logins_are_split_off_and_hidden():
    assert split_login("https://x-token@host/a") == ("https://host/a", "x-token")
    assert split_login("git@host:a/b") == ("git@host:a/b", "")
    assert split_login("https://ann:a@b@host/a@b") == ("https://host/a@b", "ann:a@b")
    assert without_login("HTTPS://ann:a b/@c@host/a") == "HTTPS://host/a"
    text = f"unable to access 'https://ann:{SECRET}@host/a': {SECRET} {SECRET[3:]}"
    assert SECRET[4:] not in mask_login(text, f"https://ann:{SECRET}@host/a")


def test_places_of_mirrors_are_what_people_call_them(tmp_path: Path):
    def place(url: str, branch: str = "") -> str:
        return mirror_of(url, tmp_path, branch).folder.relative_to(tmp_path).as_posix()

    assert place("https://GitHub.com/pallets/click.git") == "github.com/pallets/click"
    assert place("git@github.com:pallets/click.git", "8.1.x") == "github.com/pallets/click@8.1.x"
    assert place("https://host:8443/a/../../b") == "host+8443/a/b"
    assert place("file:///srv/git/a b.git") == "file/srv/git/a-b"
    assert place("ssh://git@host/~me/x", "a/b") == "host/~me/x@a-b~82badf67"
    assert place("ssh://git@host/~me/x", "a-b") == "host/~me/x@a-b"


def test_names_of_branches():
    assert all(map(is_branch, ["main", "release/1.2", "v1.0", "a+b", "fix-1", "ünï"]))
    refused = ["", "-x", "--upload-pack=x", "a..b", "a:b", "+a", "a b", "a/", "x.lock", "a@{1}", "a^", "a~1", "/a", "*"]
    assert not any(map(is_branch, refused))


def test_a_repository_is_meant_by_any_of_its_addresses():
    urls = {"one": "git@github.com:a/b.git", "two": "https://github.com/a/c", "three": "file:///x"}
    assert meant_by(urls, {"https://github.com/a/b", "https://github.com/a/b.git"}) == ["one"]
    assert meant_by(urls, {"file:///x", "nonsense"}) == []
