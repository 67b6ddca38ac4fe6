"""Run an application with uvicorn: in one process, or in several beside one that writes indexes.

uvicorn replaces a worker that ends. On SIGHUP settings, folders and tokens are read again; where that fails, everything
goes on as before, else new workers take the place of the old ones, which finish what they answer.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, MutableSequence
from multiprocessing import get_context
from tempfile import TemporaryDirectory
from typing import Any

import h11
import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors import Multiprocess

from assay.errors import AssayError
from assay.io.processes import end_with
from assay.protocols import Say
from assay.serve.http.access import BACKLOG
from assay.serve.http.guard import error_json

Activity = MutableSequence[float]
"""The times of the last request and of the last check of all files: memory that all processes of a server share."""
STOP_S = 5
"""How long running requests may take when a process stops."""
_MAX_HEAD_BYTES = 256 * 1024
"""Bytes of a request's head; a URL that is too long still gets an answer."""
_START_S = 60
"""How long a worker may take to start, or not answer its supervisor, before it is replaced."""
_SPAWN = get_context("spawn")


class Protocol(H11Protocol):  # type: ignore[misc]  # the same
    """HTTP/1.1 with errors in JSON, which disconnects slow clients."""

    head_s = 10.0
    """Seconds in which a head has to arrive: otherwise clients could use up all connections by holding them."""
    answer_s = 120.0
    """Seconds from a head to the end of its answer, which the client has to read; body and work take half at most."""
    is_stopping = False
    """Whether connections end after the answer they wait for; for the whole process."""
    idle_s = 0.0
    """How long a connection without a request stays when the server stops: one that is on its way is still answered."""
    _due: asyncio.TimerHandle
    _cycle: object = None
    """The request that is being answered; None while a head is expected."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Start the timer for a head."""
        super().connection_made(transport)
        self._due = self.loop.call_later(self.head_s, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Receive data; restart the timer if a request began with it or none is being answered any more."""
        super().data_received(data)
        cycle = self.cycle if self.cycle is not None and not self.cycle.response_complete else None
        if cycle is not self._cycle:
            self._cycle = cycle
            self._due.cancel()
            self._due = self.loop.call_later(self.answer_s if cycle else self.head_s, self.transport.abort)

    def shutdown(self) -> None:
        """Close the connection after the answer that it waits for, or after a time in which a request may arrive."""
        Protocol.is_stopping = True
        if self.idle_s and (self.cycle is None or self.cycle.response_complete):
            self.loop.call_later(self.idle_s, super().shutdown)
        else:
            super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timer."""
        self._due.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  as uvicorn calls it
        """Answer a request that is not HTTP, and disconnect."""
        body = error_json("not an HTTP request, or its headers are too large")
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        head = h11.Response(status_code=400, headers=[*headers, (b"connection", b"close")])
        for event in (head, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class _Patient(Protocol):
    """The protocol in one of several processes: another process answers new connections."""

    idle_s = 1.0


def run(app: Any, listener: socket.socket) -> None:
    """Serve an application in this process until a signal stops it."""
    server_of(app).run(sockets=[listener])


def server_of(app: Any) -> uvicorn.Server:
    """Return a server for this process whose run returns normally at a signal."""
    Protocol.is_stopping = False
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)  # uvicorn raises them again once it has stopped
    return uvicorn.Server(_config(app, Protocol))


class Workers(Multiprocess):  # type: ignore[misc]  # it is Any
    """Processes that answer, and one that writes indexes, until a signal stops them."""

    def __init__(
        self, plan: Callable[[Activity], tuple[Any, Any]], listener: socket.socket, workers: int, say: Say
    ) -> None:
        """Keep a plan, which reads the settings again and returns the makers of the application and of the writer.

        Both are called in processes of their own, so that they have to be picklable.
        """
        # multiprocessing starts with -c: a repository's files are not to be imported
        os.environ["PYTHONSAFEPATH"] = "1"
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ.setdefault(name, str(max(1, cores // workers)))
        self._activity: Activity = _SPAWN.RawArray("d", 2)
        self._plan, self._say = plan, say
        application, self._write = plan(self._activity)
        super().__init__(_config(application, _Patient, workers), [listener])

    def serve(self) -> int:
        """Run until a signal stops it or no worker can start; return the exit status."""
        with TemporaryDirectory(prefix="assay-figures-") as figures:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = figures
            self._writer = self._started_writer()
            try:
                self.run()
            finally:  # or the interpreter would wait for it
                self._end_writer()
        return 2 if any(each.exitcode == STARTUP_FAILURE for each in self.processes) else 0

    def keep_subprocess_alive(self) -> None:
        """Replace processes that ended."""
        self.sockets[0].listen(BACKLOG)  # a worker that starts sets its own: see _config
        before = [each.pid for each in self.processes]
        super().keep_subprocess_alive()
        for pid, each in zip(before, self.processes, strict=True):
            if each.pid != pid:
                self._say(f"the worker {pid} ended; another one was started")
        if not self.should_exit.is_set() and not self._writer.is_alive():
            self._say(f"the writer of the indexes ended with status {self._writer.exitcode}; another one was started")
            self._writer = self._started_writer()

    def handle_hup(self) -> None:
        """Read settings, folders and tokens again, and replace the processes by new ones."""
        try:
            application, self._write = self._plan(self._activity)
        except (AssayError, OSError) as error:
            self._say(f"{error}; nothing was reloaded")
            return
        self.config.app = application
        before = {each.pid for each in self.processes}
        self.restart_all()
        if before.isdisjoint(each.pid for each in self.processes):
            self._end_writer()
            self._writer = self._started_writer()
            self._say("reloaded: settings, folders and tokens were read again")

    def _started_writer(self) -> Any:
        """Start the writer of indexes; not as a daemon, as it forks for a large first index."""
        writer = _SPAWN.Process(target=_write, args=(self._write, self._activity, os.getpid()))
        writer.start()
        return writer

    def _end_writer(self) -> None:
        self._writer.terminate()
        self._writer.join()


def _write(write: Callable[[Activity], object], activity: Activity, parent: int) -> None:
    end_with(parent)
    os.setpgrp()  # Ctrl+C is for the parent, which ends this process
    write(activity)


def _config(app: Any, http: type[Protocol], workers: int | None = None) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=http,
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        factory=workers is not None,
        backlog=BACKLOG if workers is None else 1,  # so many are accepted at once: leave others some
        workers=workers,
        timeout_graceful_shutdown=STOP_S,
        timeout_worker_healthcheck=_START_S,
        h11_max_incomplete_event_size=_MAX_HEAD_BYTES,
    )
