"""The world outside a sandbox, full of canaries: made before the attacks, looked at after each of them.

Files, sockets, signals, processes, shared memory and secrets of the test itself, each of which says when something
touched it. All of it is open to every user, so that nothing but the sandbox keeps a program away.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

HOME_FILES = (".ssh/id_ed25519", ".netrc", ".aws/credentials", ".bash_history", ".gitconfig", ".profile", ".bashrc")
MARKED = """
/ /etc /usr /usr/bin /usr/lib /bin /var /run /opt /root /home /sys/fs/cgroup /tmp /var/tmp /dev /dev/shm /work
""".split()
HARMLESS = (signal.SIGURG, signal.SIGWINCH)
"""Ignored by whoever does not expect them."""
PATIENCE_S = 20
"""How long what is left of an attack may take to go; what stays sleeps for ten minutes."""
VICTIM = """
import os, signal, sys, time
def note(number, frame):
    os.write(1, b"signal %d\\n" % number)
for number in (1, 2, 10, 12, 15, 18, 23, 28):
    signal.signal(number, note)
print("ready", flush=True)
while True:
    time.sleep(60)
"""


class Outside:
    """Canaries of one run; use it in a `with`."""

    def __init__(self) -> None:
        self.token = "as" + secrets.token_hex(6)
        self._mark = f"{self.token}-secret-"
        self._secret = secrets.token_hex(12)
        self._folders = [Path(tempfile.mkdtemp(prefix=f"{self.token}-", dir=top)) for top in ("/var/tmp", "/tmp")]
        self._before = dict(os.environ), Path.cwd()
        self._signals: Counter[int] = Counter()
        self._told: list[str] = []

    def __enter__(self) -> Self:
        for folder in self._folders:
            self._plant(folder)
        self.home, self.cwd, self.packages = (self._folders[0] / name for name in ("home", "cwd", "packages"))
        self._listen()
        for number in HARMLESS:
            signal.signal(number, self._hear)
        named = f"import sys; sys.argv = ['outsider-{self.token}']\n"
        self._victim = subprocess.Popen([sys.executable, "-c", named + VICTIM], stdout=subprocess.PIPE)
        self._victim.stdout.readline()
        os.set_blocking(self._victim.stdout.fileno(), False)
        cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
        os.environ |= {"XDG_CACHE_HOME": cache, "HOME": str(self.home), "CANARY_KEY": self._mark + self._secret}
        os.chdir(self.cwd)
        self._seen = self._files()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.chdir(self._before[1])
        os.environ.clear()
        os.environ.update(self._before[0])
        self._victim.kill()
        self._victim.communicate()
        for end in self._ends.values():
            end.close()
        for folder in self._folders:
            shutil.rmtree(folder)

    def facts(self) -> dict[str, Any]:
        """Return what a program is told about where the canaries are."""
        canaries = [
            str(folder / name) for folder in self._folders for name in ("canary.txt", "home/.netrc", "cwd/notes.txt")
        ]
        return {
            "token": self.token,
            "secret_mark": self._mark,
            "pid": os.getpid(),
            "group": os.getpgid(0),
            "victim": self._victim.pid,
            "home": str(self.home),
            "cwd": str(self.cwd),
            "canaries": canaries,
            "folders": [str(folder / "open") for folder in self._folders],
            "packages": [str(self.packages)],
            "shown": [sys.prefix, sys.base_prefix, os.path.realpath(sys.prefix), str(self.packages)],
            "interpreter": sorted({sysconfig.get_path("purelib"), sysconfig.get_path("stdlib")}),
            "sockets": [str(folder / name) for folder in self._folders for name in ("stream", "datagram")],
            "abstract": f"canary-{self.token}",
            "tcp": self._ends["TCP"].getsockname()[1],
            "udp": self._ends["UDP"].getsockname()[1],
            "free_port": self.free_port,
            "address": _address(),
        }

    @contextmanager
    def knocking(self) -> Iterator[None]:
        """Try meanwhile to reach a server that a program may have started; tell if there was one."""
        done = threading.Event()
        thread = threading.Thread(target=self._knock, args=(done,))
        thread.start()
        yield
        done.set()
        thread.join()

    def changes(self, said: str) -> list[str]:
        """Return what happened to the canaries since the last look, and which secret was told."""
        told, self._told = self._told, []
        told += [f"{name} received something" for name, end in self._ends.items() if _received(end)]
        told += [f"{count} signals {number} arrived" for number, count in self._signals.items()]
        self._signals.clear()
        told += ["a secret is told"] * (self._secret in said)
        told += self._changed_files()
        for path in filter(os.path.lexists, self._marks()):
            told.append(f"{path} was made")
            Path(path).unlink()
        if self._victim.poll() is not None:
            told.append("an unrelated process was ended")
        elif heard := self._victim.stdout.read():
            told.append(f"an unrelated process got {heard.decode().split()}")
        told += [f"process {line} is left" for line in self.survivors()]
        return told + self._shared_memory()

    def survivors(self) -> list[str]:
        """Return the processes of attacks that are still there when they had long enough to go."""
        until = time.monotonic() + PATIENCE_S
        while (left := list(named(self.token, {os.getpid(), self._victim.pid}))) and time.monotonic() < until:
            time.sleep(0.02)
        return left

    def _plant(self, folder: Path) -> None:
        """Fill a folder with files that everybody may read and write, each with the secret in it."""
        names = ("canary.txt", "cwd/notes.txt", "packages/canary_package.py", "open/.keep")
        for name in (*names, *(f"home/{name}" for name in HOME_FILES)):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            secret = "# a package\n" if name.startswith("packages") else self._mark + self._secret + "\n"
            (folder / name).write_text(secret, encoding="ascii")
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o777 if path.is_dir() else 0o666)

    def _listen(self) -> None:
        self._ends = {
            "TCP": socket.create_server(("0.0.0.0", 0)),
            "UDP": socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
            "abstract socket": socket.socket(socket.AF_UNIX),
        }
        self._ends["UDP"].bind(("0.0.0.0", 0))
        self._ends["abstract socket"].bind(f"\0canary-{self.token}")
        for folder in self._folders:
            for name, kind in (("stream", socket.SOCK_STREAM), ("datagram", socket.SOCK_DGRAM)):
                end = self._ends[f"{folder}/{name}"] = socket.socket(socket.AF_UNIX, kind)
                end.bind(f"{folder}/{name}")
                (folder / name).chmod(0o777)
        for end in self._ends.values():
            if end.type == socket.SOCK_STREAM:
                end.listen()
            end.setblocking(False)
        with socket.create_server(("0.0.0.0", 0)) as server:
            self.free_port = server.getsockname()[1]

    def _hear(self, number: int, _frame: object) -> None:
        self._signals[number] += 1

    def _knock(self, done: threading.Event) -> None:
        while not done.wait(0.02):
            for host in {"127.0.0.1", _address()}:
                try:
                    socket.create_connection((host, self.free_port), 0.1).close()
                except OSError:
                    continue
                self._told.append("its server could be reached from outside")
                return

    def _files(self) -> dict[str, tuple[object, ...]]:
        return {str(path): _state(path) for folder in self._folders for path in (folder, *folder.rglob("*"))}

    def _changed_files(self) -> list[str]:
        before, self._seen = self._seen, self._files()
        changed = [path for path in {*before, *self._seen} if before.get(path) != self._seen.get(path)]
        return [f"{path} changed" for path in sorted(changed)]

    def _marks(self) -> list[str]:
        folders = [*MARKED, sysconfig.get_path("purelib"), sysconfig.get_path("stdlib")]
        return [f"{folder}/{self.token}{end}" for folder in folders for end in ("", ".pth")]

    def _shared_memory(self) -> list[str]:
        key = str(int(self.token[-6:], 16))
        tables = {name: Path("/proc/sysvipc", name) for name in ("shm", "msg", "sem")}
        return [
            f"System V {name} is left"
            for name, table in tables.items()
            if table.exists() and any(line.split()[:1] == [key] for line in table.read_text().splitlines())
        ]


def named(token: str, but: set[int]) -> list[str]:
    """Return the processes of the machine that carry a token in their name or their arguments."""
    found = []
    for entry in (path.name for path in Path("/proc").iterdir()):
        if not entry.isdigit() or int(entry) in but:
            continue
        try:
            comm = Path("/proc", entry, "comm").read_text().strip()
            state = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()[0]
            line = Path("/proc", entry, "cmdline").read_bytes()
        except OSError:
            continue
        if (comm == token or token.encode() in line) and state not in "ZX" and b"attacks" not in line:
            found.append(f"{entry} {comm} {line[-60:]!r}")
    return found


def _received(end: socket.socket) -> bool:
    try:
        if end.type == socket.SOCK_STREAM:
            end.accept()[0].close()
        else:
            end.recv(1 << 16)
    except BlockingIOError:
        return False
    return True


def _state(path: Path) -> tuple[object, ...]:
    here = path.lstat()
    text = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(here.st_mode) else ""
    return here.st_mode, here.st_uid, here.st_size, here.st_mtime_ns, here.st_nlink, text


def _address() -> str:
    """Return this machine's own address on a network, or loopback where there is none; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        try:
            end.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(end.getsockname()[0])
