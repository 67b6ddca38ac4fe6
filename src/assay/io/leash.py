"""Run a command that ends with its parent process (`leash.py COMMAND…`), using only the standard library.

A server of a protocol leads a session of its own, so that the end of a worker that was killed does not reach it, and
one that does not care about a closed pipe would stay for good.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys

_LOOK_S = 0.2


def main(command: list[str]) -> int:
    """Run a command; if the parent of this process dies, end the command's whole group."""
    above = os.getppid()
    server = subprocess.Popen(command)
    while True:
        try:
            return server.wait(_LOOK_S)
        except subprocess.TimeoutExpired:
            if os.getppid() != above:
                os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
