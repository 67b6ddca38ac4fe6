"""Names of variables in, the small environment that a system under test gets out."""

from __future__ import annotations

import os
from collections.abc import Sequence

PASSED = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ")
"""What a command gets of the environment without asking."""
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
"""What tells numeric libraries how many cores to use; the same for all systems."""


def small_environment(names: Sequence[str]) -> dict[str, str]:
    """Return a small environment with the named variables; `NAME=value` sets one."""
    chosen = {name: os.environ[name] for name in (*PASSED, *THREADS) if name in os.environ}
    chosen |= {"NO_COLOR": "1", "TERM": "dumb", "PYTHONUNBUFFERED": "1"}
    for each in names:
        name, equals, value = each.partition("=")
        if equals or name in os.environ:
            chosen[name] = value if equals else os.environ[name]
    return chosen
