"""Cache results of sandbox runs, for later runs with the same inputs.

That is what references answer, and what the tests of tasks gave when they were tried on programs that do nothing. A
result is known by all that decides about it: another task, version, Python or machine makes another one. A folder that
cannot be written costs the next run its time and nothing else.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import platform
from hashlib import blake2b
from pathlib import Path
from typing import Any

from assay import __version__
from assay.errors import StorageError
from assay.io import files

_ABOUT = f"{__version__} {platform.python_version()} {platform.machine()} {platform.node()}".encode()


class KeptResults:
    """A cache of JSON values in a folder, one small file each; without a folder it stores nothing."""

    def __init__(self, folder: Path | None, *about: bytes) -> None:
        """Take the folder and the parts common to all keys."""
        self._folder, self._about = folder, about

    def get(self, *parts: bytes) -> Any:
        """Return the value of a key; None if it is missing or unreadable."""
        try:
            return json.loads(gzip.decompress(self._place(parts).read_bytes())) if self._folder else None
        except (OSError, EOFError, ValueError):
            return None

    def put(self, value: Any, *parts: bytes) -> None:
        """Store a value by the parts of its key."""
        if self._folder:
            with contextlib.suppress(StorageError):
                files.write(self._place(parts), gzip.compress(json.dumps(value).encode(), 3), durable=False)

    def _place(self, parts: tuple[bytes, ...]) -> Path:
        name = blake2b(digest_size=16)
        for part in (_ABOUT, *self._about, *parts):
            name.update(len(part).to_bytes(8, "big") + part)
        return (self._folder or Path()) / f"{name.hexdigest()}.json.gz"
