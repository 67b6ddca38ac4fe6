"""The index of a git worktree begins with that of another worktree, and holds nothing that is not in its own files."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.corpus.worktrees import other_worktrees
from assay.operations.indexes import index_of
from assay.search.folder_index import FolderIndex
from assay.settings import Settings
from assay.store.folder import IndexFolder
from git_repositories import commit, git, repository

FILES = {f"lib/part{number}.py": f"def part_{number}():\n    return {number}\n" for number in range(12)}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """Return an indexed repository with another worktree, `two`, beside it."""
    root = repository(tmp_path / "one", FILES)
    git(root, "worktree", "add", "--quiet", "-b", "other", str(tmp_path / "two"))
    index_of(root, Settings()).refresh()
    return root


def links(index: FolderIndex) -> list[int]:
    return [file.stat().st_nlink for file in sorted(index.folder.location.glob("*.segment"))]


def assert_holds_its_own_files_alone(index: FolderIndex) -> None:
    fresh = FolderIndex(index.root, index.root.parent / "fresh", index.encoder)
    fresh.refresh()
    assert sorted(index.snapshot().living(), key=str) == sorted(fresh.snapshot().living(), key=str)
    assert set(index.snapshot().terms()) == set(fresh.snapshot().terms())
    assert index.status().files == fresh.status().files


@pytest.mark.parametrize("below", ["", "lib"])
def test_what_another_worktree_has_is_linked_and_what_differs_is_indexed(one: Path, below: str):
    if below:
        index_of(one / below, Settings()).refresh()
    two = one.with_name("two")
    (two / "lib" / "part0.py").write_text("def part_0():\n    return 'changed'\n")
    (two / "lib" / "part1.py").unlink()
    commit(two, {"lib/new.py": "def new_part():\n    pass\n"})
    assert other_worktrees(two / below) == [one / below]
    assert other_worktrees(one / below) == [two / below]
    index = index_of(two / below, Settings())
    assert index.refresh().changed.counts() == {"added": 1, "changed": 1, "removed": 1}
    assert_holds_its_own_files_alone(index)
    assert sorted(links(index)) == [1, 2], "the old segment is shared, the new one has what differs"
    (one / "lib" / "part2.py").write_text("def part_2():\n    return 'only in one'\n")
    index_of(one / below, Settings()).refresh()
    assert_holds_its_own_files_alone(index)


@pytest.mark.parametrize("leads", ["to its .git", "to its worktree", "to a repository that names it"])
def test_a_git_file_that_leads_to_a_repository_of_others_brings_nothing_of_it(one: Path, leads: str):
    stranger = one.with_name("stranger")
    (stranger / "lib").mkdir(parents=True)
    (stranger / "lib" / "part0.py").write_text("def own_part():\n    return 0\n")
    place = {"to its .git": one / ".git", "to its worktree": one / ".git" / "worktrees" / "two"}.get(leads)
    if place is None:
        place = stranger / "repository" / "worktrees" / "one"
        place.mkdir(parents=True)
        (place / "gitdir").write_text(f"{stranger}/.git\n")
        (place / "commondir").write_text("../..\n")
        (place.parent / "victim").mkdir()
        (place.parent / "victim" / "gitdir").write_text(f"{one}/.git\n")
    (stranger / ".git").write_text(f"gitdir: {place}\n")
    assert other_worktrees(stranger) == []
    index = index_of(stranger, Settings())
    index.refresh()
    assert_holds_its_own_files_alone(index)
    assert links(index) == [1]
    theirs = index_of(one, Settings())
    folder = IndexFolder(stranger.with_name("index"), relatives=lambda: [theirs.folder])
    begun = FolderIndex(stranger, folder, theirs.encoder)
    begun.refresh()
    assert_holds_its_own_files_alone(begun)


def test_damage_is_not_inherited(one: Path):
    segment = next(index_of(one, Settings()).folder.location.glob("*.segment"))
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.write_bytes(data)
    index = index_of(one.with_name("two"), Settings())
    index.refresh()
    assert not index.check()
    assert links(index) == [1]
    assert_holds_its_own_files_alone(index)


def test_the_index_of_a_folder_that_is_gone_is_pruned_and_shared_files_stay(assay, one: Path):
    two = index_of(one.with_name("two"), Settings())
    two.refresh()
    assert assay("index", "--prune").out == "no index in the cache is of a missing folder\n"
    git(one, "worktree", "remove", str(two.root))
    assert f"{two.root} is gone" in assay("index", "--prune").out
    assert not two.folder.location.exists()
    assert not index_of(one, Settings()).check()
    assert assay("index", "--prune", str(one)).status == 2
