"""Run items on a pool of workers that may join, leave and die.

The backend knows the cluster, and nothing of order or tries; the pool knows those, and no cluster.

A worker gets no item before it has said what it is, and none if it is another than wanted. A batch is a quarter of a
second long, and a worker holds two. At least once run, exactly once given back: a batch of a worker that was given up
goes to the next one under another number, and what comes of the old number is dropped. Three deaths, and its items run
one by one; three deaths of one item alone, and it is broken.

It imports nothing of the cluster before a pool is opened. What goes wrong is an answer, since an exception of another
machine's libraries may not even be readable elsewhere.
"""

from __future__ import annotations

import platform
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from assay import __version__, plugins
from assay.errors import InputError, WorkersLost, counted
from assay.protocols import Say
from assay.runs.local import AHEAD, MAX_WAITING, ClosedAtEnd, Ticket, TicketQueue
from assay.settings import PATIENCE_S, ClusterSettings

Work = TypeVar("Work")
End = TypeVar("End")
About = Mapping[str, str]
"""What a worker says of itself, by what it is about; `error` says why it cannot work."""


class Joined(NamedTuple):
    """A worker has joined and described itself."""

    worker: Hashable
    machine: str
    about: About


class Finished(NamedTuple):
    """A worker has finished a batch."""

    worker: Hashable
    number: int
    ends: Sequence[Any]
    seconds: float


class Died(NamedTuple):
    """A worker has died, with its batches."""

    worker: Hashable
    why: str = ""


class Refused(NamedTuple):
    """A machine is not used any more, because its workers never answered."""

    machine: str
    why: str


PoolEvent = Joined | Finished | Died | Refused


class Backend(Protocol):
    """The machines of the workers of a pool; only one thread may use it."""

    def start_workers(self) -> int:
        """Start workers on machines with room; return how many are starting."""

    def give(self, worker: Hashable, number: int, items: Sequence[Any]) -> None:
        """Hand over a batch; a worker does its batches one after another."""

    def wait(self, timeout_s: float) -> Sequence[PoolEvent]:
        """Return new events, waiting at most `timeout_s` for one."""

    def drop_worker(self, worker: Hashable, *, machine_too: bool = False) -> None:
        """End a worker; with `machine_too`, start no more on its machine."""

    def close(self) -> None:
        """End all workers."""


@dataclass(frozen=True, slots=True)
class WorkerNeeds:
    """Memory and GPUs that one worker needs."""

    memory_bytes: int = 0
    gpus: float = 0


class WorkHandler(Protocol):
    """The object that does the items of a worker, opened by `NamedWork.opener`."""

    def about(self) -> About:
        """Describe it."""

    def do(self, items: Sequence[Any]) -> Sequence[Any]:
        """Do some items, one after another."""

    def close(self) -> None:
        """End it."""


@dataclass(frozen=True, slots=True)
class NamedWork(Generic[Work, End]):
    """The work of a pool as plain values, which can be sent to workers."""

    opener: str
    """`module:function` of what does it; called with the settings where the worker is."""
    settings: Mapping[str, Any]
    pack: Callable[[Work], Any]
    """An item to plain values."""
    unpack: Callable[[Any], End]
    """Plain values to what became of it."""
    broken: Callable[[Work, str], End]
    """What is said of an item that no worker survives."""


_FIRST_REPORT_S, _REPORT_INTERVAL_S = 1.0, 5.0
_SILENT_S = 10.0
"""So long nobody is missed."""


class PoolLog:
    """Count machines and workers, and print a line now and then if the counts change."""

    def __init__(self, say: Say, clock: Callable[[], float]) -> None:
        self._say, self._clock = say, clock
        self._due: float | None = None
        self._last = ""
        self._has_waited = False
        self._machines, self._workers = 0, 0
        self.joined = self.deaths = self.again = 0
        """Workers that came and that died; items that ran again."""
        self.refused: list[str] = []
        """Machines that are not used, and why."""

    def refuse(self, machine: str, why: str) -> None:
        """Report once that a machine is not used."""
        if not any(line.startswith(f"{machine}: ") for line in self.refused):
            self.refused.append(f"{machine}: {why}")
            self._say(f"not used: machine {machine}: {why}")

    def lose(self, machine: str, items: int, why: str) -> None:
        """Report that a worker died."""
        self.deaths += 1
        self.again += items
        what = f", {items:,} of its items run again" if items else ""
        self._say(f"lost a worker on machine {machine}{what}{why and f' ({why})'}")

    def wait(self, alone_s: float, patience_s: float) -> None:
        """Report once that no worker is left."""
        if alone_s > min(_SILENT_S, patience_s / 2) and not self._has_waited:
            self._has_waited = True
            self._say(f"no machine of the cluster works yet or any more: waiting up to {patience_s:.0f} s (--patience)")

    def tell(self, machines: int, workers: int) -> None:
        """Report the number of workers if it has changed."""
        self._machines, self._workers = machines, workers
        self._has_waited = self._has_waited and not workers
        if not workers or str(self) == self._last:
            return
        now = self._clock()
        self._due = now + _FIRST_REPORT_S if self._due is None else self._due
        if now >= self._due:
            self._due, self._last = now + _REPORT_INTERVAL_S, str(self)
            self._say(self._last)

    def close(self) -> None:
        """Report the final counts, unless reported already, and the items that ran again."""
        if self.joined and (self.again or str(self) != self._last):
            self._say(f"{self}; {self.again:,} items ran again" if self.again else str(self))

    def __str__(self) -> str:
        return f"{counted(self._machines, 'machine')}, {counted(self._workers, 'worker')}, {self.deaths:,} lost"


