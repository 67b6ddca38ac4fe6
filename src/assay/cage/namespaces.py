"""Give a cage its own namespaces: processes, network, users and files, for ordinary users and root.

An ordinary user gets a user namespace in which the cage's fork server may mount. Root builds the private root first,
then enters a user namespace of high numbers that belong to nobody: neither fork server nor program is ever user 0 of
the machine.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.cage.syscalls import call

_USER, _MOUNT, _PID, _NET, _IPC, _UTS, _CGROUP = (
    0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x08000000, 0x04000000, 0x02000000,
)  # fmt: skip
_OTHERS = _PID | _NET | _IPC | _UTS | _CGROUP
_RDONLY, _NOSUID, _NODEV, _NOEXEC, _BIND, _REC, _PRIVATE = 1, 2, 4, 8, 4096, 16384, 1 << 18
_DETACH, _AT_FDCWD, _AT_RECURSIVE = 2, -100, 0x8000

FORK_SERVER, CANDIDATE, JUDGE = 0, 1, 2
"""Users inside, where root made the namespace; three apart, so that none may signal another."""
ORDINARY = 1000
"""The one user inside, where an ordinary user made it."""
_NOBODYS = 0x70000000
"""First of the numbers that no system gives to a user; four for each cage, by the number of its process."""

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
SETTINGS = ("/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives", "/etc/nsswitch.conf")
DEVICES = ("null", "zero", "full", "random", "urandom")
_LINKS = {
    "tmp": "scratch/tmp", "work": "scratch/work", "dev/shm": "/scratch/shm", "dev/fd": "/proc/self/fd",
    "dev/stdin": "/proc/self/fd/0", "dev/stdout": "/proc/self/fd/1", "dev/stderr": "/proc/self/fd/2",
}  # fmt: skip
_BASE = "/tmp"  # noqa: S108  any folder that is there; what it holds is covered for a moment, in here only
_HOST_TMP = "/shown"
"""Where folders of the machine's /tmp are shown, for /tmp itself is each job's own."""
_ACCOUNTS = {
    "etc/passwd": "root:x:0:0:root:/:/bin/false\nuser:x:{0}:{0}:user:/work:/bin/sh\n",
    "etc/group": "root:x:0:\nuser:x:{0}:\n",
    "etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
}


def leave(folders: Sequence[str], *, mounts: bool) -> None:
    """Put the next child of this process into new namespaces: it is process 1 there, and calls `arrive`.

    Without `mounts` the files stay those of the machine, and something else has to guard them.
    """
    processes = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    if os.geteuid() == 0:
        _leave_as_root(folders, mounts=mounts)
    else:
        user, group = os.geteuid(), os.getegid()
        call("unshare", _USER | _OTHERS | (_MOUNT if mounts else 0))
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{ORDINARY} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{ORDINARY} {group} 1")
    _modest_network(processes)
    os.close(processes)


def arrive(folders: Sequence[str], *, mounts: bool, as_root: bool) -> str:
    """Finish the setup as process 1: network, host name, and, with `mounts`, the files and /proc.

    Return where this process sees all of them.
    """
    _loopback()
    socket.sethostname("sandbox")
    if as_root:
        os.setgroups([])
        os.setresgid(FORK_SERVER, FORK_SERVER, FORK_SERVER)
        os.setresuid(FORK_SERVER, FORK_SERVER, FORK_SERVER)
        return _processes("/proc") if mounts else "/proc"
    return private_root(folders, user=ORDINARY, own_processes=True) if mounts else "/proc"


def nobodys(process: int) -> int:
    """Return the first of four user numbers that nothing else on this machine uses, for the cage of this process."""
    return _NOBODYS + 4 * process


def _leave_as_root(folders: Sequence[str], *, mounts: bool) -> None:
    """Build the root file system as root, then enter a user namespace whose numbers a helper outside writes."""
    ready, written = os.pipe(), os.pipe()
    this = os.getpid()
    first = nobodys(this)
    helper = os.fork()
    if helper == 0:
        os.close(ready[1])  # else it would wait for itself
        code = 1
        try:
            if os.read(ready[0], 1):
                for kind in ("uid_map", "gid_map"):
                    Path(f"/proc/{this}/{kind}").write_text(f"0 {first} 3")
                os.write(written[1], b"x")
                code = 0
        finally:
            os._exit(code)
    os.close(written[1])
    try:
        if mounts:
            call("unshare", _MOUNT)
            private_root(folders, user=CANDIDATE, own_processes=False)
        call("unshare", _USER | _OTHERS | (_MOUNT if mounts else 0))
        os.write(ready[1], b"x")
        if not os.read(written[0], 1):
            raise PermissionError("the users of a new user namespace cannot be chosen")
    finally:
        for end in (ready[0], ready[1], written[0]):
            os.close(end)
        os.waitpid(helper, 0)


def private_root(folders: Sequence[str], *, user: int, own_processes: bool) -> str:
    """Replace the root by a small one that holds the system's programs, these folders and nothing else.

    Return where all of the own processes are seen, or of the machine's where the own ones are not.
    """
    watched = "/proc"
    _mount("", "/", "", _REC | _PRIVATE)
    _mount("root", _BASE, "tmpfs", _NOSUID | _NODEV, "size=1m,nr_inodes=1024,mode=755")
    for name in ("old", "new"):
        os.mkdir(f"{_BASE}/{name}")
    call("pivot_root", _BASE.encode(), f"{_BASE}/old".encode())
    os.chdir("/")
    _mount("/new", "/new", "", _BIND)
    _fill(folders, user)
    _devices()
    if own_processes:
        watched = _processes("/new/proc")
    else:
        _mount("/old/proc", "/new/proc", "", _BIND)
        _protect("/new/proc", _RDONLY | _NOSUID | _NODEV | _NOEXEC)
    _protect("/new", _RDONLY | _NOSUID | _NODEV)
    os.chdir("/new")
    call("pivot_root", b".", b".")
    call("umount2", b".", _DETACH)
    os.chdir("/")
    return watched


def aliases(folders: Sequence[str]) -> dict[str, str]:
    """Return the links that a fresh /tmp needs, for folders of the machine's /tmp that are shown."""
    return {Path(path).parts[2]: f"{_HOST_TMP}{_BASE}/{Path(path).parts[2]}" for path in folders if _in_tmp(path)}


