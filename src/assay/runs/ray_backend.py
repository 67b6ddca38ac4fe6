"""Run the workers of a pool on a Ray cluster.

Retries are the pool's and not Ray's, for only the pool knows that an item killed three machines and was not unlucky. An
actor is bound to a node, so that a node that is refused gets none, and one that joins gets its own. Ray is joined and
never started: a flag should not bring up a gigabyte of processes.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import time
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from assay.errors import InputError, WorkersLost
from assay.runs.worker_pool import Died, Finished, Joined, PoolEvent, Refused, Worker, WorkerNeeds
from assay.settings import ClusterSettings

_CONNECT_S = 5.0
_PORT = 6379
_START = "start one with `ray start --head`, and join it on each machine with `ray start --address=HOST:6379`"
_VERSIONS = re.compile(r"Ray: (\S+)\s+Python: (\S+)")


def connect(address: str) -> Callable[[], None]:
    """Join a cluster, without an address the one of this machine; return a function that leaves it."""
    if ray.is_initialized():
        return lambda: None
    _look(address or os.environ.get("RAY_ADDRESS", ""))
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    handlers = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ray.init(
                address=_completed(address) or "auto",
                log_to_driver=False,
                logging_level=logging.CRITICAL,
                configure_logging=True,
            )
    except Exception as error:
        raise InputError(_explained(address, error)) from error
    finally:
        for each, handler in handlers.items():  # Ray's own would end us before what was begun is written
            signal.signal(each, handler)
    return lambda: ray.shutdown()  # noqa: PLW0108  it is Any


def answers(address: str) -> bool:
    """Say whether a server listens at `HOST:PORT`."""
    return not _why_silent(address)


def _why_silent(address: str) -> str:
    """Return why no server can be reached at `HOST:PORT`; empty if one can."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_S).close()
    except (OSError, ValueError, OverflowError) as error:
        return str(error) or type(error).__name__
    return ""


def _completed(address: str) -> str:
    return address if not address or ":" in address else f"{address}:{_PORT}"


def _look(address: str) -> None:
    """Refuse an address without a server, at which Ray would try for a minute."""
    if address not in {"", "auto", "local"} and (why := _why_silent(_completed(address))):
        raise InputError(f"no Ray cluster answers at '{address}' ({why}); {_START}")


def _explained(address: str, error: Exception) -> str:
    """Say in one line why a cluster cannot be joined."""
    text = str(error)
    versions = _VERSIONS.findall(text)
    if "Version mismatch" in text and len(versions) > 1:
        (theirs, their_python), (ours, our_python) = versions[:2]
        return (
            f"the cluster runs Ray {theirs} on Python {their_python}, and here is Ray {ours} on Python {our_python}: "
            "every machine needs the same of both"
        )
    if isinstance(error, ConnectionError) and "Could not find any running" in text:
        return f"--on ray found no Ray cluster that this machine belongs to: {_START}"
    first = next((line for line in text.splitlines() if line.strip()), type(error).__name__)
    return f"cannot join the Ray cluster {address or 'of this machine'}: {first}; is this machine part of it?"


_LOOK_S = 1.0
"""How often it is asked which machines there are."""
_HEAD_S = 15.0
_FALSE_STARTS = 3
"""Workers that die on a machine before they answered, until it is given up."""


class _Actor(NamedTuple):
    handle: Any
    node: str


