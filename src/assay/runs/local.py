"""Run items on the workers and threads of this machine, and return the result of each.

A place of work takes tickets while there is room, and puts back what its dead workers held. No more items are taken
than may wait for an earlier one: what makes them is asked no faster than their ends can be used.

For work that waits, such as for an endpoint; the consumer alone writes files. No more items are taken than may be under
way or waiting, and what was begun is finished and heard, also where the consumer wants no more: it may be paid for.
Ctrl-C ends it between steps.

The one seam for places of work is `assay.protocols.Runner`. Here are the two for one machine. A `LocalRunner` belongs
to one thread and hands items to a few workers. A `SharedRunner` takes items from many threads; each of a few threads of
its own has a runner. What is to be done is said by values alone, so that another place can stand behind the same seam;
files are written by whoever started the command, and nowhere else.
"""

from __future__ import annotations

import selectors
from abc import ABC, abstractmethod
from collections import OrderedDict, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from copy import copy
from dataclasses import dataclass
from threading import local
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

from assay.io.requests_in_flight import interruptible, is_interrupted

if TYPE_CHECKING:
    from assay.protocols import Runner


Work = TypeVar("Work")
End = TypeVar("End")

MAX_WAITING = 256
"""Ends that may wait for an earlier item before no further one is begun, for each worker."""


@dataclass(slots=True)
class Ticket(Generic[Work]):
    """An item in work: its place in the order, and how many workers died of it."""

    number: int
    job: Work
    tries: int = 0


class TicketQueue(Generic[Work, End]):
    """A queue of the remaining items, and of results that wait for their turn."""

    def __init__(self, jobs: Iterable[Work], most_waiting: int) -> None:
        self.most_waiting = most_waiting
        self._fresh = enumerate(jobs)
        self._again: deque[Ticket[Work]] = deque()
        self._ended: dict[int, End] = {}
        self._yielded = self._taken_count = 0

    def next(self) -> Ticket[Work] | None:
        """Return the next item; None if there is none now."""
        if self._again:
            return self._again.popleft()
        if self._taken_count - self._yielded >= self.most_waiting:
            return None
        for number, job in self._fresh:
            self._taken_count += 1
            return Ticket(number, job)
        return None

    def put_back(self, tickets: Sequence[Ticket[Work]]) -> None:
        """Take unfinished items back: they are the next ones, in this order."""
        self._again.extendleft(reversed(tickets))

    def end(self, ticket: Ticket[Work], ended: End) -> None:
        """Store the result of an item."""
        self._ended[ticket.number] = ended

    def ready(self) -> Iterator[End]:
        """Yield the results that are next in the order of the items, as far as they are complete."""
        while self._yielded in self._ended:
            self._yielded += 1
            yield self._ended.pop(self._yielded - 1)


