"""How running references ended, kept by a hash of all that decides about it, so that a second run need not wait.

References of EvalPlus take minutes for all tasks of a file, and their answers are the same each time. What took too
long is kept too: so a second run has the same tests as the first, however busy the machine is.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import platform
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path

from assay import __version__
from assay.cage.limits import Ended, Job
from assay.errors import StorageError
from assay.io import files

_TEXTS = ("stdout", "reports")


class ReferenceCache:
    """A folder of what ended; without one nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def get(self, job: Job) -> Ended | None:
        """Return how this very job ended before, None where that is not known or cannot be read."""
        if self._folder is None:
            return None
        try:
            told = json.loads(gzip.decompress(self._place(self._folder, job).read_bytes()))
            texts = {name: told[name].encode() for name in _TEXTS}
            return Ended(job.id, **texts, cpu_s=float(told["cpu_s"]), ended=told["ended"])
        except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def put(self, job: Job, ended: Ended) -> None:
        """Keep how a job ended; a folder that cannot be written costs the next run its time and nothing else."""
        if self._folder is None:
            return
        place = self._place(self._folder, job)
        texts = {name: getattr(ended, name).decode("utf-8", "replace") for name in _TEXTS}
        told = {**texts, "cpu_s": ended.cpu_s, "ended": ended.ended}
        with contextlib.suppress(StorageError):
            files.write(place, gzip.compress(json.dumps(told).encode(), 3), durable=False)

    @staticmethod
    def _place(folder: Path, job: Job) -> Path:
        """Return where a job is kept: another place for each text, input, limit, version, Python and machine."""
        limits = json.dumps(asdict(job.limits)) if job.limits else ""
        about = f"{__version__} {platform.python_version()} {platform.machine()} {platform.node()} {limits}"
        name = blake2b(digest_size=16)
        for part in (about.encode(), job.candidate, job.judge or b""):
            name.update(len(part).to_bytes(8, "big") + part)
        return folder / f"{name.hexdigest()}.json.gz"
