"""Set up the confinement and the scratch folders of each kind of sandbox.

A job that wrote nothing leaves its folders as they were made, and the next one takes them over: most programs
write nothing, and a new mount costs more than a look.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple, NoReturn

from assay.cage import landlock, namespaces, processes
from assay.cage.children import Confinement
from assay.cage.control_group import ControlGroup
from assay.cage.job import SandboxKind, ServerPlan
from assay.cage.limits import Limits
from assay.cage.namespaces import CANDIDATE, forget_scratch, fresh_scratch
from assay.cage.processes import Reaper
from assay.cage.seccomp import Filter
from assay.cage.syscalls import (
    PR_SET_CHILD_SUBREAPER,
    PR_SET_DUMPABLE,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    drop_bounding_set,
    prctl,
)

FOLDERS = ("work", "tmp", "shm")


_State = tuple[tuple[int, int, int, tuple[str, ...]], ...]


class MountedScratch:
    """Scratch folders on a tmpfs; the kernel limits its size."""

    def __init__(self, links: Mapping[str, str]) -> None:
        self._links = links
        self._mounted: tuple[int, int] | None = None
        self._state: _State = ()

    def refresh(self, limits: Limits) -> None:
        """Mount another one unless this one was never written to."""
        wanted = limits.scratch_mb, limits.inodes
        if self._mounted == wanted and self._state == _state("/scratch"):
            return
        if self._mounted:
            forget_scratch()
        fresh_scratch(*wanted, self._links)
        self._mounted, self._state = wanted, _state("/scratch")

    def is_over(self, limits: Limits) -> bool:
        """Return False: the kernel enforces the size."""
        del limits
        return False

    def remove(self) -> None:
        """Do nothing: the mount namespace ends with its processes."""


class FolderScratch:
    """Scratch folders of the machine, where nothing can be mounted; their size is checked, not limited."""

    def __init__(self, root: str) -> None:
        self._root = Path(root)
        self._state: _State = ()

    def make(self, first_user: int | None) -> None:
        """Make the folders, which stay: the rules about them are bound to these very folders.

        Where users are chosen, the first is the fork server, who owns the folder, and the next the program, who writes.
        """
        self._root.chmod(0o711)
        for name in FOLDERS:
            (self._root / name).mkdir(mode=0o700)
            if first_user is not None:
                os.chown(self._root / name, first_user + CANDIDATE, first_user + CANDIDATE)
        if first_user is not None:
            os.chown(self._root, first_user, first_user)

    def refresh(self, limits: Limits) -> None:
        """Delete what is in them unless they were never written to."""
        del limits
        if self._state and self._state == _state(str(self._root)):
            return
        for name in FOLDERS:
            _empty(self._root / name)
        self._state = _state(str(self._root))

    def is_over(self, limits: Limits) -> bool:
        """Say whether its files are too many or too large together."""
        if self._state == _state(str(self._root)):
            return False
        count, blocks = 0, 0
        for folder, _, files in os.walk(self._root):
            for name in files:
                with contextlib.suppress(OSError):
                    blocks += os.lstat(os.path.join(folder, name)).st_blocks
            count += 1 + len(files)
        return count > limits.inodes or blocks * 512 > limits.scratch_mb << 20

    def remove(self) -> None:
        """Delete it with all that is in it."""
        if self._root.exists():
            _empty(self._root)
            self._root.rmdir()


Scratch = MountedScratch | FolderScratch
"""The folders of one cage."""


def _state(root: str) -> _State:
    """Return what changes with any write: mode, owner, time of change and names of each folder."""
    try:
        abouts = [(path, os.stat(path, follow_symlinks=False)) for path in (f"{root}/{name}" for name in FOLDERS)]
        return tuple(
            (about.st_mode, about.st_uid, about.st_ctime_ns, tuple(sorted(os.listdir(path)))) for path, about in abouts
        )
    except OSError:
        return ()


def _empty(root: Path) -> None:
    """Delete everything in a folder, at any depth and with any permissions.

    Folders inside folders are moved up first, so that no path grows too long and nothing recurses.
    """
    os.chmod(root, 0o700)
    top = os.open(root, _FOLDER)
    try:
        while names := os.listdir(top):
            for name in names:
                if not _unlinked(name, top):
                    _flatten(name, top)
                    os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)


_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def _flatten(name: str, top: int) -> None:
    """Delete the files of a folder and move its folders beside it."""
    os.chmod(name, 0o700, dir_fd=top)
    folder = os.open(name, _FOLDER, dir_fd=top)
    try:
        for inner in os.listdir(folder):
            if not _unlinked(inner, folder):
                os.chmod(inner, 0o700, dir_fd=folder)
                os.rename(inner, token_hex(16), src_dir_fd=folder, dst_dir_fd=top)
    finally:
        os.close(folder)


def _unlinked(name: str, folder: int) -> bool:
    """Delete a path unless it is a folder; say whether it was deleted."""
    try:
        os.unlink(name, dir_fd=folder)
    except IsADirectoryError:
        return False
    return True


_ROOM_FOR_OTHERS = 16 + 4 * (os.cpu_count() or 1)
"""Processes that the same user may start elsewhere during a job, where the kernel counts all of them: other cages
and compilers start as many as there are cores."""
_FRESH_S = 1.0
_SINGLE_THREADED = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""Libraries start a thread a core otherwise: a process that forks has to have one, and a job's threads are counted."""
_SIGNAL_SCOPE_VERSION = 6
"""The first version of Landlock that stops signals to processes outside."""


