"""Run commands within limits of time and output, without a shell, and end all their processes.

The command leads a process group. When it ends, takes too long or says too much, the group is killed, so that its
children go with it; one that leaves the group on purpose, as a daemon does, stays.
"""

from __future__ import annotations

import ctypes
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from tempfile import TemporaryFile

from assay.errors import AssayError, InputError

_ERROR_BYTES = 65_536
_PIECE = 65_536
_LOOK_S = 0.05
"""How often to look whether a command has ended whose pipes somebody else keeps open."""
_ENDING_S = 0.0005
"""The same once its pipes are closed: a query must not be charged for our waiting."""
_WATCH_S = 0.2


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """Limits of a command."""

    seconds: float | None
    """None is as long as it wants."""
    output_bytes: int
    watch: Callable[[], object] | None = None
    """Called now and then while the command runs, and at its end; what it raises ends the command."""
    setup: Callable[[], object] | None = None
    """Called in the new process before the command; it makes the start slower."""
    is_foreground: bool = False
    """Whether it stays in our group, as what asks a person on the terminal has to; its children then stay, too."""


@dataclass(frozen=True, slots=True)
class FinishedCommand:
    """Exit status and output of a command."""

    status: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """Return the first line of its standard error."""
        return next((line.strip() for line in self.err.splitlines() if line.strip()), "")


def run_bounded(
    command: Sequence[str], limits: ProcessLimits, *, cwd: Path | str, env: Mapping[str, str], stdin: bytes = b""
) -> FinishedCommand:
    """Run a command and return its output; too much time or output is an error."""
    with TemporaryFile() as source:  # a file, so that neither side ever waits for the other
        source.write(stdin)
        source.seek(0)
        try:
            process = subprocess.Popen(
                list(command),
                cwd=cwd,
                env=env,
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                process_group=None if limits.is_foreground else 0,
                preexec_fn=limits.setup,  # noqa: PLW1509  whoever gives one knows
            )
        except FileNotFoundError as error:
            raise InputError(f"there is no program '{command[0]}': install it, or give its path") from error
        except OSError as error:
            raise InputError(f"'{command[0]}' cannot be started: {error.strerror}") from error
    with process:  # closes the pipes and waits
        try:
            return _followed(process, command[0], limits)
        finally:
            end_group(process)
            process.kill()


def end_group(process: subprocess.Popen[bytes], number: int = signal.SIGKILL) -> None:
    """Send a signal to the group of a process, if the group exists."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def end_patiently(process: subprocess.Popen[bytes], seconds: float, *, waits: bool = True) -> None:
    """End a group: wait a while for its leader if it `waits`, then send SIGTERM, then SIGKILL."""
    for number in (0, signal.SIGTERM, signal.SIGKILL)[not waits :]:
        end_group(process, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            break
    end_group(process)


def _followed(process: subprocess.Popen[bytes], name: str, limits: ProcessLimits) -> FinishedCommand:
    """Read both pipes until they close, the command has ended, or a limit is passed."""
    assert process.stdout is not None
    assert process.stderr is not None
    ends = time.monotonic() + (inf if limits.seconds is None else limits.seconds)
    out, err = bytearray(), bytearray()
    looks = time.monotonic() if limits.watch else inf
    with selectors.DefaultSelector() as watched:
        watched.register(process.stdout, selectors.EVENT_READ, (out, limits.output_bytes + 1))
        watched.register(process.stderr, selectors.EVENT_READ, (err, _ERROR_BYTES))
        while watched.get_map() or not _ended(process):
            over = _ended(process)
            pause = _LOOK_S if watched.get_map() else _ENDING_S
            ready = watched.select(0 if over else min(pause, max(0.0, ends - time.monotonic())))
            for key, _ in ready:
                _read(watched, key)
            if len(out) > limits.output_bytes:
                raise AssayError(f"{name} printed more than {limits.output_bytes:,} bytes and was stopped")
            if over and not ready:
                break
            if time.monotonic() > ends:
                raise AssayError(f"{name} did not end within {limits.seconds:g} s and was stopped")
            if limits.watch and time.monotonic() > looks:
                limits.watch()
                looks = time.monotonic() + _WATCH_S
    status = process.wait()
    if limits.watch:
        limits.watch()
    return FinishedCommand(status, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


def _read(watched: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    """Keep a piece of a command's output, up to a limit; the rest is read and dropped."""
    piece = os.read(key.fd, _PIECE)
    kept, most = key.data
    kept += piece[: most - len(kept)]
    if not piece:
        watched.unregister(key.fileobj)


def _ended(process: subprocess.Popen[bytes]) -> bool:
    """Say whether the command has ended, without reaping it, so that its number is not reused."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


def end_with(parent: int) -> None:
    """Kill this process when its parent dies (PR_SET_PDEATHSIG); call it right after the start of the process."""
    if _prctl is None:
        return
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # gone before it was asked for
        os._exit(0)
