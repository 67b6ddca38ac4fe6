"""Items in, what became of each out: the rules of a crew whose workers come and go.

A worker gets no item before it has said what it is, and none if it is another than wanted. A batch is a quarter of a
second long, and a worker holds two. At least once run, exactly once given back: a batch of a worker that was given up
goes to the next one under another number, and what comes of the old number is dropped. Three deaths, and its items run
one by one; three deaths of one item alone, and it is broken.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from assay.errors import InputError, WorkersLost
from assay.protocols import Say
from assay.runs.crew_log import CrewLog
from assay.runs.crew_place import About, CrewEvent, CrewPlace, Died, Finished, Joined, NamedWork, Refused
from assay.runs.in_order import Ticket
from assay.runs.local import AHEAD
from assay.settings import PATIENCE_S

Work = TypeVar("Work")
End = TypeVar("End")
_BATCH_S = 0.25
MOST_ITEMS = 64
"""Items of a batch."""
_DEATHS = 3
_LATEST = 0.2
"""What the latest batch counts for the length of the next."""


@dataclass(slots=True)
class _Batch(Generic[Work]):
    tickets: Sequence[Ticket[Work]]
    deaths: int = 0


@dataclass(slots=True)
class _Worker(Generic[Work]):
    machine: str
    held: dict[int, _Batch[Work]] = field(default_factory=dict)
    """By number; the first is running."""


class Crew(Generic[Work, End]):
    """The workers of a place and what they hold; `step` takes items and gives back what has ended."""

    def __init__(  # noqa: PLR0913  each is one thing
        self,
        place: CrewPlace,
        work: NamedWork[Work, End],
        expected: About | None = None,
        *,
        say: Say = lambda _: None,
        patience_s: float = PATIENCE_S,
        most_items: int = MOST_ITEMS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take what a worker has to say of itself; None is what the first one says."""
        self._place, self._work, self._expected = place, work, expected
        self._patience_s, self._most_items, self._clock = patience_s, most_items, clock
        self._workers: dict[Hashable, _Worker[Work]] = {}
        self._again: deque[_Batch[Work]] = deque()
        self._given = 0
        self._item_s = 0.0
        self._longest = 1
        self._alone_since = clock()
        self.log = CrewLog(say, clock)

    @property
    def size(self) -> int:
        """How many workers there are."""
        return len(self._workers)

    def step(
        self, take: Callable[[], Ticket[Work] | None], timeout_s: float = 1.0
    ) -> list[tuple[Ticket[Work], End]] | None:
        """Hand out what there is, wait for something to happen; return what has ended, None where nothing is left.

        Raises WorkersLost where there has been no worker for longer than the patience.
        """
        starting = self._place.recruit()
        self._hand_out(take)
        if not self._again and not any(worker.held for worker in self._workers.values()):
            return None
        ended: list[tuple[Ticket[Work], End]] = []
        for event in self._place.wait(timeout_s):
            ended += self._happened(event)
        self._check(starting)
        self.log.tell(len({worker.machine for worker in self._workers.values()}), len(self._workers))
        return ended

    def assemble(self) -> About:
        """Wait for the first worker, no longer than the patience; return what it says of itself."""
        while not self._workers:
            starting = self._place.recruit()
            for event in self._place.wait(1.0):
                self._happened(event)
            self._check(starting)
        return self._expected or {}

    def forget(self) -> None:
        """Let go of all that is on its way: what comes of it is dropped, and what is next may be longer."""
        self._item_s, self._longest = 0.0, 1
        self._again.clear()
        for worker in self._workers.values():
            worker.held.clear()

    def close(self) -> None:
        """End all workers."""
        self._place.close()
        self.log.close()

    def _hand_out(self, take: Callable[[], Ticket[Work] | None]) -> None:
        """Give batches to workers, the least busy first and what was lost before anything else."""
        for round_ in range(AHEAD):
            for name, worker in self._workers.items():
                if len(worker.held) <= round_ and (batch := self._next(take)):
                    self._give(name, worker, batch)
        if not self._again and not self._workers and (batch := self._next(take)):
            self._again.append(batch)

    def _next(self, take: Callable[[], Ticket[Work] | None]) -> _Batch[Work] | None:
        if self._again:
            return self._again.popleft()
        in_time = round(_BATCH_S / self._item_s) if self._item_s else 1
        most = max(1, min(self._most_items, self._longest, in_time))
        tickets: list[Ticket[Work]] = []
        while len(tickets) < most and (ticket := take()):
            tickets.append(ticket)
        return _Batch(tickets) if tickets else None

    def _give(self, name: Hashable, worker: _Worker[Work], batch: _Batch[Work]) -> None:
        self._given += 1
        worker.held[self._given] = batch
        self._place.give(name, self._given, [self._work.pack(ticket.job) for ticket in batch.tickets])

    def _happened(self, event: CrewEvent) -> list[tuple[Ticket[Work], End]]:
        match event:
            case Joined():
                self._join(event)
            case Finished():
                return self._finish(event)
            case Died():
                return self._lose(event)
            case Refused():
                self.log.refuse(event.machine, event.why)
        return []

    def _join(self, event: Joined) -> None:
        """Take a worker in, or name once what is wrong with its machine."""
        expected = event.about if self._expected is None else self._expected
        if why := _difference(event.about, expected):
            self.log.refuse(event.machine, why)
            self._place.dismiss(event.worker, machine_too=True)
            return
        self._expected = expected
        self._workers[event.worker] = _Worker(event.machine)
        self.log.join()

    def _finish(self, event: Finished) -> list[tuple[Ticket[Work], End]]:
        worker = self._workers.get(event.worker)
        batch = worker.held.pop(event.number, None) if worker else None
        if batch is None:
            return []
        item_s = max(event.seconds, 1e-6) / len(batch.tickets)
        self._item_s = self._item_s + _LATEST * (item_s - self._item_s) if self._item_s else item_s
        self._longest = max(self._longest, 2 * len(batch.tickets))
        return [(ticket, self._work.unpack(end)) for ticket, end in zip(batch.tickets, event.ends, strict=True)]

    def _lose(self, event: Died) -> list[tuple[Ticket[Work], End]]:
        """Take back what a dead worker held, its running batch first; return the end of what no worker survives."""
        worker = self._workers.pop(event.worker, None)
        if worker is None:
            return []
        if not self._workers:
            self._alone_since = self._clock()
        lost = list(worker.held.values())
        self.log.lose(worker.machine, sum(len(batch.tickets) for batch in lost), event.why)
        if lost:
            lost[0].deaths += 1
        broken = [ticket for batch in lost for ticket in batch.tickets if _is_hopeless(batch)]
        self._again.extendleft(reversed([part for batch in lost for part in _parts(batch)]))
        why = f"its machine died {_DEATHS} times"
        return [(ticket, self._work.broken(ticket.job, why)) for ticket in broken]

    def _check(self, starting: int) -> None:
        """Raise where nobody works and nobody will."""
        if self._workers:
            return
        if self.log.refused and not starting and not self.log.joined:
            raise InputError(f"no machine of the cluster can be used: {'; '.join(self.log.refused)}")
        alone = self._clock() - self._alone_since
        if alone > self._patience_s:
            raise WorkersLost(
                f"no machine of the cluster has been working for {self._patience_s:.0f} s (--patience): "
                "what was done is written, and the same command goes on with the rest"
            )
        self.log.wait(alone, self._patience_s)


def _is_hopeless(batch: _Batch[Work]) -> bool:
    return batch.deaths == _DEATHS and len(batch.tickets) == 1


def _parts(batch: _Batch[Work]) -> list[_Batch[Work]]:
    """Return what is tried of a batch: all of it, after some deaths each item alone, nothing of what is hopeless."""
    if batch.deaths < _DEATHS:
        return [batch]
    return [] if _is_hopeless(batch) else [_Batch([ticket]) for ticket in batch.tickets]


def _difference(about: About, expected: About) -> str:
    """Say why a worker is another than wanted, empty where it is the same."""
    if "error" in about:
        return about["error"]
    differing = [name for name in expected if about.get(name) != expected[name]]
    return "; ".join(f"{name} {about.get(name, '?')}, wanted {expected[name]}" for name in differing)
