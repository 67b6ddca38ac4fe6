"""Who may ask and how much, without a network: the guard around an application that says what got through."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")

from click.testing import CliRunner
from fastapi import Request  # noqa: TID253

from assay.cli.main import assay
from assay.errors import InputError
from assay.serve.http import access, guard
from assay.serve.http.access import UNIX, AccessRules, Tokens, add_token, hash_of, public_url, read_tokens
from assay.serve.http.app import is_same_machine
from assay.serve.http.guard import AccessLog, Guard, Rate
from assay.serve.http.operator import behind_proxies

TOKEN = "a-token-of-some-length"
BEARER = ("Authorization", f"Bearer {TOKEN}")
HERE = AccessRules(7777, frozenset(("127.0.0.1", "localhost", "[::1]")))
ELSEWHERE = AccessRules(7777, frozenset(("box", "localhost")), access.shared_token(TOKEN), loopback=False)
PROXY = "10.0.0.5"
HTTPS = {"Host": "code.example.com", "X-Forwarded-Proto": "https"}


def behind(url: str = "https://code.example.com", *trusted: str, unix: bool = False) -> AccessRules:
    """Return the rules of a server behind a proxy."""
    proxies = access.trusted_proxies(trusted or (PROXY,), unix=unix)
    return replace(HERE, tokens=access.shared_token(TOKEN), public=public_url(url), proxies=proxies)


class Client:
    """A client of a guard, and the scopes that the application behind it sees."""

    def __init__(self, rules: AccessRules = HERE, peer: str = "192.0.2.1", **options: Any) -> None:
        self.guard = Guard(self._inner, rules, **options)
        self.app = behind_proxies(self.guard, rules.proxies) if rules.public else self.guard
        self.host = "127.0.0.1:7777" if rules.loopback else "box:7777"
        self.peer = peer
        self.scopes: list[Any] = []

    async def _inner(self, scope: Any, receive: Any, send: Any) -> None:
        self.scopes.append(scope)
        message = await receive()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"Cache-Control", b"no-cache")]})
        await send({"type": "http.response.body", "body": b"passed " + message.get("body", b"")})

    def ask(
        self,
        path: str = "/api/roots",
        *headers: tuple[str, str],
        method: str = "GET",
        parts: tuple[bytes, ...] = (b"",),
    ) -> tuple[int, dict[str, str], bytes]:
        path, _, query = path.partition("?")
        given = [("Host", self.host), *headers] if not any(name == "Host" for name, _ in headers) else headers
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(name.lower().encode(), value.encode()) for name, value in given if value != "-"],
            "client": None if self.peer == UNIX else (self.peer, 4000),
        }
        left, sent = list(parts), []
        self.left = left

        async def receive() -> Any:
            if not left:
                await asyncio.sleep(3600)
            return {"type": "http.request", "body": left.pop(0), "more_body": bool(left) or parts[-1:] == (b"...",)}

        async def send(message: Any) -> None:
            sent.append(message)

        asyncio.run(self.app(scope, receive, send))
        told = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
        return sent[0]["status"], told, b"".join(each.get("body", b"") for each in sent[1:])

    def status(self, *given: Any, **more: Any) -> int:
        return self.ask(*given, **more)[0]

    def refusal(self, status: int, *given: Any, **more: Any) -> str:
        """Ask what is refused, and return why."""
        answer = self.ask(*given, **more)
        assert answer[0] == status, answer
        assert b"passed" not in answer[2]
        assert answer[1]["content-type"] == "application/json"
        return json.loads(answer[2])["error"]


OURS = "127.0.0.1:7777 localhost:7777 LOCALHOST:7777 [::1]:7777".split()
OTHERS = "127.0.0.1 127.0.0.1:7778 evil.example evil.example:7777 127.0.0.1:7777.evil.example user@127.0.0.1:7777 [ -"


def test_only_our_own_names_are_answered():
    assert {host: Client().status("/", ("Host", host)) for host in OURS} == dict.fromkeys(OURS, 200)
    others = [*OTHERS.split(), ""]
    assert {host: Client().status("/", ("Host", host)) for host in others} == dict.fromkeys(others, 421)
    Client().refusal(421, "/", ("Host", OURS[0]), ("Host", OURS[0]))
    for host, status in (("box:7777", 401), ("box", 401), ("192.0.2.7:80", 401), ("[2001:db8::1]:1", 401)):
        Client(ELSEWHERE).refusal(status, "/", ("Host", host))
    Client(ELSEWHERE).refusal(421, "/", ("Host", "evil.example"))


MINE, EVIL = ("Origin", "http://127.0.0.1:7777"), ("Origin", "http://evil.example")
SITE, NAVIGATES = "Sec-Fetch-Site", ("Sec-Fetch-Mode", "navigate")
SITES = [
    *(([MINE], 200), ([EVIL], 403), ([("Origin", "null")], 403), ([("Origin", "http://localhost:7777")], 403)),
    *(([MINE, EVIL], 403), ([(SITE, "same-origin")], 200), ([(SITE, "none")], 200), ([(SITE, "same-site")], 403)),
    *(([(SITE, "cross-site")], 403), ([(SITE, "none"), (SITE, "cross-site")], 403)),
    ([(SITE, "cross-site"), NAVIGATES], 403),
]


def test_other_sites_are_not_answered():
    for headers, status in SITES:
        assert Client().status("/api/search?query=a", *headers) == status, headers
    link = ((SITE, "cross-site"), NAVIGATES)
    assert Client().status("/", *link) == 200, "a link to the page may be followed"
    Client().refusal(403, "/", link[0], ("Sec-Fetch-Mode", "no-cors"))
    Client().refusal(403, "/", *link, method="POST")
    for whose, status in (("none", 303), ("same-origin", 303), ("cross-site", 403)):
        assert Client(ELSEWHERE).status(f"/?token={TOKEN}", (SITE, whose), NAVIGATES) == status


def test_a_client_on_another_machine_needs_the_token():
    client = Client(ELSEWHERE)
    assert "Authorization: Bearer" in client.refusal(401)
    for given in (TOKEN, f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer ", f"Bearer {TOKEN} ", "Bearer é"):
        client.refusal(401, "/api/roots", ("Authorization", given))
    client.refusal(401, "/api/roots", BEARER, BEARER)
    assert client.status("/api/roots", BEARER) == 200
    assert client.status("/api/roots", ("Authorization", f"bearer {TOKEN}")) == 200
    assert Client().status("/?token=whatever") == 200, "on this machine none is wanted"


def test_a_browser_gets_the_token_as_a_cookie_once():
    client = Client(ELSEWHERE)
    status, headers, _ = client.ask(f"/?token={TOKEN}")
    assert (status, headers["location"]) == (303, "/")
    cookie, _, how = headers["set-cookie"].partition("; ")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(how.split("; "))
    client.refusal(401, "/", ("Cookie", cookie[:-1]))
    client.refusal(401, "/", ("Cookie", cookie), ("Authorization", "Bearer wrong"))
    client.refusal(401, "/?token=wrong")
    client.refusal(401, f"/api/roots?token={TOKEN}")
    client.refusal(401, "/", ("Cookie", "=;;\x01="))
    client.refusal(401, "/", ("Cookie", f"{cookie}; assay-7777=another-token-of-some-length"))
    for other in ('pref={"a":1}', "foo[bar]=1", "x=a b", "bare", "é=1", "", cookie):
        for line in (f"{other}; {cookie}", f"{cookie}; {other}"):
            assert client.status("/", ("Cookie", line)) == 200, line
    assert client.status("/", ("Cookie", cookie), ("Authorization", "Basic YTpi")) == 200


def test_addresses_headers_and_bodies_have_a_maximum_size():
    client, most = Client(), guard.MAX_BODY_BYTES
    assert client.status("/?" + "a" * 65_535) == client.status("/", ("Cookie", "a" * 60_000)) == 200
    assert "65,536" in client.refusal(414, "/?" + "a" * 65_536)
    client.refusal(414, "/" + "a" * 65_536)
    assert "65,536" in client.refusal(431, "/", ("Cookie", "a" * 65_536))
    client.refusal(431, "/", *[("X-Many", "a" * 100)] * 700)
    assert client.ask(method="POST", parts=(b"a" * 5, b"b" * 5))[2] == b"passed aaaaabbbbb"
    assert client.status(method="POST", parts=(b"a" * most,)) == 200
    client.refusal(413, method="POST", parts=(b"a" * most, b"a"))
    client.refusal(413, "/", ("Content-Length", str(5 * most)), method="POST", parts=(b"a" * most,) * 5)
    assert not client.left, "it is read to its end, or the client would see a reset and no answer"
    for headers in (
        [("Content-Length", str(most + 1)), ("Expect", "100-continue")],
        [("Content-Length", str(most << 5))],
    ):
        client.refusal(413, "/", *headers, method="POST", parts=(b"...",))
    assert client.ask("/", method="PUT", parts=(b"a" * 10,))[2] == b"passed ", "it is read where one is wanted"
    assert "did not arrive in time" in Client(body_s=0.01).refusal(408, method="POST", parts=(b"a", b"..."))


def test_only_so_many_signed_deliveries_are_read_at_once():
    client, signed = Client(ELSEWHERE, signatures=frozenset(("x-signed",))), ("X-Signed", "1")
    post = {"method": "POST", "parts": (b"a",)}
    assert client.status("/api/webhook", signed, **post) == 200
    client.refusal(401, "/api/webhook", **post)
    client.refusal(401, "/api/labels", signed, **post)
    Client(ELSEWHERE).refusal(401, "/api/webhook", signed, **post)
    held = guard.BodyShare(client.guard._signed)
    held.take(guard.SIGNED_BODIES)
    assert "too many large requests" in client.refusal(503, "/api/webhook", signed, **post)
    assert client.status("/api/labels", BEARER, **post) == 200
    held.give_back()
    assert [client.status("/api/webhook", signed, **post) for _ in range(3)] == [200] * 3
    assert client.guard._signed.free == guard.SIGNED_BODIES


def test_requests_are_limited_by_address_or_person():
    now = [100.0]
    client = Client(rate=Rate(2.0, lambda: now[0]))
    assert [client.status() for _ in range(5)] == [200] * 4 + [429]
    assert client.ask()[1]["retry-after"] == "1"
    client.peer = "192.0.2.2"
    assert client.status() == 200, "another address"
    client.peer = "192.0.2.1"
    now[0] += 0.5
    assert [client.status() for _ in range(2)] == [200, 429]
    now[0] += 60
    assert [client.status() for _ in range(5)] == [200] * 4 + [429]
    probes = Client(ELSEWHERE, rate=Rate(1.0, lambda: 0.0))
    assert [probes.status("/readyz") for _ in range(3)] == [200, 200, 429]
    assert [probes.status("/healthz") for _ in range(3)] == [200] * 3
    people = Tokens((("ann", hash_of("token-of-ann-here")), ("bob", hash_of("token-of-bob-here"))))
    team = Client(replace(behind(), tokens=people), PROXY, rate=Rate(1.0, lambda: 0.0))

    def asked(token: str, address: str) -> int:
        headers = {**HTTPS, "X-Forwarded-For": address, "Authorization": f"Bearer {token}"}
        return team.status("/api/roots", *headers.items())

    assert [asked("token-of-ann-here", f"192.0.2.{number}") for number in range(3)] == [200, 200, 429]
    assert [asked("token-of-bob-here", "192.0.2.1") for _ in range(3)] == [200, 200, 429]
    assert [asked("guess", "192.0.2.1") for _ in range(3)] == [401, 401, 429]
    assert asked("guess", "192.0.2.2") == 401
    assert [scope["assay.person"] for scope in team.scopes] == ["ann", "ann", "bob", "bob"]
    assert Rate().wait_s("a") == 0.0, "without a limit"


def test_every_answer_has_its_headers_and_keeps_its_own():
    for status, headers, _ in (Client().ask(), Client().ask("/", ("Host", "evil.example"))):
        assert headers["content-security-policy"] == guard.POLICY
        assert headers["cache-control"] == ("no-cache" if status == 200 else "no-store")
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert not [name for name in headers if name.startswith("access-control")]

    async def never(*_: Any) -> None:
        raise AssertionError

    asyncio.run(Guard(never, HERE)({"type": "websocket"}, never, never))


def test_behind_a_proxy_host_and_origin_are_those_of_the_public_url():
    for more, status in (
        ({}, 200),
        ({"Host": "CODE.example.com:443"}, 200),
        ({"X-Forwarded-Proto": "-"}, 200),
        ({"Host": "code.example.com:8443"}, 421),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1:7777"}, 421),
        ({"Host": "127.0.0.1:7777", "X-Forwarded-Host": "code.example.com"}, 421),
        ({"X-Forwarded-Proto": "http"}, 403),
        ({"X-Forwarded-For": "192.0.2.1, 2001:db8::1"}, 200),
        ({"Origin": "https://code.example.com"}, 200),
        ({"Origin": "http://code.example.com"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ):
        assert Client(behind(), PROXY).status("/api/roots", BEARER, *{**HTTPS, **more}.items()) == status, more


def test_forwarded_headers_of_trusted_proxies_alone_count():
    forwarded = {**HTTPS, "X-Forwarded-For": "10.0.0.1"}
    stranger = Client(behind(), "198.51.100.7")
    assert stranger.status("/api/roots", BEARER, *forwarded.items()) == 200
    assert stranger.scopes[-1]["client"][0] == "198.51.100.7", "a stranger is who they are, whatever they say"
    near = Client(behind("https://code.example.com", "10.0.0.0/8", "::1"), PROXY)
    for way, address in (
        ("192.0.2.1", "192.0.2.1"),
        ("6.6.6.6, 192.0.2.1, 10.0.0.9", "192.0.2.1"),
        ("192.0.2.1, ::ffff:10.0.0.9", "192.0.2.1"),
        ("10.0.0.8, 10.0.0.9", "10.0.0.8"),
        ("6.6.6.6, 192.0.2.1:80", "192.0.2.1"),
        ("", PROXY),
    ):
        near.ask("/api/roots", BEARER, *{**HTTPS, "X-Forwarded-For": way}.items())
        assert near.scopes[-1]["client"][0] == address
    for peer, rules, address in (
        (UNIX, behind(unix=True), "192.0.2.1"),
        (UNIX, behind(), UNIX),
        (f"::ffff:{PROXY}", behind(), "192.0.2.1"),
        ("10.1.2.3", behind("https://code.example.com", "10.0.0.1/8"), "192.0.2.1"),
    ):
        client = Client(rules, peer)
        assert client.status("/api/roots", BEARER, *{**HTTPS, "X-Forwarded-For": "6.6.6.6, 192.0.2.1"}.items()) == 200
        assert client.scopes[-1]["client"][0] == address
    alone = Client(peer=PROXY)
    alone.status("/", ("X-Forwarded-For", "192.0.2.1"))
    assert alone.scopes[-1]["client"][0] == PROXY, "without a public URL there is no proxy"
    for wrong in ("nginx", "*", "unix"):
        with pytest.raises(InputError, match=r"--trusted-proxy .* is not valid: use an address or a network"):
            access.trusted_proxies([wrong])
    for url in "code.example.com|https://|ftp://a|https://a/b|https://a?b|https://ann:secret@a|https://a b|".split("|"):
        with pytest.raises(InputError, match="--public-url"):
            public_url(url)


def test_over_https_the_cookie_is_secure_and_probes_need_no_name():
    client = Client(behind(), PROXY)
    status, headers, _ = client.ask(f"/?token={TOKEN}", *HTTPS.items())
    assert (status, headers["set-cookie"].endswith("; Secure")) == (303, True)
    assert headers[access.HSTS[0].decode()] == access.HSTS[1].decode()
    plain = Client(behind("http://code.example.com:8080"), PROXY)
    _, headers, _ = plain.ask(f"/?token={TOKEN}", ("Host", "code.example.com:8080"))
    assert "Secure" not in headers["set-cookie"]
    assert access.HSTS[0].decode() not in headers
    for path in ("/healthz", "/readyz"):
        assert client.status(path, ("Host", "10.0.0.7:7777"), ("X-Forwarded-For", "192.0.2.9")) == 200
        assert Client(behind()).status(path, ("X-Forwarded-For", "192.0.2.9")) == 200
    assert client.status("/metrics", ("Host", "127.0.0.1:7777"), BEARER) == 200
    client.refusal(401, "/metrics", ("Host", "127.0.0.1:7777"))
    client.refusal(421, "/metrics", ("Host", "evil.example"), BEARER)


CALLERS = (
    ("127.0.0.1", "127.0.0.1:7777", {}, True),
    ("::1", "[::1]:7777", {}, True),
    ("172.17.0.1", "localhost:7777", {}, False),
    ("127.0.0.1", "code.example.com", {}, False),
    ("127.0.0.1", "localhost:7777", {"x-forwarded-for": "127.0.0.1"}, False),
    ("unix", "localhost", {}, False),
    ("", "", {}, False),
)


def test_only_a_caller_on_this_machine_is_where_the_files_are():
    for address, host, more, same in CALLERS:
        headers = [(name.encode(), value.encode()) for name, value in {"host": host, **more}.items()]
        request = Request({"type": "http", "headers": headers, "client": (address, 4000)})
        assert is_same_machine(request) is same, (address, host, more)


def test_tokens_are_made_for_people_and_stored_as_hashes(tmp_path: Path):
    file = tmp_path / "tokens"
    file.write_text("# people\n")
    file.chmod(0o600)
    made = {name: add_token(file, name) for name in ("ann", "bob@example.com")}
    first = CliRunner().invoke(assay, ["token", "eve", "--tokens", str(file)])
    made["eve"] = first.stdout.strip()
    assert file.stat().st_mode & 0o777 == 0o600
    tokens = read_tokens(file)
    assert {name: tokens.owner(token) for name, token in made.items()} == {name: name for name in made}
    assert (tokens.owner("wrong"), tokens.owner("")) == (None, None)
    assert file.read_text().startswith("# people\nann sha256:")
    assert not any(token in file.read_text() for token in made.values())
    with pytest.raises(InputError, match="has a token of 'ann': remove that line first"):
        add_token(file, "ann")
    printed = CliRunner().invoke(assay, ["token", "bob"])
    file.write_text(f"# people\n\n{printed.stderr}")
    assert read_tokens(file).owner(printed.stdout.strip()) == "bob"
    with pytest.raises(InputError, match="is not a valid name"):
        add_token(file, "a b")
    assert add_token(tmp_path / "new", "ann")
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o600
    assert access.shared_token("a" * 16).owner("a" * 16) == ""
    with pytest.raises(InputError, match="ASSAY_TOKEN is not a valid token"):
        access.shared_token("a" * 15)


def test_a_wrong_file_of_tokens_is_refused(tmp_path: Path):
    file, ann = tmp_path / "tokens", "ann sha256:" + "0" * 64
    with pytest.raises(InputError, match=r"cannot read the tokens file .*: No such file"):
        read_tokens(file)
    with pytest.raises(InputError, match="cannot write the tokens file"):
        add_token(tmp_path / "no" / "tokens", "ann")
    for text, mode, wanted in (
        (ann, 0o644, "may be read by everybody: chmod 600"),
        (ann, 0o620, "may be changed by others: chmod 600"),
        ("", 0o600, "has no tokens: assay token NAME"),
        ("ann secret", 0o600, "tokens:1 is not 'NAME sha256:HASH'"),
        ("# a\nann sha256:12", 0o600, "tokens:2 is not"),
        ("\x1b[2J sha256:" + "0" * 64, 0o600, "tokens:1 is not"),
        (f"{ann}\n{ann}", 0o600, "names 'ann' twice"),
        ("\udcff", 0o600, "not UTF-8"),
    ):
        file.write_text(text, errors="surrogateescape")
        file.chmod(mode)
        with pytest.raises(InputError, match=wanted):
            read_tokens(file)
    with pytest.raises(InputError, match="it is not UTF-8 text"):
        add_token(file, "bob")
    assert file.read_bytes() == b"\xff"


def test_the_access_log_holds_no_token_and_survives_a_full_disk(tmp_path: Path):
    scope = {"method": "GET", "path": "/", "query_string": b"%74oken=SECRET&to%6ben=SECRET&query=a&token=SECRET"}
    AccessLog(str(tmp_path / "log"), print, queries=True).note(scope, 200, 0, 0.0)
    text = (tmp_path / "log").read_text()
    assert (json.loads(text)["query"], "SECRET" in text) == ("query=a", False)
    if Path("/dev/full").exists():
        said: list[str] = []
        log = AccessLog("/dev/full", said.append)
        for _ in range(3):
            log.note(scope, 200, 0, 0.0)
        why = "--access-log '/dev/full': No space left on device; requests are not logged until this is fixed"
        assert said == [why]
