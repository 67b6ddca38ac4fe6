"""A listening socket to connections, spread evenly over the processes that accept from it.

Connections stay for many requests, so that a process which happened to take most of them would answer most requests
while the others rest. Whoever has more open ones than another process lets that one go first, for a moment.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable
from math import inf
from typing import Protocol

_PATIENCE_S = 0.1
"""How long another process may take to accept what it should."""
_AGAIN_S = 0.002
_FULL_S = 0.5
"""How long to wait where no more files can be opened."""
_TOO_MANY = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Balance(Protocol):
    """How many connections the processes of a server have open."""

    def note_open(self, count: float) -> None:
        """Say how many this one has; infinitely many: it takes no more."""

    def least_open(self) -> float:
        """Return how many the one has that has fewest."""


class Alone:
    """The balance of the only process."""

    def note_open(self, count: float) -> None:
        """Tell nobody."""

    def least_open(self) -> float:
        """Return as many as anybody could have."""
        return inf


class Acceptor:
    """Accepts connections on a socket that other processes may accept from, too."""

    def __init__(
        self,
        listener: socket.socket,
        protocol: Callable[[], asyncio.Protocol],
        count: Callable[[], int],
        balance: Balance,
    ) -> None:
        """Take a socket, what makes the protocol of a connection, and what says how many are open here."""
        self._listener, self._protocol, self._count, self._balance = listener, protocol, count, balance
        self._loop = asyncio.get_running_loop()
        self._waits: asyncio.TimerHandle | None = None
        self._since = 0.0
        self._tasks: set[asyncio.Task[object]] = set()

    def start(self) -> None:
        """Accept from now on."""
        self._balance.note_open(self._count())
        self._loop.add_reader(self._listener, self._ready)

    def close(self) -> None:
        """Accept no more; what waits is for the other processes."""
        self._balance.note_open(inf)
        self._loop.remove_reader(self._listener)
        if self._waits:
            self._waits.cancel()

    def _ready(self) -> None:
        """Accept one connection, or leave it to a process that has fewer."""
        count = self._count() + len(self._tasks)
        self._balance.note_open(count)
        now = self._loop.time()
        self._since = self._since if now - self._since < 2 * _PATIENCE_S else now
        if count > self._balance.least_open() and now - self._since < _PATIENCE_S:
            self._rest(_AGAIN_S)
            return
        try:
            line, _ = self._listener.accept()
        except OSError as error:
            if error.errno in _TOO_MANY:
                self._rest(_FULL_S)
            return  # else another process was first, or the client is gone
        line.setblocking(False)
        task: asyncio.Task[object] = self._loop.create_task(self._begin(line))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _rest(self, seconds: float) -> None:
        self._loop.remove_reader(self._listener)
        self._waits = self._loop.call_later(seconds, self._look_again)

    def _look_again(self) -> None:
        self._waits = None
        self._loop.add_reader(self._listener, self._ready)

    async def _begin(self, line: socket.socket) -> None:
        await self._loop.connect_accepted_socket(self._protocol, line)
