"""An application to a server that listens, and stops when it is told to: what runs is finished first, for a while."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from secrets import token_urlsafe

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from assay.errors import InputError
from assay.serve.http.guard import AccessRules, App
from assay.serve.http.json_response import refusal

_TOKEN = re.compile(r"[A-Za-z0-9._~-]{16,200}")
STOP_S = 5
"""How long running requests may take when the server is to stop."""
_LONGEST_HEAD = 256 * 1024
"""Bytes of a request's head; an address that is too long still gets its answer."""


class _Server(uvicorn.Server):  # type: ignore[misc]  # it is Any
    """A server whose end on a signal is an ordinary one."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on the signals that ask for it."""
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


class Protocol(H11Protocol):  # type: ignore[misc]  # the same
    """HTTP whose answer to what is none is JSON, as all others are, and that hangs up on whoever takes too long."""

    head_s = 10.0
    """Within which a head has to be there: whoever only holds connections would soon hold all that there can be."""
    answer_s = 120.0
    """From a head to the end of its answer, which somebody has to read; body and work take half of that at most."""
    _due: asyncio.TimerHandle
    _asked: object = None
    """The request that is being answered; None while a head is to come."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to wait for a head."""
        super().connection_made(transport)
        self._due = self.loop.call_later(self.head_s, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Take what came, and wait anew where a request began with it or none is being answered any more."""
        super().data_received(data)
        asked = self.cycle if self.cycle is not None and not self.cycle.response_complete else None
        if asked is not self._asked:
            self._asked = asked
            self._due.cancel()
            self._due = self.loop.call_later(self.answer_s if asked else self.head_s, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._due.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  as uvicorn calls it
        """Answer what is no HTTP, and hang up."""
        answer = refusal(400, "this is no HTTP request, or its head is too large")
        headers = [*answer.raw_headers, (b"connection", b"close")]
        for event in (h11.Response(status_code=400, headers=headers), h11.Data(data=answer.body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


def is_loopback(made: socket.socket) -> bool:
    """Say whether only this machine reaches a socket."""
    return ip_address(made.getsockname()[0].partition("%")[0]).is_loopback


def address_of(made: socket.socket, host: str) -> str:
    """Return where a browser finds what listens; for any address of this machine by the machine's name."""
    address, port = made.getsockname()[:2]
    name = socket.gethostname() if ip_address(address.partition("%")[0]).is_unspecified else host
    return f"http://{f'[{name}]' if ':' in name else name}:{port}/"


def rules_of(made: socket.socket, host: str, token: str) -> AccessRules:
    """Return who may ask a socket that was made for a host; others need a token, made where none is given."""
    names = {host.lower(), "localhost"}
    if is_loopback(made):
        return AccessRules(made.getsockname()[1], frozenset((*names, "127.0.0.1", "[::1]")))
    if token and not _TOKEN.fullmatch(token):
        raise InputError("ASSAY_TOKEN is no token: wanted 16 or more of letters, digits, '-', '.', '_' and '~'")
    names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
    return AccessRules(made.getsockname()[1], frozenset(names), token or token_urlsafe(24), loopback=False)


def run(app: App, made: socket.socket) -> None:
    """Serve until a signal asks to stop."""
    config = uvicorn.Config(
        app,
        http=Protocol,
        ws="none",
        lifespan="off",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=STOP_S,
        h11_max_incomplete_event_size=_LONGEST_HEAD,
    )
    asyncio.run(_Server(config).serve(sockets=[made]))
