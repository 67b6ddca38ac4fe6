"""A system in a process of its own: asked over pipes, stopped when it hangs, started again when it dies.

All systems are treated alike: one query at a time, the clock inside the worker (a command is timed from its start to
its end), and the same number of threads. That is one unless said: on two cores that others use, too, a query of 4 ms
took 10 with two. Memory is the most that the worker held, or its largest child if that was more; on Linux a command
counts at no less than the worker that started it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from threading import Thread
from typing import IO, Any, Self

from assay.bench.answer_runs import Preparation, SystemAnswer
from assay.bench.system import THREADS, SystemCorpus
from assay.bench.systems.system_worker import SystemTask
from assay.errors import InputError
from assay.io.processes import end_patiently
from assay.measure.line_spans import Span
from assay.values import Query

MAX_RESTARTS = 3
GAVE_UP = "system gave up"
_MAX_TIMEOUT_S = 1_000_000_000
_GRACE_S = 1.0
"""How much longer than the limit a worker may take: a system is to stop its own command or request by then."""
_ENDING_S = 1.0
_GONE_S = 10.0
"""How long a worker whose pipes are closed may take to end: on busy cores an interpreter needs seconds."""
_TAIL_BYTES = 4096
_PIECE = 65_536
_MAX_REPLY_BYTES = 64_000_000
_MB = 2**20


@dataclass(frozen=True, slots=True)
class Contender:
    """One system over one corpus, and what it is to be asked."""

    name: str
    spec: str
    options: Mapping[str, Any]
    corpus: SystemCorpus
    queries: Sequence[Query]


class Worker:
    """One system; as a context manager it never outlives the block."""

    def __init__(
        self, task: SystemTask, *, timeout_s: float = 30.0, index_timeout_s: float = 3600.0, threads: int = 1
    ) -> None:
        limit_s = task.options.get("timeout_s", timeout_s)
        if type(limit_s) not in {int, float} or not 0 < limit_s <= _MAX_TIMEOUT_S:
            raise InputError(f"timeout_s of '{task.spec}' is {limit_s!r}; wanted seconds above 0 to {_MAX_TIMEOUT_S:,}")
        self._limit_s = float(limit_s)
        self._index_limit_s = index_timeout_s
        self._task = replace(task, options={**task.options, "timeout_s": self._limit_s})
        self._running: _Running | None = None
        self._fresh = False
        self.preparation = Preparation(threads=threads)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def prepare(self) -> Preparation:
        """Start the system and wait until it is ready; what went wrong is in the result."""
        told = self._start(self._task)
        names = ("index_s", "index_bytes", "error")
        given = {name: told[name] for name in names if told.get(name) is not None}
        self._note(**given, problems=tuple(told.get("problems", ())))
        return self.preparation

    def ask(self, query: Query, k: int) -> SystemAnswer:
        """Return what the system says; a hang or a crash is an answer with an error, and so is all that follows it."""
        if self._running is None:
            self._restart()
        if self._running is None:
            return SystemAnswer(query.id, error=self.preparation.error or GAVE_UP)
        cold, self._fresh = self._fresh, False
        told = self._running.ask((query, k), self._limit_s + _GRACE_S, f"no answer within {self._limit_s:g} s")
        self._remember(told)
        seconds = told.get("seconds")
        if seconds is not None and seconds > self._limit_s:
            told = {"error": told["error"] or f"no answer within {self._limit_s:g} s"}
        found = told.get("found", ())
        spans = tuple(Span(path, start, end) for path, start, end, _ in found)
        scores = tuple(score for *_, score in found)
        return SystemAnswer(query.id, spans, scores, seconds if "found" in told else None, told["error"], cold)

    def close(self) -> None:
        """End the system and all that it started."""
        if self._running is not None:
            self._running.close()
            self._running = None

    def _restart(self) -> None:
        """Start again after a hang or a crash, but not for ever, and without making the index again."""
        if self.preparation.error or self.preparation.restarts >= MAX_RESTARTS:
            self._note(error=self.preparation.error or f"{GAVE_UP} after {MAX_RESTARTS} restarts")
            return
        first = self.preparation.index_s is None and not self.preparation.restarts
        if first:
            self.prepare()
            return
        self._note(restarts=self.preparation.restarts + 1)
        options = {key: value for key, value in self._task.options.items() if key != "index"}
        told = self._start(replace(self._task, options=options))
        if told.get("error"):
            self._note(error=f"{GAVE_UP}: it did not start again: {told['error']}")

    def _start(self, task: SystemTask) -> dict[str, Any]:
        self._running, self._fresh = _Running(self.preparation.threads), True
        late = f"not ready within {self._index_limit_s:g} s"
        told = self._running.ask(task, self._index_limit_s, late)
        self._remember(told)
        if told.get("error"):
            self.close()
        return told

    def _remember(self, reply: Mapping[str, Any]) -> None:
        """Keep the most memory that was seen; let go of a worker that is no more."""
        own, largest = reply.get("own_bytes", 0), reply.get("child_bytes", 0)
        if max(own, largest) > self.preparation.peak_mb * _MB:
            whose = "worker" if own >= largest else "child"
            self._note(peak_mb=max(own, largest) / _MB, peak_of=whose)
        if reply.get("gone") and self._running is not None:
            self._running.close(patiently=False)
            self._running = None

    def _note(self, **changes: Any) -> None:
        self.preparation = replace(self.preparation, **changes)


class _Running:
    """A started process and its two pipes."""

    def __init__(self, threads: int) -> None:
        requests, self._requests = os.pipe()
        self._replies, replies = os.pipe()
        lifeline, self._lifeline = os.pipe()
        """Nothing is ever said on it: a worker at its other end learns that we are gone, however that happened."""
        given = (requests, replies, lifeline)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        environment |= dict.fromkeys(THREADS, str(threads))
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", f"from assay.bench.systems.system_worker import main; main{given}"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=environment,
                pass_fds=given,
                start_new_session=True,
            )
        finally:
            for end in given:
                os.close(end)
        self._asked = Connection(self._requests, readable=False)
        self._answered = Connection(self._replies, writable=False)
        assert self._process.stdout is not None
        self._tail = _Tail(self._process.stdout)

    def ask(self, request: object, timeout_s: float, late: str) -> dict[str, Any]:
        """Send a request and return the reply; one that never comes says why and that the worker is gone."""
        try:
            self._asked.send(request)
            if not self._answered.poll(timeout_s):
                return {"error": late, "gone": True}
            reply: dict[str, Any] = json.loads(self._answered.recv_bytes(_MAX_REPLY_BYTES))
        except (EOFError, OSError, ValueError):
            return {"error": self._reason(), "gone": True}
        return reply

    def close(self, *, patiently: bool = True) -> None:
        """Close the pipes, which ends a worker that waits; stop one that does not, with its group."""
        self._asked.close()
        self._answered.close()
        end_patiently(self._process, _ENDING_S, waits=patiently)
        os.close(self._lifeline)

    def _reason(self) -> str:
        """Say how a worker ended, with the last that it said."""
        try:
            status = self._process.wait(_GONE_S)
        except subprocess.TimeoutExpired:
            return "the worker closed its pipes"
        how = f"ended with {status}" if status >= 0 else f"was ended by {_signal(-status)}"
        last = self._tail.last()
        return f"the worker {how}{': ' + last if last else ''}"


class _Tail:
    """The end of what a worker printed; the rest is read and forgotten, so that it never waits to print."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._held = bytearray()
        self._thread = Thread(target=self._follow, args=(pipe,), daemon=True)
        self._thread.start()

    def last(self) -> str:
        """Return the last line."""
        self._thread.join(_ENDING_S)
        lines = self._held.decode("utf-8", "replace").strip().splitlines()
        return lines[-1].strip()[:200] if lines else ""

    def _follow(self, pipe: IO[bytes]) -> None:
        with pipe:
            while piece := os.read(pipe.fileno(), _PIECE):
                self._held += piece
                del self._held[:-_TAIL_BYTES]


