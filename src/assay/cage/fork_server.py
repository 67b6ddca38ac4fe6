"""Serve the jobs of one cage: prepare once, then fork the two processes of each job and end them.

A fork costs more than most tests do. So the process that has read some tests is kept for the next job that has the same
ones, unless it says that they could have changed it, grew, was ended, or left something running beside it.

It is process 1 of its own namespaces where there are any, single-threaded, and holds no program, no test and no
result in its memory, for every program is a copy of it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pkgutil
import random
import select
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NoReturn

from assay.cage import confinement, forks, messages
from assay.cage.children import (
    CHANNEL,
    FIRST_FREE,
    SAYS,
    SPEC,
    Confinement,
    ProgramJudge,
    prepare,
    run_child,
    run_judge,
    settle,
)
from assay.cage.confinement import Scratch
from assay.cage.job import Reason, ServerPlan
from assay.cage.limits import Limits
from assay.cage.processes import Reaper

_MAX_REUSED_MB = 256
"""What a judge may have used and still be kept: all that it holds counts as its next job's memory."""


@dataclass(slots=True)
class JudgeProcess:
    """A forked process that judges programs."""

    pid: int
    control: socket.socket
    key: object
    """Equal for jobs that it can judge."""
    cpu_s: float = 0.0
    """Processor time of all its jobs so far."""
    _last: dict[str, Any] = field(default_factory=dict)

    @property
    def stays(self) -> bool:
        """Whether it can judge another job; its last one has ended."""
        return bool(self._last.get("stays")) and self._last["peak_mb"] < _MAX_REUSED_MB

    def is_for(self, key: object) -> bool:
        """Say whether it is alive and has read these tests."""
        poll = select.poll()
        poll.register(self.control, 0)
        return self.key == key and not poll.poll(0)

    def begin(self, channel: socket.socket, verdict: int) -> None:
        """Give it the next program, at the other end of a channel, and the file for its verdict."""
        self._last = {}
        messages.send(self.control, {}, [channel.fileno(), verdict])

    def collect(self) -> float:
        """Return the processor time of the judge for this job, once the job or the judge has ended."""
        with contextlib.suppress(OSError):
            self._last = messages.receive(self.control)[0] or {}
        spent: float = self._last.get("cpu_s", 0.0)
        self.cpu_s += spent
        return spent


_TICK_MS = 20
_CONTROL = 3

PRELOADED = """
array ast base64 bisect calendar cmath collections contextlib copy csv dataclasses datetime decimal enum fractions
functools hashlib heapq inspect io itertools json keyword linecache math numbers operator os pprint queue random re
statistics string struct subprocess tempfile textwrap threading time traceback types typing warnings
""".split()
"""What programs import most. Each megabyte costs every fork 0.1 ms: asyncio and unittest.mock are not worth theirs."""


def main() -> NoReturn:
    """Read the plan, become a cage and serve it until the other end closes."""
    control = socket.socket(fileno=_CONTROL)
    control.set_inheritable(False)
    message, _ = messages.receive(control)
    try:
        plan = ServerPlan(**message)
        for name in PRELOADED:
            importlib.import_module(name)
        work = _harness(plan)
        forks.let_go()
        entered = confinement.enter(plan, control)
        house = confinement.prepare(plan, entered)
        scratch = confinement.scratch_of(plan)
        scratch.refresh(Limits())
        for name in plan.modules:
            importlib.import_module(name)
    except BaseException as error:  # noqa: BLE001  whoever started this wants to know
        messages.send(control, {"error": f"{type(error).__name__}: {error}"})
        os._exit(1)
    sys.argv = [""]
    random.seed(0)
    gc.disable()
    gc.collect()
    gc.freeze()
    messages.send(control, {"ready": os.getpid(), "modules": len(sys.modules)})
    ForkServer(control, house, scratch, confinement.reaper_of(plan, entered), work).serve()


Work = tuple[Callable[[socket.socket | None, dict[str, Any], int], object], Callable[[dict[str, Any]], ProgramJudge]]
"""What a harness is: one that runs a program, and one that makes a judge of some tests."""


def _harness(plan: ServerPlan) -> Work:
    """Import what children run, with all of its package: its files cannot be seen from within."""
    if plan.harness_path:
        sys.path.insert(0, plan.harness_path)
    for module in (spec.partition(":")[0] for spec in plan.harness):
        parent = importlib.import_module(module.rpartition(".")[0] or module)
        beside = [] if parent.__name__ == __package__ else pkgutil.iter_modules(getattr(parent, "__path__", []))
        for sub in beside:
            importlib.import_module(f"{parent.__name__}.{sub.name}")
    program, judge = map(pkgutil.resolve_name, plan.harness)
    if plan.rehearsal:
        pkgutil.resolve_name(plan.rehearsal)()
    if plan.harness_path:
        sys.path.remove(plan.harness_path)
    at = next((place for place, path in enumerate(sys.path) if path.endswith("-packages")), len(sys.path))
    sys.path[at:at] = plan.paths
    return program, judge


