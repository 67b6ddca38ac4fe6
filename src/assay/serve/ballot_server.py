"""A ballot in, a page on this machine out on which one person judges; only whoever knows its address may.

The standard library's server on the loopback address, for one person at a desk. Other users of the machine do not know
the key in the address; other pages in the browser can neither read it nor send the token that a vote needs; a name
that is pointed at this machine does not match the host. What strangers wrote travels as JSON and is shown as text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hmac import compare_digest
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from secrets import token_urlsafe
from socketserver import ThreadingTCPServer
from threading import Event
from typing import Any, ClassVar, Literal, Protocol
from urllib.parse import parse_qs

from assay.errors import AssayError, InputError
from assay.serve.page_files import page_file, styled

LOOPBACK = "127.0.0.1"
LONGEST_BODY = 16_384
_JSON = "application/json"
_FOLDERS = frozenset({"page", "ballot"})
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Nothing but what stands in this package's own files is run or shown."""


class OpenBallot(Protocol):
    """What one person is asked, item by item, and what becomes of the answers; several threads may ask."""

    def item_to_show(self, at: int | None = None) -> dict[str, Any]:
        """Return the item at a place, or the first without an answer, and how far it is."""

    def take(self, given: Mapping[str, Any]) -> None:
        """Write an answer down; it is on disk when this returns."""

    @property
    def finished(self) -> bool:
        """Whether nothing of it can change any more once `finish` was called."""

    def finish(self) -> dict[str, Any]:
        """Return what may be shown when nothing is changed any more."""


class BallotServer(ThreadingTCPServer):
    """Serves one ballot on one of the package's pages until it is finished."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, ballot: OpenBallot, page: Literal["prefer", "label"], port: int = 0) -> None:
        self.ballot = ballot
        self.key, self.token = token_urlsafe(16), token_urlsafe(16)
        self.finished = Event()
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except (OSError, OverflowError) as error:
            raise InputError(f"cannot listen on port {port}: {error}; another --port, or 0 for any") from error
        self.hosts = tuple(f"{name}:{self.server_address[1]}" for name in (LOOPBACK, "localhost"))
        self.page = page

    @property
    def address(self) -> str:
        """Where to look."""
        return f"http://{self.hosts[0]}/{self.key}/"

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a browser that went away in the middle; the page asks again."""


class _Refused(Exception):  # an answer, not a fault
    def __init__(self, status: HTTPStatus, what: str) -> None:
        super().__init__(what)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    server: BallotServer
    timeout = 30
    _is_last = False
    always: ClassVar = {
        "Cache-Control": "no-store",
        "Content-Security-Policy": _POLICY,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }

    def do_GET(self) -> None:
        """Answer with the page, a file of it, or with what it is to show."""
        self._reply_with(self._got)

    def do_POST(self) -> None:
        """Take an answer, or the end, which is told to others once the page has been answered."""
        try:
            self._reply_with(self._posted)
        finally:
            if self._is_last and self.server.ballot.finished:  # also where there are no results to show
                self.server.finished.set()

    def version_string(self) -> str:
        """Return nothing that is of use to anybody."""
        return "assay"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # as the library calls it
        """Keep quiet: the terminal is for the person who judges."""

    def _got(self, path: str) -> tuple[str, bytes]:
        if path == "state":
            at = parse_qs(self.path.partition("?")[2]).get("at", [""])[0]
            return _JSON, self._state(int(at) if at.isdecimal() and len(at) < 10 else None)
        folder, _, name = path.rpartition("/") if path else ("ballot", "", f"{self.server.page}.html")
        found = page_file(folder, name) if folder in _FOLDERS else None
        if found is None or (path and name.endswith(".html")):
            raise _Refused(HTTPStatus.NOT_FOUND, "no such page")
        kind, data = found
        return kind, data if path else data.replace(b"$token", self.server.token.encode())

    def _posted(self, path: str) -> tuple[str, bytes]:
        origin = self.headers.get("Origin", f"http://{self.headers['Host']}")
        if not _same(self.headers.get("X-Assay-Token", ""), self.server.token) or origin not in (
            f"http://{host}" for host in self.server.hosts
        ):
            raise _Refused(HTTPStatus.FORBIDDEN, "not from the page: load it again")
        given = self._body()
        if path == "finish":
            self._is_last = True
            return _JSON, json.dumps(self.server.ballot.finish()).encode()
        if path != "vote":
            raise _Refused(HTTPStatus.NOT_FOUND, "no such page")
        self.server.ballot.take(given)
        return _JSON, self._state(None)

    def _state(self, at: int | None) -> bytes:
        told = self.server.ballot.item_to_show(at)
        if told["item"] and "code" in told["item"]:
            told["item"]["styled"] = styled(told["item"]["code"], told["item"]["language"] or "python")
        return json.dumps(told).encode()

    def _body(self) -> dict[str, Any]:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or self.headers.get("Transfer-Encoding"):
            raise _Refused(HTTPStatus.LENGTH_REQUIRED, "wanted a Content-Length")
        if len(length) > 9 or int(length) > LONGEST_BODY:
            raise _Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {LONGEST_BODY} bytes")
        try:
            given = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError) as error:
            raise _Refused(HTTPStatus.BAD_REQUEST, "no JSON") from error
        if not isinstance(given, dict):
            raise _Refused(HTTPStatus.BAD_REQUEST, "wanted a JSON object")
        return given

    def _reply_with(self, answer: Any) -> None:
        try:
            kind, body = answer(self._path_below_key())
            self._send(HTTPStatus.OK, kind, body)
        except _Refused as no:
            self._sent_error(no.status, str(no))
        except InputError as error:
            self._sent_error(HTTPStatus.BAD_REQUEST, str(error))
        except AssayError as error:
            self._sent_error(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))

    def _sent_error(self, status: HTTPStatus, what: str) -> None:
        self._send(status, _JSON, json.dumps({"error": what}).encode())

    def _path_below_key(self) -> str:
        """Return what is asked for below the key."""
        if self.headers.get("Host") not in self.server.hosts:
            raise _Refused(HTTPStatus.MISDIRECTED_REQUEST, "another host")
        begin, _, path = self.path.partition("?")[0].removeprefix("/").partition("/")
        if not _same(begin, self.server.key) or not self.path.startswith(f"/{self.server.key}/"):
            raise _Refused(HTTPStatus.NOT_FOUND, "no such page")
        return path

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        told = {"Content-Type": kind, "Content-Length": str(len(body))}
        for name, value in {**told, **self.always}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _same(given: str, wanted: str) -> bool:
    return compare_digest(given.encode("utf-8", "replace"), wanted.encode())
