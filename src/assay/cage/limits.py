"""What a sandbox is given and gives back: a job with its limits in, how it ended out.

Nothing here knows of Python tests: a job is two blocks of bytes for the two processes that it becomes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Reason = Literal["exit", "signal", "cpu", "wall", "memory", "output", "processes", "broken"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one job may use, all its processes together unless said otherwise."""

    cpu_s: float = 5.0
    """The verdict about programs that do not end: it says the same on a busy machine."""
    wall_s: float = 15.0
    """A backstop for programs that sleep."""
    memory_mb: int = 1024
    processes: int = 32
    """Threads count, as they do for the kernel."""
    file_mb: int = 16
    """The longest single file."""
    scratch_mb: int = 64
    """All files in /work, /tmp and /dev/shm."""
    inodes: int = 4096
    output_kb: int = 64
    """How much is kept of standard output and of standard error; eight times as much ends the job."""

    def with_cpu(self, seconds: float) -> Limits:
        """Return these with other processor time; wall time, the backstop, grows with it."""
        return replace(self, cpu_s=seconds, wall_s=seconds * self.wall_s / self.cpu_s)


@dataclass(frozen=True, slots=True)
class Job:
    """One program to run."""

    id: str
    candidate: bytes
    """JSON for the process that runs the program."""
    judge: bytes | None = None
    """JSON for the process that tests it, or None where nothing is asked of the program but to run.

    Jobs with equal ones share that process, one after the other, where it says that nothing changed it.
    """
    stdin: bytes = b""
    limits: Limits | None = None
    """None is what the sandbox was opened with."""
    modules: tuple[str, ...] = ()
    """What the judge needs that takes long to import: it is loaded once, for this job and all later ones."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a job."""

    id: str
    verdict: bytes = b""
    """What the judge wrote where nobody else can write."""
    reports: bytes = b""
    """What the program's own process says about its failure; a program can forge it."""
    status: int = 0
    """The wait status of the program's process; 0 also where it was still alive when its judge was done."""
    stdout: bytes = b""
    stderr: bytes = b""
    cpu_s: float = 0.0
    wall_s: float = 0.0
    peak_mb: float = 0.0
    ended: Reason = "exit"
    detail: str = ""
    """What went wrong with the sandbox itself, where `ended` is broken."""
