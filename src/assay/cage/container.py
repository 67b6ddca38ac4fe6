"""A cage inside a container of docker or podman: one hardened container that lives as long as the cage.

The image has to be there: nothing is fetched behind anybody's back. Inside, the Landlock cage runs as nobody, so that
one job cannot reach another, nor its judge.
"""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
import uuid
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO, cast

from assay.cage import bridge
from assay.cage.cage import BOOT, START_S, Cage, plan_message
from assay.cage.limits import Ended, Job, Limits
from assay.cage.sandbox_kinds import LANDLOCK
from assay.errors import InputError
from assay.runs.in_order import Ticket

ENGINES = ("podman", "docker")
IMAGE = f"python:{sys.version_info.major}.{sys.version_info.minor}-slim"
_PACKAGE = "/opt/assay"
_ASK_S = 20


def engine() -> str:
    """Return the engine that answers here, or nothing."""
    for name in ENGINES:
        path = shutil.which(name)
        if path and _answers([path, "info"]):
            return path
    return ""


def arguments(path: str, name: str, limits: Limits, image: str = IMAGE) -> list[str]:
    """Return the command that runs a cage: no network, no rights, no writable root, everything bounded."""
    package = Path(__file__).parent.parent
    memory = f"{2 * limits.memory_mb + 256}m"
    return [
        path, "run", "--rm", "-i", "--init", "--name", name, "--pull", "never", "--network", "none", "--read-only",
        "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", "65534:65534",
        "--pids-limit", str(limits.processes + 32), "--memory", memory, "--memory-swap", memory, "--cpus", "1",
        "--tmpfs", f"/tmp:size={limits.scratch_mb}m,nr_inodes={limits.inodes},mode=1777,nosuid,nodev",  # noqa: S108  of the container
        "--shm-size", "16m", "--ulimit", "core=0", "--ipc", "private", "--hostname", "sandbox",
        "--mount", f"type=bind,src={package},dst={_PACKAGE},readonly",
        "--env", "PYTHONHASHSEED=0", "--env", "LANG=C.UTF-8", image,
        "python", "-s", "-P", "-B", "-X", "utf8", "-c", BOOT.format(_PACKAGE, "bridge"),
    ]  # fmt: skip


class ContainerCage(Cage):
    """A cage whose fork server is reached through the pipes of an engine's command."""

    _name = _engine = ""

    def fileno(self) -> int:
        """Return what becomes readable when a job has ended or the cage is dead."""
        return self._from.fileno() if self._process else -1

    def start(self) -> None:
        """Bring the container up; what stands in the way is an error that says so."""
        if self._plan.paths or self._plan.modules:
            raise InputError("the sandbox 'container' has the modules of its image; it takes no others")
        path = engine()
        if not path:
            raise InputError("the sandbox 'container' needs podman or docker, and neither answers here")
        self._engine = path
        self._name = f"assay-{uuid.uuid4().hex[:12]}"
        self._process = subprocess.Popen(
            arguments(path, self._name, self._plan.limits), stdin=-1, stdout=-1, stderr=-1, start_new_session=True
        )
        try:
            bridge.put(self._to, plan_message(self._plan, LANDLOCK, "/tmp/cage", ["/usr", "/lib"]))  # noqa: S108
            answers, _, _ = select.select([self._from], [], [], START_S)
            hello = bridge.get(self._from) if answers else ({"error": "it does not answer"}, [])
        except OSError:
            hello = None
        if not hello or "error" in hello[0]:
            reason = hello[0]["error"] if hello else _last_line(self._process)
            self.kill()
            raise InputError(f"the sandbox 'container' does not start with {path} and {IMAGE}: {reason}")

    def give(self, ticket: Ticket[Job]) -> None:
        """Hand over a job; the cage must have room."""
        if not self._process:
            self.start()
        job = ticket.job
        limits = self.admit(ticket, [])
        blocks = [job.candidate, job.stdin, *([job.judge] if job.judge is not None else [])]
        try:
            told = {"limits": asdict(limits), "tests": self.tests_key(job), "modules": ()}
            bridge.put(self._to, told | {"keep": limits.output_kb << 10}, blocks)
        except OSError:
            return

    def collect(self) -> tuple[Ticket[Job], Ended] | None:
        """Return a job that has ended and how, or None where the cage is dead."""
        frame = bridge.get(self._from) if self._process else None
        if frame is None:
            return None
        message, (out, err, reports, *verdict) = frame
        ticket, _, _ = self._held.popleft()
        return ticket, Ended(ticket.job.id, b"".join(verdict), reports, stdout=out, stderr=err, **message)

    def kill(self) -> list[Ticket[Job]]:
        """End the container with all it runs; return the jobs that it did not finish."""
        if self._process:
            _answers([self._engine, "kill", self._name])
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
                _close(cast(BinaryIO, pipe))
        return super().kill()

    @property
    def has_room(self) -> bool:
        """Whether it takes another job: one at a time, for a pipe that nobody reads stops its writer."""
        return not self._held

    @property
    def _to(self) -> BinaryIO:
        assert self._process
        return cast(BinaryIO, self._process.stdin)

    @property
    def _from(self) -> BinaryIO:
        assert self._process
        return cast(BinaryIO, self._process.stdout)


def _answers(command: list[str]) -> bool:
    try:
        done = subprocess.run(command, capture_output=True, timeout=_ASK_S, check=False, env=dict(os.environ))
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _last_line(process: subprocess.Popen[bytes]) -> str:
    """Return what the engine complained of."""
    try:
        _, complaint = process.communicate(timeout=_ASK_S)
    except (subprocess.TimeoutExpired, ValueError):
        return "it does not answer"
    lines = complaint.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"the engine left with {process.returncode}"


def _close(pipe: BinaryIO) -> None:
    try:
        pipe.close()
    except OSError:
        return
