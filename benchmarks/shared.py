"""What the scripts of this folder share: the choice of a command, and figures as they print them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.measure.compare import interval

Numbers = Sequence[float] | np.ndarray[Any, Any]


def mean_with_interval(values: Numbers, form: str = ".3f") -> str:
    """Return a mean with its 95% interval: 0.767 [0.674, 0.849]."""
    numbers = np.asarray(values, float)
    low, high = interval(numbers)
    return f"{numbers.mean():{form}} [{low:{form}}, {high:{form}}]"


def seconds_of(work: Callable[[], object]) -> float:
    """Return the wall time of some work."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def memory_mb(process: int | str, kind: str = "RssAnon") -> float:
    """Return the megabytes that a process holds by itself: pages of files, which the system may drop, not counted."""
    rows = Path(f"/proc/{process}/status").read_text("utf-8").splitlines()
    return int(next(row for row in rows if row.startswith(kind)).split()[1]) / 1e3


def run_command(commands: Mapping[str, Callable[[], object]], otherwise: Callable[[], object] | None = None) -> None:
    """Run the command that the first word names; without one, what runs otherwise."""
    if {*sys.argv[1:2]} & {*commands}:
        otherwise = commands[sys.argv.pop(1)]
    if otherwise is None:
        sys.exit(f"name one of: {', '.join(commands)}")
    otherwise()
