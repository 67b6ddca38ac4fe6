from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from assay.corpus.clone import clone, is_url
from assay.corpus.git import online
from assay.errors import InputError


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a git repository with one file, committed."""
    root = tmp_path / "origin"
    root.mkdir()
    _git(root, "init", "--quiet")
    _commit(root, "one")
    return root


def test_a_url_is_told_from_a_path():
    assert all(map(is_url, ["https://host/a/b.git", "ssh://git@host/a", "git@host:a/b", "file:///a/b"]))
    assert not any(map(is_url, ["a/b", "./https", "C:\\a", "a@b", "ext::sh -c x", "--upload-pack=x", "/a:b"]))


def test_a_clone_is_made_once_and_follows_its_origin(repository: Path, tmp_path: Path):
    url = repository.as_uri()
    folder = clone(url, tmp_path / "cache")
    assert (folder / "file.txt").read_text() == "one"
    _commit(repository, "two")
    assert clone(url, tmp_path / "cache", refresh=False) == folder
    assert (folder / "file.txt").read_text() == "one"
    assert clone(url, tmp_path / "cache") == folder
    assert (folder / "file.txt").read_text() == "two"


def test_a_url_that_leads_nowhere_is_said_and_leaves_nothing(tmp_path: Path):
    with pytest.raises(InputError, match="cannot get file:///nowhere/at/all: "):
        clone("file:///nowhere/at/all", tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def _commit(root: Path, text: str) -> None:
    (root / "file.txt").write_text(text)
    _git(root, "add", "file.txt")
    _git(root, "-c", "user.name=Nobody", "-c", "user.email=nobody@example.org", "commit", "--quiet", "-m", text)


def _git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


def test_a_url_leads_to_no_other_protocol(tmp_path: Path, repository: Path):
    """What a host redirects to is refused as anything else that was not asked for: git is told the one protocol."""
    with pytest.raises(InputError, match="transport 'file' not allowed"):
        online("https://host/a", "clone", "--quiet", "--", f"file://{repository}", str(tmp_path / "copy"))