def ask_in_turn(  # noqa: PLR0913  what one run is
    contenders: Sequence[Contender],
    k: int,
    *,
    timeout_s: float = 30.0,
    index_timeout_s: float = 3600.0,
    threads: int = 1,
    on_answer: Callable[[str, SystemAnswer], None],
    on_prepared: Callable[[str, Preparation], None] | None = None,
) -> dict[str, Preparation]:
    """Ask several systems, query by query and each in turn, so that what disturbs the machine disturbs all alike.

    They are prepared one after another, while the others wait; the first of a round is another one each time.
    """
    with ExitStack() as open_workers:
        workers: list[tuple[Contender, Worker]] = []
        for each in contenders:
            task = SystemTask(each.spec, each.options, each.corpus)
            worker = Worker(task, timeout_s=timeout_s, index_timeout_s=index_timeout_s, threads=threads)
            workers.append((each, open_workers.enter_context(worker)))
            prepared = worker.prepare()
            if on_prepared:
                on_prepared(each.name, prepared)
        for turn in range(max((len(each.queries) for each in contenders), default=0)):
            first = turn % len(workers)
            for each, worker in workers[first:] + workers[:first]:
                if turn < len(each.queries):
                    on_answer(each.name, worker.ask(each.queries[turn], k))
        return {each.name: worker.preparation for each, worker in workers}


def _signal(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
    return f"{name}, out of memory perhaps" if name == "SIGKILL" else name
