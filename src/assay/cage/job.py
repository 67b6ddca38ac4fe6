"""Describe jobs, their limits and ends, and the kinds of sandbox.

Nothing here knows of Python tests: a job is two blocks of bytes for the two processes that it becomes.

It is read on both sides of a cage's wall, so it imports nothing of the package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from assay.cage.limits import Limits

Reason = Literal["exit", "signal", "cpu", "wall", "memory", "output", "processes", "broken"]


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
    """The result of a job."""

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


_NETWORK = "no network but its own loopback"
_READS = "no file of the machine but the system's programs and this Python, to read"
_FOLDER = "writes only to its own folder, whose size is looked at every 20 ms"
_BOUNDED = "processor time, wall time, memory, processes and output bounded"
_GONE = "nothing left after a job"


@dataclass(frozen=True, slots=True)
class SandboxKind:
    """A kind of sandbox; a protection whose field is False is absent."""

    name: str
    guarantees: tuple[str, ...]
    namespaces: bool = False
    """Processes, network and users are its own."""
    mounts: bool = False
    """Its files are its own, mounted where only it sees them: they end with it, so one signal ends all of it."""
    landlock: bool = False
    """The files are the machine's, and Landlock says which may be touched."""
    isolates: bool = True
    """A hostile program is held."""


_SCRATCH = "writes only to its own scratch, bounded in size and files"
NAMESPACES = SandboxKind(
    "namespaces",
    (_NETWORK, _READS, _SCRATCH, "no process outside seen or signalled", _BOUNDED, _GONE),
    namespaces=True,
    mounts=True,
)
_SHARED = (_READS, _FOLDER, "no process outside signalled", _BOUNDED, _GONE)
GUARDED_NAMESPACES = SandboxKind("namespaces+landlock", (_NETWORK, *_SHARED), namespaces=True, landlock=True)
LANDLOCK = SandboxKind("landlock", ("no sockets at all", *_SHARED), landlock=True)
WEAK = SandboxKind(
    "weak",
    ("processor time, wall time and output bounded; nothing else: programs can do whatever you can",),
    isolates=False,
)
KINDS: Mapping[str, SandboxKind] = {kind.name: kind for kind in (NAMESPACES, GUARDED_NAMESPACES, LANDLOCK, WEAK)}
"""By name, strongest first."""
ISOLATING = tuple(kind for kind in KINDS.values() if kind.isolates)


@dataclass(frozen=True, slots=True)
class ServerPlan:
    """Settings that a fork server reads first. They are sent as JSON, so that sequences arrive as lists."""

    kind_name: str
    modules: Sequence[str]
    paths: Sequence[str]
    folders: Sequence[str]
    """What programs may read of the machine beyond its system."""
    harness: Sequence[str]
    harness_path: str
    rehearsal: str
    """`module:function` that runs once before the first job, or empty."""
    scratch: str
    """Where programs may write, empty where a file system is mounted for them."""

    @property
    def kind(self) -> SandboxKind:
        """Return the kind of sandbox."""
        return KINDS[self.kind_name]
