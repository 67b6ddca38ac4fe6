"""Give each cage a control group, where available, so that the kernel counts what its processes use together.

Looking at processes misses what none of them has: memory of sockets and pipes, and children that were gone before the
next look. Version 2 is used where its controllers are on or this user may turn them on (`Delegate=yes`), and version 1
for root. Its files are opened outside, for the fork server cannot see them from within.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from pathlib import Path

_CONTROLLERS = {"memory", "pids"}
_NAME = "assay-cage-"
_MEMORY_FACTOR, _EXTRA_TASKS = 4, 8
"""How far beyond a job's memory and processes the kernel steps in: the job is ended before, and is told why."""
_LEAF = "assay"
"""Where this process goes in a group that was given to it, for a group with processes can have none below it."""
_CACHED = re.compile(rb"^(?:in)?active_file (\d+)", re.MULTILINE)
_TRIES = 40
"""It is busy until the last of its processes is gone."""
_FILES = {
    "procs": ("cgroup.procs",),
    "limit": ("memory.max", "memory.limit_in_bytes"),
    "tasks": ("pids.max",),
    "used": ("memory.current", "memory.usage_in_bytes"),
    "cached": ("memory.stat",),
    "cpu": ("cpuacct.usage", "cpu.stat"),
}
"""What is read or written, under its names in both versions."""


class ControlGroup:
    """The control group of a cage, created and removed by the process that starts the cage."""

    def __init__(self, name: int) -> None:
        self._folders = [parent / f"{_NAME}{name}" for parent in parents()]
        self._files: dict[str, list[int]] = {}
        self._limits = 0, 0
        self._base, self._base_s = 0, 0.0
        with contextlib.suppress(OSError):  # then nothing is counted, and `describe` says so
            for folder in self._folders:
                folder.mkdir(exist_ok=True)
            for key, names in _FILES.items():
                paths = [folder / name for folder in self._folders for name in names]
                mode = os.O_WRONLY if key in {"procs", "limit", "tasks"} else os.O_RDONLY
                self._files[key] = [os.open(path, mode | os.O_CLOEXEC) for path in paths if path.exists()]

    @property
    def counts(self) -> bool:
        """Whether the kernel meters this cage."""
        return self._files.keys() == _FILES.keys() and all(self._files.values())

    def join(self) -> None:
        """Enter it, with all that this process starts from now on."""
        for file in self._files["procs"] if self.counts else ():
            os.write(file, b"0")

    def begin(self, memory_mb: int, tasks: int) -> None:
        """Record the usage before a job."""
        if self._limits != (memory_mb, tasks):
            self._limits = memory_mb, tasks
            os.write(self._files["limit"][0], str(int(memory_mb * _MEMORY_FACTOR) + 64 << 20).encode())
            os.write(self._files["tasks"][0], str(tasks + _EXTRA_TASKS).encode())
        self._base, self._base_s = self._used(), self._cpu_s()

    def memory_mb(self) -> float:
        """Return the memory used since `begin`, without the file cache, which the kernel can reclaim."""
        return (self._used() - self._base) / (1 << 20)

    def cpu_s(self) -> float:
        """Return the processor time used since `begin`, without that of this process."""
        return self._cpu_s() - self._base_s

    def _used(self) -> int:
        cached = _CACHED.findall(_read(self._files["cached"][0]))
        return int(_read(self._files["used"][0])) - sum(map(int, cached))

    def _cpu_s(self) -> float:
        found = _read(self._files["cpu"][0])
        spent = int(found) / 1e9 if found.strip().isdigit() else int(found.split()[1]) / 1e6
        return spent - time.process_time()


def parents() -> list[Path]:
    """Return the groups in which this process may make others: one of version 2, three of version 1, or none."""
    if sys.platform != "linux":
        return []
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    own = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    found = {}
    for _, place, kind, options, *_ in mounts:
        for _, controllers, path in own:
            group = Path(place + path)
            group = group.parent if group.name == _LEAF else group
            if kind == "cgroup2" and not controllers and _turned_on(group) >= _CONTROLLERS:
                return [group]
            for name in {"memory", "cpuacct", "pids"} & set(controllers.split(",")) & set(options.split(",")):
                if kind == "cgroup" and os.access(place + path, os.W_OK):
                    found[name] = Path(place + path)
    return list(found.values()) if len(found) == 3 else []


def _turned_on(group: Path) -> set[str]:
    """Return the controllers that groups below this one have; where systemd gave it to this user, turn them on."""
    with contextlib.suppress(OSError):
        on = set((group / "cgroup.subtree_control").read_text().split())
        if on >= _CONTROLLERS and os.access(group, os.W_OK):
            return on
        given = any(os.getxattr(group, name) == b"1" for name in os.listxattr(group) if name.endswith(".delegate"))
        if given and set((group / "cgroup.controllers").read_text().split()) >= _CONTROLLERS:
            leaf = group / _LEAF
            leaf.mkdir(exist_ok=True)
            for process in (group / "cgroup.procs").read_text().split():
                (leaf / "cgroup.procs").write_text(process)
            (group / "cgroup.subtree_control").write_text("+memory +pids")
            return _CONTROLLERS
    return set()


def describe() -> str:
    """Say in a line whether the kernel meters what programs use."""
    counts = ControlGroup(os.getpid()).counts
    remove(os.getpid())
    if counts:
        return "memory, processor time and processes counted by the kernel, in a control group for each cage"
    return "no control group can be had: memory and processor time are looked at every 20 ms"


def remove(process: int) -> None:
    """Remove the group of an ended process, and abandoned groups."""
    for parent in parents():
        for folder in parent.glob(f"{_NAME}*"):
            number = folder.name.removeprefix(_NAME)
            for _ in range(_TRIES if number == str(process) else not Path("/proc", number).exists()):
                with contextlib.suppress(OSError):
                    folder.rmdir()
                    break
                time.sleep(0.005)


def _read(file: int) -> bytes:
    return os.pread(file, 1 << 16, 0)
