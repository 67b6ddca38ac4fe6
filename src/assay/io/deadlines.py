"""Give a whole HTTP request one deadline, on top of httpcore.

Time-outs of HTTP libraries hold for one read; a server that sends a byte now and then, of its headers too, would never
be late. Here every read has what is left of the whole request.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from functools import partial
from typing import Any

import httpcore

from assay.io.requests_in_flight import LOOK_S, go_on

CONNECT_S = 10.0
"""Within which somebody has to take a connection."""

_ends = threading.local()


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Limit the total network time of this thread in the block; raise TimeoutError when it is over."""
    _ends.at = time.monotonic() + seconds
    try:
        yield
    finally:
        del _ends.at


def time_left(timeout_s: float | None = None) -> float | None:
    """Return the timeout of the next call."""
    at: float | None = getattr(_ends, "at", None)
    if at is None:
        return timeout_s
    left_s = at - time.monotonic()
    if left_s <= 0:
        raise TimeoutError
    return left_s if timeout_s is None else min(left_s, timeout_s)


class DeadlineNetwork(httpcore.SyncBackend):
    """A network backend whose calls end at their thread's deadline."""

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, *rest: Any, **more: Any) -> Any:
        """Connect to a host before the deadline."""
        limit_s = min(time_left(timeout) or CONNECT_S, CONNECT_S)
        return _DeadlineStream(_watched(partial(super().connect_tcp, host, port, limit_s, *rest, **more), limit_s))


def _watched(open_stream: Callable[[], httpcore.NetworkStream], limit_s: float) -> httpcore.NetworkStream:
    """Open a connection in time and check for Ctrl-C, both of which name look-ups and handshakes ignore."""
    opened = Future[httpcore.NetworkStream]()

    def run() -> None:
        try:
            opened.set_result(open_stream())
        except BaseException as error:  # noqa: BLE001  it is raised where somebody waits
            opened.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    end, is_heard = time.monotonic() + limit_s, False
    try:
        while not wait([opened], min(LOOK_S, max(0.0, end - time.monotonic()))).done:
            go_on()
            if time.monotonic() >= end:
                raise httpcore.ConnectTimeout
        is_heard = True
        return opened.result()
    finally:
        if not is_heard:
            opened.add_done_callback(_close)


def _close(opened: Future[httpcore.NetworkStream]) -> None:
    """Close a connection that opened after the caller gave up."""
    if not opened.exception():
        opened.result().close()


class _DeadlineStream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read, checking for Ctrl-C, which abandons the answer."""
        while True:
            go_on()
            left_s = time_left(timeout)
            try:
                return self._inner.read(max_bytes, LOOK_S if left_s is None else min(left_s, LOOK_S))
            except httpcore.ReadTimeout:
                if left_s is not None and left_s <= LOOK_S:
                    raise

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, time_left(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> _DeadlineStream:
        limit_s = min(time_left(timeout) or CONNECT_S, CONNECT_S)
        return _DeadlineStream(_watched(partial(self._inner.start_tls, ssl_context, server_hostname, limit_s), limit_s))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
