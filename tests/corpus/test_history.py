"""Commits are read with what they changed, also where a clone lacks some of it, and lines with who wrote them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.corpus import git_history, line_history
from assay.corpus.line_history import blame_lines, changes, head_lines
from assay.corpus.patches import Hunk, LineMap, Patches
from assay.errors import InputError
from git_repositories import git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    for name, value in {"user.name": "A <b>\u202eC", "user.email": "a@example.org", "commit.gpgSign": "false"}.items():
        git(root, "config", name, value)
    return root


def commit(root: Path, message: str, files: dict[str, str] | None = None) -> str:
    for name, text in (files or {}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "-m", message)
    return git(root, "rev-parse", "HEAD").strip()


def test_commits_come_newest_first_with_what_they_changed(repository: Path):
    commit(repository, "first\n\nwith a body", {"a.txt": "one\ntwo\nthree\n"})
    commit(repository, "second", {"a.txt": "one\n2\nthree\nfour\n"})
    commit(repository, "indented", {"a.txt": "one\n  2\nthree\nfour\n"})
    indented, second, first = git_history.commits(repository)
    assert (first.subject, first.body, first.parents) == ("first", "with a body", ())
    assert second.parents == (first.id,)
    assert second.author == "A b\u202eC <a@example.org>"  # git itself drops < and >
    (change,) = second.changes
    assert (change.before, change.after) == ("a.txt", "a.txt")
    assert change.hunks == (Hunk(2, 1, 1, ("two",), ("2",)), Hunk(3, 0, 1, (), ("four",)))
    assert indented.changes == (), "white space alone is no change"
    assert next(iter(git_history.commits(repository))).subject == "indented"  # a reader may leave early


def test_names_of_any_bytes_renamed_files_and_lines_that_look_like_headers(repository: Path):
    odd = b"a \xff\t\"b'.txt".decode("utf-8", "surrogateescape")
    text = "".join(f"line {number}\n" for number in range(20))
    headers = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n\\ No newline\n"
    commit(repository, "add", {"x": text})
    (repository / "x").rename(repository / odd)
    commit(repository, "rename")
    commit(repository, "change", {odd: text + "more\n", "h": headers})
    commit(repository, "headers", {"h": headers.replace("x", "y"), "i": "no line feed"})
    last, change, rename, _ = git_history.commits(repository)
    assert [(one.before, one.after) for one in rename.changes] == [("x", "a \\xff\t\"b'.txt")]
    assert change.changes[0].after == "a \\xff\t\"b'.txt"
    assert [one.after for one in last.changes] == ["h", "i"]
    assert last.changes[0].hunks[0].removed == ("diff --git a/x b/x", "--- a/x", "+++ b/x")
    assert list(Patches(io.BytesIO(b"what\nis this\n@@ -1 +1 @@\n")).changes()) == []


def test_a_merge_is_compared_with_its_first_parent_and_a_folder_sees_what_is_below_it(repository: Path):
    commit(repository, "base", {"a": "1\n"})
    git(repository, "switch", "--quiet", "--create", "side")
    commit(repository, "one", {"b": "1\n"})
    commit(repository, "two", {"in/c": "1\n"})
    git(repository, "switch", "--quiet", "main")
    git(repository, "merge", "--quiet", "--no-ff", "-m", "Merge pull request #1 from x/side\n\nA title", "side")
    merge, base = git_history.commits(repository)
    assert [change.after for change in merge.changes] == ["b", "in/c"]
    assert len(merge.parents) == git_history.length(repository) == 2
    assert [one.id for one in git_history.commits(repository, since=base.id)] == [merge.id]
    assert git_history.between(repository, base.id, merge.id) == merge.changes
    (only,) = git_history.commits(repository / "in")
    assert [change.after for change in only.changes] == ["c"]


def test_settings_of_a_repository_change_nothing_that_is_read(repository: Path):
    commit(repository, "add", {"a": "1\n"})
    commit(repository, "change", {"a": "2\n"})
    odd = "log.showSignature=true diff.noprefix=true color.ui=always diff.context=5 diff.interHunkContext=9"
    for setting in odd.split():
        git(repository, "config", *setting.split("="))
    change, _ = git_history.commits(repository)
    assert change.changes[0].hunks == (Hunk(1, 1, 1, ("1",), ("2",)),)
    now = head_lines(repository, "a", "2\n")
    assert blame_lines(repository, "a", now, 1, 1)[1]
    assert changes(repository, "a", (1, 1), 10)[0]
    assert changes(repository, "a", None, 10)[0]


def test_an_empty_repository_has_no_head_a_lost_commit_is_an_error_and_a_shallow_clone_says_so(
    repository: Path, tmp_path: Path
):
    assert git_history.head(repository) == ""
    with pytest.raises(InputError, match="repository"):
        list(git_history.commits(repository))
    commit(repository, "one", {"a": "1\n"})
    commit(repository, "two", {"a": "2\n"})
    assert len(git_history.head(repository)) == 40
    with pytest.raises(InputError):
        list(git_history.commits(repository, since="0" * 40))
    git(tmp_path, "clone", "--quiet", "--depth=1", repository.as_uri(), "clone")
    assert [git_history.is_shallow(each) for each in (tmp_path / "clone", repository)] == [True, False]


def lose(root: Path, commit: str, file: str) -> None:
    blob = git(root, "rev-parse", f"{commit}:{file}").strip()
    (root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()


def test_a_commit_whose_files_are_missing_is_named_and_the_rest_are_whole(repository: Path, monkeypatch):
    first = commit(repository, "first", {"a.py": "one = 1\n"})
    lost = commit(repository, "lost", {"a.py": "two = 2\n", "ä b.py": "three = 3\n"})
    last = commit(repository, "last", {"c.py": "four = 4\n"})
    lose(repository, lost, "a.py")
    found = {each.id: each for each in git_history.commits_of(repository, [last, lost, first])}
    assert list(found) == [last, lost, first]
    assert [change.after for change in found[lost].changes] == ["a.py", "ä b.py"]
    assert not any(change.hunks for change in found[lost].changes)
    assert [found[id_].changes[0].hunks[0].new for id_ in (last, first)] == [("four = 4",), ("one = 1",)]
    monkeypatch.setattr(git_history, "_MAX_BROKEN_COMMITS", 2)  # then each commit is not asked about by itself
    ids = [commit(repository, "more", {"a.py": f"{number}\n"}) for number in range(5)]
    for one in ids:
        lose(repository, one, "a.py")
    names = [(each.id, [change.after for change in each.changes]) for each in git_history.commits_of(repository, ids)]
    assert names == [(one, ["a.py"]) for one in ids]


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


FILE = "box/odd name.py"
FIRST = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
SECOND = FIRST.replace("return 2", "return 22")
NOW = "import os\n" + SECOND + "\n\nthree = 3\n"


@pytest.fixture
def edited(repository: Path) -> Path:
    """Return a repository of two commits, whose file has changed since."""
    for text, message in ((FIRST, "One and two"), (SECOND, "Two is more\n\nIt was too little.")):
        commit(repository, message, {FILE: text})
    (repository / FILE).write_text(NOW)
    return repository


def test_lines_are_found_in_head_wherever_they_stand_now(edited: Path, tmp_path: Path, monkeypatch):
    now = head_lines(edited, FILE, NOW)
    assert now.numbers == (0, 1, 2, 3, 4, 5, 6, 0, 0, 0)
    assert now.is_modified
    assert not head_lines(edited, FILE, SECOND.replace("\n", "\r\n")).is_modified
    assert (now.span(1, 3), now.span(8, 10)) == ((1, 2), None)
    alone = head_lines(tmp_path, "a.py", "x = 1\n")
    assert (alone.exists, alone.numbers) == (False, (0,))
    spans, commits = blame_lines(tmp_path, "a.py", alone, 1, 1)
    assert ([each.commit for each in spans], commits) == ([""], [])
    monkeypatch.setattr(line_history, "_MAX_COMPARED_LINES", 1)
    assert head_lines(edited, FILE, "\n" + SECOND.replace("one", "uno") + "\n").numbers == (0,) * 8


def test_lines_and_units_have_the_commits_that_changed_them(edited: Path):
    spans, commits = blame_lines(edited, FILE, head_lines(edited, FILE, NOW), 1, 99)
    subjects = {each.id: each.subject for each in commits}
    blamed = [(span.start_line, span.end_line, subjects.get(span.commit, "")) for span in spans]
    assert blamed == [(1, 1, ""), (2, 6, "One and two"), (7, 7, "Two is more"), (8, 10, "")]
    assert {each.author for each in commits} == {"A b\u202eC"}
    assert all(each.date.endswith("+00:00") for each in commits)
    found, complete = changes(edited, FILE, (5, 6), 10)
    assert [each.message for each in found] == ["Two is more\n\nIt was too little.", "One and two"]
    assert "-    return 2\n+    return 22" in found[0].patch
    assert complete
    assert [each.message for each in changes(edited, FILE, (1, 2), 10)[0]] == ["One and two"]
    assert (len(changes(edited, FILE, (5, 6), 1)[0]), changes(edited, FILE, (5, 6), 1)[1]) == (1, False)
    assert [each.message[:3] for each in changes(edited, FILE, None, 10)[0]] == ["Two", "One"]


def test_a_device_is_not_read_for_commits_to_ignore(edited: Path, monkeypatch):
    monkeypatch.setattr("assay.corpus.git._MAX_MEMORY_BYTES", 64 << 20)
    git(edited, "config", "blame.ignoreRevsFile", "/dev/zero")
    with pytest.raises(InputError, match="git blame of"):
        blame_lines(edited, FILE, head_lines(edited, FILE, NOW), 1, 10)
    (edited / "formatted").write_text(git(edited, "rev-parse", "HEAD"))
    git(edited, "config", "blame.ignoreRevsFile", "formatted")
    spans, _ = blame_lines(edited, FILE, head_lines(edited, FILE, NOW), 1, 10)
    assert len({span.commit for span in spans}) == 2
