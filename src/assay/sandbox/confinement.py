"""What each kind of sandbox is made of, from within: how its keeper gets in, and what holds its children."""

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

from assay.sandbox import landlock, namespaces, watch
from assay.sandbox.children import Confinement
from assay.sandbox.procs import Reaper
from assay.sandbox.scratch import FOLDERS, Folder, Mounted, Scratch
from assay.sandbox.seccomp import Filter
from assay.sandbox.syscalls import (
    PR_SET_CHILD_SUBREAPER,
    PR_SET_DUMPABLE,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    drop_bounding_set,
    prctl,
)

_NAMESPACES = ("namespaces", "hybrid")
WEAK = "weak"
_GUARDED = ("hybrid", "landlock")
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
    return Reaper(first=plan["kind"] in _NAMESPACES, own_view=plan["kind"] == "namespaces")


def enter(plan: dict[str, Any], control: socket.socket) -> None:
    """Return in the keeper, inside; the process that called this stays outside and sees it to its end."""
    as_root = os.geteuid() == 0
    if as_root and plan["kind"] in _GUARDED:
        _check_readable(plan["folders"])
    mounts = plan["kind"] == "namespaces"
    plan["first_user"] = namespaces.nobodys(os.getpid()) if as_root and plan["kind"] != WEAK else None
    if not mounts:
        os.makedirs(plan["scratch"], exist_ok=True)
        Folder(plan["scratch"]).make(plan["first_user"])
    if plan["kind"] in _NAMESPACES:
        namespaces.leave(plan["folders"], mounts=mounts)
        _die_with_parent(signal.SIGKILL)
    elif sys.platform == "linux":
        prctl(PR_SET_CHILD_SUBREAPER, 1)
    keeper = os.fork()
    if keeper:
        control.close()
        _see_to_the_end(keeper, plan)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    if plan["kind"] in _NAMESPACES:
        namespaces.arrive(plan["folders"], mounts=mounts, as_root=as_root)
        _die_with_parent(signal.SIGKILL)
        drop_bounding_set()
    elif sys.platform == "linux":
        prctl(PR_SET_CHILD_SUBREAPER, 1)
    if sys.platform == "linux":
        prctl(PR_SET_DUMPABLE, 0)
        prctl(PR_SET_NO_NEW_PRIVS, 1)


def prepare(plan: dict[str, Any]) -> Confinement:
    """Return what will hold the children, made ready once."""
    kind = plan["kind"]
    in_namespaces = kind in _NAMESPACES
    folder = "/scratch" if kind == "namespaces" else plan["scratch"]
    os.environ.clear()
    os.environ.update(_environment(plan, folder))
    version = landlock.abi() if kind in _GUARDED else 0
    if kind in _GUARDED and version == 0:
        raise OSError(errno.ENOSYS, "this kernel has no Landlock")
    return Confinement(
        filter=_filter(kind, version) if kind != WEAK else None,
        rules=_rules(plan, version) if kind in _GUARDED else None,
        users=_users(plan),
        namespaces=in_namespaces,
        folder=f"{folder}/work",
        strangers=_strangers(kind),
    )


def _strangers(kind: str) -> Callable[[], int]:
    """Return how to count the processes that a job's user may have beyond the limit: others, and at least one more.

    The one more lets a job get past its limit, so that it is seen and ended there.
    """
    if os.geteuid() == 0 and kind != WEAK:
        return lambda: 1
    if kind in _NAMESPACES:
        return lambda: 4
    counted_at, count = -_FRESH_S, 0

    def others() -> int:
        nonlocal counted_at, count
        if time.monotonic() - counted_at >= _FRESH_S:
            counted_at, count = time.monotonic(), watch.of_user(os.getuid())
        return count + _ROOM_FOR_OTHERS

    return others


def _filter(kind: str, version: int) -> Filter:
    return Filter(
        namespaces=kind in _NAMESPACES,
        own_files=kind == "namespaces",
        signals_younger=version >= _STRANGERS_KEPT_OFF,
    )


def scratch_of(plan: dict[str, Any]) -> Scratch:
    """Return the scratch folders of this kind."""
    if plan["kind"] == "namespaces":
        return Mounted(namespaces.aliases(plan["folders"]))
    return Folder(plan["scratch"])


def _users(plan: dict[str, Any]) -> tuple[int, int] | None:
    """Return the users of program and judge, where the keeper may choose."""
    first = plan["first_user"]
    if first is None:
        return None
    if plan["kind"] in _NAMESPACES:
        first = namespaces.KEEPER
    return first + namespaces.CANDIDATE, first + namespaces.JUDGE


def _rules(plan: dict[str, Any], version: int) -> int:
    """Return which files of the machine the children may read, and where they may write."""
    devices = [f"/dev/{name}" for name in namespaces.DEVICES]
    readable = [*namespaces.SYSTEM, *namespaces.SETTINGS, *plan["folders"]]
    writable = [f"{plan['scratch']}/{name}" for name in FOLDERS]
    return landlock.rules(version, readable, writable, devices, own_network=plan["kind"] in _NAMESPACES)


def _environment(plan: dict[str, Any], folder: str) -> dict[str, str]:
    return {
        "PATH": os.pathsep.join([os.path.dirname(sys.executable), "/usr/local/bin", "/usr/bin", "/bin"]),
        "HOME": f"{folder}/work",
        "TMPDIR": "/tmp" if plan["kind"] == "namespaces" else f"{folder}/tmp",  # noqa: S108  each job's own
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


def _see_to_the_end(keeper: int, plan: dict[str, Any]) -> NoReturn:
    """Wait for the keeper, and clean up after it where no namespace does."""
    if plan["kind"] != "namespaces":
        signal.signal(signal.SIGTERM, lambda *_: _end_all(keeper, plan))
        _die_with_parent(signal.SIGTERM)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(keeper, 0)
    _end_all(keeper, plan)


def _end_all(keeper: int, plan: dict[str, Any]) -> NoReturn:
    """Kill the keeper with everything that it started, delete where it wrote, and go."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(keeper, signal.SIGKILL)
    Reaper(first=False, own_view=False).end()
    if plan["scratch"]:
        Folder(plan["scratch"]).remove()
    os._exit(0)
