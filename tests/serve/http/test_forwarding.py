"""A server behind a proxy: whose word counts, what the public URL decides, and who is one person."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import pytest

pytest.importorskip("fastapi")

from assay.errors import InputError
from assay.serve.http.access import HSTS, AccessRules
from assay.serve.http.access_tokens import Tokens, hash_of, shared_token
from assay.serve.http.forwarding import UNIX, TrustedProxies, public_url, trusted_proxies
from assay.serve.http.guard import Guard
from assay.serve.http.rate import Rate

TOKEN = "a-token-of-some-length"
PROXY = "10.0.0.5"
HTTPS = {"host": "code.example.com", "x-forwarded-proto": "https"}


@dataclass
class Behind:
    """A guard behind a proxy, and what the application sees."""

    url: str = "https://code.example.com"
    trusted: tuple[str, ...] = (PROXY,)
    unix: bool = False
    tokens: Tokens = field(default_factory=lambda: shared_token(TOKEN))
    rate: float = 0.0
    scopes: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        rules = AccessRules(
            7777,
            frozenset(("127.0.0.1", "localhost")),
            self.tokens,
            public=public_url(self.url),
            proxies=trusted_proxies(self.trusted, unix=self.unix),
        )
        self.guard = Guard(self._inner, rules, Rate(self.rate, lambda: 0.0))

    async def _inner(self, scope: Any, _receive: Any, send: Any) -> None:
        self.scopes.append(scope)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"passed"})

    def ask(self, headers: dict[str, str], path: str = "/api/roots", peer: str = PROXY, token: str = TOKEN) -> Any:
        path, _, query = path.partition("?")
        given = {**({"authorization": f"Bearer {token}"} if token else {}), **headers}
        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
            "client": None if peer == UNIX else (peer, 4000),
        }
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        asyncio.run(self.guard(scope, None, send))
        return sent[0]["status"], dict(sent[0]["headers"]), b"".join(each.get("body", b"") for each in sent[1:])

    def refusal(self, *given: Any, **more: Any) -> tuple[int, str]:
        status, _, body = self.ask(*given, **more)
        return status, json.loads(body)["error"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (HTTPS, 200),
        ({**HTTPS, "host": "CODE.example.com:443"}, 200),
        ({"host": "code.example.com"}, 200),
        ({**HTTPS, "host": "code.example.com:8443"}, 421),
        ({**HTTPS, "host": "evil.example"}, 421),
        ({**HTTPS, "host": "127.0.0.1:7777"}, 421),
        ({**HTTPS, "host": "127.0.0.1:7777", "x-forwarded-host": "code.example.com"}, 200),
        ({**HTTPS, "x-forwarded-host": "evil.example"}, 421),
        ({**HTTPS, "x-forwarded-proto": "http"}, 403),
        ({**HTTPS, "x-forwarded-proto": "https, http"}, 403),
        ({**HTTPS, "x-forwarded-for": "192.0.2.1"}, 200),
        ({**HTTPS, "x-forwarded-for": "192.0.2.1, 2001:db8::1"}, 200),
        ({**HTTPS, "x-forwarded-for": "somebody"}, 403),
        ({**HTTPS, "x-forwarded-for": "192.0.2.1:80"}, 403),
        ({**HTTPS, "origin": "https://code.example.com"}, 200),
        ({**HTTPS, "origin": "http://code.example.com"}, 403),
        ({**HTTPS, "origin": "https://evil.example"}, 403),
        ({**HTTPS, "sec-fetch-site": "cross-site"}, 403),
    ],
)
def test_host_and_origin_are_those_of_the_public_url(headers: dict[str, str], status: int):
    assert Behind().ask(headers)[0] == status


def test_a_stranger_who_speaks_like_a_proxy_is_refused_by_name():
    status, why = Behind().refusal({**HTTPS, "x-forwarded-for": "10.0.0.1"}, peer="198.51.100.7")
    assert (status, why) == (
        403,
        "X-Forwarded-For came from 198.51.100.7, which is no --trusted-proxy of this server",
    )
    assert Behind().ask({"host": "code.example.com"}, peer="198.51.100.7")[0] == 200


def test_the_address_is_the_last_one_that_no_proxy_of_ours_wrote():
    behind = Behind(trusted=("10.0.0.0/8", "::1"))
    for way, address in (
        ("192.0.2.1", "192.0.2.1"),
        ("6.6.6.6, 192.0.2.1, 10.0.0.9", "192.0.2.1"),
        ("192.0.2.1, ::ffff:10.0.0.9", "192.0.2.1"),
        ("10.0.0.8, 10.0.0.9", "10.0.0.8"),
        ("", PROXY),
    ):
        behind.ask({**HTTPS, "x-forwarded-for": way})
        assert behind.scopes[-1]["assay.address"] == address


def test_people_have_a_pace_each_and_strangers_by_their_address():
    people = Tokens((("ann", hash_of("token-of-ann-here")), ("bob", hash_of("token-of-bob-here"))))
    behind = Behind(rate=1.0, tokens=people)

    def asked(token: str, address: str) -> int:
        return int(behind.ask({**HTTPS, "x-forwarded-for": address}, token=token)[0])

    assert [asked("token-of-ann-here", f"192.0.2.{number}") for number in range(3)] == [200, 200, 429]
    assert [asked("token-of-bob-here", "192.0.2.1") for _ in range(3)] == [200, 200, 429]
    assert [asked("guess", "192.0.2.1") for _ in range(3)] == [401, 401, 429]
    assert asked("guess", "192.0.2.2") == 401
    assert [scope["assay.person"] for scope in behind.scopes] == ["ann", "ann", "bob", "bob"]


def test_over_https_the_cookie_is_secure_and_browsers_are_to_stay_there():
    status, headers, _ = Behind().ask(HTTPS, f"/?token={TOKEN}", token="")
    assert status == 303
    assert headers[b"set-cookie"].endswith(b"; Secure")
    assert headers[HSTS[0]] == HSTS[1]
    _, headers, _ = Behind("http://code.example.com:8080").ask(
        {"host": "code.example.com:8080"}, f"/?token={TOKEN}", token=""
    )
    assert b"Secure" not in headers[b"set-cookie"]
    assert HSTS[0] not in headers


def test_an_operator_asks_without_knowing_the_name():
    behind = Behind()
    for path in ("/healthz", "/readyz"):
        assert behind.ask({"host": "10.0.0.7:7777"}, path, token="")[0] == 200
    assert behind.ask({"host": "127.0.0.1:7777"}, "/metrics")[0] == 200
    assert behind.ask({"host": "127.0.0.1:7777"}, "/metrics", token="")[0] == 401
    assert behind.ask({"host": "evil.example"}, "/metrics")[0] == 421


def test_whoever_may_write_to_a_unix_socket_is_a_proxy():
    forwarded = {**HTTPS, "x-forwarded-for": "192.0.2.1"}
    assert Behind(unix=True).ask(forwarded, peer=UNIX)[0] == 200
    assert Behind().ask(forwarded, peer=UNIX)[0] == 403


@pytest.mark.parametrize(
    "url",
    [
        "code.example.com",
        "https://",
        "ftp://a",
        "https://a/b",
        "https://a?b",
        "https://ann:secret@a",
        "https://a b",
        "",
    ],
)
def test_a_public_url_is_a_scheme_and_a_host(url: str):
    with pytest.raises(InputError, match="--public-url"):
        public_url(url)


def test_a_proxy_is_an_address_or_a_network():
    assert "10.1.2.3" in trusted_proxies(["10.0.0.1/8"])
    assert "nonsense" not in trusted_proxies(["10.0.0.1/8"])
    assert UNIX not in TrustedProxies()
    with pytest.raises(InputError, match="--trusted-proxy is 'nginx'; wanted an address or a network"):
        trusted_proxies(["nginx"])
