"""A terminal for commands that print otherwise to one, and what checks that wrong command lines are refused."""

from __future__ import annotations

import os
import pty
import select
import shlex
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Iterable, Iterator

import pytest

from assay import report


@pytest.fixture(autouse=True)
def handlers_as_before() -> Iterator[None]:
    """Give back the signals that a command took in this process."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def undrawn(assay: Callable, monkeypatch: pytest.MonkeyPatch) -> Callable:
    """Return the command line as it is where matplotlib is not installed: it draws no report, which takes longest."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "assay.report.drawing", raising=False)
    monkeypatch.delattr(report, "drawing", raising=False)
    return assay


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


@pytest.fixture
def refuses(assay) -> Callable[..., None]:
    """Return what runs wrong command lines, and fails with each that is not refused as it is said.

    A case is a command line, as text or as its words, and a part of what is said. It prints nothing, leaves with 2,
    and the last line of its errors says what is wrong: there is no other line, unless `lines` says so.
    """

    def call(cases: Iterable[tuple[str | tuple, str]], *, lines: int = 1) -> None:
        wrong = []
        for line, said in cases:
            ran = assay(*(shlex.split(line) if isinstance(line, str) else line))
            told = ran.err.splitlines() or [""]
            if (ran.status, ran.out) != (2, "") or said not in told[-1] or len(told) > lines:
                wrong.append(f"{line}\n    wanted {said}\n    {ran.status} {ran.out}{ran.err}")
        assert not wrong, "\n".join(wrong)

    return call
