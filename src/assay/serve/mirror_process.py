"""A command that keeps a list of repositories up to date, as a process beside a server: started again when it ends.

Fetching and indexing share neither the interpreter nor the memory of who answers, and go after it where both want the
processor. The process ends with the server, however that ends.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from threading import Event, Thread

from assay.io import leash
from assay.io.processes import end_patiently
from assay.protocols import Say

_AGAIN_S = (1.0, 5.0, 30.0, 60.0)
"""Pauses before it is started again, so many times in a row."""
_LASTS_S = 300.0
"""After so long its end is not in a row with the one before."""
_ENDING_S = 2.0


class MirrorProcess:
    """The process, from `start` to `stop`."""

    def __init__(self, command: Sequence[str], say: Say) -> None:
        self._command = [sys.executable, "-I", "-S", leash.__file__, *command]
        self._say = say
        self._stop = Event()
        self._thread = Thread(target=self._run, name="mirrors", daemon=True)

    def start(self) -> None:
        """Start the process, and see to it from now on."""
        self._thread.start()

    def stop(self) -> None:
        """End it; what it writes is whole at any moment."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        failures = 0
        while not self._stop.is_set():
            process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=sys.stderr, process_group=0)
            lasted = self._watch(process)
            if self._stop.is_set():
                return
            failures = 0 if lasted else failures + 1
            pause_s = _AGAIN_S[min(failures, len(_AGAIN_S) - 1)]
            self._say(f"what fetches repositories ended with {process.returncode}; it starts again in {pause_s:g} s")
            self._stop.wait(pause_s)

    def _watch(self, process: subprocess.Popen[bytes]) -> bool:
        """Wait for its end, or for that of the server; return whether it had lasted for a while."""
        seconds = 0.0
        try:
            while process.poll() is None and not self._stop.wait(0.5):
                seconds += 0.5
        finally:
            end_patiently(process, _ENDING_S, waits=False)
            process.wait()
        return seconds >= _LASTS_S
