from __future__ import annotations

import io
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.corpus import git_history
from assay.corpus.patches import Hunk, LineMap, Patches
from assay.errors import InputError

Repository = Path


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    return root


def test_commits_come_newest_first_with_what_they_changed(repository: Repository):
    commit(repository, "first\n\nwith a body", {"a.txt": "one\ntwo\nthree\n"})
    commit(repository, "second", {"a.txt": "one\n2\nthree\nfour\n"})
    second, first = git_history.commits(repository)
    assert (first.subject, first.body, first.parents) == ("first", "with a body", ())
    assert second.parents == (first.id,)
    assert second.author == "A <a@example.org>"
    (change,) = second.changes
    assert (change.before, change.after) == ("a.txt", "a.txt")
    assert change.hunks == (Hunk(2, 1, 1, ("two",), ("2",)), Hunk(3, 0, 1, (), ("four",)))


def test_a_name_of_any_bytes_and_a_renamed_file_are_followed(repository: Repository):
    odd = b"a \xff\t\"b'.txt"
    text = b"".join(b"line %d\n" % number for number in range(20))
    (repository / "x").write_bytes(text)
    commit(repository, "add")
    (repository / "x").rename(repository.joinpath(odd.decode("utf-8", "surrogateescape")))
    commit(repository, "rename")
    repository.joinpath(odd.decode("utf-8", "surrogateescape")).write_bytes(text + b"more\n")
    commit(repository, "change")
    change, rename, _ = git_history.commits(repository)
    assert [(one.before, one.after) for one in rename.changes] == [("x", "a \\xff\t\"b'.txt")]
    assert change.changes[0].after == "a \\xff\t\"b'.txt"


def test_lines_that_look_like_headers_are_lines(repository: Repository):
    text = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n\\ No newline\n"
    commit(repository, "add", {"a": text})
    commit(repository, "change", {"a": text.replace("x", "y"), "b": "no line feed"})
    change, _ = git_history.commits(repository)
    assert [one.after for one in change.changes] == ["a", "b"]
    assert change.changes[0].hunks[0].removed == ("diff --git a/x b/x", "--- a/x", "+++ b/x")


def test_white_space_alone_is_no_change(repository: Repository):
    commit(repository, "add", {"a": "if x:\n    y()\n"})
    commit(repository, "indent", {"a": "if x:\n        y()\n"})
    assert next(git_history.commits(repository)).changes == ()


def test_a_merge_is_compared_with_its_first_parent(repository: Repository):
    commit(repository, "base", {"a": "1\n"})
    git(repository, "switch", "--quiet", "--create", "side")
    commit(repository, "one", {"b": "1\n"})
    commit(repository, "two", {"c": "1\n"})
    git(repository, "switch", "--quiet", "main")
    git(repository, "merge", "--quiet", "--no-ff", "-m", "Merge pull request #1 from x/side\n\nA title", "side")
    merge, base = git_history.commits(repository)
    assert [change.after for change in merge.changes] == ["b", "c"]
    assert len(merge.parents) == 2
    assert git_history.length(repository) == 2
    assert [one.id for one in git_history.commits(repository, since=base.id)] == [merge.id]
    assert git_history.between(repository, base.id, merge.id) == merge.changes


def test_a_folder_inside_a_repository_sees_what_is_below_it(repository: Repository):
    commit(repository, "both", {"in/a": "1\n", "out/b": "1\n"})
    commit(repository, "outside", {"out/b": "2\n"})
    (only,) = git_history.commits(repository / "in")
    assert [change.after for change in only.changes] == ["a"]


def test_nothing_that_a_repository_names_is_run(repository: Repository, tmp_path: Path):
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\ncat\n")
    trap.chmod(0o755)
    commit(repository, "add", {"a": "1\n", ".gitattributes": "a diff=trap filter=trap\n"})
    commit(repository, "change", {"a": "2\n"})
    for name in (
        *("diff.external", "diff.trap.command", "diff.trap.textconv", "core.fsmonitor", "core.pager", "gpg.program"),
        *("filter.trap.smudge", "filter.trap.clean", "pager.log", "core.sshCommand"),
    ):
        git(repository, "config", name, str(trap))
    for name, value in {
        "log.showSignature": "true",
        "diff.noprefix": "true",
        "color.ui": "always",
        "diff.context": "5",
        "diff.interHunkContext": "9",
        "core.hooksPath": str(tmp_path),
    }.items():
        git(repository, "config", name, value)
    change, _ = git_history.commits(repository)
    assert change.changes[0].hunks == (Hunk(1, 1, 1, ("1",), ("2",)),)
    assert not (tmp_path / "sprung").exists()


def test_an_empty_repository_has_no_head_and_a_lost_commit_is_an_error(repository: Repository):
    assert git_history.head(repository) == ""
    with pytest.raises(InputError, match="repository"):
        list(git_history.commits(repository))
    commit(repository, "add", {"a": "1\n"})
    assert len(git_history.head(repository)) == 40
    with pytest.raises(InputError):
        list(git_history.commits(repository, since="0" * 40))


def test_a_reader_may_leave_early(repository: Repository):
    for number in range(30):
        commit(repository, f"number {number}", {"a": f"{number}\n" * 2000})
    assert next(iter(git_history.commits(repository))).subject == "number 29"


def test_a_shallow_clone_says_so(repository: Repository, tmp_path: Path):
    commit(repository, "one", {"a": "1\n"})
    commit(repository, "two", {"a": "2\n"})
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth=1", repository.as_uri(), str(clone))
    assert git_history.is_shallow(clone)
    assert not git_history.is_shallow(repository)


@given(st.lists(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3), st.integers(0, 3)), max_size=4), max_size=6))
def test_lines_are_followed_through_any_changes(rounds: list[list[tuple[int, int, int]]]):
    text = list(range(1, 41))
    lines = LineMap()
    for edits in rounds:
        hunks, at, made, last = [], 0, [], 0
        for skip, removed, added in edits:
            start = at + skip
            if start + removed > len(text) or not removed + added:
                continue
            hunks.append(Hunk(start + 1 if removed else start, removed, added))
            made += text[last:start] + [0] * added
            at = last = start + removed
        text = made + text[last:]
        lines.apply(hunks)
    assert [lines.before(number + 1) for number in range(len(text))] == text


def test_garbage_holds_no_change():
    assert list(Patches(io.BytesIO(b"what\nis this\n@@ -1 +1 @@\n")).changes()) == []


def commit(root: Path, message: str, files: dict[str, str] | None = None) -> None:
    for name, text in (files or {}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "-m", message)


def git(root: Path, *arguments: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgSign=false"]
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)
