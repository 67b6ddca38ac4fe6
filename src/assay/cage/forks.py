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
    """Collect fork hooks that are registered from here on."""

    def keep(**hooks: Callable[[], Any]) -> None:
        _held.append(hooks)

    os.register_at_fork = keep  # type: ignore[assignment]


def let_go() -> None:
    """Stop collecting: register fork hooks as usual."""
    os.register_at_fork = _register


def give_back() -> None:
    """Register the collected hooks in a child that may fork."""
    for hooks in _held:
        _register(**hooks)