def fresh_scratch(size_mb: int, inodes: int, links: Mapping[str, str]) -> None:
    """Put empty /work, /tmp and /dev/shm where those of the last job were; `forget_scratch` takes them away."""
    _mount("scratch", "/scratch", "tmpfs", _NOSUID | _NODEV, f"size={size_mb}m,nr_inodes={inodes},mode=755")
    for name in ("work", "tmp", "shm"):
        os.mkdir(f"/scratch/{name}")
        os.chmod(f"/scratch/{name}", 0o1777)  # noqa: S103  as any /tmp
    for name, target in links.items():
        os.symlink(target, f"/scratch/tmp/{name}")


def forget_scratch() -> None:
    """Take away the files of a job, with whatever lies in them."""
    call("umount2", b"/scratch", _DETACH)


def _fill(folders: Sequence[str], user: int) -> None:
    """Make the folders, links and files of the root that is built in /new."""
    for name in ("proc", "dev", "etc", "scratch"):
        os.mkdir(f"/new/{name}")
    for path in SYSTEM:
        if os.path.islink(f"/old{path}"):
            os.symlink(os.readlink(f"/old{path}"), f"/new{path}")
        else:
            _show(path)
    for path in sorted(set(folders)):
        _show(path, f"{_HOST_TMP}{path}" if _in_tmp(path) else path)
    for path in SETTINGS:
        _show(path)
    for link, target in _LINKS.items():
        if not os.path.lexists(f"/new/{link}"):
            os.symlink(target, f"/new/{link}")
    for name, text in _ACCOUNTS.items():
        Path("/new", name).write_text(text.format(user))


def _in_tmp(path: str) -> bool:
    return path.startswith(f"{_BASE}/")


def _show(path: str, inside: str = "") -> None:
    """Show a file or folder of the machine, to read, at the same place unless another is named or it is shown."""
    place = Path(f"/new{inside or path}")
    source = f"/old{path}"
    if place.exists() or not os.path.exists(source):
        return
    if os.path.isdir(source):
        place.mkdir(parents=True, exist_ok=True)
    else:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    _mount(source, str(place), "", _BIND | _REC)
    _protect(str(place), _RDONLY | _NOSUID | _NODEV)


def _devices() -> None:
    for name in DEVICES:
        Path("/new/dev", name).touch()
        _mount(f"/old/dev/{name}", f"/new/dev/{name}", "", _BIND)
        _protect(f"/new/dev/{name}", _RDONLY | _NOSUID | _NOEXEC)


_OF_THE_USER = ("keys", "key-users")
"""Files of /proc that no namespace divides: keys of whoever started this."""


def _processes(place: str) -> str:
    """Mount a /proc in which a program sees only itself and what it started.

    Return the path of another one that hides none, for whoever watches them: it has no place, only an open folder.
    """
    flags = _RDONLY | _NOSUID | _NODEV | _NOEXEC
    _mount("proc", place, "proc", flags, "")
    whole = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    call("umount2", place.encode(), _DETACH)
    _mount("proc", place, "proc", flags, "hidepid=2")
    nothing = next(path for path in ("/old/dev/null", "/dev/null") if os.path.exists(path))
    for name in _OF_THE_USER:
        if os.path.exists(f"{place}/{name}"):
            _mount(nothing, f"{place}/{name}", "", _BIND)
    return f"/proc/self/fd/{whole}"


def _loopback() -> None:
    """Bring up the loopback interface: 127.0.0.1 works, nothing else exists."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 1))


_NETWORK = {"ipv4/tcp_max_tw_buckets": "0", "ipv4/tcp_rmem": "4096 65536 65536", "ipv4/tcp_wmem": "4096 65536 65536"}
"""A port that was closed is free for the next job at once, and what waits in sockets stays small: no process has it."""


def _modest_network(processes: int) -> None:
    """Set up the own network, through an open /proc; a container may show one where nothing can be set."""
    for name, value in _NETWORK.items():
        with contextlib.suppress(OSError):
            setting = os.open(f"sys/net/{name}", os.O_WRONLY, dir_fd=processes)
            os.write(setting, value.encode())
            os.close(setting)


def _mount(source: str, place: str, kind: str, flags: int, options: str = "") -> None:
    try:
        call("mount", os.fsencode(source), os.fsencode(place), kind.encode(), flags, options.encode())
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror} (mount {kind or source} at {place})") from error


def _protect(place: str, attributes: int) -> None:
    """Add restrictions to a mount and all that is mounted beneath it."""
    wanted = ctypes.create_string_buffer(struct.pack("QQQQ", attributes, 0, 0, 0), 32)
    recursive = 0 if place == "/new" else _AT_RECURSIVE
    call("mount_setattr", _AT_FDCWD, os.fsencode(place), recursive, wanted, 32)
