from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from assay.corpus.git import _running as running
from assay.corpus.git import answer, git, online, reading
from assay.errors import InputError


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "kept"
    root.mkdir()
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    (root / "a.txt").write_text("one\n" * 100_000)
    for arguments in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "first")):
        subprocess.run(["git", *who, "-C", root, *arguments], check=True)
    return root


def test_the_folder_says_which_repository_not_the_environment(repository: Path, monkeypatch):
    """As in a hook, where git names its own repository and index to all that it starts."""
    other = repository.parent / "other"
    subprocess.run(["git", "init", "-q", other], check=True)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))
    assert len(answer(repository, "rev-parse", "HEAD")) == 40
    assert git(repository, "diff", "--name-only", "HEAD") == b""


def test_what_git_has_against_it_is_the_error_and_no_answer_is_none(repository: Path):
    with pytest.raises(InputError, match=r"kept': fatal: .*nowhere"):
        git(repository, "log", "nowhere")
    with pytest.raises(InputError, match="cannot get file:///nowhere: fatal"):
        online("file:///nowhere", "clone", "-q", "--", "file:///nowhere", str(repository / "x"))
    assert answer(repository, "rev-parse", "--verify", "--quiet", "nowhere") == ""


def test_whoever_leaves_early_ends_git(repository: Path):
    for _ in range(3):
        with suppress(LookupError), reading(repository, "show", "HEAD:a.txt") as printed:
            assert printed.readline() == b"one\n"
            raise LookupError


def test_much_is_asked_and_answered_without_waiting_for_one_another(repository: Path):
    asked = b"HEAD:a.txt\n" * 200
    with reading(repository, "cat-file", "--batch", asked=asked) as printed:
        assert sum(map(len, iter(lambda: printed.read(1 << 20), b""))) > 200 * 400_000


def test_git_that_takes_too_long_is_ended_and_told(repository: Path):
    os.mkfifo(repository / "never")
    waits = ("-C", str(repository), "hash-object", "never")
    with (
        pytest.raises(InputError, match=r"kept: git took longer than 0\.2 s"),
        running(waits, "kept", timeout_s=0.2) as p,
    ):
        p.read()


def test_git_that_is_not_there_is_told_with_what_to_do(repository: Path, monkeypatch):
    monkeypatch.setenv("PATH", str(repository))
    with pytest.raises(InputError, match="kept': git is not installed; install it"):
        answer(repository, "rev-parse", "HEAD")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_repository_of_another_user_is_read(repository: Path):
    for each in (repository, repository / ".git"):
        os.chown(each, 12345, 12345)
    assert len(answer(repository, "rev-parse", "HEAD")) == 40
    assert git(repository, "log", "--format=%H")