@cache
def _load(modules: tuple[str, ...]) -> None:
    """Import modules for later forks; a missing one fails in the program that imports it."""
    with contextlib.suppress(ImportError):
        for name in modules:
            importlib.import_module(name)
            gc.freeze()


class ForkServer:
    """Run jobs one after the other and report how each ended."""

    def __init__(
        self, control: socket.socket, house: Confinement, scratch: Scratch, processes: Reaper, work: Work
    ) -> None:
        self._control = control
        self._house = house
        self._work = work
        self._scratch = scratch
        self._processes = processes
        self._judge: JudgeProcess | None = None
        self._nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        while self._nothing < FIRST_FREE:
            self._nothing = os.dup(self._nothing)

    def serve(self) -> NoReturn:
        """Run jobs until the supervisor closes its end."""
        while True:
            job, files = messages.receive(self._control)
            if job is None:
                self._leave()
            try:
                ended = self._run(job, files)
            except OSError as error:
                self._processes.end()
                self._judge = None
                ended = {"ended": "broken", "detail": f"{type(error).__name__}: {error}"}
            for file in files:
                os.close(file)
            messages.send(self._control, ended)

    def _leave(self) -> NoReturn:
        self._processes.end()
        self._scratch.remove()
        os._exit(0)

    def _run(self, job: dict[str, Any], files: list[int]) -> dict[str, Any]:
        limits = Limits(**job["limits"])
        _load(tuple(job["modules"]))
        self._scratch.refresh(limits)
        started = time.monotonic()
        spec, stdin, out, err, reports, *judging = files
        placed = {0: stdin, 1: out, 2: err, SAYS: reports, SPEC: spec}
        if judging:
            verdict, tests = judging
            reason, candidate = self._judged(job["tests"], placed, limits, verdict, tests, started)
        else:
            self._processes.begin(limits)
            candidate = self._candidate(placed, limits, victim=1)
            handle = os.pidfd_open(candidate)
            try:
                reason = self._watch(limits, [out, err], handle, started)
            finally:
                os.close(handle)
            self._processes.end()
        return self._processes.summary(limits, reason, candidate, [out, err], started)

    def _judged(  # noqa: PLR0913, PLR0917  each is one thing
        self, key: str, placed: dict[int, int], limits: Limits, verdict: int, tests: int, started: float
    ) -> tuple[Reason | None, int]:
        judge = self._judge_of((key, limits.memory_mb, limits.processes), tests, limits)
        self._processes.begin(limits, judge.pid, judge.cpu_s)
        ours, theirs = socket.socketpair()
        with ours, theirs:
            judge.begin(ours, verdict)
            candidate = self._candidate({**placed, CHANNEL: theirs.fileno()}, limits, victim=judge.pid)
        reason = self._watch(limits, [placed[1], placed[2]], judge.control.fileno(), started)
        if reason is None:
            self._processes.charge(judge.collect())
        if not self._processes.end(judge.pid if judge.stays else 0):
            judge.control.close()
            self._judge = None
        return reason, candidate

    def _judge_of(self, key: object, tests: int, limits: Limits) -> JudgeProcess:
        """Return a judge that has read these tests: the last one, or a new one."""
        if self._judge and self._judge.is_for(key):
            return self._judge
        if self._judge:
            self._judge.control.close()
            self._processes.end()
        nothing = self._nothing
        ours, theirs = messages.pair()
        with theirs:
            confine = prepare(self._house, limits, self._house.strangers(), judge=True, victim=1)
            pid = os.fork()
            if not pid:
                with contextlib.suppress(BaseException):
                    confine()
                    settle({0: nothing, 1: nothing, 2: nothing, CHANNEL: theirs.fileno(), SPEC: tests})
                    run_judge(self._work[1])
                os._exit(127)
        self._judge = JudgeProcess(pid, ours, key)
        return self._judge

    def _candidate(self, files: dict[int, int], limits: Limits, *, victim: int) -> int:
        confine = prepare(self._house, limits, self._house.strangers(), judge=False, victim=victim)
        pid = os.fork()
        if pid:
            self._processes.leaders.append(pid)
            return pid
        with contextlib.suppress(BaseException):
            confine()
            settle(files)
            run_child(self._work[0])
        os._exit(127)

    def _watch(self, limits: Limits, outputs: list[int], awaited: int, started: float) -> Reason | None:
        """Wait until a file is readable; check the job's usage every 20 ms and return the limit that it exceeded."""
        poll = select.poll()
        poll.register(self._control, 0)
        poll.register(awaited, select.POLLIN)
        while True:
            events = poll.poll(_TICK_MS)
            if any(file == self._control.fileno() for file, _ in events):
                self._leave()
            self._processes.reap()
            if events:
                return None
            if reason := self._processes.broken(limits, outputs, started, self._scratch.is_over):
                return reason
