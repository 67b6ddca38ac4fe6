"""Wait for an event, not for a time; for example until a process is gone."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

LIMIT_S = 60.0
"""Only what hangs takes so long, on the slowest of days."""

T = TypeVar("T")


def has_ended(process: int) -> bool:
    """Say whether a process is gone, though perhaps nobody has waited for it."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def until(condition: Callable[[], T], what: str, pause_s: float = 0.02) -> T:
    """Return what a condition gives once it is true; fail with `what` where it never is."""
    ends = time.monotonic() + LIMIT_S
    while not (found := condition()):
        assert time.monotonic() < ends, f"it never came to this: {what}"
        time.sleep(pause_s)
    return found


def is_gone(pid: int) -> bool:
    """Say whether a process has ended, waited for or not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
