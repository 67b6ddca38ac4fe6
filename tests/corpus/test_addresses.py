"""Addresses of repositories: what is cloned for strangers, what a repository is called, where its host shows it."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.corpus.addresses import (
    CloneRules,
    is_url,
    mask_login,
    normalized_origin,
    plain_name,
    split_login,
    without_login,
)
from assay.corpus.remotes import host_links, is_branch, links_of, meant_by, mirror_of, origin_of
from assay.errors import InputError
from git_repositories import git, repository

OPEN = CloneRules(("https",))
OWN_NETWORK = (
    "127.0.0.1 127.1:8080 2130706433 0x7f000001 0 10.1.2.3 192.168.0.1 172.16.0.9 169.254.169.254 100.64.0.1 [::1]"
    " [::ffff:127.0.0.1] [fe80::1] [fd00::1] [2002:7f00:1::] 224.0.0.1 user:password@127.0.0.1 localhost"
).split()


def refusal(check: Callable[[str], object], url: str) -> str:
    """Return what is said against a URL, nothing where it is taken."""
    try:
        check(url)
    except InputError as error:
        return str(error)
    return ""


def test_addresses_of_this_machine_and_its_network_and_ambiguous_ones_are_refused():
    said = {host: refusal(OPEN.git_options, f"https://{host}/a") for host in OWN_NETWORK}
    assert [host for host, words in said.items() if "own network" not in words] == []
    for host in ("", "a b/c", "a\\@127.0.0.1/c", "a@b@127.0.0.1/c", "a:999999/b"):
        assert "not an https URL" in refusal(OPEN.check, f"https://{host}"), host


def test_git_is_kept_to_the_addresses_that_were_checked(monkeypatch: pytest.MonkeyPatch):
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 443))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    follows, resolves = "http.followRedirects=false", "http.curloptResolve=example.org:443:93.184.216.34"
    assert OPEN.git_options("https://example.org/a.git") == ("-c", follows, "-c", resolves)
    found.append((socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.1", 443)))
    with pytest.raises(InputError, match="own network"):
        OPEN.git_options("https://example.org/a.git")


def test_schemes_and_hosts_are_those_that_were_named():
    with pytest.raises(InputError, match="--clone"):
        CloneRules().check("https://example.org/a")
    for url in ("http://example.org/a", "ssh://example.org/a", "file:///etc", "git@example.org:a"):
        with pytest.raises(InputError, match="give a URL of https"):
            OPEN.check(url)
    some = CloneRules(("https",), ("github.com", "*.example.org"))
    some.check("https://GitHub.com/a/b")
    some.check("https://git.example.org/a")
    for url in ("https://example.org/a", "https://github.com.evil.org/a", "https://github.com@evil.org/a"):
        with pytest.raises(InputError, match="only repositories of"):
            some.check(url)


def test_a_url_is_told_from_a_path_and_a_branch_from_an_option():
    assert all(map(is_url, ["https://host/a/b.git", "ssh://git@host/a", "git@host:a/b", "file:///a/b"]))
    assert not any(map(is_url, ["a/b", "./https", "C:\\a", "a@b", "ext::sh -c x", "--upload-pack=x", "/a:b"]))
    assert all(map(is_branch, ["main", "release/1.2", "v1.0", "a+b", "fix-1", "ünï"]))
    refused = ["", "-x", "--upload-pack=x", "a..b", "a:b", "+a", "a b", "a/", "x.lock", "a@{1}", "a^", "a~1", "/a", "*"]
    assert not any(map(is_branch, refused))


def test_every_way_to_clone_a_repository_names_it_alike_without_a_secret():
    for url in (
        *("https://github.com/owner/name", "https://github.com/owner/name.git", "git@github.com:owner/name.git"),
        *("https://user:token@GitHub.com/owner/name.git/", "ssh://git@github.com:22/owner/name.git"),
        *("git://github.com/owner/name", "https://github.com/owner/name?token=secret"),
    ):
        assert normalized_origin(url) == "github.com/owner/name", url
    for url in ("", "/srv/name.git", "../name", "file:///srv/name.git", "https://", "http://[/x"):
        assert normalized_origin(url) == "", url
    assert plain_name("a b/../ü/.x/..") == "a-b/-/.x"
    urls = {"one": "git@github.com:a/b.git", "two": "https://github.com/a/c", "three": "file:///x"}
    assert meant_by(urls, {"https://github.com/a/b", "https://github.com/a/b.git"}) == ["one"]
    assert meant_by(urls, {"file:///x", "nonsense"}) == []


def test_logins_are_split_off_and_hidden():
    assert split_login("https://x-token@host/a") == ("https://host/a", "x-token")
    assert split_login("git@host:a/b") == ("git@host:a/b", "")
    assert split_login("https://ann:a@b@host/a@b") == ("https://host/a@b", "ann:a@b")
    assert without_login("HTTPS://ann:a b/@c@host/a") == "HTTPS://host/a"
    secret = "s3cret-of-mine"
    text = f"unable to access 'https://ann:{secret}@host/a': {secret} {secret[3:]}"
    assert secret[4:] not in mask_login(text, f"https://ann:{secret}@host/a")
    assert "p@ss/word" not in mask_login("bad password 'p@ss/word'", "https://ann:p%40ss%2Fword@host/a")


def test_places_of_mirrors_are_what_people_call_them_and_lie_in_their_folder(tmp_path: Path):
    def place(url: str, branch: str = "") -> str:
        return mirror_of(url, tmp_path, branch).folder.relative_to(tmp_path).as_posix()

    assert place("https://GitHub.com/pallets/click.git") == "github.com/pallets/click"
    assert place("git@github.com:pallets/click.git", "8.1.x") == "github.com/pallets/click@8.1.x"
    assert place("https://host:8443/a/../../b") == "host+8443/a/b"
    assert place("file:///srv/git/a b.git") == "file/srv/git/a-b"
    assert place("ssh://git@host/~me/x", "a/b") == "host/~me/x@a-b~82badf67"
    assert place("ssh://git@host/~me/x", "a-b") == "host/~me/x@a-b"
    for url in "https://../a ssh://./x https:///a https://h https://h/.. git@..:a https://h:x/a https://[h/a".split():
        assert re.search("does not name a repository|invalid URL", refusal(place, url)), url
    (tmp_path / "h").symlink_to(tmp_path.parent)
    with pytest.raises(InputError, match="points outside of the folder of mirrors"):
        mirror_of("https://h/a", tmp_path)


LINKED = {
    "https://github.com/a/b.git": ("https://github.com/a/b/blob/c0/x/y%20z.py", "#L1-L2", "/a/b/commit/"),
    "git@github.com:a/b.git": ("https://github.com/a/b/blob/c0/x/y%20z.py", "#L1-L2", "/a/b/commit/"),
    "https://me:secret@gitlab.com/g/s/b": ("https://gitlab.com/g/s/b/-/blob/c0/x/y%20z.py", "#L1-2", "/-/commit/"),
    "https://gitlab.example.com:8443/g/b":
        ("https://gitlab.example.com:8443/g/b/-/blob/c0/x/y%20z.py", "#L1-2", "/-/commit/"),
    "ssh://git@codeberg.org:2222/a/b.git":
        ("https://codeberg.org/a/b/src/commit/c0/x/y%20z.py", "#L1-L2", "/commit/"),
    "https://bitbucket.org/a/b.git": ("https://bitbucket.org/a/b/src/c0/x/y%20z.py", "#lines-1:2", "/commits/"),
}  # fmt: skip
UNLINKED = (
    "",
    *("/srv/git/github.com/a", "file:///github.com/a", "javascript:alert(1)", "javascript://github.com/%0aalert(1)"),
    *("data:text/html,github.com/x", "https://example.com/a/b", "https://github.com", "https://[::1/a"),
    'https://github.com"><script>/a/b',
    *("git@-oProxyCommand=github.com:a/b", "https://github.com:99999999/a/b"),
)


def test_each_host_has_its_form_of_links_and_no_other_origin_makes_one():
    for origin, (file, lines, commit) in LINKED.items():
        links = links_of(origin, "c0")
        assert links is not None, origin
        assert links.of_file("x/y z.py") == file
        assert links.lines.format(start=1, end=2) == lines
        assert links.commits.endswith(commit)
        assert "secret" not in repr(links)
    for origin in UNLINKED:
        links = links_of(origin, "c0")
        assert links is None or links.of_file("x").startswith("https://github.com/"), origin
        assert not any(odd in repr(links) for odd in ("javascript", "<", '"', "data:")), origin


def test_a_checkout_and_the_folders_in_it_have_names_and_links_of_their_own(tmp_path: Path):
    assert origin_of(tmp_path) == ""
    root = repository(tmp_path / "shop", {"in side/x.py": ""})
    git(root, "remote", "add", "origin", "https://me:secret@github.com/a/b.git")
    assert origin_of(root) == "github.com/a/b"
    assert origin_of(root / "in side") == "github.com/a/b/in-side"
    links = host_links(root / "in side")
    assert links is not None
    assert links.of_file("x.py") == f"https://github.com/a/b/blob/{links.commit}/in%20side/x.py"
    assert len(links.commit) == 40