def capacity(has: Mapping[str, float], needs: WorkerNeeds) -> tuple[int, str]:
    """Return how many workers fit on a machine, and what it lacks if it has cores but none fits."""
    cores, memory, gpus = int(has.get("CPU", 0)), has.get("memory", 0), has.get("GPU", 0)
    by_memory = int(memory // needs.memory_bytes) if needs.memory_bytes else cores
    by_gpus = int(gpus / needs.gpus) if needs.gpus else cores
    lacks = ""
    if cores and not by_memory:
        lacks = f"{memory / 1e9:.1f} GB of memory, where a worker needs {needs.memory_bytes / 1e9:.1f}"
    elif cores and not by_gpus:
        lacks = f"{gpus:g} GPUs, where a worker needs {needs.gpus:g}"
    return min(cores, by_memory, by_gpus), lacks


class RayBackend:
    """A backend of the machines of a cluster, with one worker per core, at most `most` in all."""

    def __init__(  # noqa: PLR0913  each is one thing
        self,
        cluster: ClusterSettings,
        opener: str,
        settings: Mapping[str, Any],
        *,
        needs: WorkerNeeds,
        most: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._disconnect = connect(cluster.address)
        self._needs, self._most, self._clock = needs, most, clock
        self._worker_settings = (opener, dict(settings))
        self._class = ray.remote(Worker)
        self._actors: dict[str, _Actor] = {}
        self._starting: set[str] = set()
        self._refused: set[str] = set()
        self._false_starts: Counter[str] = Counter()
        self._names: dict[str, str] = {}
        self._expected: dict[Any, tuple[str, int]] = {}
        """What is on its way, by reference: whose it is, and the number of the batch; 0 says what a worker is."""
        self._alive: set[str] = set()
        self._news: list[PoolEvent] = []
        self._look_at = 0.0
        self._head, self._heard_at = ray.get_runtime_context().gcs_address, clock()
        self._started = 0

    def start_workers(self) -> int:
        """Start workers on machines with room; return how many are starting."""
        if self._clock() >= self._look_at and self._is_there():
            self._look_at = self._clock() + _LOOK_S
            for node, room in self._rooms().items():
                for _ in range(room):
                    if not self._most or len(self._actors) < self._most:
                        self._start(node)
        return len(self._starting)

    def give(self, worker: Hashable, number: int, items: Sequence[Any]) -> None:
        """Hand over a batch; a worker does its batches one after another."""
        actor = self._actors[str(worker)]
        self._expected[actor.handle.do.remote(items)] = (str(worker), number)

    def wait(self, timeout_s: float) -> Sequence[PoolEvent]:
        """Return new events, waiting at most `timeout_s` for one."""
        news, self._news = self._news, []
        if news:
            return news
        if not self._expected:
            time.sleep(min(timeout_s, _LOOK_S))
            return ()
        waiting = list(self._expected)
        ready, _ = ray.wait(waiting, num_returns=1, timeout=timeout_s)
        if ready and len(waiting) > 1:
            ready, _ = ray.wait(waiting, num_returns=len(waiting), timeout=0)
        return list(self._events(ready))

    def drop_worker(self, worker: Hashable, *, machine_too: bool = False) -> None:
        """End a worker; with `machine_too`, start no more on its machine."""
        actor = self._actors[str(worker)]
        gone = [name for name, each in self._actors.items() if each.node == actor.node] if machine_too else [worker]
        if machine_too:
            self._refused.add(actor.node)
        for name in gone:
            self._forget(str(name))

    def close(self) -> None:
        """End all workers."""
        for name in list(self._actors):
            self._forget(name)
        self._disconnect()

    def _is_there(self) -> bool:
        """Say whether the head answers; if it does not, Ray would wait for a minute and then end this process."""
        if answers(self._head):
            self._heard_at = self._clock()
            return True
        if self._clock() - self._heard_at > _HEAD_S:
            self._actors.clear()
            self._disconnect = lambda: None  # taking leave would wait for an answer
            raise WorkersLost(
                f"the head of the Ray cluster has not answered for {_HEAD_S:.0f} s: what was done is written, and the "
                "same command goes on once there is a cluster"
            )
        return False

    def _rooms(self) -> dict[str, int]:
        """Return how many more workers each machine has room for."""
        held = Counter(actor.node for actor in self._actors.values())
        rooms = {}
        for node in ray.nodes():
            name = node["NodeID"]
            self._names[name] = f"{node.get('NodeName') or node['NodeManagerAddress']} ({name[:6]})"
            (self._alive.add if node["Alive"] else self._alive.discard)(name)
            if node["Alive"] and name not in self._refused:
                room, lacks = capacity(node["Resources"], self._needs)
                rooms[name] = room - held[name]
                if lacks:
                    self._refused.add(name)
                    self._news.append(Refused(self._names[name], lacks))
        return rooms

    def _start(self, node: str) -> None:
        """Start a worker; it joins once it has answered."""
        self._started += 1
        name = f"{node}/{self._started}"
        opener, settings = self._worker_settings
        made = self._class.options(
            num_cpus=1,
            num_gpus=self._needs.gpus or None,
            memory=self._needs.memory_bytes or None,
            max_restarts=0,
            max_task_retries=0,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
        )
        self._actors[name] = _Actor(made.remote(opener, settings), node)
        self._starting.add(name)
        self._expected[self._actors[name].handle.about.remote()] = (name, 0)

    def _events(self, ready: Sequence[Any]) -> Iterator[PoolEvent]:
        for reference in ready:
            if reference not in self._expected:  # its worker has died just now
                continue
            name, number = self._expected.pop(reference)
            try:
                answer = ray.get(reference)
            except RayError as error:
                yield from self._died(name, _cause(error))
                continue
            if number == 0:
                self._starting.discard(name)
                yield Joined(name, self._names[self._actors[name].node], answer)
                continue
            seconds, ends, why = answer
            if why:
                yield from self._died(name, why)
            else:
                yield Finished(name, number, ends, seconds)

    def _died(self, name: str, why: str) -> Iterator[PoolEvent]:
        """Forget a worker; refuse its machine if none there has ever answered."""
        node, machine = self._actors[name].node, self._names[self._actors[name].node]
        was_starting = name in self._starting
        self._forget(name)
        if not was_starting:
            yield Died(name, why)
            return
        self._false_starts[node] += 1
        if self._false_starts[node] == _FALSE_STARTS and node in self._alive:
            self._refused.add(node)
            yield Refused(machine, f"{_FALSE_STARTS} workers died before they answered: {why}")

    def _forget(self, name: str) -> None:
        actor = self._actors.pop(name)
        self._starting.discard(name)
        self._expected = {each: whose for each, whose in self._expected.items() if whose[0] != name}
        ray.kill(actor.handle)


def _cause(error: RayError) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)[:200]
