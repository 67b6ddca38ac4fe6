"""A command line and a socket in, a server of several processes out: workers that answer, and one keeper of indexes.

Each part runs the command line anew. All workers accept from one socket, so that a connection that a dying worker had
not accepted yet is another's. A part that ends is replaced. On SIGHUP new workers start beside the old ones, which
finish what they have and leave once the new ones answer; where the new ones cannot start, the old ones stay. This
module loads nothing that works, so that there is little that could fail in it.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import inf

from assay.protocols import Say
from assay.serve.http.request_figures import end
from assay.serve.http.server_part import KEEPER, WORKER, ServerPart
from assay.serve.http.shared_table import SharedTable

_TICK_S = 0.5
_AGAIN_S = (0.0, 0.2, 1.0, 5.0, 10.0, 30.0)
"""Pauses before a part is started again that ended, so many times in a row."""
_LASTS_S = 60.0
"""After so long the end of a part is not in a row with the one before."""
_READY_S = 120.0
"""How long a part may take until it is ready; then it is killed."""
_STOP_S = 20.0
"""How long a part that was asked to stop may take until it is killed."""
_FINISH_S = 150.0
"""The same for a worker that others replace: more than its longest request may take."""


@dataclass(eq=False, slots=True)
class _Child:
    """A part that runs."""

    part: ServerPart
    generation: int
    process: subprocess.Popen[bytes]
    pipe: int
    started: float = field(default_factory=time.monotonic)
    is_ready: bool = False
    leaves_by: float = 0.0
    """When it is killed; 0 while nobody asked it to stop."""


@dataclass(slots=True)
class _Patience:
    """When a part of a role may be started again."""

    failures: int = 0
    """How many ended in a row before they had lasted for a while."""
    due: float = 0.0


class Supervisor:
    """The parts of one server, until a signal asks it to stop."""

    def __init__(
        self, command: Sequence[str], listener: socket.socket, table: SharedTable, workers: int, say: Say
    ) -> None:
        self._command, self._listener, self._table = list(command), listener, table
        self._workers, self._say = workers, say
        self._begun: Callable[[], object] = lambda: None
        self._children: list[_Child] = []
        self._patience = {KEEPER: _Patience(), WORKER: _Patience()}
        self._generation, self._wanted = 1, 1
        """The one that answers, and the one that is being started; the same unless it is reloading."""
        self._worked = False
        """Whether any part was ever ready."""
        self._status: int | None = None
        self._signals: list[int] = []

    def run(self, begun: Callable[[], object] = lambda: None) -> int:
        """Run until a signal asks to stop or the first parts cannot start; return the exit status.

        `begun` is called once the first worker answers.
        """
        self._begun = begun
        with self._listening_to_signals() as wake, selectors.DefaultSelector() as ready:
            ready.register(wake, selectors.EVENT_READ)
            while self._children or self._status is None:
                self._fill(ready)
                for key, _ in ready.select(_TICK_S):
                    if key.data is None:
                        wake.recv(1024)
                    else:
                        self._heard(key.data, ready)
                self._obey()
                self._kill_late()
        return self._status or 0

    @contextmanager
    def _listening_to_signals(self) -> Iterator[socket.socket]:
        wake, waker = socket.socketpair()
        wake.setblocking(False)
        waker.setblocking(False)
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = {each: signal.signal(each, lambda number, _: self._signals.append(number)) for each in numbers}
        old = signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        try:
            with wake, waker:
                yield wake
        finally:
            signal.set_wakeup_fd(old)
            for each, handler in before.items():
                signal.signal(each, handler)

    def _fill(self, ready: selectors.BaseSelector) -> None:
        """Start what is missing: of each generation one worker, and the others and the keeper once that one works."""
        if self._status is not None:
            return
        for generation in sorted({self._generation, self._wanted}):
            here = [each for each in self._staying(WORKER) if each.generation == generation]
            works = any(each.is_ready for each in here)
            self._add(WORKER, generation, (self._workers if works else 1) - len(here), ready)
        if any(each.is_ready for each in self._staying(WORKER)):
            self._add(KEEPER, self._generation, 1 - len(self._staying(KEEPER)), ready)

    def _staying(self, role: str) -> list[_Child]:
        return [each for each in self._children if each.part.role == role and not each.leaves_by]

    def _add(self, role: str, generation: int, count: int, ready: selectors.BaseSelector) -> None:
        if time.monotonic() >= self._patience[role].due:
            taken = {child.part.slot for child in self._children}
            free = [number for number in range(self._table.slots) if number not in taken]
            for slot in free[: max(0, count)]:  # the others once those that leave are gone
                try:
                    child = self._start(role, slot, generation)
                except OSError as error:
                    self._cannot_start(role, error)
                    return
                self._children.append(child)
                ready.register(child.pipe, selectors.EVENT_READ, child)

    def _start(self, role: str, slot: int, generation: int) -> _Child:
        pipe, theirs = os.pipe()
        part = ServerPart(role, slot, os.getpid(), self._listener.fileno(), theirs, self._table.descriptor)
        try:
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                env={**_thread_limits(self._workers), **os.environ, **part.environment()},
                pass_fds=(part.listening, part.ready, part.table),
                process_group=0,
            )
        except OSError:
            os.close(pipe)
            raise
        finally:
            os.close(theirs)
        return _Child(part, generation, process, pipe)

    def _cannot_start(self, role: str, error: OSError) -> None:
        """Try again after a pause where a process cannot be started; where none ever worked, give up."""
        why = f"cannot start a {role}: {error.strerror or error}"
        if self._worked:
            self._say(f"{why}; trying again in {self._pause_s(role, lasted=False):g} s")
        else:
            self._say(why)
            self._stop(2)

    def _pause_s(self, role: str, *, lasted: bool) -> float:
        """Count the end of a part, and return how long no other one of its role is started."""
        failures = 0 if lasted else self._patience[role].failures + 1
        pause_s = _AGAIN_S[min(failures, len(_AGAIN_S) - 1)]
        self._patience[role] = _Patience(failures, time.monotonic() + pause_s)
        return pause_s

    def _heard(self, child: _Child, ready: selectors.BaseSelector) -> None:
        """Note that a part is ready, or is gone."""
        if os.read(child.pipe, 1):
            child.is_ready = True
            if not self._worked:
                self._worked = True
                self._begun()
            self._finish_reload()
            return
        ready.unregister(child.pipe)
        os.close(child.pipe)
        status = child.process.wait()
        self._children.remove(child)
        end(self._table, child.part.slot)
        if self._status is None and not child.leaves_by:
            self._lost(child, status)

    def _lost(self, child: _Child, status: int) -> None:
        """Have a part replaced that ended by itself; where none of them ever worked, give up."""
        name = f"the {child.part.role} {child.process.pid}"
        if child.generation > self._generation:
            self._say(f"{name} cannot start (see above): nothing was reloaded, the processes before it go on")
            self._leave([each for each in self._children if each.generation == self._wanted])
            self._wanted = self._generation
        elif not self._worked:
            self._stop(status if status > 0 else 2)
        else:
            lasted = child.is_ready and time.monotonic() - child.started >= _LASTS_S
            pause_s = self._pause_s(child.part.role, lasted=lasted)
            how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
            self._say(f"{name} {how}; another one is started{f' in {pause_s:g} s' if pause_s else ''}")

    def _obey(self) -> None:
        """Do what signals ask for."""
        signals, self._signals = self._signals, []
        if any(number != signal.SIGHUP for number in signals):
            self._stop(0)
        elif signals and self._status is None and self._wanted == self._generation:
            self._wanted += 1
        elif signals and self._status is None:
            self._signals.append(signal.SIGHUP)  # again, once this reload is done

    def _finish_reload(self) -> None:
        """Let the old parts leave where the new workers answer."""
        new = [each for each in self._children if each.generation == self._wanted and each.is_ready]
        if self._wanted > self._generation and len(new) >= self._workers:
            self._leave([each for each in self._children if each.generation < self._wanted], finishes=True)
            self._generation = self._wanted
            self._say("reloaded: settings, folders and tokens were read again")

    def _stop(self, status: int) -> None:
        if self._status is None:
            self._status = status
        self._leave(self._children)

    def _leave(self, children: Sequence[_Child], *, finishes: bool = False) -> None:
        """Ask parts to end; a worker that finishes ends once everything is answered that it was asked."""
        for child in children:
            patient = finishes and child.part.role == WORKER
            by = time.monotonic() + (_FINISH_S if patient else _STOP_S)
            child.leaves_by = min(child.leaves_by or by, by)
            child.process.send_signal(signal.SIGHUP if patient else signal.SIGTERM)

    def _kill_late(self) -> None:
        now = time.monotonic()
        for child in self._children:
            hangs = not child.is_ready and not child.leaves_by and now > child.started + _READY_S
            if hangs and child.process.poll() is None:
                self._say(f"the {child.part.role} {child.process.pid} is not ready after {_READY_S:g} s and is killed")
                child.started = inf
            if hangs or (child.leaves_by and now > child.leaves_by):
                with suppress(ProcessLookupError):
                    child.process.kill()


def own_command() -> list[str]:
    """Return the command line of this process, for another one that does the same."""
    return [sys.executable, "-P", "-m", "assay", *sys.argv[1:]]


def _thread_limits(workers: int) -> Mapping[str, str]:
    """Return how many threads the arithmetic of each worker may have: all of them together one for each core."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    each = str(max(1, cores // workers))
    return dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), each)
