"""A commit is written out as it was: nothing of it runs, and nothing leads out of its folder."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from assay.corpus.pinned import _inside, commit_of, export, is_repository
from assay.errors import InputError
from git_repositories import commit, git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "kept"
    (root / "src").mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    (root / "src" / "a.py").write_bytes(b"one = 1\r\n")
    (root / "link").symlink_to("/etc/passwd")
    attributes = "notes.md export-ignore\n*.py filter=evil\n"
    commit(root, {"notes.md": "# Notes\n", ".gitattributes": attributes})
    return root


def test_a_commit_is_written_out_as_it_was_whatever_the_work_tree_holds(repository: Path, tmp_path: Path):
    first = git(repository, "rev-parse", "HEAD").strip()
    (repository / "src" / "a.py").write_text("changed = 2\n")
    commit(repository, {})
    (repository / "new.py").write_text("never = committed\n")
    before = git(repository, "status", "--porcelain")
    assert export(repository, first, tmp_path / "out") == 3
    held = {p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert held == {"src/a.py", "notes.md", ".gitattributes"}  # no link, and no attribute has a say
    assert (tmp_path / "out" / "src" / "a.py").read_bytes() == b"one = 1\r\n"
    assert git(repository, "status", "--porcelain") == before


def test_programs_stay_programs_and_no_filter_of_the_repository_runs(repository: Path, tmp_path: Path):
    (repository / "run").write_text("#!/bin/sh\n")
    (repository / "run").chmod(0o755)
    commit(repository, {})
    for key in ("filter.evil.smudge", "core.fsmonitor"):
        git(repository, "config", key, f"touch {tmp_path / 'ran'}; cat")
    out = tmp_path / "out"
    export(repository, "HEAD", out)
    assert (os.access(out / "run", os.X_OK), os.access(out / "notes.md", os.X_OK)) == (True, False)
    assert not (tmp_path / "ran").exists()


def test_a_folder_inside_its_repository_gives_its_own_files_of_any_name(repository: Path, tmp_path: Path):
    assert export(repository / "src", "HEAD", tmp_path / "src") == 1
    assert (tmp_path / "src" / "a.py").exists()
    odd = os.fsdecode(b"caf\xe9 \n.py")
    commit(repository, {odd: "x = 1\n"})
    export(repository, "HEAD", tmp_path / "out")
    assert (tmp_path / "out" / odd).read_text() == "x = 1\n"


def test_a_tree_that_leads_out_of_its_folder_or_makes_a_repository_of_it_is_not_followed(
    repository: Path, tmp_path: Path
):
    blob = git(repository, "hash-object", "-w", "notes.md").strip()
    entries = "".join(f"100644 blob {blob}\t{name}\n" for name in ("..", ".GIT", "kept.md"))
    command = ["git", "-C", repository, "mktree"]
    made = subprocess.run(command, input=entries, capture_output=True, text=True, check=False).stdout.strip()
    if not made:
        pytest.skip("this git makes no such tree")
    assert export(repository, made, tmp_path / "out" / "deep") == 1
    assert [file.name for file in (tmp_path / "out").rglob("*")] == ["deep", "kept.md"]


def test_no_path_of_a_commit_makes_a_repository_of_a_folder_whatever_its_case():
    assert not any(map(_inside, ("a/.GIT/config", ".Git", "a/../b", "/a", "a//b", ".")))
    assert _inside("a/.github/x")


def test_a_commit_has_one_full_name_and_an_unknown_one_is_told(repository: Path, tmp_path: Path):
    head = git(repository, "rev-parse", "HEAD").strip()
    assert commit_of(repository, head[:8]) == commit_of(repository, "main") == head
    with pytest.raises(InputError, match="has no commit 0000000: fetch it there"):
        commit_of(repository, "0000000")
    with pytest.raises(InputError):
        commit_of(repository, "--help")
    assert is_repository(repository)
    (tmp_path / "plain").mkdir()
    assert not is_repository(tmp_path / "plain")


def test_a_partial_clone_is_told(repository: Path, tmp_path: Path):
    git(repository, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{repository}", "partial")
    with pytest.raises(InputError, match=r"lacks the content of .* a partial clone; fetch it whole"):
        export(tmp_path / "partial", "HEAD", tmp_path / "out")
