"""The process that a cage turns around: it prepares once, then forks the two processes of each job and ends them.

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
from typing import Any, NoReturn

from assay.cage import confinement, forks, frames
from assay.cage.children import CHANNEL, FIRST_FREE, SAYS, SPEC, Confinement, prepare, run_child, settle
from assay.cage.limits import Limits, Reason
from assay.cage.procs import Reaper
from assay.cage.scratch import Scratch

_TICK_MS = 20
_CONTROL = 3

PRELOADED = """
array ast base64 bisect calendar cmath collections contextlib copy csv dataclasses datetime decimal enum fractions
functools hashlib heapq inspect io itertools json keyword linecache math numbers operator os pprint queue random re
statistics string struct subprocess tempfile textwrap threading time traceback types typing warnings
""".split()
"""What programs import most. Each megabyte costs every fork 0.1 ms: asyncio and unittest.mock are not worth theirs."""


def main() -> NoReturn:
    """Read what is wanted, become a cage and serve it until the other end closes."""
    control = socket.socket(fileno=_CONTROL)
    control.set_inheritable(False)
    plan, _ = frames.receive(control)
    try:
        for name in PRELOADED:
            importlib.import_module(name)
        work = _harness(plan)
        forks.let_go()
        confinement.enter(plan, control)
        house = confinement.prepare(plan)
        scratch = confinement.scratch_of(plan)
        scratch.refresh(Limits())
        for name in plan["modules"]:
            importlib.import_module(name)
    except BaseException as error:  # noqa: BLE001  whoever started this wants to know
        frames.send(control, {"error": f"{type(error).__name__}: {error}"})
        os._exit(1)
    sys.argv = [""]
    random.seed(0)
    gc.disable()
    gc.collect()
    gc.freeze()
    frames.send(control, {"ready": os.getpid(), "modules": len(sys.modules)})
    ForkServer(control, house, scratch, confinement.reaper_of(plan), work).serve()


Work = Callable[[socket.socket | None, dict[str, Any], int], object]


def _harness(plan: dict[str, Any]) -> tuple[Work, Work]:
    """Import what children run, with all of its package: its files cannot be seen from within."""
    if plan["harness_path"]:
        sys.path.insert(0, plan["harness_path"])
    found = []
    for spec in plan["harness"]:
        module, _, function = spec.partition(":")
        parent = importlib.import_module(module.rpartition(".")[0] or module)
        beside = [] if parent.__name__ == __package__ else pkgutil.iter_modules(getattr(parent, "__path__", []))
        for sub in beside:
            importlib.import_module(f"{parent.__name__}.{sub.name}")
        found.append(getattr(importlib.import_module(module), function))
    if plan["rehearsal"]:
        module, _, function = plan["rehearsal"].partition(":")
        getattr(importlib.import_module(module), function)()
    if plan["harness_path"]:
        sys.path.remove(plan["harness_path"])
    at = next((place for place, path in enumerate(sys.path) if path.endswith("-packages")), len(sys.path))
    sys.path[at:at] = plan["paths"]
    return found[0], found[1]


class ForkServer:
    """Jobs in, one after the other; how they ended out."""

    def __init__(
        self, control: socket.socket, house: Confinement, scratch: Scratch, processes: Reaper, work: tuple[Work, Work]
    ) -> None:
        self._control = control
        self._house = house
        self._work = work
        self._scratch = scratch
        self._processes = processes
        self._nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        while self._nothing < FIRST_FREE:
            self._nothing = os.dup(self._nothing)

    def serve(self) -> NoReturn:
        """Run jobs until there is nobody to run them for."""
        while True:
            job, files = frames.receive(self._control)
            if job is None:
                self._leave()
            try:
                ended = self._run(job, files)
            except OSError as error:
                self._processes.end()
                ended = {"ended": "broken", "detail": f"{type(error).__name__}: {error}"}
            for file in files:
                os.close(file)
            frames.send(self._control, ended)

    def _leave(self) -> NoReturn:
        self._processes.end()
        self._scratch.remove()
        os._exit(0)

    def _run(self, job: dict[str, Any], files: list[int]) -> dict[str, Any]:
        limits = Limits(**job["limits"])
        self._scratch.refresh(limits)
        started = time.monotonic()
        self._processes.begin()
        judge, candidate = self._fork_both(limits, files)
        reason = self._watch(limits, files, judge or candidate, started)
        self._processes.end()
        return self._processes.summary(limits, reason, candidate, files[2:4], started)

    def _fork_both(self, limits: Limits, files: list[int]) -> tuple[int, int]:
        spec, stdin, out, err, reports, *judging = files
        if not judging:
            return 0, self._fork({0: stdin, 1: out, 2: err, SAYS: reports, SPEC: spec}, limits, judge=False, victim=1)
        ours, theirs = socket.socketpair()
        with ours, theirs:
            verdict, test = judging
            nothing = self._nothing
            judge = self._fork(
                {0: nothing, 1: nothing, 2: nothing, CHANNEL: ours.fileno(), SAYS: verdict, SPEC: test},
                limits, judge=True, victim=1,
            )  # fmt: skip
            candidate = self._fork(
                {0: stdin, 1: out, 2: err, CHANNEL: theirs.fileno(), SAYS: reports, SPEC: spec},
                limits, judge=False, victim=judge,
            )  # fmt: skip
        return judge, candidate

    def _fork(self, files: dict[int, int], limits: Limits, *, judge: bool, victim: int) -> int:
        confine = prepare(self._house, limits, judge=judge, victim=victim)
        pid = os.fork()
        if pid:
            return self._processes.lead(pid)
        with contextlib.suppress(BaseException):
            confine()
            settle(files)
            run_child(self._work[judge])
        os._exit(127)

    def _watch(self, limits: Limits, files: list[int], awaited: int, started: float) -> Reason | None:
        """Wait for a process, looking at what the job uses every 20 ms; return which limit it broke, if any."""
        poll = select.poll()
        poll.register(self._control, 0)
        handle = os.pidfd_open(awaited)
        poll.register(handle, select.POLLIN)
        try:
            while True:
                events = poll.poll(_TICK_MS)
                if any(file == self._control.fileno() for file, _ in events):
                    self._leave()
                self._processes.reap()
                if self._processes.is_gone(awaited):
                    return None
                if not events and (reason := self._processes.broken(limits, files[2:4], started, self._scratch)):
                    return reason
        finally:
            os.close(handle)
