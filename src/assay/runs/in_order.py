"""Items to tickets, and what became of them back in the order of the items, whoever does them and in whatever order.

A place of work takes tickets while there is room, and puts back what its dead workers held. No more items are taken
than may wait for an earlier one: what makes them is asked no faster than their ends can be used.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Work = TypeVar("Work")
End = TypeVar("End")

MOST_WAITING = 256
"""Ends that may wait for an earlier item before no further one is begun, for each worker."""


@dataclass(slots=True)
class Ticket(Generic[Work]):
    """An item on its way: its place in the order, and how many workers died of it."""

    number: int
    job: Work
    tries: int = 0


class TicketQueue(Generic[Work, End]):
    """Which items are still to be done, and what waits for its turn to be yielded."""

    def __init__(self, jobs: Iterable[Work], most_waiting: int) -> None:
        self.most_waiting = most_waiting
        self._fresh = enumerate(jobs)
        self._again: deque[Ticket[Work]] = deque()
        self._ended: dict[int, End] = {}
        self._yielded = self._taken = 0

    def next(self) -> Ticket[Work] | None:
        """Return the next item, None where there is none for now."""
        if self._again:
            return self._again.popleft()
        if self._taken - self._yielded >= self.most_waiting:
            return None
        for number, job in self._fresh:
            self._taken += 1
            return Ticket(number, job)
        return None

    def put_back(self, tickets: Sequence[Ticket[Work]]) -> None:
        """Take items back that were not done: they are the next ones, in this order."""
        self._again.extendleft(reversed(tickets))

    def end(self, ticket: Ticket[Work], ended: End) -> None:
        """Note what became of an item."""
        self._ended[ticket.number] = ended

    def ready(self) -> Iterator[End]:
        """Yield what is next in the order of the items, as far as it is there."""
        while self._yielded in self._ended:
            self._yielded += 1
            yield self._ended.pop(self._yielded - 1)
