"""Measure the processes of a job, compare them with its limits, and end all of them.

Without a control group the kernel limits single processes only, and a program may start many.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.cage.control_group import ControlGroup
from assay.cage.job import Reason
from assay.cage.limits import Limits

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_KB = os.sysconf("SC_PAGE_SIZE") // 1024


@dataclass(slots=True)
class Process:
    """One line of /proc/PID/stat."""

    pid: int
    parent: int
    own_s: float
    """Processor time of its threads."""
    cpu_s: float
    """The same with that of the children that it waited for."""
    tasks: int
    resident_mb: float


def processes(view: str = "/proc") -> list[Process]:
    """Return every process of a /proc."""
    return [found for name in os.listdir(view) if name.isdecimal() and (found := _process(f"{view}/{name}"))]


def this_process() -> int:
    """Return the number of this process in /proc, which may differ from os.getpid()."""
    return int(os.readlink("/proc/self"))


def children() -> int:
    """Return how many children this thread has, -1 if the kernel does not say."""
    try:
        return len(Path("/proc/thread-self/children").read_bytes().split())
    except OSError:
        return -1


def of_user(user: int) -> int:
    """Return how many threads a user has now: without a user namespace, a limit on processes counts all of them."""
    total = 0
    for process in processes():
        with contextlib.suppress(OSError):
            total += process.tasks if os.stat(f"/proc/{process.pid}").st_uid == user else 0
    return total


def below(root: int, everything: Iterable[Process]) -> list[Process]:
    """Return the descendants of a process."""
    children: dict[int, list[Process]] = {}
    for process in everything:
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    fresh = children.get(root, [])
    while fresh:
        found += fresh
        fresh = [child for process in fresh for child in children.get(process.pid, [])]
    return found


def total_mb(job: Sequence[Process], enough_mb: float, view: str = "/proc") -> float:
    """Sum the memory of processes; shared memory is split exactly only if the rough sum reaches `enough_mb`."""
    memory_mb = sum(process.resident_mb for process in job)
    return sum(_proportional_mb(process, view) for process in job) if memory_mb > enough_mb else memory_mb


def sockets_mb() -> float:
    """Return the memory that sockets may use, which no process is charged for: 0.25 MB each beyond the first 64."""
    return max(0, int(Path("/proc/self/net/sockstat").read_bytes().split()[2]) - 64) * 0.25


def waiting_s(job: Iterable[Process], view: str) -> float:
    """Return how long the first threads of processes waited for a processor, together."""
    total = 0.0
    for process in job:
        with contextlib.suppress(OSError, ValueError, IndexError):
            total += int(Path(f"{view}/{process.pid}/schedstat").read_bytes().split()[1]) / 1e9
    return total


def _process(place: str) -> Process | None:
    """Read one process; None if it has just ended."""
    try:
        with open(f"{place}/stat", "rb") as stat:
            text = stat.read()
        pid, words = text[: text.index(b" ")], text[text.rindex(b")") + 2 :].split()
        others = os.listdir(f"{place}/task") if words[0] == b"Z" and words[17] != b"1" else ()
    except OSError:
        return None
    own, of_children = (sum(map(int, words[place : place + 2])) / _TICKS for place in (11, 13))
    threads = filter(None, (_process(f"{place}/task/{name}") for name in others))  # where the first one has ended
    resident_mb = max([int(words[21]) * _PAGE_KB / 1024, *(thread.resident_mb for thread in threads)])
    return Process(int(pid), int(words[1]), own, own + of_children, int(words[17]), resident_mb)


def _proportional_mb(process: Process, view: str) -> float:
    """Return the proportional set size (PSS) of a process."""
    try:
        lines = Path(f"{view}/{process.pid}/smaps_rollup").read_bytes().split(b"\n")
    except OSError:
        return process.resident_mb
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(b"Pss:")), process.resident_mb)


_FULL_OUTPUT = 8
"""How many times what is kept of its output ends a job."""
WALL_OF_BUSY = 4
"""How many times the wall limit a job may take that waits for a processor, on a machine too busy for it."""
_CERTAIN = 0.5
"""The part of the memory limit from which shared pages are worth counting exactly."""


class Reaper:
    """Track, measure and end the processes of one job."""

    def __init__(self, group: ControlGroup | None, *, first: bool, own_view: str) -> None:
        self._group = group
        self._first = first
        """Whether the fork server is process 1 of a namespace, and may kill all the others at once."""
        self._own_view = own_view
        """Where the processes of that namespace are seen, and no others; empty where /proc shows the machine's."""
        self._status: dict[int, int] = {}
        self.leaders: list[int] = []
        """Processes of the job that lead groups of their own."""
        self._cpu_s = self._peak_mb = 0.0
        self._ending = False
        self._judge, self._before_s = 0, 0.0
        self._own_s: dict[int, float] = {}
        """What each process was seen to use: the kernel does not report children that were never waited for."""

    def begin(self, limits: Limits, judge: int = 0, spent_s: float = 0.0) -> None:
        """Start a new job; `spent_s` is the judge's processor time for earlier jobs."""
        if self._group:
            self._group.begin(limits.memory_mb, limits.processes)
        self._status.clear()
        self.leaders.clear()
        self._ending = False
        self._cpu_s = self._peak_mb = 0.0
        self._judge, self._before_s = judge, spent_s
        self._own_s.clear()

    def charge(self, cpu_s: float) -> None:
        """Note processor time that the judge took for this job."""
        self._cpu_s += cpu_s
        self._before_s += cpu_s

    def reap(self, options: int = os.WNOHANG) -> bool:
        """Reap every process that has ended; say whether others are left."""
        while True:
            try:
                pid, status, used = os.wait4(-1, options)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            self._note(pid, status, used)

    def end(self, keep: int = 0) -> bool:
        """Kill the remaining processes and wait for them; their exit status is ignored.

        A process to keep lives on where nothing else is left beside the leaders; say whether it does.
        """
        self._ending = True
        if keep and self._leaves_only_one():
            return True
        self._end_all()
        return False

    def _leaves_only_one(self) -> bool:
        """Kill the leaders; say whether one child is left: every process of a job descends from one of ours."""
        for leader in self.leaders:
            if leader not in self._status:
                os.kill(leader, signal.SIGKILL)
                pid, status, used = os.wait4(leader, 0)
                self._note(pid, status, used)
        self.reap()
        return children() == 1

    def _end_all(self) -> None:
        if self._first:
            with contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
            self.reap(0)
            return
        for leader in self.leaders:  # at once, for a bomb forks faster than a list of it is read
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(leader, signal.SIGKILL)
        while self.reap():
            for process in below(this_process(), processes()):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process.pid, signal.SIGKILL)
            time.sleep(0.001)

    def broken(
        self, limits: Limits, outputs: list[int], started: float, is_full: Callable[[Limits], bool]
    ) -> Reason | None:
        """Return the limit that the job exceeds now; `is_full` checks its folders."""
        view = self._own_view or "/proc"
        seen = processes(view)
        job = [one for one in seen if one.pid != 1] if self._own_view else below(this_process(), seen)
        unseen_mb = sockets_mb() if self._first and not self._group else 0.0
        used_mb = total_mb(job, limits.memory_mb * _CERTAIN, view) + unseen_mb
        memory_mb = max(used_mb, self._group.memory_mb() if self._group else 0.0)
        self._peak_mb = max(self._peak_mb, memory_mb)
        self._own_s |= {one.pid: max(one.own_s, self._own_s.get(one.pid, 0.0)) for one in job}
        if memory_mb > limits.memory_mb:
            return "memory"
        if max(sum(one.cpu_s for one in job) + self._cpu_s - self._before_s, self._counted_s()) > limits.cpu_s:
            return "cpu"
        if sum(one.tasks for one in job) > limits.processes:
            return "processes"
        if _overflow(limits, outputs) or is_full(limits):
            return "output"
        late_s = time.monotonic() - started - limits.wall_s
        waited_s = min(waiting_s(job, view), (WALL_OF_BUSY - 1) * limits.wall_s) if late_s > 0 else 0.0
        return "wall" if late_s > waited_s else None

    def _counted_s(self) -> float:
        """Return the processor time of processes as last seen or as the kernel counts it, reaped or not."""
        seen_s = sum(self._own_s.values()) - self._before_s
        return max(seen_s, self._group.cpu_s()) if self._group else seen_s

    def summary(
        self, limits: Limits, reason: Reason | None, candidate: int, outputs: list[int], started: float
    ) -> dict[str, Any]:
        """Return the fields of the result of a finished job."""
        status = self._status.get(candidate, signal.SIGKILL if reason else 0)
        reason = reason or self._reason(limits, status, outputs)
        self.leaders.clear()  # their numbers may be others' by the time that somebody ends what is left
        return {
            "ended": reason,
            "status": status,
            "cpu_s": round(max(self._cpu_s, self._counted_s()), 6),
            "wall_s": round(time.monotonic() - started, 6),
            "peak_mb": round(self._peak_mb, 1),
        }

    def _reason(self, limits: Limits, status: int, outputs: list[int]) -> Reason:
        by_kernel = any(self._status.get(leader) == signal.SIGXCPU for leader in self.leaders)
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
        else:
            self._peak_mb = max(self._peak_mb, used.ru_maxrss / 1024)


def _overflow(limits: Limits, outputs: list[int]) -> bool:
    most = limits.output_kb * 1024 * _FULL_OUTPUT
    return any(os.fstat(file).st_size > most for file in outputs)
