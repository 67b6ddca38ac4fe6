"""What the processes of a job use together, read from /proc: memory, processor time, how many there are.

Without a control group the kernel limits single processes only, and a program may start many.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import dataclass

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_KB = os.sysconf("SC_PAGE_SIZE") // 1024


@dataclass(slots=True)
class Usage:
    """The sum over some processes."""

    memory_mb: float = 0.0
    cpu_s: float = 0.0
    tasks: int = 0
    """Threads."""


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
    """Return every process that can be seen there."""
    return [found for name in os.listdir(view) if name.isdecimal() and (found := _process(f"{view}/{name}"))]


def this_process() -> int:
    """Return the number of this process as /proc has it, which may be another one than its own."""
    return int(os.readlink("/proc/self"))


def children() -> int:
    """Return how many children this thread has, -1 where the kernel does not say."""
    try:
        with open("/proc/thread-self/children", "rb") as file:
            return len(file.read().split())
    except OSError:
        return -1


def of_user(user: int) -> int:
    """Return how many threads a user has now: without a user namespace a limit of processes counts them all."""
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


def usage(job: Iterable[Process], enough_mb: float, view: str = "/proc") -> Usage:
    """Sum up; what is shared is counted once for each process until that makes `enough_mb`, then exactly."""
    together = list(job)
    memory_mb = sum(process.resident_mb for process in together)
    if memory_mb > enough_mb:
        memory_mb = sum(_proportional_mb(process, view) for process in together)
    return Usage(memory_mb, sum(process.cpu_s for process in together), sum(process.tasks for process in together))


def sockets_mb() -> float:
    """Return what sockets of this network may hold, which no process has: 0.25 MB each beyond 64 that anybody needs."""
    with open("/proc/self/net/sockstat", "rb") as file:
        return max(0, int(file.read().split()[2]) - 64) * 0.25


def waited_s(job: Iterable[Process], view: str) -> float:
    """Return how long the first threads of processes could have computed and had no processor, together."""
    total = 0.0
    for process in job:
        with (
            contextlib.suppress(OSError, ValueError, IndexError),
            open(f"{view}/{process.pid}/schedstat", "rb") as stat,
        ):
            total += int(stat.read().split()[1]) / 1e9
    return total


def _process(place: str) -> Process | None:
    """Read one process; None where it has just gone."""
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
    """Return its own pages, and of each shared one its part."""
    try:
        with open(f"{view}/{process.pid}/smaps_rollup", "rb") as smaps:
            lines = smaps.read().split(b"\n")
    except OSError:
        return process.resident_mb
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(b"Pss:")), process.resident_mb)