def in_flight(
    do: Callable[[Work], End],
    items: Iterable[Work],
    threads: int,
    *,
    ahead: int = 1,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Generator[Future[End], None, None]:
    """Yield the result of each item as it completes; `ahead` items are taken for each thread.

    Once `is_stopped` says so, nothing more is begun. Close it where an exception may end its use. After Ctrl-C it
    raises KeyboardInterrupt when the steps under way have ended; what was asked of a service is dropped.
    """
    pool = ThreadPoolExecutor(threads, "in-flight")
    running: set[Future[End]] = set()
    with interruptible():
        try:
            for item in items:
                running.add(pool.submit(do, item))
                if len(running) >= threads * ahead:
                    yield from _ended(running)
                if is_stopped() or is_interrupted():
                    break
            while running:
                if is_stopped() or is_interrupted():
                    running -= {future for future in running if future.cancel()}
                yield from _ended(running)
        finally:
            pool.shutdown(cancel_futures=True)


def _ended(running: set[Future[End]]) -> Iterator[Future[End]]:
    """Wait for a future to complete, if there is any, and remove all that did."""
    done = set[Future[End]]()
    while running and not done:  # with a limit: a signal that came just before the wait would be heard only after it
        done = wait(running, 1.0, FIRST_COMPLETED).done
    for future in done:
        running.remove(future)
        yield future


End_co = TypeVar("End_co", covariant=True)

AHEAD = 2
"""Items that a worker holds, so that it never waits for the next one."""
_TRIES = 2
_MAX_OPEN_RUNNERS = 4
"""Runners that a thread keeps open; a sleeping cage takes some 20 MB."""


class PoolWorker(Protocol[Work, End_co]):
    """A worker process that runs items one after another; it starts on demand, and again after it died."""

    @property
    def is_busy(self) -> bool:
        """Whether it has items to do."""

    @property
    def has_room(self) -> bool:
        """Whether it takes more."""

    @property
    def overdue_in_s(self) -> float:
        """Seconds until it counts as dead."""

    @property
    def process(self) -> int:
        """The process to end it by; 0 if it is dead."""

    def fileno(self) -> int:
        """Return the descriptor to wait for; negative if it is dead."""

    def give(self, ticket: Ticket[Work]) -> None:
        """Take an item."""

    def collect(self) -> tuple[Ticket[Work], End_co] | None:
        """Return a finished item with its result; None without one, or if it died."""

    def kill(self) -> list[Ticket[Work]]:
        """Kill it; return its items, of which the first was running."""

    def broken(self, job: Work, detail: str) -> End_co:
        """Return the result of an item that no worker survives."""


class ClosedAtEnd(ABC):
    """A context manager that closes itself."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """End it."""


class LocalRunner(ClosedAtEnd, Generic[Work, End]):
    """Run items on workers of one kind; close it when done, or use it in a `with`."""

    def __init__(self, name: str, workers: Sequence[PoolWorker[Work, End]], guarantees: tuple[str, ...] = ()) -> None:
        self.name, self.guarantees = name, guarantees
        self._workers = workers

    def run(self, jobs: Iterable[Work]) -> Iterator[End]:
        """Yield the result of each item, in their order; items are taken only as fast as they are worked on."""
        queue = TicketQueue[Work, End](jobs, MAX_WAITING * len(self._workers))
        try:
            while True:
                self._hand_out(queue)
                yield from queue.ready()
                self._hand_out(queue)  # where a slow item held up all others, there was no room before
                if not any(worker.is_busy for worker in self._workers):
                    return
                self._wait(queue)
        finally:
            for worker in self._workers:
                if worker.is_busy:
                    worker.kill()

    def processes(self) -> list[int]:
        """Return the process of each living worker."""
        return [worker.process for worker in self._workers if worker.process]

    def close(self) -> None:
        """End all workers."""
        for worker in self._workers:
            worker.kill()

    def _hand_out(self, queue: TicketQueue[Work, End]) -> None:
        """Give items to workers, the least busy first."""
        for _ in range(AHEAD):
            for worker in self._workers:
                if worker.has_room and (ticket := queue.next()):
                    worker.give(ticket)

    def _wait(self, queue: TicketQueue[Work, End]) -> None:
        """Wait until an item has ended."""
        with selectors.DefaultSelector() as waiting:
            for worker in self._workers:
                if worker.is_busy and worker.fileno() >= 0:
                    waiting.register(worker, selectors.EVENT_READ)
            patience = max(0.0, min(worker.overdue_in_s for worker in self._workers))
            ready = [key.fileobj for key, _ in waiting.select(patience)]
        for worker in self._workers:
            if worker in ready and (ended := worker.collect()):
                queue.end(*ended)
            elif worker in ready or worker.overdue_in_s <= 0 or (worker.is_busy and worker.fileno() < 0):
                _lose(queue, worker)


def _lose(queue: TicketQueue[Work, End], worker: PoolWorker[Work, End]) -> None:
    """Take back the items of a dead worker; the running one gets a second try, in case another item was at fault."""
    tickets = worker.kill()
    if tickets:
        tickets[0].tries += 1
        if tickets[0].tries == _TRIES:
            ticket = tickets.pop(0)
            queue.end(ticket, worker.broken(ticket.job, f"its cage died {_TRIES} times"))
    queue.put_back(tickets)


class SharedRunner(ClosedAtEnd, Generic[Work, End]):
    """Run items on threads with one runner each; `open_runner` opens one for folders to import from.

    A runner belongs to one thread, and a worker that waits for something slow holds up nobody else's. Work that needs
    other folders gets runners of its own; a thread keeps the few that it used last.
    """

    def __init__(
        self,
        open_runner: Callable[[Sequence[str]], Runner[Work, End]],
        threads: int,
        name: str = "",
        guarantees: tuple[str, ...] = (),
    ) -> None:
        self.name, self.guarantees = name, guarantees
        self._open_runner = open_runner
        self._threads = ThreadPoolExecutor(threads, "runner")
        self._own = local()
        self._all: list[OrderedDict[tuple[str, ...], Runner[Work, End]]] = []
        self._folders: tuple[str, ...] = ()

    def run(self, jobs: Iterable[Work]) -> Iterator[End]:
        """Return the results of some items, which one thread runs one after another."""
        return iter(self._threads.submit(self._run, list(jobs)).result())

    def importing(self, folders: Sequence[str]) -> Runner[Work, End]:
        """Return these threads for work that imports from folders; closing it closes all."""
        shared = copy(self)
        shared._folders = tuple(folders)  # noqa: SLF001  it is one of its own
        return shared

    def close(self) -> None:
        """End all runners, after the items that are running."""
        self._threads.shutdown(cancel_futures=True)
        for kept in self._all:
            for runner in kept.values():
                runner.close()

    def _run(self, jobs: Sequence[Work]) -> list[End]:
        kept: OrderedDict[tuple[str, ...], Runner[Work, End]] | None = getattr(self._own, "runners", None)
        if kept is None:
            kept = self._own.runners = OrderedDict()
            self._all.append(kept)
        if self._folders not in kept:
            while len(kept) >= _MAX_OPEN_RUNNERS:
                kept.popitem(last=False)[1].close()
            kept[self._folders] = self._open_runner(self._folders)
        kept.move_to_end(self._folders)
        return list(kept[self._folders].run(jobs))
