"""Names of distributions to folders that programs import from: from the list of what is allowed, and nothing else.

A set that cannot be had is remembered, so that a campaign asks the index for it once.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from threading import Lock

from assay.programs.modules.imports import Known, plain
from assay.programs.modules.install import InstallRefused, Overlay

_NAME = re.compile(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?", re.ASCII)
_MOST = 5
_PIP = (["pip"], ["pip3"], ["python", "-m", "pip"], ["python3", "-m", "pip"], ["uv", "pip"])


def distributions_in(command: str) -> list[str] | str:
    """Return the distributions that a terminal command installs, or why it is not carried out.

    The command is read and never run: `pip install NAME …` is all that there is.
    """
    refusal = f"'{command[:80]}' was not carried out: only `pip install NAME` is"
    try:
        words = shlex.split(command)
    except ValueError:
        return refusal
    for pip in _PIP:
        start = [*pip, "install"]
        if words[: len(start)] == start:
            names = words[len(start) :]
            return names if names and all(map(_NAME.fullmatch, names)) and len(names) <= _MOST else refusal
    return refusal


class Installs:
    """What may be installed, and what was."""

    def __init__(self, known: Known, make: Callable[[Sequence[str]], Overlay] | None) -> None:
        """Take the list, and what makes a folder of some names: None where nothing is installed at all."""
        self._known, self._make = known, make
        self._made: dict[tuple[str, ...], Overlay | str] = {}
        self._lock = Lock()

    def brings(self, module: str) -> str:
        """Return the distribution that brings a module, empty for one that is unknown."""
        return self._known.distribution_of(module)

    def refusal(self, distribution: str) -> str:
        """Return why a distribution is not installed, empty where it may be."""
        if self._make is None:
            return f"{distribution} is not installed: nothing is, without --install"
        return "" if self._known.allows(distribution) else f"{distribution} is not on the list of what may be installed"

    def have(self, names: Sequence[str]) -> Overlay | str:
        """Return the folder with these distributions, or why it cannot be had."""
        asked = tuple(sorted({plain(name) for name in names}))
        for name in asked:
            if why := self.refusal(name):
                return why
        with self._lock:
            if asked not in self._made:
                self._made[asked] = self._had(asked)
            return self._made[asked]

    def _had(self, names: tuple[str, ...]) -> Overlay | str:
        assert self._make is not None
        try:
            return self._make(names)
        except InstallRefused as refused:
            return str(refused)
