"""Who may ask, and how much: a wrapper around an ASGI application that refuses the rest before anything is read.

Pages of other sites are kept out by name (`Host`, against names that are pointed at this machine), by origin and by
what the browser says of the site that asks; there are no CORS headers. Whoever is not on this machine needs a token. A
body is taken in whole, up to a size and within a time, before the application sees it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from math import ceil
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from assay.serve.http.rate import Rate

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

LONGEST_URL = 64 * 1024
LARGEST_HEADERS = 64 * 1024
LARGEST_BODY = 4 * 1024 * 1024
BODY_S = 30.0
"""Seconds within which a body has to be there."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_ALWAYS = (
    (b"content-security-policy", POLICY.encode()),
    (b"cache-control", b"no-store"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)
"""Headers of every answer, unless it brings its own."""


@dataclass(frozen=True, slots=True)
class AccessRules:
    """Who may ask."""

    port: int
    names: frozenset[str]
    """What the server is called; on the loopback address with its port, elsewhere with any."""
    token: str = ""
    """Empty: whoever is on this machine may ask."""
    loopback: bool = True

    def is_ours(self, host: str) -> bool:
        """Say whether a `Host` is this server: one of its names, or elsewhere a bare address, which no name is."""
        if self.loopback:
            return host in {f"{name}:{self.port}" for name in self.names} or (self.port == 80 and host in self.names)
        name = urlsplit(f"//{host}").hostname or ""
        return name in self.names or _is_address(name)

    @property
    def cookie(self) -> str:
        """What the cookie with the token is called; cookies of one host are shared by all its ports."""
        return f"assay-{self.port}"


@dataclass(frozen=True, slots=True)
class Refusal(Exception):  # an answer, not a fault
    """What is answered instead."""

    status: int
    what: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


@dataclass(slots=True)
class Guard:
    """An application behind its rules."""

    app: App
    rules: AccessRules
    rate: Rate = field(default_factory=Rate)
    body_s: float = BODY_S

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        guarded = _with_headers(send)
        try:
            self._check(scope)
            body = await self._body(scope, receive)
            if body is not None:
                await self.app(scope, _replayed(body, receive), guarded)
        except Refusal as no:
            await _refuse(no, guarded)
        except asyncio.CancelledError:  # by the server, which has waited long enough
            with suppress(RuntimeError):  # the answer had begun
                await _refuse(Refusal(503, "the server is stopping; ask again when it is back"), guarded)

    def _check(self, scope: Message) -> None:
        headers = _headers(scope)
        if len(scope["raw_path"]) + len(scope["query_string"]) >= LONGEST_URL:
            raise Refusal(414, f"the address has more than {LONGEST_URL:,} bytes")
        if sum(len(name) + len(value) for name, value in scope["headers"]) >= LARGEST_HEADERS:
            raise Refusal(431, f"the headers have more than {LARGEST_HEADERS:,} bytes")
        self._check_host(headers)
        _check_site(scope, headers)
        wait_s = self.rate.wait_s((scope.get("client") or ("",))[0])
        if wait_s:
            again = (b"retry-after", str(ceil(wait_s)).encode())
            raise Refusal(429, "too many requests from this address; ask again in a moment", (again,))
        if self.rules.token:
            self._check_token(scope, headers)

    def _check_host(self, headers: dict[str, list[str]]) -> None:
        try:
            (host,) = headers.get("host", [])
            if self.rules.is_ours(host.lower()):
                return
        except ValueError:  # none, several, or no address at all
            pass
        raise Refusal(421, "the Host of this request is not this server")

    def _check_token(self, scope: Message, headers: dict[str, list[str]]) -> None:
        """Let those pass who know the token; the one who brings it in the address of the page gets it as a cookie."""
        if scope["path"] == "/":
            asked = dict(parse_qsl(scope["query_string"].decode("latin-1")))
            if _same(asked.get("token", ""), self.rules.token):
                kept = f"{self.rules.cookie}={self.rules.token}; Path=/; HttpOnly; SameSite=Strict"
                raise Refusal(303, "see /", ((b"location", b"/"), (b"set-cookie", kept.encode())))
        given = [value.partition(" ")[2] for value in headers.get("authorization", []) if _is_bearer(value)]
        if "authorization" not in headers:
            given = list(_cookies(headers, self.rules.cookie))
        if len(given) != 1 or not _same(given[0], self.rules.token):
            how = "a token is wanted: Authorization: Bearer TOKEN, or open /?token=TOKEN once"
            raise Refusal(401, how, ((b"www-authenticate", b"Bearer"),))

    async def _body(self, scope: Message, receive: Receive) -> bytes | None:
        """Return the body of a request that has one; None where the client went away."""
        declared = _headers(scope).get("content-length", ["0"])
        if any(int(value) > LARGEST_BODY for value in declared if value.isdecimal()):
            raise Refusal(413, f"the body has more than {LARGEST_BODY:,} bytes")
        if scope["method"] != "POST":
            return b""
        try:
            return await asyncio.wait_for(_read(receive), self.body_s)
        except TimeoutError:
            raise Refusal(408, "the body did not come in time", ((b"connection", b"close"),)) from None


async def _read(receive: Receive) -> bytes | None:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > LARGEST_BODY:
            raise Refusal(413, f"the body has more than {LARGEST_BODY:,} bytes", ((b"connection", b"close"),))
        if not message.get("more_body"):
            return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return what hands a body over that was read already, and then what is still to come."""
    first = iter(({"type": "http.request", "body": body, "more_body": False},))

    async def again() -> Message:
        return next(first, None) or await receive()

    return again


def _check_site(scope: Message, headers: dict[str, list[str]]) -> None:
    """Refuse what a page of another site asks for; only following a link to the page itself is nobody's harm."""
    host = headers["host"][0].lower()
    origins = headers.get("origin", [])
    foreign = [origin for origin in origins if origin.lower() not in {f"http://{host}", f"https://{host}"}]
    sites = set(headers.get("sec-fetch-site", [])) - {"same-origin", "none"}
    link = scope["path"] == "/" and scope["method"] == "GET" and headers.get("sec-fetch-mode") == ["navigate"]
    if foreign or (sites and not link):
        raise Refusal(403, "asked by another site, which this server does not answer")


def _headers(scope: Message) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _cookies(headers: dict[str, list[str]], name: str) -> Iterable[str]:
    for line in headers.get("cookie", []):
        try:
            found = SimpleCookie(line)
        except CookieError:
            continue
        if name in found:
            yield found[name].value


def _same(given: str, wanted: str) -> bool:
    return compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _is_bearer(value: str) -> bool:
    return value[:7].lower() == "bearer "


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _with_headers(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            held = [*message.get("headers", ())]
            names = {name.lower() for name, _ in held}
            message["headers"] = [*held, *(each for each in _ALWAYS if each[0] not in names)]
        await send(message)

    return guarded


async def _refuse(no: Refusal, send: Send) -> None:
    body = json.dumps({"error": no.what}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *no.headers,
    ]
    await send({"type": "http.response.start", "status": no.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
