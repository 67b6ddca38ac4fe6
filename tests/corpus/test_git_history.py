"""Commits are read with what they changed, also where a clone lacks some of it."""

from __future__ import annotations

from pathlib import Path

from assay.corpus.git_history import commits_of
from git_repositories import commit, git, repository


def lose(root: Path, commit: str, file: str) -> None:
    blob = git(root, "rev-parse", f"{commit}:{file}").strip()
    (root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()


def test_a_commit_whose_files_are_missing_is_named_and_the_rest_are_whole(tmp_path):
    root = repository(tmp_path / "r", {"a.py": "one = 1\n"})
    lost = commit(root, {"a.py": "two = 2\n", "ä b.py": "three = 3\n"})
    last = commit(root, {"c.py": "four = 4\n"})
    first = git(root, "rev-list", "--max-parents=0", "HEAD").strip()
    lose(root, lost, "a.py")
    found = {each.id: each for each in commits_of(root, [last, lost, first])}
    assert list(found) == [last, lost, first]
    assert [change.after for change in found[lost].changes] == ["a.py", "ä b.py"]
    assert not any(change.hunks for change in found[lost].changes)
    assert [found[id_].changes[0].hunks[0].new for id_ in (last, first)] == [("four = 4",), ("one = 1",)]


def test_a_clone_without_files_is_not_asked_for_each_commit(tmp_path, monkeypatch):
    root = repository(tmp_path / "r", {"a.py": "zero\n"})
    ids = [commit(root, {"a.py": f"{number}\n"}) for number in range(6)]
    for one in ids:
        lose(root, one, "a.py")
    monkeypatch.setattr("assay.corpus.git_history._MOST_BROKEN", 2)
    found = list(commits_of(root, ids))
    assert [each.id for each in found] == ids
    assert all([change.after for change in each.changes] == ["a.py"] for each in found)
