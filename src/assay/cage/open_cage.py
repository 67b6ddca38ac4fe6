"""Open the strongest sandbox that withstands a set of attacks on this machine, or the one named.

Small and quick on purpose: they ask what this machine gives, the test suite asks the rest.

What was found is kept in the user's cache until the machine starts again, or anything about it changes.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from platformdirs import user_cache_path

from assay import __version__
from assay.cage import processes
from assay.cage.cage import HARNESS, CagePlan, CagePool, open_pool
from assay.cage.job import ISOLATING, KINDS, Ended, Job, SandboxKind
from assay.cage.limits import Limits
from assay.errors import AssayError, InputError, SandboxRefused, StorageError, nearest
from assay.io import files
from assay.io.digest import hex_digest

QUICK = Limits(cpu_s=2, wall_s=6, memory_mb=192, processes=16, scratch_mb=8, inodes=256)


class Bait(ExitStack):
    """Targets outside the sandbox while attacks run: listeners, files, a process; none may be reached or changed."""

    secret = "a secret that no program may read"  # noqa: S105  it is the bait

    def __enter__(self) -> Self:
        self.folder = self.enter_context(TemporaryDirectory(prefix="assay-bait-"))
        os.chmod(self.folder, 0o777)  # noqa: S103  what keeps programs out must be the sandbox
        self.file = Path(self.folder, "secret")
        self.file.write_text(self.secret)
        self.file.chmod(0o666)
        self.tcp = self.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.udp = self.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.udp.bind(("127.0.0.1", 0))
        self.path = self.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        self.path.bind(f"{self.folder}/socket")
        os.chmod(f"{self.folder}/socket", 0o777)  # noqa: S103
        self.sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
        self.callback(self.sleeper.wait)
        self.callback(self.sleeper.kill)
        for one in (self.tcp, self.udp, self.path):
            one.setblocking(False)
        return self

    def values(self) -> dict[str, Any]:
        """Return the values that attacks are filled in with."""
        return {
            "folder": self.folder,
            "tcp": self.tcp.getsockname()[1],
            "udp": self.udp.getsockname()[1],
            "sleeper": self.sleeper.pid,
            "parent": os.getpid(),
        }

    def was_reached(self) -> bool:
        """Say whether anything arrived by the network or a socket."""
        for end in (self.tcp.accept, lambda: self.udp.recv(1), lambda: self.path.recv(1)):
            try:
                end()
            except BlockingIOError:
                continue
            return True
        return False

    def is_whole(self) -> bool:
        """Say whether the files and the process are unchanged."""
        kept = self.file.read_text() == self.secret and sorted(os.listdir(self.folder)) == ["secret", "socket"]
        return kept and self.file.stat().st_mode & 0o777 == 0o666 and self.sleeper.poll() is None


@dataclass(frozen=True, slots=True)
class Attack:
    """A hostile program, and a test of its result for containment."""

    name: str
    source: str
    is_contained: Callable[[Ended, Bait], bool]
    limits: Limits = QUICK


def _tries(body: str, *, each: str = "") -> str:
    """Return a program that tries each line of a body and says which of them worked."""
    lines = [f"try:\n    {line}\n    print('worked: {number}')\nexcept BaseException as error: print(repr(error))"
             for number, line in enumerate(body.strip().splitlines())]  # fmt: skip
    return "import ctypes, os, signal, socket\nlibc = ctypes.CDLL(None, use_errno=True)\n" + each + "\n".join(lines)


def _ends_and(holds: Callable[[Ended, Bait], bool]) -> Callable[[Ended, Bait], bool]:
    return lambda ended, bait: ended.ended == "exit" and bool(ended.stdout) and holds(ended, bait)


_nothing_worked = _ends_and(lambda ended, bait: b"worked" not in ended.stdout and bait.is_whole())
_nothing_arrived = _ends_and(lambda _, bait: not bait.was_reached())
_nothing_read = _ends_and(lambda ended, bait: bait.secret.encode() not in ended.stdout)


def _prints(text: bytes) -> Callable[[Ended, Bait], bool]:
    return lambda ended, _: ended.ended == "exit" and ended.status == 0 and ended.stdout.strip() == text


def _by(*reasons: str) -> Callable[[Ended, Bait], bool]:
    return lambda ended, bait: ended.ended in reasons and bait.is_whole()


_CALL = """
def call(name, *values):
    if getattr(libc, name)(*values) != 0: raise OSError(ctypes.get_errno(), name)
"""
_FILL = """
import os
total = 0
try:
    for number in range(40):
        with open(f'file{number}', 'wb') as file: total += file.write(bytes(1 << 20))
