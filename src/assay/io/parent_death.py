"""A process's wish to end with the one that started it, which Linux grants however that one ends."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None


def end_with(parent: int) -> None:
    """Have the system kill this process when its parent is gone; to be called in the process, right after its start."""
    if _prctl is None:
        return
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # gone before it was asked for
        os._exit(0)
