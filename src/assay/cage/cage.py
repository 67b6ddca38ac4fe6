"""Start cages, hand them jobs, and leave no trace when a cage or its supervisor ends."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from assay.cage import control_group, messages
from assay.cage.job import Ended, Job, SandboxKind, ServerPlan
from assay.cage.limits import Limits
from assay.cage.processes import WALL_OF_BUSY
from assay.errors import SandboxRefused
from assay.io.digest import hex_digest
from assay.runs.local import AHEAD, LocalRunner, Ticket

if TYPE_CHECKING:
    from assay.protocols import Runner

    ProgramRunner: TypeAlias = Runner[Job, Ended]
    """What runs programs, wherever that is."""


HARNESS = ("assay.programs.harness.program_process:serve", "assay.programs.harness.judge_process:OpenTests")
_REHEARSAL = "assay.programs.harness.judge_process:rehearse"
_START_S = 60
"""Loading large modules on a busy machine takes this long at most."""
_GRACE_S = 10
"""How much longer than its limits a job may take before its cage counts as dead."""

_BOOT = """
import sys, types
for name, folder in (("assay", {0!r}), ("assay.cage", {0!r} + "/cage")):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [folder]
from assay.cage import forks
forks.hold()
from assay.cage.fork_server import main
main()
"""
"""Starts a fork server without the rest of the package, and without putting its folder on the path of programs."""


@dataclass(frozen=True, slots=True)
class CagePlan:
    """How each cage of a sandbox is set up."""

    kind: SandboxKind
    limits: Limits = field(default_factory=Limits)
    modules: tuple[str, ...] = ()
    """Loaded before the first job, so that programs find them there."""
    paths: tuple[str, ...] = ()
    """Folders that programs may read and import from."""
    harness: tuple[str, str] = HARNESS
    """`module:function` of the program's side and of its judge's."""
    harness_path: str = ""
    """Where to import it from, if not from this package."""


class Cage:
    """A fork server and its namespaces, started when it gets a job and again after it died."""

    def __init__(self, plan: CagePlan) -> None:
        self._plan = plan
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._scratch = ""
        self._tests: tuple[bytes | None, str] = (None, "")
        self._jobs: deque[tuple[Ticket[Job], list[int], float]] = deque()

    @property
    def is_busy(self) -> bool:
        """Whether jobs of it have not ended; the first of them is running."""
        return bool(self._jobs)

    @property
    def has_room(self) -> bool:
        """Whether it takes another job."""
        return len(self._jobs) < AHEAD

    @property
    def overdue_in_s(self) -> float:
        """Seconds until the cage counts as dead."""
        return self._jobs[0][2] - time.monotonic() if self._jobs else float("inf")

    @property
    def process(self) -> int:
        """The process that stays outside and cleans up; 0 if the cage is dead."""
        return self._process.pid if self._process else 0

    def fileno(self) -> int:
        """Return the descriptor that becomes readable when a job ends or the cage dies."""
        return self._control.fileno() if self._control else -1

    def start(self) -> None:
        """Start the processes of the cage; raise SandboxRefused if it does not start."""
        ours, theirs = messages.pair()
        self._scratch = "" if self._plan.kind.mounts else mkdtemp(prefix="assay-cage-")
        with theirs:
            self._process = _spawn(theirs)
        self._control = ours
        ours.settimeout(_START_S)
        try:
            messages.send(ours, asdict(_server_plan(self._plan, self._scratch)))
            hello, _ = messages.receive(ours)
        except OSError as error:
            hello = {"error": str(error)}
        if not hello or "error" in hello:
            self.kill()
            raise SandboxRefused(self._plan.kind.name, hello["error"] if hello else "its first process died")
        ours.settimeout(None)

    def give(self, ticket: Ticket[Job]) -> None:
        """Hand over a job; the cage must have room."""
        if not self._control:
            self.start()
        job = ticket.job
        files = [*map(messages.sealed_file, (job.candidate, job.stdin)), *(messages.empty_file() for _ in range(3))]
        if job.judge is not None:
            files += [messages.empty_file(), messages.sealed_file(job.judge)]
        limits = job.limits or self._plan.limits
        begins = self._jobs[-1][2] if self._jobs else time.monotonic()
        self._jobs.append((ticket, files, begins + limits.wall_s * WALL_OF_BUSY + _GRACE_S))
        if job.judge is not self._tests[0]:  # jobs of one task share theirs, so that its hash is made once
            self._tests = job.judge, hex_digest(job.judge or b"")
        message = {"limits": asdict(limits), "tests": self._tests[1], "modules": job.modules}
        with contextlib.suppress(OSError):  # a dead cage is noticed where its answers are read
            messages.send(cast(socket.socket, self._control), message, files)

    def collect(self) -> tuple[Ticket[Job], Ended] | None:
        """Return a finished job with its result; None if the cage is dead."""
        message = None
        with contextlib.suppress(OSError):
            message, _ = messages.receive(self._control) if self._control else (None, [])
        if message is None:
            return None
        ticket, files, _ = self._jobs.popleft()
        limits = ticket.job.limits or self._plan.limits
        ended = _ended(ticket.job, message, files, limits.output_kb << 10)
        _close(files)
        return ticket, ended

    def broken(self, job: Job, detail: str) -> Ended:
        """Return the end of a job that no cage survives."""
        return Ended(job.id, ended="broken", detail=detail)

    def kill(self) -> list[Ticket[Job]]:
        """Kill the cage with all its processes; return its unfinished jobs."""
        if self._control:
            self._control.close()
            self._control = None
        if self._process:
            _finish(self._process, self._plan.kind)
            control_group.remove(self._process.pid)
            self._process = None
        if self._scratch:
            shutil.rmtree(self._scratch, ignore_errors=True)
        lost = [ticket for ticket, _, _ in self._jobs]
        for _, files, _ in self._jobs:
            _close(files)
        self._jobs.clear()
        return lost


def _spawn(control: socket.socket) -> subprocess.Popen[bytes]:
    """Start the process that becomes a cage; it inherits only one end of a socket."""
    environment = {"PYTHONHASHSEED": "0", "LANG": "C.UTF-8"}
    package = str(Path(__file__).parent.parent)
    number = control.fileno()
    adopt = f"import os; os.dup2({number}, 3) if {number} != 3 else None; os.closerange(4, 256)\n"
    return subprocess.Popen(
        [sys.executable, "-s", "-P", "-B", "-X", "utf8", "-c", adopt + _BOOT.format(package)],
        env=environment,
        cwd="/",
        pass_fds=[number],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _server_plan(plan: CagePlan, scratch: str) -> ServerPlan:
    folders = {sys.prefix, sys.base_prefix, os.path.realpath(sys.prefix), *plan.paths}
    return ServerPlan(
        kind_name=plan.kind.name,
        modules=plan.modules,
        paths=plan.paths,
        folders=sorted(map(os.path.abspath, folders)),
        harness=plan.harness,
        harness_path=plan.harness_path,
        rehearsal=_REHEARSAL if plan.harness == HARNESS else "",
        scratch=scratch,
    )


def _finish(process: subprocess.Popen[bytes], kind: SandboxKind) -> None:
    """Stop a cage: SIGKILL if it has its own file system; otherwise SIGTERM, so that it can clean up."""
    process.send_signal(signal.SIGKILL if kind.mounts else signal.SIGTERM)
    try:
        process.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _ended(job: Job, message: dict[str, Any], files: list[int], most: int) -> Ended:
    _, _, out, err, reports, *judging = files
    return Ended(
        id=job.id,
        verdict=messages.read(judging[0]) if judging else b"",
        reports=messages.read(reports),
        stdout=os.pread(out, most, 0),
        stderr=os.pread(err, most, 0),
        **message,
    )


def _close(files: list[int]) -> None:
    for file in files:
        os.close(file)


CagePool: TypeAlias = LocalRunner[Job, Ended]


def open_pool(plan: CagePlan, workers: int) -> CagePool:
    """Return a pool of cages; each starts with its first job."""
    return LocalRunner(plan.kind.name, [Cage(plan) for _ in range(workers)], plan.kind.guarantees)
