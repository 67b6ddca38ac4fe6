"""Run requests on a few threads with a limit of waiting time.

Threads are daemons, so that a server that has to stop does not wait for a search. Work that takes too long keeps its
thread to the end, for nothing can stop it; the others go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeVar

from assay.errors import AssayError

Answer = TypeVar("Answer")


class Busy(AssayError):
    """The server cannot answer now; the same question may be answered later."""


class AnswerThreads:
    """Threads that answer, and their queue."""

    def __init__(self, *, most: int = 8, waiting: int = 128, deadline_s: float = 30.0) -> None:
        self._most, self._waiting, self._deadline_s = most, waiting, deadline_s
        self._queue: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        self._lock, self._pending = Lock(), 0
        for number in range(most):
            Thread(target=self._run, name=f"answer {number}", daemon=True).start()

    async def do(self, work: Callable[[], Answer]) -> Answer:
        """Run work on a thread and return its result; raise `Busy` if too many wait or it takes too long."""
        future: Future[Answer] = Future()
        with self._lock:
            if self._pending >= self._most + self._waiting:
                raise Busy(f"{self._waiting} requests are waiting already; ask again in a moment")
            self._pending += 1
        future.add_done_callback(self._leave)
        self._queue.put((future, work))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._deadline_s)
        except TimeoutError:
            raise Busy(f"no answer within {self._deadline_s:g} seconds; ask for less, or again later") from None

    def _leave(self, _future: Future[Any]) -> None:
        with self._lock:
            self._pending -= 1

    def _run(self) -> None:
        while True:
            future, work = self._queue.get()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001  it is raised where it was asked
                future.set_exception(error)
            del future, work