_BATCH_S = 0.25
MAX_BATCH_ITEMS = 64
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
    batches: dict[int, _Batch[Work]] = field(default_factory=dict)
    """By number; the first is running."""


class WorkerPool(Generic[Work, End]):
    """The workers of a backend and their batches; `step` hands out items and returns results."""

    def __init__(  # noqa: PLR0913  each is one thing
        self,
        backend: Backend,
        work: NamedWork[Work, End],
        expected: About | None = None,
        *,
        say: Say = lambda _: None,
        patience_s: float = PATIENCE_S,
        most_items: int = MAX_BATCH_ITEMS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Set up a pool; `expected` is the description that workers must have, by default that of the first one."""
        self._backend, self._work, self._expected = backend, work, expected
        self._patience_s, self._most_items, self._clock = patience_s, most_items, clock
        self._workers: dict[Hashable, _Worker[Work]] = {}
        self._again: deque[_Batch[Work]] = deque()
        self._last_batch = 0
        self._item_s = 0.0
        self._longest = 1
        self._alone_since = clock()
        self.log = PoolLog(say, clock)

    @property
    def size(self) -> int:
        """The number of workers."""
        return len(self._workers)

    def step(
        self, take: Callable[[], Ticket[Work] | None], timeout_s: float = 1.0
    ) -> list[tuple[Ticket[Work], End]] | None:
        """Hand out items and wait for an event; return new results, None if no items are left.

        Raises WorkersLost where there has been no worker for longer than the patience.
        """
        starting = self._backend.start_workers()
        self._hand_out(take)
        if not self._again and not any(worker.batches for worker in self._workers.values()):
            return None
        ended = self._wait(timeout_s, starting)
        self.log.tell(len({worker.machine for worker in self._workers.values()}), len(self._workers))
        return ended

    def assemble(self) -> About:
        """Wait for the first worker, at most the patience; return its description of itself."""
        while not self._workers:
            self._wait(1.0, self._backend.start_workers())
        return self._expected or {}

    def forget(self) -> None:
        """Drop all items in work and their results; later items may take longer."""
        self._item_s, self._longest = 0.0, 1
        self._again.clear()
        for worker in self._workers.values():
            worker.batches.clear()

    def close(self) -> None:
        """End all workers."""
        self._backend.close()
        self.log.close()

    def _hand_out(self, take: Callable[[], Ticket[Work] | None]) -> None:
        """Give batches to workers, the least busy first, and lost batches before new ones."""
        for round_ in range(AHEAD):
            for name, worker in self._workers.items():
                if len(worker.batches) <= round_ and (batch := self._next(take)):
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
        self._last_batch += 1
        worker.batches[self._last_batch] = batch
        self._backend.give(name, self._last_batch, [self._work.pack(ticket.job) for ticket in batch.tickets])

    def _wait(self, timeout_s: float, starting: int) -> list[tuple[Ticket[Work], End]]:
        """Wait for an event; return new results."""
        ended: list[tuple[Ticket[Work], End]] = []
        for event in self._backend.wait(timeout_s):
            match event:
                case Joined():
                    self._join(event)
                case Finished():
                    ended += self._finish(event)
                case Died():
                    ended += self._lose(event)
                case Refused():
                    self.log.refuse(event.machine, event.why)
        self._check(starting)
        return ended

    def _join(self, event: Joined) -> None:
        """Add a worker to the pool, or report once why its machine is not used."""
        expected = event.about if self._expected is None else self._expected
        if why := _difference(event.about, expected):
            self.log.refuse(event.machine, why)
            self._backend.drop_worker(event.worker, machine_too=True)
            return
        self._expected = expected
        self._workers[event.worker] = _Worker(event.machine)
        self.log.joined += 1

    def _finish(self, event: Finished) -> list[tuple[Ticket[Work], End]]:
        worker = self._workers.get(event.worker)
        batch = worker.batches.pop(event.number, None) if worker else None
        if batch is None:
            return []
        item_s = max(event.seconds, 1e-6) / len(batch.tickets)
        self._item_s = self._item_s + _LATEST * (item_s - self._item_s) if self._item_s else item_s
        self._longest = max(self._longest, 2 * len(batch.tickets))
        return [(ticket, self._work.unpack(end)) for ticket, end in zip(batch.tickets, event.ends, strict=True)]

    def _lose(self, event: Died) -> list[tuple[Ticket[Work], End]]:
        """Take back the batches of a dead worker, the running one first; return results for items that kill workers."""
        worker = self._workers.pop(event.worker, None)
        if worker is None:
            return []
        if not self._workers:
            self._alone_since = self._clock()
        lost = list(worker.batches.values())
        self.log.lose(worker.machine, sum(len(batch.tickets) for batch in lost), event.why)
        if lost:
            lost[0].deaths += 1
        broken = [ticket for batch in lost for ticket in batch.tickets if _is_hopeless(batch)]
        self._again.extendleft(reversed([part for batch in lost for part in _parts(batch)]))
        why = f"its machine died {_DEATHS} times"
        return [(ticket, self._work.broken(ticket.job, why)) for ticket in broken]

    def _check(self, starting: int) -> None:
        """Raise if no worker is left and none can start."""
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
    """Return the batches to try again: the whole one, after some deaths each item alone, hopeless ones never."""
    if batch.deaths < _DEATHS:
        return [batch]
    return [] if _is_hopeless(batch) else [_Batch([ticket]) for ticket in batch.tickets]


def _difference(about: About, expected: About) -> str:
    """Say how a worker differs from the expected one; empty if it is the same."""
    if "error" in about:
        return about["error"]
    differing = [name for name in expected if about.get(name) != expected[name]]
    return "; ".join(f"{name} {about.get(name, '?')}, wanted {expected[name]}" for name in differing)


class PoolRunner(ClosedAtEnd, Generic[Work, End]):
    """A runner with a pool for one thread; close it when done, or use it in a `with`."""

    def __init__(self, name: str, pool: WorkerPool[Work, End], guarantees: tuple[str, ...] = ()) -> None:
        self.name, self.guarantees = name, guarantees
        self._pool = pool

    def run(self, jobs: Iterable[Work]) -> Iterator[End]:
        """Yield the result of each item, in their order; items are taken only as fast as they are worked on."""
        queue = TicketQueue[Work, End](jobs, MAX_WAITING)
        try:
            while (ended := self._pool.step(queue.next)) is not None:
                for ticket, end in ended:
                    queue.end(ticket, end)
                yield from queue.ready()
                queue.most_waiting = MAX_WAITING * max(1, self._pool.size)
        finally:
            self._pool.forget()

    def close(self) -> None:
        """End all workers."""
        self._pool.close()


Answer: TypeAlias = tuple[float, list[Any], str]
"""Seconds, what became of the items, and what went wrong with the worker, empty for nothing."""


class Worker:
    """The code of a worker in its own process on a cluster."""

    def __init__(self, opener: str, settings: Mapping[str, Any]) -> None:
        self._opener, self._settings = opener, settings
        self._member: WorkHandler | None = None

    def about(self) -> About:
        """Open the work and describe its worker; return an `error` if that fails."""
        module, _, name = self._opener.partition(":")
        try:
            self._member = getattr(import_module(module), name)(**self._settings)
            return {**code_identity(), **self._member.about()}
        except Exception as error:  # noqa: BLE001  the machine is named with it, and not used
            return {**code_identity(), "error": _line(error)}

    def do(self, items: Sequence[Any]) -> Answer:
        """Run a batch."""
        assert self._member is not None
        began = time.perf_counter()
        try:
            return time.perf_counter() - began, list(self._member.do(items)), ""
        except Exception as error:  # noqa: BLE001  this worker is given up; another one gets the batch
            return 0.0, [], _line(error)

    def close(self) -> None:
        """End the work."""
        if self._member:
            self._member.close()


@cache
def code_identity() -> About:
    """Return what must be equal on all machines of a run: the exact code of this package, and Python."""
    top = Path(__file__).parents[1]
    files = sorted(file for file in top.rglob("*.py"))
    code = blake2b(digest_size=6)
    for file in files:
        code.update(f"{file.relative_to(top)}\0".encode() + file.read_bytes() + b"\0")
    return {"assay": f"{__version__} ({code.hexdigest()})", "python": platform.python_version()}


def _line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def open_pool(  # noqa: PLR0913  each is one thing
    cluster: ClusterSettings,
    work: NamedWork[Work, End],
    expected: About | None,
    say: Say,
    *,
    most: int = 0,
    memory_mb: int = 0,
    gpus: float = 0,
    most_items: int = MAX_BATCH_ITEMS,
) -> WorkerPool[Work, End]:
    """Open a pool on a cluster, with at most `most` workers of the given needs."""
    needs = WorkerNeeds(memory_mb << 20, gpus)
    place: Backend = plugins.find("cluster", "ray")(cluster, work.opener, work.settings, needs=needs, most=most)
    same = None if expected is None else {**code_identity(), **expected}
    return WorkerPool(place, work, same, say=say, patience_s=cluster.patience_s, most_items=most_items)
