"""Gather what the system tells of changes in folders until it has been quiet for a moment.

Each folder is watched by itself where the system can, so that what a walk does not enter, such as builds, installed
packages and `.git`, neither wakes anybody up nor uses up the system's limit on watches.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

from assay.protocols import Stop

_QUIET_MS = 200
_LONGEST_MS = 2000
"""Changes that never pause are handed over all the same."""
_EACH_FOLDER = sys.platform == "linux"  # elsewhere the system watches whole trees


class NoWatch(Exception):
    """The system watches no more."""


class Watcher:
    """Watches some folders of some roots from when it was made."""

    def __init__(self, roots: Sequence[Path], folders: Collection[str]) -> None:
        """Begin to watch; raise FileNotFoundError when a folder is gone, and NoWatch at the limits of the system."""
        self.folders = frozenset(folders)
        paths = sorted(folder for folder in folders if _is_text(folder)) if _EACH_FOLDER else list(map(str, roots))
        try:
            # With its last argument true it would pass over its limits, too, without a word.
            self._told = RustNotify(paths, False, False, 0, not _EACH_FOLDER, False)
        except FileNotFoundError:
            raise
        except (OSError, WatchfilesRustInternalError) as error:
            raise NoWatch(str(error).partition(" about ")[0].rstrip(".")) from error

    def wait(self, seconds: float, quiet_s: float, stop: Stop) -> set[str]:
        """Wait for changes, and then until there are none for a while; return their paths, if any."""
        quiet_ms = max(_QUIET_MS, int(1000 * quiet_s))
        told = self._told.watch(_LONGEST_MS + quiet_ms, quiet_ms, int(1000 * seconds), stop)
        return set() if isinstance(told, str) else {path for _, path in told}

    def close(self) -> None:
        """Watch no longer."""
        self._told.close()


def _is_text(folder: str) -> bool:
    """Say whether the library can take a name; what changes in the others is found when all files are looked at."""
    try:
        folder.encode()
    except UnicodeEncodeError:
        return False
    return True
