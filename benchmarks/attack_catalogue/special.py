"""Attacks that no single program makes: a killed supervisor, many other processes of the user, hundreds of answers."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from attacks.__main__ import opened
from attacks.model import CONTAINED, LOOSE, Row
from attacks.outside import named
from attacks.running import Open

from assay.faults import Fault
from assay.programs.verdict import job_of, outcome_of
from assay.values import Program, Script, Task
from attack_catalogue import forged

PATIENCE_S = 30
"""Only what stays takes so long to go."""
NEIGHBOURS, JOBS = 200, 500


@dataclass(frozen=True, slots=True)
class Special:
    """An attack with a way of its own to be run."""

    name: str
    group: str
    run: Callable[[str, Open], Row]
    """From the kind of sandbox and how to open one."""


SLEEPERS = """
import ctypes, os, time
LIBC = ctypes.CDLL(None)
LIBC.prctl(15, b"{token}")
for n in range(6):
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
time.sleep(600)
def attack():
    return None
"""
CROWD = f"""
import os, sys, time
for _ in range({NEIGHBOURS - 1}):
    if os.fork() == 0:
        break
print("x", end="", flush=True)
time.sleep(600)
"""


def supervisor_killed(kind: str, _open_box: Open) -> Row:
    """Kill a supervisor in the middle of a run; everything under it, its mounts and its folders have to go."""
    mounts, folders, token = _mounts(), _folders(), "as" + secrets.token_hex(6)
    command = [sys.executable, "-m", "attack_catalogue.special", kind, token]
    began = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    while len(named(token, {process.pid})) < 5 and time.monotonic() - began < PATIENCE_S:
        time.sleep(0.02)
    below = descendants(process.pid)
    started = len(below) > 5
    process.kill()
    process.wait()
    until = time.monotonic() + PATIENCE_S
    while (left := _alive(below) + named(token, set())) and time.monotonic() < until:
        time.sleep(0.02)
    while (kept := (_mounts() - mounts) | (_folders() - folders)) and time.monotonic() < until:
        time.sleep(0.02)
    note = "" if started else "the sandbox did not start a job"
    note = note or "; ".join([*(f"process {one} is left" for one in left), *(f"{one} is left" for one in sorted(kept))])
    tries = "kills the supervisor with SIGKILL while a job runs: no process, mount or folder may stay"
    return Row("supervisor killed", "processes", tries, LOOSE if note else CONTAINED, note, time.monotonic() - began)


def hold(kind: str, token: str) -> None:
    """Run a job that sleeps, until somebody kills this process."""
    task = Task("hold", "", "attack", (Script("attack()\nassert True\n"),))
    with opened(kind) as box:
        list(box.run([job_of(task, Program("hold", SLEEPERS.replace("{token}", token)))]))


def crowd(_kind: str, open_box: Open) -> Row:
    """Run many jobs beside many processes of the same user: none may fail for want of processes."""
    began = time.monotonic()
    with subprocess.Popen([sys.executable, "-c", CROWD], stdout=subprocess.PIPE, start_new_session=True) as others:
        others.stdout.read(NEIGHBOURS)
        try:
            wrong = _wrong(open_box)
        finally:
            os.killpg(others.pid, signal.SIGKILL)
    note = f"{len(wrong)} of {JOBS}: {wrong[:3]}" if wrong else ""
    tries = f"{JOBS} jobs that each start a process, beside {NEIGHBOURS} processes of the same user"
    return Row("crowd", "processes", tries, LOOSE if note else CONTAINED, note, time.monotonic() - began)


def _wrong(open_box: Open) -> list[str]:
    task = Task("crowd", "", "attack", (Script("assert attack() == 4\n"),))
    text = "import os\ndef attack():\n    pid = os.fork()\n    if pid == 0:\n        os._exit(0)\n"
    programs = [Program("crowd", f"{text}    return 4\n# {n}\n", str(n)) for n in range(JOBS)]
    with open_box() as box:
        ends = zip(programs, box.run(job_of(task, program) for program in programs), strict=True)
        outcomes = [outcome_of(task, program, ended) for program, ended in ends]
    return [f"{one.fault} {one.detail}" for one in outcomes if one.fault is not Fault.CORRECT]


def descendants(pid: int) -> set[tuple[int, str]]:
    """Return all processes below one, each with the time of its start."""
    parents: dict[int, list[int]] = {}
    for entry in filter(str.isdigit, (path.name for path in Path("/proc").iterdir())):
        fields = _stat(int(entry))
        if fields:
            parents.setdefault(int(fields[1]), []).append(int(entry))
    found, waiting = set(), [pid]
    while waiting:
        children = parents.get(waiting.pop(), [])
        waiting += children
        found |= {(child, fields[19]) for child in children if (fields := _stat(child))}
    return found


def _alive(processes: set[tuple[int, str]]) -> list[str]:
    return [
        str(pid) for pid, start in processes if (fields := _stat(pid)) and fields[19] == start and fields[0] not in "ZX"
    ]


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _mounts() -> set[str]:
    return {line.split(maxsplit=3)[3] for line in Path("/proc/self/mountinfo").read_text().splitlines()}


def _folders() -> set[str]:
    return {str(path) for path in Path(tempfile.gettempdir()).glob("assay-*")}


SPECIAL = (
    Special("supervisor killed", "processes", supervisor_killed),
    Special("crowd", "processes", crowd),
    Special(forged.NAME, "verdict", forged.forged),
)

if __name__ == "__main__":
    hold(*sys.argv[1:])