except OSError as error: print(error)
import time; time.sleep(.6)
print(total)
"""

ATTACKS = (
    Attack("does ordinary work", "import colorsys, os, subprocess, sys, tempfile\n"
           "with tempfile.NamedTemporaryFile() as file: file.write(b'x')\n"
           "print(subprocess.run([sys.executable, '-c', 'print(6 * 7)'], capture_output=True, text=True).stdout)\n",
           _prints(b"42")),
    Attack("reaches the network", _tries(
        "socket.create_connection(('127.0.0.1', {tcp}), 1)\n"
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {udp}))\n"
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', '{folder}/socket')\n"
        "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', '{folder}/socket')"), _nothing_arrived),
    Attack("reads files", _tries(
        "print(open('{folder}/secret').read())\nos.symlink('{folder}/secret', 'link'); print(open('link').read())\n"
        "print(os.listdir('{folder}'))\nprint(open('/proc/{parent}/root{folder}/secret').read())"), _nothing_read),
    Attack("writes files", _tries(
        "open('{folder}/secret', 'w').write('x')\nopen('{folder}/new', 'w')\nos.chmod('{folder}/secret', 0)\n"
        "os.rename('{folder}/secret', '{folder}/moved')\nos.truncate('{folder}/secret', 0)\n"
        "os.unlink('{folder}/socket')\nos.open('/proc/sys/kernel/core_pattern', os.O_WRONLY)"), _nothing_worked),
    Attack("reads other processes", "import os\nprint('looked')\n"
           "for name in os.listdir('/proc') if os.path.isdir('/proc')"
           " and os.access('/proc', os.R_OK) else []:\n    if name.isdecimal() and int(name) != os.getpid():\n"
           "        for what in ('environ', 'mem', 'cmdline'):\n            try:\n"
           "                if open(f'/proc/{{name}}/{{what}}', 'rb').read(1): print('worked', name, what)\n"
           "            except OSError: pass\n", _nothing_worked),
    Attack("signals other processes", _tries(
        "os.kill({sleeper}, 9)\nos.kill({parent}, 0)\nos.kill(os.getppid() or 1, 9) or os.kill(1, 0) or 1 / 0\n"
        "os.killpg({sleeper}, 9)"), lambda ended, bait: bait.is_whole() and ended.ended == "exit"),
    Attack("gains rights", _tries(
        "call('unshare', 0x10000000)\ncall('mount', b'x', b'.', b'tmpfs', 0, None)\ncall('ptrace', 0, 0, 0, 0)\n"
        "call('chroot', b'.')\nos.setuid(0) or os.getuid() and 1 / 0\nopen('/dev/kmsg', 'rb')",
        each=_CALL), _nothing_worked),
    Attack("forks without end", "import os, time\n"
           "while True:\n    try: os.fork()\n    except OSError: time.sleep(.01)\n",
           _by("processes", "cpu", "wall")),
    Attack("takes memory in children", "import os, time\nfor _ in range(6):\n    if os.fork() == 0:\n"
           "        data = bytearray(b'x') * (64 << 20)\n        time.sleep(60)\ntime.sleep(60)\n", _by("memory"),
           Limits(cpu_s=20, wall_s=60, memory_mb=192)),
    Attack("fills the disk", _FILL, lambda ended, _: ended.ended == "output" or
           (ended.ended == "exit" and ended.stdout.split()[-1:] < [b"9"] and b"[Errno 28]" in ended.stdout)),
    Attack("never ends", "import signal\nfor number in range(1, 65):\n    try: signal.signal(number, signal.SIG_IGN)\n"
           "    except (OSError, ValueError): pass\nwhile True: pass\n", _by("cpu"), Limits(cpu_s=0.3, wall_s=20)),
    Attack("prints without end", "while True: print('x' * 100000)\n",
           lambda ended, _: ended.ended == "output" and len(ended.stdout) <= 65536),
    Attack("leaves a daemon", "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
           "        time.sleep(600)\n    os._exit(0)\nos.wait(); print('left')\n", _prints(b"left")),
)  # fmt: skip


PLAIN = "assay.cage.children:run_source"
_FORK_SERVER = 1


@dataclass(frozen=True, slots=True)
class ProbeFinding:
    """Result of the attacks on one kind of sandbox."""

    kind: str
    failed: tuple[str, ...] = ()
    """The attacks that it did not contain."""
    reason: str = ""
    """Why it did not even start."""

    @property
    def holds(self) -> bool:
        """Whether it started and contained every attack."""
        return not self.failed and not self.reason

    def __str__(self) -> str:
        if self.holds:
            return f"{self.kind}: holds {len(ATTACKS) - 1} attacks"
        return f"{self.kind}: {self.reason}" if self.reason else f"{self.kind}: does not hold: {', '.join(self.failed)}"


def probe(kind: SandboxKind, *, fresh: bool = False) -> ProbeFinding:
    """Return the result of attacking a kind of sandbox, from the cache unless `fresh`."""
    place = _place()
    known = _cached_findings(place)
    if fresh or kind.name not in known:
        known[kind.name] = _attack(kind)
        with contextlib.suppress(StorageError):  # then it is attacked again
            files.write(place, json.dumps({name: asdict(finding) for name, finding in known.items()}), durable=False)
    return known[kind.name]


def _attack(kind: SandboxKind) -> ProbeFinding:
    """Run all attacks in one cage, and check for processes left behind."""
    plan = CagePlan(kind, harness=(PLAIN, PLAIN))
    with Bait() as bait, open_pool(plan, 1) as sandbox:
        jobs = [Job(attack.name, attack_program(attack, bait), limits=attack.limits) for attack in ATTACKS]
        try:
            ends = sandbox.run(jobs)
            failed = [one.name for one, ended in zip(ATTACKS, ends, strict=True) if not one.is_contained(ended, bait)]
        except SandboxRefused as refusal:
            return ProbeFinding(kind.name, reason=f"does not start: {refusal.reason}")
        except AssayError as error:
            return ProbeFinding(kind.name, reason=str(error))
        left = [process for cage in sandbox.processes() for process in processes.below(cage, processes.processes())]
    if len(left) > _FORK_SERVER:
        failed.append("leaves processes behind")
    return ProbeFinding(kind.name, tuple(failed))


def attack_program(attack: Attack, bait: Bait) -> bytes:
    """Return the job of an attack on the targets outside."""
    source = attack.source
    for name, value in bait.values().items():
        source = source.replace(f"{{{name}}}", str(value))
    return json.dumps({"source": source}).encode()


def _cached_findings(place: Path) -> dict[str, ProbeFinding]:
    """Return the stored findings; none if they cannot be read."""
    try:
        kept = json.loads(place.read_text()).items()
        return {name: ProbeFinding(name, tuple(found["failed"]), found["reason"]) for name, found in kept}
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def _place() -> Path:
    """Return the file of findings: one per boot of the machine, kernel, container, user and Python."""
    about = [platform.node(), platform.release(), __version__, sys.executable, sys.version, str(os.geteuid())]
    for file in ("/proc/sys/kernel/random/boot_id", "/proc/self/uid_map", "/proc/self/attr/current"):
        with contextlib.suppress(OSError):
            about.append(Path(file).read_text())
    with contextlib.suppress(OSError):
        about += re.findall("^(?:NoNewPrivs|Seccomp|CapEff).*", Path("/proc/self/status").read_text(), re.MULTILINE)
    name = hex_digest("\n".join(about), 10)
    return user_cache_path("assay") / "sandbox" / f"{name}.json"


def open_sandbox(  # noqa: PLR0913  one argument a choice of the user
    kind: str = "",
    limits: Limits | None = None,
    workers: int = 2,
    modules: Sequence[str] = (),
    paths: Sequence[str | os.PathLike[str]] = (),
    *,
    allow_unsafe: bool = False,
    harness: tuple[str, str] = HARNESS,
    harness_path: str = "",
) -> CagePool:
    """Return a sandbox of this kind, or of the strongest that works on this machine.

    `modules` are loaded before the first program; `paths` are folders that programs may read and import from.
    """
    if workers < 1:
        raise InputError(f"{workers} workers; a sandbox needs at least 1")
    chosen = _choose_kind(kind, allow_unsafe=allow_unsafe)
    folders = tuple(str(Path(path).resolve()) for path in paths)
    for folder in folders:
        if not os.path.isdir(folder):
            raise InputError(f"no folder {folder}; name one that programs import from")
    plan = CagePlan(chosen, limits or Limits(), tuple(modules), folders, harness, harness_path)
    return open_pool(plan, workers)


def _choose_kind(name: str, *, allow_unsafe: bool) -> SandboxKind:
    kind = KINDS.get(name)
    if name and kind is None:
        raise InputError(f"unknown sandbox '{name}'; {nearest(name, list(KINDS))}")
    if kind and not kind.isolates:
        if not allow_unsafe:
            why = "does not isolate programs: they can do whatever you can; run it all the same with --allow-unsafe"
            raise InputError(f"the sandbox '{kind.name}' {why}")
        return kind
    findings = []
    for each in (kind,) if kind else ISOLATING:
        findings.append(probe(each))
        if findings[-1].holds:
            return each
    failure = f"the sandbox '{name}' does not work here" if name else f"no sandbox works here ({sys.platform})"
    raise InputError(f"{failure}: {'; '.join(map(str, findings))}")
