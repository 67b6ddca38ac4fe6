"""The network under an HTTP client in, the same network out, no call of which outlasts its thread's deadline.

Time-outs of HTTP libraries hold for one read; a server that sends a byte now and then, of its headers too, would never
be late. Here every read has what is left of the whole request.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_ends = threading.local()


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Let what this thread does with the network take so long in all, or raise TimeoutError."""
    _ends.at = time.monotonic() + seconds
    try:
        yield
    finally:
        del _ends.at


def time_left(timeout_s: float | None = None) -> float | None:
    """Return the time-out of the next call."""
    at: float | None = getattr(_ends, "at", None)
    if at is None:
        return timeout_s
    left_s = at - time.monotonic()
    if left_s <= 0:
        raise TimeoutError
    return left_s if timeout_s is None else min(left_s, timeout_s)


class DeadlineNetwork:
    """Opens connections as `inner` does; the names are those of httpcore's network backends."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **more: Any) -> _Stream:
        """Connect to a port."""
        return _Stream(self._inner.connect_tcp(host, port, time_left(timeout), **more))

    def connect_unix_socket(self, path: str, timeout: float | None = None, **more: Any) -> _Stream:
        """Connect to a socket in a folder."""
        return _Stream(self._inner.connect_unix_socket(path, time_left(timeout), **more))


class _Stream:
    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.close = inner.close
        self.get_extra_info = inner.get_extra_info

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        found: bytes = self._inner.read(max_bytes, time_left(timeout))
        return found

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, time_left(timeout))

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> _Stream:
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, time_left(timeout)))
