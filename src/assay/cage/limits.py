"""Bound what one program may use, with the defaults of every sandbox."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits of one job, for all its processes together unless noted."""

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
        """Return these limits with another processor time; the wall time grows with it."""
        return replace(self, cpu_s=seconds, wall_s=seconds * self.wall_s / self.cpu_s)
