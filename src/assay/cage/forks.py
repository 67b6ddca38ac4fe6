"""Keep fork hooks of modules from the fork server's own forks, and give them back to its children.

The fork server has one thread and forks at a place where nothing is held, so `threading` has nothing to mend, and
chance is seeded alike in all programs: both would touch 160 pages in each child, which the kernel has to copy. What a
program forks itself is treated as ever.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

_register = os.register_at_fork
_held: list[dict[str, Callable[[], Any]]] = []


def hold() -> None:
    """Keep what is registered from here on."""

    def keep(**hooks: Callable[[], Any]) -> None:
        _held.append(hooks)

    os.register_at_fork = keep  # type: ignore[assignment]


def let_go() -> None:
    """Register what modules want from here on as ever."""
    os.register_at_fork = _register


def give_back() -> None:
    """Register what was kept, in a child that may fork."""
    for hooks in _held:
        _register(**hooks)
