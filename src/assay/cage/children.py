"""Turn a copy of the fork server into one process of a job: descriptors, limits, user, filters, then the harness.

Everything here happens between a fork and the program's first line, so it is short and made ready before.
"""

from __future__ import annotations

import contextlib
import gc
import json
import math
import os
import resource
import signal
import socket
import sys
import time
import traceback
from _signal import signal as set_handler  # type: ignore[import-not-found]  # the other costs a child 30 pages
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from resource import setrlimit
from typing import Any, NoReturn, Protocol

from assay.cage import forks, landlock, messages
from assay.cage.limits import Limits
from assay.cage.seccomp import Filter
from assay.cage.syscalls import PR_SET_DUMPABLE, drop_capabilities, prctl

CHANNEL, SAYS, SPEC = 3, 4, 5
"""Descriptors of every child: the socket to the other one, what it reports or decides, what it is to do."""
FIRST_FREE = 10
"""The fork server keeps every descriptor below this taken, so that none of a job's files comes to lie there."""
_FILES, _SIGNALS = 128, 4096
_KERNELS_SECONDS = 4
"""Processor time until the kernel steps in, for each second of the limit, which the fork server sees to.

The kernel counts whole ticks for that, and on a busy machine it charges a loop with a quarter more than it ran.
"""
_ADDRESSES = 4
"""Addresses a process may have for each byte of memory: reserving is not using."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """How the children of a cage are confined; None or False for what its kind does not have."""

    filter: Filter | None
    rules: int | None
    """An open set of Landlock rules."""
    users: tuple[int, int] | None
    """Of program and judge, where they differ from the fork server's."""
    namespaces: bool
    folder: str
    strangers: Callable[[], int]
    """How many processes of the same user are none of the job's now, with some room."""


class ProgramJudge(Protocol):
    """Judge the programs of jobs that share their tests."""

    stays: bool
    """Whether it is after a job what it was before."""

    def __call__(self, channel: socket.socket, verdict_fd: int) -> None:
        """Test the program at the other end of the channel, and write the verdict."""


def run_child(work: Callable[[socket.socket | None, dict[str, Any], int], object]) -> NoReturn:
    """Call the harness with the job at the usual descriptors, and exit without running exit handlers."""
    code = 1
    try:
        spec = json.loads(messages.read(SPEC))
        os.close(SPEC)
        channel = None
        with contextlib.suppress(OSError):  # there is no other process
            os.fstat(CHANNEL)
            channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, CHANNEL)
        work(channel, spec, SAYS)
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    except BaseException:  # noqa: BLE001  it goes where the program's own errors go
        traceback.print_exc()
    with contextlib.suppress(BaseException):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code & 0xFF)


def run_judge(open_judge: Callable[[dict[str, Any]], ProgramJudge]) -> NoReturn:
    """Read the tests at the usual descriptors, and judge job after job until no more come."""
    with open(SPEC, "rb") as file:
        judge = open_judge(json.loads(file.read()))
    control = socket.socket(fileno=CHANNEL)
    folder = os.getcwd()
    while True:
        job, files = messages.receive(control)
        if job is None:
            os._exit(0)
        channel, verdict = files
        began = time.process_time()
        with contextlib.suppress(Exception):
            os.chdir(folder)
        with socket.socket(fileno=channel) as program:
            judge(program, verdict)
        os.close(verdict)
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        messages.send(control, {"stays": judge.stays, "cpu_s": time.process_time() - began, "peak_mb": peak_mb})


def run_source(channel: socket.socket | None, spec: dict[str, Any], says: int) -> None:
    """Run a program without tests, as probes do."""
    del channel, says
    exec(compile(spec["source"], "<program>", "exec"), {"__name__": "__main__"})  # noqa: S102  that is the purpose


@lru_cache(maxsize=2)
def prepare(house: Confinement, limits: Limits, strangers: int, *, judge: bool, victim: int) -> Callable[[], None]:
    """Return what a child does first: take its place, limits, user and filters, each made ready before the fork.

    The first touch of a page costs a fork more than anything else, so a child runs as little Python as can be.
    """
    bounds = _bounds(limits, strangers, counted=not judge)
    user = house.users[judge] if house.users else None
    filtered = house.filter.bind(victim) if house.filter and house.namespaces else None
    own_filter, rules, folder = house.filter, house.rules, house.folder

    def confine() -> None:
        os.setsid()
        os.chdir(folder)
        for which, most in bounds:
            setrlimit(which, most)
        if user is not None:
            os.setgroups(())
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        if own_filter:
            drop_capabilities()
            prctl(PR_SET_DUMPABLE, 0 if judge else 1)
        if rules is not None:
            landlock.restrict(rules)
        if filtered:
            filtered()
        elif own_filter:
            own_filter.bind(os.getpid())()

    return confine


def settle(files: Mapping[int, int]) -> None:
    """Put open files at the descriptors that a child expects, close all others, and behave like a fresh process.

    Chance is the same in every program, as hashes are, for the fork server seeded it and never draws: a second run says
    what the first one said.
    The files are all beyond the places they go to, which the fork server keeps taken.
    """
    for target in range(SPEC + 1):
        if target in files:
            os.dup2(files[target], target, target <= 2)
        elif target > 2:
            os.close(target)
    os.closerange(SPEC + 1, 1 << 20)
    set_handler(signal.SIGINT, signal.default_int_handler)
    forks.give_back()
    gc.enable()


def _bounds(limits: Limits, strangers: int, *, counted: bool) -> list[tuple[int, tuple[int, int]]]:
    """Return the resource limits of each process, at most those of this process.

    The processor time of a judge is that of many jobs, and counted for each.
    """
    found = []
    seconds = _KERNELS_SECONDS * math.ceil(limits.cpu_s)
    for which, most in (
        (resource.RLIMIT_CPU, seconds + 1),
        (resource.RLIMIT_AS, limits.memory_mb * _ADDRESSES << 20),
        (resource.RLIMIT_FSIZE, limits.file_mb << 20),
        (resource.RLIMIT_NOFILE, _FILES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, limits.processes + strangers),
        (resource.RLIMIT_SIGPENDING, _SIGNALS),
    ):
        _, hard = resource.getrlimit(which)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        soft = min(seconds, least) if which == resource.RLIMIT_CPU else least  # its signal says why, a kill does not
        found.append((which, (soft, least)))
    return found if counted else found[1:]
