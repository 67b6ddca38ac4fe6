"""What a server clones for its clients: nothing by default, then only what lies at public addresses."""

import socket

import pytest

from assay.corpus.clone_rules import CloneRules
from assay.errors import InputError

OPEN = CloneRules(("https",))


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/a",
        "https://127.1:8080/a",
        "https://2130706433/a",
        "https://0x7f000001/a",
        "https://0/a",
        "https://10.1.2.3/a",
        "https://192.168.0.1/a",
        "https://172.16.0.9/a",
        "https://169.254.169.254/latest/meta-data",
        "https://100.64.0.1/a",
        "https://[::1]/a",
        "https://[::ffff:127.0.0.1]/a",
        "https://[fe80::1]/a",
        "https://[fd00::1]/a",
        "https://[2002:7f00:1::]/a",
        "https://224.0.0.1/a",
        "https://user:password@127.0.0.1/a",
        "https://localhost/a",
    ],
)
def test_addresses_of_this_machine_and_its_network_are_never_reached(url: str):
    with pytest.raises(InputError, match="own network"):
        OPEN.git_options(url)


@pytest.mark.parametrize(
    "url", ["https://", "https://a b/c", "https://a\\@127.0.0.1/c", "https://a@b@127.0.0.1/c", "https://a:999999/b"]
)
def test_what_two_programs_could_read_differently_is_refused(url: str):
    with pytest.raises(InputError, match="not an https URL"):
        OPEN.check(url)


def test_git_is_kept_to_the_addresses_that_were_checked(monkeypatch: pytest.MonkeyPatch):
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 443))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    told = OPEN.git_options("https://example.org/a.git")
    assert told == (
        "-c",
        "http.followRedirects=false",
        "-c",
        "http.curloptResolve=example.org:443:93.184.216.34",
    )
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
