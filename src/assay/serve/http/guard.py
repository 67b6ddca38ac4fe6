"""Guard an application: check access, limit rates and sizes, and log requests.

A body is taken in whole, up to a size and within a time, before the application sees it. The application finds in the
scope who asks (`assay.person`). A line of the access log is written by one call to a file that is opened for
appending, so that lines of several processes do not mix.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

from assay.errors import InputError
from assay.protocols import Say
from assay.serve.http.access import PROBES, READINESS, UNIX, AccessRules, Message, Refusal, headers_of

PERSON = "assay.person"
"""The key in a request's scope for the owner of its token, if that is a person's."""
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

_CLOSE = (b"connection", b"close")
MAX_URL_BYTES = 64 * 1024
MAX_HEADER_BYTES = 64 * 1024
MAX_BODY_BYTES = 4 * 1024 * 1024
_TOO_LARGE = f"the body is larger than {MAX_BODY_BYTES:,} bytes"
_DISCARDED = 16 * MAX_BODY_BYTES
"""Bytes of a too large body that are read anyway: a client that still sends would see a reset, and no answer."""
WEBHOOK = "/api/webhook"
"""A delivery that a code host signed needs no token, if webhooks are enabled."""
BODIES, SIGNED_BODIES = 64 * 1024 * 1024, 16 * 1024 * 1024
"""Bytes of bodies in memory: of people with a token, and of requests that only claim to be signed."""
BODY_S = 30.0
"""Seconds within which a body has to arrive."""
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
"""Headers of every answer that does not set its own."""
STDOUT = "-"
_MAX_LOGGED_CHARS = 2000
"""Characters of a path or a query that are logged."""
_BURST_S = 2.0
_MAX_BUCKETS = 4096


@dataclass(slots=True)
class Rate:
    """A limit of requests per second from one person or address, kept by this process; 0 is unlimited.

    Each has a bucket that fills at the rate and holds two seconds of it. Who is forgotten has a full bucket.
    """

    per_s: float = 0.0
    clock: Callable[[], float] = time.monotonic
    _buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def wait_s(self, who: str) -> float:
        """Count a request; return 0, or how many seconds to wait if there were too many."""
        if not self.per_s:
            return 0.0
        most, now = max(1.0, self.per_s * _BURST_S), self.clock()
        left, since = self._buckets.pop(who, (most, now))
        left = min(most, left + (now - since) * self.per_s)
        taken = left >= 1.0
        self._buckets[who] = (left - taken, now)
        if len(self._buckets) > _MAX_BUCKETS:
            self._buckets.popitem(last=False)
        return 0.0 if taken else (1.0 - left) / self.per_s


@dataclass(slots=True)
class BodyRoom:
    """A limit of bytes of bodies in memory."""

    free: int


@dataclass(slots=True)
class BodyShare:
    """The part of a limit that one request uses, until it ends."""

    room: BodyRoom
    size: int = 0

    def take(self, count: int) -> None:
        """Use more bytes, or refuse the request."""
        if count > self.room.free:
            raise Refusal(503, "too many large requests at once; ask again in a moment", ((b"connection", b"close"),))
        self.room.free -= count
        self.size += count

    def give_back(self) -> None:
        """Release the bytes for other requests."""
        self.room.free += self.size
        self.size = 0


@dataclass(slots=True)
class Guard:
    """An application behind its rules of access."""

    app: App
    rules: AccessRules
    rate: Rate = field(default_factory=Rate)
    body_s: float = BODY_S
    signatures: frozenset[str] = frozenset()
    """Headers of signed deliveries, one of which replaces a token; none: webhooks are off."""
    is_stopping: Callable[[], bool] = lambda: False
    """Whether connections end after the answer they wait for."""
    _bodies: BodyRoom = field(default_factory=lambda: BodyRoom(BODIES))
    _signed: BodyRoom = field(default_factory=lambda: BodyRoom(SIGNED_BODIES))

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        guarded, share = self._with_headers(send), None
        try:
            self._check(scope)
            share = BodyShare(self._signed if scope.get(PERSON) is None else self._bodies)
            body = await self._body(scope, receive, share)
            if body is not None:
                await self.app(scope, _replayed(body, receive), guarded)
        except Refusal as no:
            await _refuse(no, guarded)
        except asyncio.CancelledError:  # by the server, which has waited long enough
            with suppress(RuntimeError):  # the answer had begun
                await _refuse(Refusal(503, "the server is stopping; ask again when it is back"), guarded)
        finally:
            if share:
                share.give_back()

    def _check(self, scope: Message) -> None:
        headers, path = headers_of(scope), scope["path"]
        if len(scope["raw_path"]) + len(scope["query_string"]) > MAX_URL_BYTES:
            raise Refusal(414, f"the URL is longer than {MAX_URL_BYTES:,} bytes")
        if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEADER_BYTES:
            raise Refusal(431, f"the headers are longer than {MAX_HEADER_BYTES:,} bytes")
        address = (scope.get("client") or (UNIX,))[0]
        if path in PROBES:
            if path == READINESS:
                self._check_rate(None, f"{address} (probes)")
            return
        self.rules.check_site(scope, headers, self.rules.host_of(path, headers))
        person = self.rules.person(headers)
        self._check_rate(person, address)
        self.rules.hand_over_cookie(scope, headers)
        if person is not None:
            scope[PERSON] = person
        elif path != WEBHOOK or self.signatures.isdisjoint(headers):
            how = "authentication required: send Authorization: Bearer TOKEN, or open /?token=TOKEN once"
            raise Refusal(401, how, ((b"www-authenticate", b"Bearer"),))

    def _check_rate(self, person: str | None, address: str) -> None:
        """Refuse too many requests of a person, from any address, or of an address without a person's token."""
        wait_s = self.rate.wait_s(f"person {person}" if person else f"address {address}")
        if wait_s:
            again = (b"retry-after", str(ceil(wait_s)).encode())
            whose = f"by {person}" if person else "from this address"
            raise Refusal(429, f"too many requests {whose}; ask again in a moment", (again,))

    def _with_headers(self, send: Send) -> Send:
        always = (*_ALWAYS, *self.rules.extra_headers)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                held = [*message.get("headers", ())]
                names = {name.lower() for name, _ in held}
                closes = [_CLOSE] if self.is_stopping() and _CLOSE not in held else []
                message["headers"] = [*held, *closes, *(each for each in always if each[0] not in names)]
            await send(message)

        return guarded

    async def _body(self, scope: Message, receive: Receive, share: BodyShare) -> bytes | None:
        """Return the body of a request that has one; None if the client disconnected."""
        headers = headers_of(scope)
        size = max(int(value) if value.isdecimal() else 0 for value in headers.get("content-length", ["0"]))
        is_read = scope["method"] == "POST" and size <= _DISCARDED and "expect" not in headers
        if size > MAX_BODY_BYTES and not is_read:
            raise Refusal(413, _TOO_LARGE, (_CLOSE,))
        if scope["method"] != "POST":
            return b""
        try:
            return await asyncio.wait_for(_read(receive, share), self.body_s)
        except TimeoutError:
            raise Refusal(408, "the body did not arrive in time", (_CLOSE,)) from None


