"""What each kind of sandbox is made of, from within: how its fork server gets in, and what holds its children."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from assay.cage import landlock, namespaces, usage
from assay.cage.children import Confinement
from assay.cage.control_group import ControlGroup
from assay.cage.procs import Reaper
from assay.cage.sandbox_kinds import KINDS, SandboxKind
from assay.cage.scratch import FOLDERS, FolderScratch, MountedScratch, Scratch
from assay.cage.seccomp import Filter
from assay.cage.syscalls import (
    PR_SET_CHILD_SUBREAPER,
    PR_SET_DUMPABLE,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    drop_bounding_set,
    prctl,
)

_ROOM_FOR_OTHERS = 16 + 4 * (os.cpu_count() or 1)
"""Processes that the same user may start elsewhere during a job, where the kernel counts all of them: other cages
and compilers start as many as there are cores."""
_FRESH_S = 1.0
_SINGLE_THREADED = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""Libraries start a thread a core otherwise: a process that forks has to have one, and a job's threads are counted."""
_STRANGERS_KEPT_OFF = 6
"""The first version of Landlock that stops signals to processes outside."""


def reaper_of(plan: dict[str, Any]) -> Reaper:
    """Return what watches and ends the processes of a job in this kind."""
    kind = KINDS[plan["kind"]]
    return Reaper(plan["group"], first=kind.namespaces, own_view=plan["processes"] if kind.mounts else "")


def enter(plan: dict[str, Any], control: socket.socket) -> None:
    """Return in the fork server, inside; the process that called this stays outside and sees it to its end."""
    as_root, kind = os.geteuid() == 0, KINDS[plan["kind"]]
    if as_root and kind.landlock:
        _check_readable(plan["folders"])
    plan["first_user"] = namespaces.nobodys(os.getpid()) if as_root and kind.isolates else None
    group = ControlGroup(os.getpid())
    plan["group"] = group if group.counts else None
    if not kind.mounts:
        os.makedirs(plan["scratch"], exist_ok=True)
        FolderScratch(plan["scratch"]).make(plan["first_user"])
    if kind.namespaces:
        namespaces.leave(plan["folders"], mounts=kind.mounts)
        _die_with_parent(signal.SIGKILL)
    elif sys.platform == "linux":
        prctl(PR_SET_CHILD_SUBREAPER, 1)
    server = os.fork()
    if server:
        control.close()
        _see_to_the_end(server, plan)
    group.join()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    if kind.namespaces:
        plan["processes"] = namespaces.arrive(plan["folders"], mounts=kind.mounts, as_root=as_root)
        _die_with_parent(signal.SIGKILL)
        drop_bounding_set()
    elif sys.platform == "linux":
        prctl(PR_SET_CHILD_SUBREAPER, 1)
    if sys.platform == "linux":
        prctl(PR_SET_DUMPABLE, 0)
        prctl(PR_SET_NO_NEW_PRIVS, 1)


def prepare(plan: dict[str, Any]) -> Confinement:
    """Return what will hold the children, made ready once."""
    kind = KINDS[plan["kind"]]
    folder = "/scratch" if kind.mounts else plan["scratch"]
    os.environ.clear()
    os.environ.update(_environment(plan, folder))
    version = landlock.abi() if kind.landlock else 0
    if kind.landlock and version == 0:
        raise OSError(errno.ENOSYS, "this kernel has no Landlock")
    return Confinement(
        filter=_filter(kind, version) if kind.isolates else None,
        rules=_rules(plan, version) if kind.landlock else None,
        users=_users(plan),
        namespaces=kind.namespaces,
        folder=f"{folder}/work",
        strangers=_strangers(kind),
    )


def _strangers(kind: SandboxKind) -> Callable[[], int]:
    """Return how to count the processes that a job's user may have beyond the limit: others, and at least one more.

    The one more lets a job get past its limit, so that it is seen and ended there.
    """
    if os.geteuid() == 0 and kind.isolates:
        return lambda: 1
    if kind.namespaces:
        return lambda: 4
    counted_at, count = -_FRESH_S, 0

    def others() -> int:
        nonlocal counted_at, count
        if time.monotonic() - counted_at >= _FRESH_S:
            counted_at, count = time.monotonic(), usage.of_user(os.getuid())
        return count + _ROOM_FOR_OTHERS

    return others


def _filter(kind: SandboxKind, version: int) -> Filter:
    return Filter(
        namespaces=kind.namespaces,
        own_files=kind.mounts,
        signals_younger=version >= _STRANGERS_KEPT_OFF,
    )


def scratch_of(plan: dict[str, Any]) -> Scratch:
    """Return the scratch folders of this kind."""
    if KINDS[plan["kind"]].mounts:
        return MountedScratch(namespaces.aliases(plan["folders"]))
    return FolderScratch(plan["scratch"])


def _users(plan: dict[str, Any]) -> tuple[int, int] | None:
    """Return the users of program and judge, where the fork server may choose."""
    first = plan["first_user"]
    if first is None:
        return None
    if KINDS[plan["kind"]].namespaces:
        first = namespaces.FORK_SERVER
    return first + namespaces.CANDIDATE, first + namespaces.JUDGE


def _rules(plan: dict[str, Any], version: int) -> int:
    """Return which files of the machine the children may read, and where they may write."""
    devices = [f"/dev/{name}" for name in namespaces.DEVICES]
    readable = [*namespaces.SYSTEM, *namespaces.SETTINGS, *plan["folders"]]
    writable = [f"{plan['scratch']}/{name}" for name in FOLDERS]
    return landlock.rules(version, readable, writable, devices, own_network=KINDS[plan["kind"]].namespaces)


def _environment(plan: dict[str, Any], folder: str) -> dict[str, str]:
    return {
        "PATH": os.pathsep.join([os.path.dirname(sys.executable), "/usr/local/bin", "/usr/bin", "/bin"]),
        "HOME": f"{folder}/work",
        "TMPDIR": "/tmp" if KINDS[plan["kind"]].mounts else f"{folder}/tmp",  # noqa: S108  each job's own
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join(plan["paths"]),
        **dict.fromkeys(_SINGLE_THREADED, "1"),
    }


def _check_readable(folders: Sequence[str]) -> None:
    """Refuse a Python that only root can read, where programs run as somebody else and see the machine's files."""
    for folder in map(Path, folders):
        closed = [str(one) for one in (folder, *folder.parents) if not one.stat().st_mode & 1]
        if closed:
            raise PermissionError(f"programs of root run as another user, who may not enter {closed[-1]}")


def _die_with_parent(number: int) -> None:
    """Ask for a signal when whoever started this process is gone; it is forgotten when the user changes."""
    if sys.platform == "linux":
        prctl(PR_SET_PDEATHSIG, number)


def _see_to_the_end(server: int, plan: dict[str, Any]) -> NoReturn:
    """Wait for the fork server, and clean up after it where no namespace does."""
    if not KINDS[plan["kind"]].mounts:
        signal.signal(signal.SIGTERM, lambda *_: _end_all(server, plan))
        _die_with_parent(signal.SIGTERM)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(server, 0)
    _end_all(server, plan)


def _end_all(server: int, plan: dict[str, Any]) -> NoReturn:
    """Kill the fork server with everything that it started, delete where it wrote, and go."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(server, signal.SIGKILL)
    Reaper(None, first=False, own_view="").end()
    if plan["scratch"]:
        FolderScratch(plan["scratch"]).remove()
    os._exit(0)