class Entered(NamedTuple):
    """What a fork server learns while entering its sandbox."""

    first_user: int | None
    """The first of the users that it may choose from, if it may."""
    group: ControlGroup | None
    processes: str
    """Where its own processes are listed, if there is such a list."""


def reaper_of(plan: ServerPlan, entered: Entered) -> Reaper:
    """Return the object that watches and ends the processes of a job in this kind of sandbox."""
    own_view = entered.processes if plan.kind.mounts else ""
    return Reaper(entered.group, first=plan.kind.namespaces, own_view=own_view)


def enter(plan: ServerPlan, control: socket.socket) -> Entered:
    """Return in the fork server, inside the sandbox; the calling process stays outside and cleans up."""
    as_root, kind = os.geteuid() == 0, plan.kind
    if as_root and kind.landlock:
        _check_readable(plan.folders)
    first_user = namespaces.nobodys(os.getpid()) if as_root and kind.isolates else None
    group, own_processes = ControlGroup(os.getpid()), ""
    if not kind.mounts:
        os.makedirs(plan.scratch, exist_ok=True)
        FolderScratch(plan.scratch).make(first_user)
    if kind.namespaces:
        namespaces.leave(plan.folders, mounts=kind.mounts)
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
        own_processes = namespaces.arrive(plan.folders, mounts=kind.mounts, as_root=as_root)
        _die_with_parent(signal.SIGKILL)
        drop_bounding_set()
    elif sys.platform == "linux":
        prctl(PR_SET_CHILD_SUBREAPER, 1)
    if sys.platform == "linux":
        prctl(PR_SET_DUMPABLE, 0)
        prctl(PR_SET_NO_NEW_PRIVS, 1)
    return Entered(first_user, group if group.counts else None, own_processes)


def prepare(plan: ServerPlan, entered: Entered) -> Confinement:
    """Return the confinement of the children, prepared once."""
    kind = plan.kind
    folder = "/scratch" if kind.mounts else plan.scratch
    os.environ.clear()
    os.environ.update(_environment(plan, folder))
    version = landlock.abi() if kind.landlock else 0
    if kind.landlock and version == 0:
        raise OSError(errno.ENOSYS, "this kernel has no Landlock")
    return Confinement(
        filter=_filter(kind, version) if kind.isolates else None,
        rules=_rules(plan, version) if kind.landlock else None,
        users=_users(plan, entered.first_user),
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
            counted_at, count = time.monotonic(), processes.of_user(os.getuid())
        return count + _ROOM_FOR_OTHERS

    return others


def _filter(kind: SandboxKind, version: int) -> Filter:
    return Filter(namespaces=kind.namespaces, own_files=kind.mounts, signals_younger=version >= _SIGNAL_SCOPE_VERSION)


def scratch_of(plan: ServerPlan) -> Scratch:
    """Return the scratch folders of this kind."""
    if plan.kind.mounts:
        return MountedScratch(namespaces.aliases(plan.folders))
    return FolderScratch(plan.scratch)


def _users(plan: ServerPlan, first_user: int | None) -> tuple[int, int] | None:
    """Return the users of program and judge, where the fork server may choose."""
    if first_user is None:
        return None
    first = namespaces.FORK_SERVER if plan.kind.namespaces else first_user
    return first + namespaces.CANDIDATE, first + namespaces.JUDGE


def _rules(plan: ServerPlan, version: int) -> int:
    """Return which files of the machine the children may read, and where they may write."""
    devices = [f"/dev/{name}" for name in namespaces.DEVICES]
    readable = [*namespaces.SYSTEM, *namespaces.SETTINGS, *plan.folders]
    writable = [f"{plan.scratch}/{name}" for name in FOLDERS]
    return landlock.rules(version, readable, writable, devices, own_network=plan.kind.namespaces)


def _environment(plan: ServerPlan, folder: str) -> dict[str, str]:
    return {
        "PATH": os.pathsep.join([os.path.dirname(sys.executable), "/usr/local/bin", "/usr/bin", "/bin"]),
        "HOME": f"{folder}/work",
        "TMPDIR": "/tmp" if plan.kind.mounts else f"{folder}/tmp",  # noqa: S108  each job's own
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join(plan.paths),
        **dict.fromkeys(_SINGLE_THREADED, "1"),
    }


def _check_readable(folders: Sequence[str]) -> None:
    """Refuse a Python that only root can read, if programs run as another user and see the machine's files."""
    for folder in map(Path, folders):
        closed = [str(one) for one in (folder, *folder.parents) if not one.stat().st_mode & 1]
        if closed:
            raise PermissionError(f"programs of root run as another user, who may not enter {closed[-1]}")


def _die_with_parent(number: int) -> None:
    """Ask for a signal when the parent dies; the kernel forgets this if the user changes."""
    if sys.platform == "linux":
        prctl(PR_SET_PDEATHSIG, number)


def _see_to_the_end(server: int, plan: ServerPlan) -> NoReturn:
    """Wait for the fork server, and clean up after it where no namespace does."""
    if not plan.kind.mounts:
        signal.signal(signal.SIGTERM, lambda *_: _end_all(server, plan))
        _die_with_parent(signal.SIGTERM)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(server, 0)
    _end_all(server, plan)


def _end_all(server: int, plan: ServerPlan) -> NoReturn:
    """Kill the fork server with everything that it started, delete where it wrote, and go."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(server, signal.SIGKILL)
    Reaper(None, first=False, own_view="").end()
    if plan.scratch:
        FolderScratch(plan.scratch).remove()
    os._exit(0)
