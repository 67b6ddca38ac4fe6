"""Answer on a few threads, and let searches that only compute follow one another, each as fast as it can be.

The interpreter runs one thread at a time. Threads that rank side by side hand it to one another at every array, and
together answer a quarter fewer questions than one alone. What waits for somebody else, a reranker or a model of the
encoder's, takes no turn, nor does what reads every text for a quoted one.

Threads are daemons, so that a server that has to stop does not wait for a search. Work that takes too long keeps its
thread to the end, for nothing can stop it; the others go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeVar

from assay.errors import AssayError
from assay.operations.indexes import is_quick
from assay.operations.workspace import JointSearch
from assay.values import Query

Answer = TypeVar("Answer")
_turn = Lock()


def turn(searches: Sequence[JointSearch], queries: Sequence[Query]) -> AbstractContextManager[object]:
    """Return what to search in: a turn, or nothing where it would be kept for long."""
    settings = [search.members[0].settings for search in searches]
    only_compute = all(not each.search.reranker and is_quick(each.encoder.spec) for each in settings)
    return _turn if only_compute and not any(query.reads_text for query in queries) else nullcontext()


class Busy(AssayError):
    """The server cannot answer now; the same question may be answered later."""


class AnswerThreads:
    """Threads that answer, and a queue before them."""

    def __init__(self, *, most: int = 8, waiting: int = 128, deadline_s: float = 30.0) -> None:
        self._most, self._waiting, self._deadline_s = most, waiting, deadline_s
        self._queue: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        self._lock, self._held = Lock(), 0
        for number in range(most):
            Thread(target=self._run, name=f"answer {number}", daemon=True).start()

    async def do(self, work: Callable[[], Answer]) -> Answer:
        """Return what work returns; raise `Busy` where too many wait or it takes too long."""
        future: Future[Answer] = Future()
        with self._lock:
            if self._held >= self._most + self._waiting:
                raise Busy(f"{self._waiting} requests are waiting already; ask again in a moment")
            self._held += 1
        future.add_done_callback(self._leave)
        self._queue.put((future, work))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._deadline_s)
        except TimeoutError:
            raise Busy(f"no answer within {self._deadline_s:g} seconds; ask for less, or again later") from None

    def _leave(self, _future: Future[Any]) -> None:
        with self._lock:
            self._held -= 1

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
