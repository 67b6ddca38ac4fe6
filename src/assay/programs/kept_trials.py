"""Keep what the tests of tasks gave when they were tried on programs that do nothing, for the next run over them.

A trial is known by the tests, by the programs tried and by what they find where they run: another Python, module,
version or machine makes another one. A folder that cannot be written costs the next run its time and nothing else.
"""

from __future__ import annotations

import contextlib
import json
import platform
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from assay import __version__
from assay.errors import StorageError
from assay.io import files
from assay.values import Task


class KeptTrials:
    """What is kept in a folder, a small file for each trial."""

    def __init__(self, folder: Path, sources: Sequence[str]) -> None:
        about = (__version__, platform.python_version(), platform.machine(), *sources)
        self._folder = folder
        self._about = blake2b(repr(about).encode(), digest_size=16)

    def get(self, task: Task) -> Any:
        """Return what was kept of the tests of a task, None where nothing is, or nothing that can be read."""
        try:
            return json.loads(self._place_of(task).read_bytes())
        except (OSError, ValueError):
            return None

    def put(self, task: Task, found: Any) -> None:
        """Keep what can be written as JSON."""
        with contextlib.suppress(StorageError):
            files.write(self._place_of(task), json.dumps(found).encode(), durable=False)

    def _place_of(self, task: Task) -> Path:
        name = self._about.copy()
        name.update(
            repr((task.entry_point, task.setup, task.tests, sorted(task.tags.items()), task.timeout_s)).encode()
        )
        digest = name.hexdigest()
        return self._folder / digest[:2] / f"{digest[2:]}.json"
