from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from assay.corpus.git import _running as running
from assay.corpus.git import answer, git, online, reading
from assay.corpus.git_history import commits, head
from assay.corpus.pinned import changed
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


PIPES = "HEAD packed-refs refs/heads/main objects/info/alternates ../.gitattributes ../sub/.gitattributes".split()


@pytest.mark.parametrize("name", PIPES)
def test_a_pipe_where_git_reads_a_file_ends_it_soon(repository: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    monkeypatch.setattr("assay.corpus.git.IDLE_S", 0.3)
    pipe = repository / ".git" / name
    pipe.unlink(missing_ok=True)
    pipe.parent.mkdir(exist_ok=True)
    os.mkfifo(pipe)
    with suppress(InputError):  # git of one version waits for what another passes over
        git(repository, "log", "-p", "-1")
        git(repository, "diff", "HEAD")


def test_what_has_git_take_all_memory_ends_it(repository: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("assay.corpus.git._MOST_MEMORY", 64 << 20)
    (repository / ".git" / "packed-refs").symlink_to("/dev/zero")
    with suppress(InputError):
        git(repository, "log", "-1")


def test_a_link_to_another_repository_shows_nothing_of_it(repository: Path, tmp_path: Path):
    for folder in ("by-file", "by-link"):
        (tmp_path / folder).mkdir()
    (tmp_path / "by-file" / ".git").write_text(f"gitdir: {repository / '.git'}\n")
    (tmp_path / "by-link" / ".git").symlink_to(repository / ".git")
    for folder in ("by-file", "by-link"):
        with pytest.raises(InputError, match="does not name this folder as its work tree"):
            git(tmp_path / folder, "log", "-1")


def test_a_work_tree_and_a_submodule_are_read(repository: Path, tmp_path: Path):
    run = ["git", "-c", "protocol.file.allow=always", "-c", "user.name=a", "-c", "user.email=a@b", "-C"]
    subprocess.run([*run, repository, "worktree", "add", "-q", tmp_path / "tree"], check=True, capture_output=True)
    above = tmp_path / "above"
    subprocess.run(["git", "init", "-q", above], check=True)
    subprocess.run([*run, above, "submodule", "add", "-q", repository, "sub"], check=True, capture_output=True)
    for folder in (tmp_path / "tree", above / "sub"):
        assert git(folder, "log", "--format=%H")


def test_no_driver_or_filter_of_a_configuration_runs(repository: Path, tmp_path: Path):
    mark = tmp_path / "ran"
    info = repository / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text("* merge=evil filter=evil diff=evil\n")
    for key in "merge.evil.driver filter.evil.clean filter.evil.process diff.evil.command diff.evil.textconv".split():
        subprocess.run(["git", "-C", repository, "config", key, f"touch {mark}; false"], check=True)
    subprocess.run(["git", "-C", repository, "config", "log.diffMerges", "remerge"], check=True)
    conflicting_merge(repository)
    assert [each.subject for each in commits(repository)]
    (repository / "a.txt").write_text("changed\n")
    assert changed(repository, head(repository), ["a.txt", "gone.txt"]) == {"a.txt"}
    assert not mark.exists()


def conflicting_merge(repository: Path):
    """Make a merge of two commits that change the same line, without running what attributes name."""

    def run(*arguments: str, text: str = "") -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        done = subprocess.run(
            ["git", "-C", repository, *who, *arguments], input=text, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    first, sides = run("rev-parse", "HEAD"), []
    for text in ("left", "right"):
        tree = run("mktree", text=f"100644 blob {run('hash-object', '-w', '--stdin', text=text)}\ta.txt\n")
        sides.append(run("commit-tree", tree, "-p", first, "-m", text))
    run("update-ref", "HEAD", run("commit-tree", tree, "-p", sides[0], "-p", sides[1], "-m", "merge"))


def test_no_file_or_program_of_a_configuration_is_used(repository: Path, tmp_path: Path):
    mark, script, pipe = tmp_path / "ran", tmp_path / "script", tmp_path / "pipe"
    script.write_text(f"#!/bin/sh\ntouch {mark}\n")
    script.chmod(0o755)
    os.mkfifo(pipe)
    for key in "diff.orderFile core.attributesFile core.excludesFile mailmap.file include.path".split():
        place = "/nowhere" if key == "include.path" else str(pipe)
        subprocess.run(["git", "-C", repository, "config", key, place], check=True)
    for key in "core.fsmonitor core.pager diff.external gpg.program core.sshCommand core.editor".split():
        subprocess.run(["git", "-C", repository, "config", key, str(script)], check=True)
    (repository / "a.txt").write_text("two\n")
    for command in (["log", "-p", "-1"], ["diff", "HEAD", "--no-ext-diff"], ["ls-files"], ["blame", "a.txt"]):
        assert git(repository, *command)
    assert not mark.exists()


def test_a_repository_that_had_git_hang_is_left_alone_for_a_while(repository: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("assay.corpus.git.IDLE_S", 0.3)
    head = repository / ".git" / "HEAD"
    said = head.read_bytes()
    head.unlink()
    os.mkfifo(head)
    with pytest.raises(InputError, match="git took longer"):
        git(repository, "log", "-1")
    head.unlink()
    head.write_bytes(said)
    with pytest.raises(InputError, match="a moment ago"):
        git(repository, "log", "-1")
    monkeypatch.setattr("assay.corpus.git._hung", {})
    assert git(repository, "log", "-1")
