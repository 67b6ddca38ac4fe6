"""The processes of one job: waited for, measured against its limits, and ended to the last one."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from typing import Any

from assay.cage import usage
from assay.cage.control_group import ControlGroup
from assay.cage.limits import Limits, Reason
from assay.cage.scratch import Scratch

_FULL_OUTPUT = 8
"""How many times what is kept of its output ends a job."""
WALL_OF_BUSY = 4
"""How many times the wall limit a job may take that waits for a processor, on a machine too busy for it."""
_CERTAIN = 0.5
"""The part of the memory limit from which shared pages are worth counting exactly."""


class Reaper:
    """What the fork server knows of the processes that one job became."""

    def __init__(self, group: ControlGroup | None, *, first: bool, own_view: str) -> None:
        self._group = group
        self._first = first
        """Whether the fork server is process 1 of a namespace, and may kill all the others at once."""
        self._own_view = own_view
        """Where the processes of that namespace are seen, and no others; empty where /proc shows the machine's."""
        self._status: dict[int, int] = {}
        self._leaders: list[int] = []
        self._cpu_s = self._peak_mb = 0.0
        self._ending = False
        self._judge, self._before_s = 0, 0.0
        self._own_s: dict[int, float] = {}
        """What each process was seen to have used: nobody is told what a child took that nobody waits for."""

    def begin(self, limits: Limits, judge: int = 0, spent_s: float = 0.0) -> None:
        """Forget the last job; a judge took so much processor time for earlier ones."""
        if self._group:
            self._group.begin(limits.memory_mb, limits.processes)
        self._status.clear()
        self._leaders.clear()
        self._ending = False
        self._cpu_s = self._peak_mb = 0.0
        self._judge, self._before_s = judge, spent_s
        self._own_s.clear()

    def charge(self, cpu_s: float) -> None:
        """Note processor time that the judge took for this job."""
        self._cpu_s += cpu_s
        self._before_s += cpu_s

    def lead(self, pid: int) -> int:
        """Note a process that leads a group of its own; return it."""
        self._leaders.append(pid)
        return pid

    def reap(self, options: int = os.WNOHANG) -> bool:
        """Take leave of every process that has ended; say whether others are left."""
        while True:
            try:
                pid, status, used = os.wait4(-1, options)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            self._note(pid, status, used)

    def end(self, keep: int = 0) -> bool:
        """Kill what is left and wait until it is gone; how that ends says nothing about it.

        A process to keep lives on where nothing else is left beside the leaders; say whether it does.
        """
        self._ending = True
        if keep and self._leaves_only_one():
            return True
        self._end_all()
        return False

    def _leaves_only_one(self) -> bool:
        """End the leaders; say whether one child is left then: all that a job starts is below one of ours."""
        for leader in self._leaders:
            if leader not in self._status:
                os.kill(leader, signal.SIGKILL)
                pid, status, used = os.wait4(leader, 0)
                self._note(pid, status, used)
        self.reap()
        return usage.children() == 1

    def _end_all(self) -> None:
        if self._first:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
            self.reap(0)
            return
        for leader in self._leaders:  # at once, for a bomb forks faster than a list of it is read
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(leader, signal.SIGKILL)
        while self.reap():
            for process in usage.below(usage.this_process(), usage.processes()):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process.pid, signal.SIGKILL)
            time.sleep(0.001)

    def broken(self, limits: Limits, outputs: list[int], started: float, scratch: Scratch) -> Reason | None:
        """Return the limit that the job is over now."""
        view = self._own_view or "/proc"
        seen = usage.processes(view)
        job = [one for one in seen if one.pid != 1] if self._own_view else usage.below(usage.this_process(), seen)
        used = usage.usage(job, limits.memory_mb * _CERTAIN, view)
        unseen_mb = usage.sockets_mb() if self._first and not self._group else 0.0
        memory_mb = max(used.memory_mb + unseen_mb, self._group.memory_mb() if self._group else 0.0)
        self._peak_mb = max(self._peak_mb, memory_mb)
        self._own_s |= {one.pid: max(one.own_s, self._own_s.get(one.pid, 0.0)) for one in job}
        if memory_mb > limits.memory_mb:
            return "memory"
        if max(used.cpu_s + self._cpu_s - self._before_s, self._counted_s()) > limits.cpu_s:
            return "cpu"
        if used.tasks > limits.processes:
            return "processes"
        if _overflow(limits, outputs) or scratch.is_over(limits):
            return "output"
        late_s = time.monotonic() - started - limits.wall_s
        waited_s = min(usage.waited_s(job, view), (WALL_OF_BUSY - 1) * limits.wall_s) if late_s > 0 else 0.0
        return "wall" if late_s > waited_s else None

    def _counted_s(self) -> float:
        """Return the processor time of processes as they were seen, or by the kernel, waited for by somebody or not."""
        seen_s = sum(self._own_s.values()) - self._before_s
        return max(seen_s, self._group.cpu_s()) if self._group else seen_s

    def summary(
        self, limits: Limits, reason: Reason | None, candidate: int, outputs: list[int], started: float
    ) -> dict[str, Any]:
        """Return what the supervisor is told of a job that is over."""
        status = self._status.get(candidate, signal.SIGKILL if reason else 0)
        reason = reason or self._reason(limits, status, outputs)
        self._leaders.clear()  # their numbers may be others' by the time that somebody ends what is left
        return {
            "ended": reason,
            "status": status,
            "cpu_s": round(max(self._cpu_s, self._counted_s()), 6),
            "wall_s": round(time.monotonic() - started, 6),
            "peak_mb": round(self._peak_mb, 1),
        }

    def _reason(self, limits: Limits, status: int, outputs: list[int]) -> Reason:
        by_kernel = any(self._status.get(leader) == signal.SIGXCPU for leader in self._leaders)
        if by_kernel or self._cpu_s > limits.cpu_s:
            return "cpu"
        if _overflow(limits, outputs):
            return "output"
        return "signal" if os.WIFSIGNALED(status) else "exit"

    def _note(self, pid: int, status: int, used: resource.struct_rusage) -> None:
        if not self._ending or status != signal.SIGKILL:  # what ended by itself before says so, however late
            self._status[pid] = status
        self._cpu_s += used.ru_utime + used.ru_stime
        if pid == self._judge:
            self._cpu_s -= self._before_s
            return
        self._peak_mb = max(self._peak_mb, used.ru_maxrss / 1024)


def _overflow(limits: Limits, outputs: list[int]) -> bool:
    most = limits.output_kb * 1024 * _FULL_OUTPUT
    return any(os.fstat(file).st_size > most for file in outputs)
