"""Requests that no server should take, drawn with a seed: traversal, excess, odd letters, wrong types, no HTTP."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import quote

WAYS = ("../" * 8, "..%2f" * 8, "%2e%2e/" * 8, "..%252f" * 8, "..\\" * 8, "/", "//", "file:///", "~/")
SECRETS = ("etc/passwd", "proc/self/environ", "root/.ssh/id_rsa")
ODD = ("\x00", "\ud800", "\u202e", "💥" * 50, "%", "%zz", "a" * 30_000, "\x1b[2J", "\n", "'\"<>&;")
NUMBERS = ("-1", "0", "1e9", "9" * 400, "NaN", "true", "[]", "null", "1.5", "\uff10x", "")
BODIES = (b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"programs": 3}', b'{"grade": {}}', b'"aaa')
METHODS = ("PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "BREW")


def bad_requests(count: int, port: int) -> Iterator[bytes]:
    """Draw requests."""
    chance = random.Random(7)  # noqa: S311  the same requests each time are the point
    for _ in range(count):
        kind = chance.choice((_path, _path, _path, _line, _line, _body))
        yield kind(chance, f"Host: 127.0.0.1:{port}\r\nConnection: close\r\n")


def exchanged(port: int, raw: bytes) -> tuple[int, bytes]:
    """Send bytes and return the status and all that came back; 0 for no answer at all."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        with suppress(OSError):  # refused before it was all said; the answer may be there nevertheless
            connection.sendall(raw)
        with suppress(OSError):
            while part := connection.recv(65_536):
                answer += part
    head = answer.split(b" ", 2)
    return (int(head[1]) if answer.startswith(b"HTTP/1.1 ") else 0), answer


def _path(chance: random.Random, host: str) -> bytes:
    """Ask for what is not there, or is not to be had."""
    secret = chance.choice(WAYS) + chance.choice(SECRETS)
    odd = quote(chance.choice(ODD).encode("utf-8", "surrogatepass"), safe="%")
    number = quote(chance.choice(NUMBERS)) or "x"
    path = chance.choice(
        (
            f"/{secret}",
            f"/page/{secret}",
            f"/api/bench/{secret}",
            f"/api/bench/x/plots/{secret}.svg",
            f"/api/search?query=a&path={secret}",
            f"/api/related?line=1&path={secret}",
            f"/api/status?path={secret}",
            f"/api/search?query=a&path={odd}x",
            f"/api/search?query=a&k={number}",
            "/api/search",
            f"/api/search?query=a&budget={number}",
            f"/api/search?query=a&cursor={odd}x",
            f"/api/search?query=a&mode={odd}x",
            f"/api/search?query=a&language={odd}x",
            f"/api/search?query={'a' * chance.choice((20_001, 65_000, 200_000))}",
            f"/api/search?{'&'.join(['query=a'] * 50)}",
            "/api/search?query=%20%21",
            f"/api/search?query=a&{odd}x=1",
            f"/api/related?path=x.py&line={number}",
        )
    )
    return f"GET {path} HTTP/1.1\r\n{host}\r\n".encode("utf-8", "surrogatepass")


def _line(chance: random.Random, host: str) -> bytes:
    """Ask in a way that is not ours, or is no HTTP."""
    odd = chance.choice(ODD)[:20]
    asked = chance.choice(
        (
            f"{chance.choice(METHODS)} /api/search?query=a HTTP/1.1\r\n{host}",
            "GET /api/roots HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n",
            f"GET /api/roots HTTP/1.1\r\n{host}Origin: https://evil.example\r\n",
            f"GET /api/roots HTTP/1.1\r\n{host}Sec-Fetch-Site: cross-site\r\n",
            "GET /api/roots HTTP/1.1\r\nConnection: close\r\n",
            f"GET /api/roots HTTP/1.1\r\n{host}X-Long: {'a' * 200_000}\r\n",
            f"GET\x00/ HTTP/1.1\r\n{host}",
            f"GARBAGE {odd!r}\r\n",
        )
    )
    return f"{asked}\r\n".encode("utf-8", "surrogatepass")


def _body(chance: random.Random, host: str) -> bytes:
    """Send what is none of the bodies that are taken."""
    route, body = chance.choice(("/api/labels", "/api/rank")), chance.choice(BODIES)
    declared = chance.choice((str(len(body)), str(len(body)), "9" * 9, "9" * 30, "chunked"))
    length = "Transfer-Encoding: chunked" if declared == "chunked" else f"Content-Length: {declared}"
    head = f"POST {route} HTTP/1.1\r\n{host}Content-Type: application/json\r\n{length}\r\n\r\n".encode()
    return head + (b"zz\r\nnot hex\r\n" if declared == "chunked" else body)
