"""An application to a server that listens, and stops when it is told to: what runs is finished first, for a while."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from assay.serve.http.accepting import Acceptor, Alone, Balance
from assay.serve.http.guard import App, error_json

STOP_S = 5
"""How long running requests may take when the server is to stop."""
FINISH_S = 130
"""The same when others take its place: longer than any request may take."""
_LONGEST_HEAD = 256 * 1024
"""Bytes of a request's head; an address that is too long still gets its answer."""


class _Server(uvicorn.Server):  # type: ignore[misc]  # it is Any
    """A server whose end on a signal is an ordinary one."""

    def __init__(
        self, config: uvicorn.Config, listener: socket.socket, balance: Balance, ready: Callable[[], object]
    ) -> None:
        super().__init__(config)
        self._listener, self._balance, self._ready = listener, balance, ready
        self._acceptor: Acceptor | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept: by ourselves, for asyncio would take all connections that wait at once."""
        await super().startup(sockets)
        connection = partial(
            self.config.http_protocol_class,
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )
        self._acceptor = Acceptor(self._listener, connection, lambda: len(self.server_state.connections), self._balance)
        self._acceptor.start()
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more, and finish what runs."""
        assert self._acceptor is not None
        self._acceptor.close()
        self._listener.close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on the signals that ask for it."""
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        if self.config.http is _Patient:
            before[signal.SIGHUP] = signal.signal(signal.SIGHUP, self._finish)
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop soon, also where all the time was given before."""
        if self.should_exit and sig == signal.SIGTERM:
            loop = asyncio.get_running_loop()
            loop.call_soon_threadsafe(loop.call_later, STOP_S, setattr, self, "force_exit", True)
        super().handle_exit(sig, frame)

    def _finish(self, sig: int, frame: FrameType | None) -> None:
        """Stop once everything is answered."""
        if not self.should_exit:
            self.config.timeout_graceful_shutdown = FINISH_S
            self.handle_exit(sig, frame)


class Protocol(H11Protocol):  # type: ignore[misc]  # the same
    """HTTP whose answer to what is none is JSON, as all others are, and that hangs up on whoever takes too long."""

    head_s = 10.0
    """Within which a head has to be there: whoever only holds connections would soon hold all that there can be."""
    answer_s = 120.0
    """From a head to the end of its answer, which somebody has to read; body and work take half of that at most."""
    idle_s = 0.0
    """How long a connection without a request stays when the server stops: one that is on its way is then answered."""
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

    def shutdown(self) -> None:
        """End the connection with the answer that it waits for, or after a while in which a request may come."""
        if self.idle_s and (self.cycle is None or self.cycle.response_complete):
            self.loop.call_later(self.idle_s, super().shutdown)
        else:
            super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._due.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  as uvicorn calls it
        """Answer what is no HTTP, and hang up."""
        body = error_json("this is no HTTP request, or its head is too large")
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        head = h11.Response(status_code=400, headers=[*headers, (b"connection", b"close")])
        for event in (head, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class _Patient(Protocol):
    """The same in one of several processes: another one answers those who connect again."""

    idle_s = 1.0


def run(
    app_of: Callable[[Callable[[], bool]], App],
    listener: socket.socket,
    *,
    ready: Callable[[], object] = lambda: None,
    lifespan: bool = False,
    balance: Balance | None = None,
) -> None:
    """Serve until a signal asks to stop; the application is made of what says whether one did.

    `ready` is called once connections are accepted. Where other processes accept from the same socket, `balance` says
    how many connections they have.
    """
    server: list[_Server] = []
    config = uvicorn.Config(
        app_of(partial(_is_stopping, server)),
        http=_Patient if balance else Protocol,
        ws="none",
        lifespan="on" if lifespan else "off",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=STOP_S,
        h11_max_incomplete_event_size=_LONGEST_HEAD,
    )
    server.append(_Server(config, listener, balance or Alone(), ready))
    asyncio.run(server[0].serve(sockets=[]))


def _is_stopping(server: list[_Server]) -> bool:
    return bool(server[0].should_exit)