async def _read(receive: Receive, share: BodyShare) -> bytes | None:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BODY_BYTES:
            parts.clear()
        else:
            share.take(len(parts[-1]))
        if size > _DISCARDED or not message.get("more_body"):
            if size > MAX_BODY_BYTES:
                raise Refusal(413, _TOO_LARGE, (_CLOSE,))
            return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a receiver that yields a body that was already read, and then what follows."""
    first = iter(({"type": "http.request", "body": body, "more_body": False},))

    async def again() -> Message:
        return next(first, None) or await receive()

    return again


def error_json(what: str) -> bytes:
    """Return the JSON body of an error."""
    return json.dumps({"error": what}).encode()


async def _refuse(no: Refusal, send: Send) -> None:
    body = error_json(no.what)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *no.headers]
    await send({"type": "http.response.start", "status": no.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class AccessLog:
    """A log of requests."""

    def __init__(self, file: str, say: Say, *, queries: bool = False) -> None:
        """Open a file for appending, `-` for standard output; with `queries`, texts of queries are logged as well."""
        self._file, self._say, self._queries = file, say, queries
        self._is_broken = False
        try:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._descriptor = 1 if file == STDOUT else os.open(Path(file), flags, 0o640)
        except OSError as error:
            raise InputError(f"--access-log '{file}' cannot be written: {error.strerror}; name another file") from error

    def note(self, scope: Any, status: int, size: int, seconds: float) -> None:
        """Log one request."""
        row = {
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "who": scope.get(PERSON, ""),
            "address": (scope.get("client") or (UNIX,))[0][:100],
            "method": scope["method"][:20],
            "path": scope["path"][:_MAX_LOGGED_CHARS],
            "status": status,
            "bytes": size,
            "ms": round(seconds * 1e3, 2),
            "process": os.getpid(),
        }
        if self._queries:
            row["query"] = _without_token(scope["query_string"].decode("latin-1"))[:_MAX_LOGGED_CHARS]
        self._write((json.dumps(row) + "\n").encode())

    def _write(self, line: bytes) -> None:
        """Append a line; if that fails, report it once, and keep answering."""
        try:
            os.write(self._descriptor, line)
        except OSError as error:
            if not self._is_broken:
                self._say(f"--access-log '{self._file}': {error.strerror}; requests are not logged until this is fixed")
            self._is_broken = True
        else:
            self._is_broken = False


def _without_token(query: str) -> str:
    """Return a query without what the page reads as a token, however its name is written."""
    return "&".join(each for each in query.split("&") if unquote_plus(each.partition("=")[0]) != "token")
