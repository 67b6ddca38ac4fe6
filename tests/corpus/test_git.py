"""Git is asked about the folder that is named, runs nothing that a repository names, and is ended where it hangs."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from assay.corpus.git import _running as running
from assay.corpus.git import answer, git, online, reading
from assay.corpus.git_history import commits, head
from assay.corpus.line_history import blame_lines, head_lines
from assay.corpus.pinned import changed
from assay.errors import InputError
from git_repositories import WHO
from git_repositories import git as run
from git_repositories import repository as new_repository


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return new_repository(tmp_path / "kept", {"a.txt": "one\n" * 100_000})


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen]:
    """Return the processes of git that were started; each has a status once it has ended and is waited for."""
    processes: list[subprocess.Popen] = []

    class Noted(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            processes.append(self)

    monkeypatch.setattr("assay.corpus.git.subprocess.Popen", Noted)
    return processes


def test_the_folder_says_which_repository_not_the_environment(repository: Path, monkeypatch):
    """As in a hook, where git names its own repository and index to all that it starts."""
    other = repository.parent / "other"
    subprocess.run(["git", "init", "-q", other], check=True)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))
    assert len(answer(repository, "rev-parse", "HEAD")) == 40
    assert git(repository, "diff", "--name-only", "HEAD") == b""


def test_what_git_has_against_it_is_the_error_and_no_answer_is_none(repository: Path, monkeypatch):
    with pytest.raises(InputError, match=r"kept': fatal: .*nowhere"):
        git(repository, "log", "nowhere")
    with pytest.raises(InputError, match="cannot get file:///nowhere: fatal"):
        online("file:///nowhere", "clone", "-q", "--", "file:///nowhere", str(repository / "x"))
    assert answer(repository, "rev-parse", "--verify", "--quiet", "nowhere") == ""
    monkeypatch.setenv("PATH", str(repository))
    with pytest.raises(InputError, match="kept': git is not installed; install it"):
        answer(repository, "rev-parse", "HEAD")


def test_a_reader_that_leaves_early_ends_git(repository: Path, started):
    with suppress(LookupError), reading(repository, "show", "HEAD:a.txt") as printed:
        assert printed.readline() == b"one\n"
        raise LookupError
    assert [process.returncode for process in started] == [-9], "it is not read to its end"


def test_much_is_asked_and_answered_without_waiting_for_one_another(repository: Path):
    with reading(repository, "cat-file", "--batch", stdin=b"HEAD:a.txt\n" * 200) as printed:
        assert sum(map(len, iter(lambda: printed.read(1 << 20), b""))) > 200 * 400_000


def test_git_that_takes_too_long_is_ended_and_told(repository: Path, started):
    os.mkfifo(repository / "never")
    waits = ("-C", str(repository), "hash-object", "never")
    with (
        pytest.raises(InputError, match=r"kept: git took longer than 0\.2 s"),
        running(waits, "kept", timeout_s=0.2) as printed,
    ):
        printed.read()
    assert [process.returncode for process in started] == [-9]


def test_a_repository_that_had_git_hang_is_left_alone_for_a_while(repository: Path, monkeypatch, started):
    monkeypatch.setattr("assay.corpus.git.IDLE_S", 0.3)
    named, said = repository / ".git" / "HEAD", (repository / ".git" / "HEAD").read_bytes()
    named.unlink()
    os.mkfifo(named)
    with pytest.raises(InputError, match="git took longer"):
        git(repository, "log", "-1")
    assert [process.returncode for process in started] == [-9]
    named.unlink()
    named.write_bytes(said)
    with pytest.raises(InputError, match="a moment ago"):
        git(repository, "log", "-1")
    assert len(started) == 1
    monkeypatch.setattr("assay.corpus.git._hung", {})
    assert git(repository, "log", "-1")


def test_no_pipe_and_no_device_where_git_reads_a_file_outlasts_its_limit(repository: Path, monkeypatch, started):
    """Git of one version waits for what another passes over; what is held is that none is still there."""
    monkeypatch.setattr("assay.corpus.git.IDLE_S", 0.2)
    monkeypatch.setattr("assay.corpus.git._MAX_MEMORY_BYTES", 64 << 20)
    for name in ("packed-refs", "objects/info/alternates", "../.gitattributes", "../sub/.gitattributes"):
        monkeypatch.setattr("assay.corpus.git._hung", {})
        pipe = repository / ".git" / name
        pipe.parent.mkdir(exist_ok=True)
        os.mkfifo(pipe)
        with suppress(InputError):
            git(repository, "log", "-p", "-1")
            git(repository, "diff", "HEAD")
        pipe.unlink()
    (repository / ".git" / "packed-refs").symlink_to("/dev/zero")
    with suppress(InputError):
        git(repository, "log", "-1")
    assert all(process.returncode is not None for process in started)


def test_a_link_to_another_repository_shows_nothing_of_it(repository: Path, tmp_path: Path):
    for folder in ("by-file", "by-link"):
        (tmp_path / folder).mkdir()
    (tmp_path / "by-file" / ".git").write_text(f"gitdir: {repository / '.git'}\n")
    (tmp_path / "by-link" / ".git").symlink_to(repository / ".git")
    for folder in ("by-file", "by-link"):
        with pytest.raises(InputError, match="does not name this folder as its work tree"):
            git(tmp_path / folder, "log", "-1")


def test_a_work_tree_a_submodule_and_a_repository_of_another_user_are_read(repository: Path, tmp_path: Path):
    above = tmp_path / "above"
    run(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    run(tmp_path, "init", "-q", "above")
    run(above, "-c", "protocol.file.allow=always", *WHO, "submodule", "add", "-q", str(repository), "sub")
    for folder in (tmp_path / "tree", above / "sub"):
        assert git(folder, "log", "--format=%H")
    if os.geteuid() == 0:  # only root can give a folder to another user
        for each in (repository, repository / ".git"):
            os.chown(each, 12345, 12345)
        assert git(repository, "log", "--format=%H")


def conflicting_merge(repository: Path) -> None:
    """Make a merge of two commits that change the same line, without running what attributes name."""

    def made(*arguments: str, text: str = "") -> str:
        command = ["git", "-C", repository, *WHO, *arguments]
        return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.strip()

    first, sides = made("rev-parse", "HEAD"), []
    for text in ("left", "right"):
        tree = made("mktree", text=f"100644 blob {made('hash-object', '-w', '--stdin', text=text)}\ta.txt\n")
        sides.append(made("commit-tree", tree, "-p", first, "-m", text))
    made("update-ref", "HEAD", made("commit-tree", tree, "-p", sides[0], "-p", sides[1], "-m", "merge"))


def test_no_driver_or_filter_of_a_configuration_runs(repository: Path, tmp_path: Path):
    mark = tmp_path / "ran"
    info = repository / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text("* merge=evil filter=evil diff=evil\n")
    drivers = "merge.evil.driver filter.evil.clean filter.evil.smudge filter.evil.process diff.evil.command"
    for key in f"{drivers} diff.evil.textconv".split():
        run(repository, "config", key, f"touch {mark}; false")
    run(repository, "config", "log.diffMerges", "remerge")
    conflicting_merge(repository)
    assert [each.subject for each in commits(repository)]
    (repository / "a.txt").write_text("changed\n")
    assert changed(repository, head(repository), ["a.txt", "gone.txt"]) == {"a.txt"}
    assert not mark.exists()


def test_no_file_or_program_of_a_configuration_is_used(repository: Path, tmp_path: Path):
    mark, script, pipe = tmp_path / "ran", tmp_path / "script", tmp_path / "pipe"
    script.write_text(f"#!/bin/sh\ntouch {mark}\n")
    script.chmod(0o755)
    os.mkfifo(pipe)
    for key in "diff.orderFile core.attributesFile core.excludesFile mailmap.file include.path".split():
        run(repository, "config", key, "/nowhere" if key == "include.path" else str(pipe))
    for key in "core.fsmonitor core.pager pager.log diff.external gpg.program core.sshCommand core.editor".split():
        run(repository, "config", key, str(script))
    (repository / "a.txt").write_text("two\n")
    assert blame_lines(repository, "a.txt", head_lines(repository, "a.txt", "two\n"), 1, 1)
    for command in (["log", "-p", "-1"], ["diff", "HEAD", "--no-ext-diff"], ["ls-files"], ["blame", "a.txt"]):
        assert git(repository, *command)
    assert not mark.exists()
