"""A crew behind the seam for places of work: for one thread in the order of the items, or for many threads at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from threading import Condition, Thread
from types import TracebackType
from typing import Generic, Self, TypeVar

from assay.runs.crew import Crew
from assay.runs.in_order import MOST_WAITING, Ticket, TicketQueue

Work = TypeVar("Work")
End = TypeVar("End")

_LOOK_S = 0.05
"""How soon what a thread hands in is seen while others wait for their ends."""


class CrewRunner(Generic[Work, End]):
    """A crew that belongs to one thread; close it when done, or use it in a `with`."""

    def __init__(self, name: str, crew: Crew[Work, End], guarantees: tuple[str, ...] = ()) -> None:
        self.name, self.guarantees = name, guarantees
        self._crew = crew

    def run(self, jobs: Iterable[Work]) -> Iterator[End]:
        """Yield what became of each item, in their order; no more are taken than can be worked on."""
        queue = TicketQueue[Work, End](jobs, MOST_WAITING)
        try:
            while (ended := self._crew.step(queue.next)) is not None:
                for ticket, end in ended:
                    queue.end(ticket, end)
                yield from queue.ready()
                queue.most_waiting = MOST_WAITING * max(1, self._crew.size)
        finally:
            self._crew.forget()

    def close(self) -> None:
        """End all workers."""
        self._crew.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class SharedCrewRunner(Generic[Work, End]):
    """A crew that takes items from many threads; one of its own works with it, and no thread waits for another's."""

    def __init__(self, name: str, crew: Crew[Work, End], guarantees: tuple[str, ...] = ()) -> None:
        self.name, self.guarantees = name, guarantees
        self._crew = crew
        self._waiting: deque[Ticket[Work]] = deque()
        self._promised: dict[int, Future[End]] = {}
        self._taken = 0
        self._failure: BaseException | None = None
        self._is_closing = False
        self._changed = Condition()
        self._thread = Thread(target=self._work, name="crew", daemon=True)
        self._thread.start()

    def run(self, jobs: Iterable[Work]) -> Iterator[End]:
        """Return what became of some items, once all have ended."""
        promised = [self._submit(job) for job in jobs]
        return iter([each.result() for each in promised])

    def close(self) -> None:
        """End all workers."""
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        self._thread.join()
        self._crew.close()

    def _submit(self, job: Work) -> Future[End]:
        with self._changed:
            if self._failure:
                raise self._failure
            promise = Future[End]()
            self._promised[self._taken] = promise
            self._waiting.append(Ticket(self._taken, job))
            self._taken += 1
            self._changed.notify()
        return promise

    def _take(self) -> Ticket[Work] | None:
        with self._changed:
            return self._waiting.popleft() if self._waiting else None

    def _work(self) -> None:
        try:
            while self._has_work():
                for ticket, end in self._crew.step(self._take, _LOOK_S) or ():
                    self._promised.pop(ticket.number).set_result(end)
        except BaseException as error:  # noqa: BLE001  whoever waits raises it
            self._fail(error)

    def _has_work(self) -> bool:
        """Wait for something to do; say whether there will be."""
        with self._changed:
            self._changed.wait_for(lambda: self._promised or self._is_closing)
            return not self._is_closing

    def _fail(self, error: BaseException) -> None:
        """Say to all that wait, and all that come, why nothing is done any more."""
        with self._changed:
            self._failure = error
            promised = list(self._promised.values())
            self._promised.clear()
        for promise in promised:
            promise.set_exception(error)
