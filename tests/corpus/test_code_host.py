"""Origins of every form to links of their hosts; what is no web address makes none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from assay.corpus.code_host import host_links, links_of


@pytest.mark.parametrize(
    ("origin", "file", "lines", "commit"),
    [
        ("https://github.com/a/b.git", "https://github.com/a/b/blob/c0/x/y%20z.py", "#L1-L2", "/a/b/commit/"),
        ("git@github.com:a/b.git", "https://github.com/a/b/blob/c0/x/y%20z.py", "#L1-L2", "/a/b/commit/"),
        ("https://me:secret@gitlab.com/g/s/b", "https://gitlab.com/g/s/b/-/blob/c0/x/y%20z.py", "#L1-2", "/-/commit/"),
        (
            "https://gitlab.example.com:8443/g/b",
            "https://gitlab.example.com:8443/g/b/-/blob/c0/x/y%20z.py",
            "#L1-2",
            "/-/commit/",
        ),
        (
            "ssh://git@codeberg.org:2222/a/b.git",
            "https://codeberg.org/a/b/src/commit/c0/x/y%20z.py",
            "#L1-L2",
            "/commit/",
        ),
        ("https://bitbucket.org/a/b.git", "https://bitbucket.org/a/b/src/c0/x/y%20z.py", "#lines-1:2", "/commits/"),
    ],
)
def test_each_host_has_its_form(origin: str, file: str, lines: str, commit: str):
    links = links_of(origin, "c0")
    assert links is not None
    assert links.of_file("x/y z.py") == file
    assert links.lines.format(start=1, end=2) == lines
    assert links.commits.endswith(commit)
    assert "secret" not in repr(links)


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "/srv/git/github.com/a",
        "file:///github.com/a",
        "javascript:alert(1)",
        "javascript://github.com/%0aalert(1)",
        "data:text/html,github.com/x",
        "https://example.com/a/b",
        "https://github.com",
        'https://github.com"><script>/a/b',
        "git@-oProxyCommand=github.com:a/b",
        "https://[::1/a",
        "https://github.com:99999999/a/b",
    ],
)
def test_anything_else_makes_no_link_or_one_of_the_web(origin: str):
    links = links_of(origin, "c0")
    assert links is None or links.of_file("x").startswith("https://github.com/")
    assert not any(odd in repr(links) for odd in ("javascript", "<", '"', "data:"))


def test_a_folder_of_a_checkout_has_links_below_it(tmp_path: Path):
    for arguments in (
        ["init", "-q"],
        ["remote", "add", "origin", "git@github.com:a/b.git"],
        ["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "x"],
    ):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    (tmp_path / "in side").mkdir()
    links = host_links(tmp_path / "in side")
    assert links is not None
    assert links.of_file("x.py") == f"https://github.com/a/b/blob/{links.commit}/in%20side/x.py"
    assert len(links.commit) == 40
