"""A worker of a crew where it lives: named work and plain settings in, batches of plain values in and out.

It imports nothing of the cluster. What goes wrong is an answer, since an exception of another machine's libraries may
not even be readable elsewhere.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from assay import __version__
from assay.runs.crew_place import About, CrewMember

Answer: TypeAlias = tuple[float, list[Any], str]
"""Seconds, what became of the items, and what went wrong with the worker, empty for nothing."""


class HiredWorker:
    """What a cluster starts for each worker."""

    def __init__(self, opener: str, settings: Mapping[str, Any]) -> None:
        self._opener, self._settings = opener, settings
        self._member: CrewMember | None = None

    def about(self) -> About:
        """Open the work and say what does it; an `error` where that cannot be."""
        module, _, name = self._opener.partition(":")
        try:
            self._member = getattr(import_module(module), name)(**self._settings)
            return {**code_identity(), **self._member.about()}
        except Exception as error:  # noqa: BLE001  the machine is named with it, and not used
            return {**code_identity(), "error": _line(error)}

    def do(self, items: Sequence[Any]) -> Answer:
        """Do a batch."""
        assert self._member is not None
        began = time.perf_counter()
        try:
            return time.perf_counter() - began, list(self._member.do(items)), ""
        except Exception as error:  # noqa: BLE001  this worker is given up; another one gets the batch
            return 0.0, [], _line(error)

    def close(self) -> None:
        """End the work."""
        if self._member:
            self._member.close()


@cache
def code_identity() -> About:
    """Return what has to be equal wherever parts of one run are done: this package, to the letter, and Python."""
    top = Path(__file__).parents[1]
    files = sorted(file for file in top.rglob("*.py"))
    code = blake2b(digest_size=6)
    for file in files:
        code.update(f"{file.relative_to(top)}\0".encode() + file.read_bytes() + b"\0")
    return {"assay": f"{__version__} ({code.hexdigest()})", "python": platform.python_version()}


def _line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
