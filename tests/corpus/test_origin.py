"""One repository has one name on every machine, and no secret is in it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from assay.corpus.origin import normalized_origin, origin_of, plain_name


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/owner/name",
        "https://github.com/owner/name.git",
        "https://user:token@GitHub.com/owner/name.git/",
        "ssh://git@github.com:22/owner/name.git",
        "git@github.com:owner/name.git",
        "git://github.com/owner/name",
        "https://github.com/owner/name?token=secret",
    ],
)
def test_every_way_to_clone_it_names_it_alike(url: str):
    assert normalized_origin(url) == "github.com/owner/name"


@pytest.mark.parametrize("url", ["", "/srv/name.git", "../name", "file:///srv/name.git", "https://", "http://[/x"])
def test_what_names_no_host_is_no_origin(url: str):
    assert normalized_origin(url) == ""


def test_odd_letters_are_no_part_of_a_name():
    assert plain_name("a b/../ü/.x/..") == "a-b/-/.x"


def test_a_checkout_and_the_folders_in_it_have_names_of_their_own(tmp_path: Path):
    (tmp_path / "lib").mkdir()
    assert origin_of(tmp_path) == ""
    for command in (["init", "-q"], ["remote", "add", "origin", "https://me:secret@host.org/a/b.git"]):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    assert origin_of(tmp_path) == "host.org/a/b"
    assert origin_of(tmp_path / "lib") == "host.org/a/b/lib"
