"""A terminal for commands that print otherwise to one."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator

import pytest


@pytest.fixture(autouse=True)
def handlers_as_before() -> Iterator[None]:
    """Give back the signals that a command took in this process."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def on_terminal() -> Callable[..., str]:
    """Return what runs a command line and returns what it writes to a terminal, its standard output or its errors."""

    def call(*arguments: str, stream: str = "stdout", columns: int = 80, **environment: str) -> str:
        ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (24, columns))
        kept = {key: value for key, value in os.environ.items() if key not in {"COLUMNS", "NO_COLOR"}}
        running = subprocess.Popen(
            [sys.executable, "-m", "assay", *arguments],
            env={**kept, "TERM": "xterm", **environment},
            **{"stdout": subprocess.DEVNULL, stream: theirs},
        )
        os.close(theirs)
        seen = b""
        while select.select([ours], [], [], 60)[0]:
            try:
                seen += os.read(ours, 65_536)
            except OSError:  # the other end is closed
                break
        os.close(ours)
        assert running.wait() == 0
        return seen.decode()

    return call
