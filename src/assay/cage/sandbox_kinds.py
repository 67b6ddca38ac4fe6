"""Every kind of sandbox: what it is made of, what that guarantees, and what differs in how it is driven. One table.

It is read on both sides of a cage's wall, so it imports nothing of the package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_READS = "no file of the machine but the system's programs and this Python, to read"
_FOLDER = "writes only to its own folder, whose size is looked at every 20 ms"
_BOUNDED = "processor time, wall time, memory, processes and output bounded"
_GONE = "nothing left after a job"


@dataclass(frozen=True, slots=True)
class SandboxKind:
    """One kind; what a field says no to is not there."""

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


NAMESPACES = SandboxKind(
    "namespaces",
    (
        "no network but its own loopback",
        _READS,
        "writes only to its own scratch, bounded in size and files",
        "no process outside seen or signalled",
        _BOUNDED,
        _GONE,
    ),
    namespaces=True,
    mounts=True,
)
GUARDED_NAMESPACES = SandboxKind(
    "namespaces+landlock",
    ("no network but its own loopback", _READS, _FOLDER, "no process outside signalled", _BOUNDED, _GONE),
    namespaces=True,
    landlock=True,
)
LANDLOCK = SandboxKind(
    "landlock",
    ("no sockets at all", _READS, _FOLDER, "no process outside signalled", _BOUNDED, _GONE),
    landlock=True,
)
WEAK = SandboxKind(
    "weak",
    ("processor time, wall time and output bounded; nothing else: programs can do whatever you can",),
    isolates=False,
)

KINDS: Mapping[str, SandboxKind] = {kind.name: kind for kind in (NAMESPACES, GUARDED_NAMESPACES, LANDLOCK, WEAK)}
"""By name, strongest first."""
ISOLATING = tuple(kind for kind in KINDS.values() if kind.isolates)
