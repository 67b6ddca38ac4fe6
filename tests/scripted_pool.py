"""A place of work without a cluster: its workers do what a script says, one batch a wait, on a clock of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.runs.worker_pool import Died, Finished, Joined, NamedWork, PoolEvent, Worker

SQUARES: NamedWork[int, str] = NamedWork("", {}, lambda job: job, str, lambda job, detail: f"{job} broken: {detail}")


def once(item: int) -> Callable[[str, Sequence[int], int], bool]:
    """Return what lets the first worker that has an item die of it."""
    met: list[str] = []

    def dies(worker: str, items: Sequence[int], _turn: int) -> bool:
        if item in items:
            met.append(worker)
        return item in items and len(met) == 1

    return dies


@dataclass
class ScriptedPlace:
    """Workers that square numbers; `dies` says of worker, items and turn whether the worker dies of them."""

    workers: Sequence[str] = ("a", "b")
    dies: Callable[[str, Sequence[int], int], bool] = lambda *_: False
    about: Callable[[str], dict[str, str]] = lambda _: {"kind": "same"}
    replaced: bool = True
    """Whether somebody comes for a worker that died."""
    item_s: float = 0.001
    now: float = 0.0
    held: dict[str, deque[tuple[int, Sequence[int]]]] = field(default_factory=dict)
    given: list[tuple[str, int, tuple[int, ...]]] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    closed: bool = False
    _events: list[PoolEvent] = field(default_factory=list)
    _begun: bool = False
    _turn: int = 0

    def clock(self) -> float:
        return self.now

    def start_workers(self) -> int:
        if not self._begun:
            self._begun = True
            for worker in self.workers:
                self._hire(worker)
        return sum(isinstance(event, Joined) for event in self._events)

    def _hire(self, worker: str) -> None:
        self.held[worker] = deque()
        self._events.append(Joined(worker, f"machine of {worker}", self.about(worker)))

    def give(self, worker: Hashable, number: int, items: Sequence[Any]) -> None:
        self.held[str(worker)].append((number, items))
        self.given.append((str(worker), number, tuple(items)))

    def wait(self, timeout_s: float) -> Sequence[PoolEvent]:
        events, self._events = self._events, []
        if events:
            return events
        self._turn += 1
        for worker, batches in list(self.held.items()):
            if batches:
                events.append(self._done(worker, *batches[0]))
        if not events:
            self.now += timeout_s
        return events

    def _done(self, worker: str, number: int, items: Sequence[int]) -> PoolEvent:
        self.now += self.item_s * len(items)
        if self.dies(worker, items, self._turn):
            del self.held[worker]
            if self.replaced:
                self._hire(f"{worker}'")
            return Died(worker)
        self.held[worker].popleft()
        return Finished(worker, number, [item * item for item in items], self.item_s * len(items))

    def say(self, event: PoolEvent) -> None:
        """Let something happen next, whatever the script says."""
        self._events.append(event)

    def drop_worker(self, worker: Hashable, *, machine_too: bool = False) -> None:
        self.dropped.append(str(worker) + ("!" if machine_too else ""))
        self.held.pop(str(worker), None)

    def close(self) -> None:
        self.closed = True


class HiredHere:
    """A place whose workers are those of a cluster, called from here one after another."""

    def __init__(self, work: NamedWork[Any, Any], workers: int = 2) -> None:
        self._held: dict[str, deque[tuple[int, Sequence[Any]]]] = {}
        self._workers = {f"worker {number}": Worker(work.opener, work.settings) for number in range(workers)}

    def start_workers(self) -> int:
        return len(self._workers) - len(self._held)

    def give(self, worker: Hashable, number: int, items: Sequence[Any]) -> None:
        self._held[str(worker)].append((number, items))

    def wait(self, timeout_s: float) -> Sequence[PoolEvent]:  # noqa: ARG002  something always happens
        if self.start_workers():
            self._held = {name: deque() for name in self._workers}
            return [Joined(name, "here", worker.about()) for name, worker in self._workers.items()]
        done: list[PoolEvent] = []
        for name, batches in self._held.items():
            if batches:
                number, items = batches.popleft()
                seconds, ends, why = self._workers[name].do(items)
                done.append(Died(name, why) if why else Finished(name, number, ends, seconds))
        return done

    def drop_worker(self, worker: Hashable, *, machine_too: bool = False) -> None:  # noqa: ARG002  all are one machine
        self._workers.pop(str(worker)).close()
        self._held.pop(str(worker), None)

    def close(self) -> None:
        for worker in self._workers.values():
            worker.close()
