"""Jobs in, how each ended out, in the order of the jobs: a few cages, and no thread.

A cage that dies is started again. Its job gets a second try, in case another one was to blame, and is broken after it.
"""

from __future__ import annotations

import selectors
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Self

from assay.sandbox.cage import AHEAD, Cage, Plan, Ticket
from assay.sandbox.limits import Ended, Job

_TRIES = 2
_WAITING = 256
"""Ends that may wait for an earlier job before no further job is begun, for each cage."""

Heard = Callable[[Ended], object]


class Sandbox:
    """Some cages of one kind; close it when done, or use it in a `with`."""

    def __init__(self, plan: Plan, workers: int, guarantees: tuple[str, ...] = ()) -> None:
        self.name = plan.kind
        self.guarantees = guarantees
        self._cages = [_cage(plan) for _ in range(workers)]

    def run(self, jobs: Iterable[Job], on_result: Heard | None = None) -> Iterator[Ended]:
        """Yield the end of each job in the order of the jobs; `on_result` hears of each as it comes."""
        batch = _Batch(jobs, _WAITING * len(self._cages))
        try:
            while True:
                self._hand_out(batch)
                yield from batch.ready()
                if not any(cage.held for cage in self._cages):
                    return
                for ended in self._wait(batch):
                    if on_result:
                        on_result(ended)
        finally:
            for cage in self._cages:
                if cage.held:
                    cage.kill()

    def processes(self) -> list[int]:
        """Return the process that holds each living cage."""
        return [cage.process for cage in self._cages if cage.process]

    def close(self) -> None:
        """End all cages."""
        for cage in self._cages:
            cage.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _hand_out(self, batch: _Batch) -> None:
        """Give jobs to cages, the least busy first, which start when they must."""
        for _ in range(AHEAD):
            for cage in self._cages:
                if cage.has_room and (ticket := batch.next()):
                    cage.give(ticket)

    def _wait(self, batch: _Batch) -> list[Ended]:
        """Wait until something has ended; return what."""
        with selectors.DefaultSelector() as waiting:
            for cage in self._cages:
                if cage.held and cage.fileno() >= 0:
                    waiting.register(cage, selectors.EVENT_READ)
            patience = max(0.0, min(cage.overdue_in_s for cage in self._cages))
            ready = [key.fileobj for key, _ in waiting.select(patience)]
        heard: list[Ended] = []
        for cage in self._cages:
            if cage in ready and (ended := cage.collect()):
                heard.append(batch.end(*ended))
            elif cage in ready or cage.overdue_in_s <= 0 or (cage.held and cage.fileno() < 0):
                heard += batch.lose(cage.kill())
        return heard


def _cage(plan: Plan) -> Cage:
    if plan.kind == "container":
        from assay.sandbox.container import ContainerCage

        return ContainerCage(plan)
    return Cage(plan)


class _Batch:
    """Which jobs are still to run, and what waits for its turn to be told."""

    def __init__(self, jobs: Iterable[Job], most_waiting: int) -> None:
        self._fresh = enumerate(jobs)
        self._again: deque[Ticket] = deque()
        self._ended: dict[int, Ended] = {}
        self._told = self._taken = 0
        self._most_waiting = most_waiting

    def next(self) -> Ticket | None:
        """Return the next job to run, None where there is none for now."""
        if self._again:
            return self._again.popleft()
        if self._taken - self._told >= self._most_waiting:
            return None
        for number, job in self._fresh:
            self._taken += 1
            return Ticket(number, job)
        return None

    def end(self, ticket: Ticket, ended: Ended) -> Ended:
        """Note how a job ended."""
        self._ended[ticket.number] = ended
        return ended

    def lose(self, tickets: list[Ticket]) -> list[Ended]:
        """Take back the jobs of a dead cage, of which the first was running; return those not to be tried again."""
        given_up = []
        for ticket in tickets[:1]:
            ticket.tries += 1
            if ticket.tries == _TRIES:
                detail = f"its cage died {_TRIES} times"
                given_up = [self.end(ticket, Ended(ticket.job.id, ended="broken", detail=detail))]
        self._again.extendleft(reversed(tickets[len(given_up) :]))
        return given_up

    def ready(self) -> Iterator[Ended]:
        """Yield what is next in the order of the jobs, as far as it is there."""
        while self._told in self._ended:
            self._told += 1
            yield self._ended.pop(self._told - 1)
