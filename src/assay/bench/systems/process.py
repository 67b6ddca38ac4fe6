"""A command and its limits in, what it printed out: no shell, nothing left running, nothing unbounded.

The command leads a process group. When it ends, takes too long or says too much, the group is killed, so that its
children go with it; one that leaves the group on purpose, as a daemon does, stays.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from assay.errors import AssayError, InputError

_ERROR_BYTES = 65_536
_PIECE = 65_536
_LOOK_S = 0.05
"""How often to look whether a command has ended whose pipes somebody else keeps open."""
_ENDING_S = 0.0005
"""The same once its pipes are closed: a query must not be charged for our waiting."""
PASSED = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ")
"""What a command gets of the environment without asking."""
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
"""What tells numeric libraries how many cores to use; the same for all systems."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """Return the first line of what it said on standard error."""
        return next((line.strip() for line in self.err.splitlines() if line.strip()), "")


def environment(names: Sequence[str]) -> dict[str, str]:
    """Return a small environment with the named variables; `NAME=value` sets one."""
    made = {name: os.environ[name] for name in (*PASSED, *THREADS) if name in os.environ}
    made |= {"NO_COLOR": "1", "TERM": "dumb", "PYTHONUNBUFFERED": "1"}
    for each in names:
        name, given, value = each.partition("=")
        if given or name in os.environ:
            made[name] = value if given else os.environ[name]
    return made


def run(command: Sequence[str], *, cwd: Path, names: Sequence[str], timeout_s: float | None, limit_bytes: int) -> Ran:
    """Run a command to its end and return what it printed; too slow or too much is an error."""
    process = _start(command, cwd, names)
    try:
        return _followed(process, command[0], timeout_s, limit_bytes)
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def _start(command: Sequence[str], cwd: Path, names: Sequence[str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            list(command),
            cwd=cwd,
            env=environment(names),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
        )
    except FileNotFoundError as error:
        raise InputError(f"there is no program '{command[0]}': install it, or give its path") from error
    except OSError as error:
        raise InputError(f"'{command[0]}' cannot be started: {error.strerror}") from error


def _followed(process: subprocess.Popen[bytes], name: str, timeout_s: float | None, limit_bytes: int) -> Ran:
    """Read both pipes until they close, the command has ended, or a limit is passed."""
    assert process.stdout is not None
    assert process.stderr is not None
    ends = time.monotonic() + (timeout_s if timeout_s is not None else float("inf"))
    out, err = bytearray(), bytearray()
    with selectors.DefaultSelector() as watched:
        watched.register(process.stdout, selectors.EVENT_READ, (out, limit_bytes + 1))
        watched.register(process.stderr, selectors.EVENT_READ, (err, _ERROR_BYTES))
        while watched.get_map() or not _ended(process):
            over = _ended(process)
            pause = _LOOK_S if watched.get_map() else _ENDING_S
            ready = watched.select(0 if over else min(pause, max(0.0, ends - time.monotonic())))
            for key, _ in ready:
                piece = os.read(key.fd, _PIECE)
                held, most = key.data
                held += piece[: most - len(held)]
                if not piece:
                    watched.unregister(key.fileobj)
            if len(out) > limit_bytes:
                raise AssayError(f"{name} printed more than {limit_bytes:,} bytes and was stopped")
            if over and not ready:
                break
            if time.monotonic() > ends:
                raise AssayError(f"{name} did not end within {timeout_s:g} s and was stopped")
    return Ran(process.wait(), out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


def _ended(process: subprocess.Popen[bytes]) -> bool:
    """Say whether the command has ended, without taking its status: until then no other gets its number."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
