"""Tasks to what their judges are told; their tests are read once while there is room: the least lately used give way.

Programs may come in any order, and reading the tests of a task costs ten times what handing over a program does. So
what is kept is bounded by its bytes, not by a number of tasks: all of HumanEval take one megabyte. How far tests go
differs from one run over them to the next, and stands in a head before them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final, Literal

from assay.types import Task

MOST_BYTES: Final = 64 << 20
Extent = Literal["first failure", "every test", "survey"]
"""How far tests go: to the first that fails, on to all of them, or that with the names of those that hold."""


@dataclass(frozen=True, slots=True)
class _Spec:
    tests: tuple[Any, ...]
    """They stay alive as long as their id is the key."""
    head: bytes
    whole: bytes


class SpecCache:
    """What judges are told; one of it serves all threads."""

    def __init__(self, read: Callable[[Task], bytes], most_bytes: int = MOST_BYTES) -> None:
        """Take what reads the tests of a task."""
        self._read, self._most_bytes = read, most_bytes
        self._kept: OrderedDict[tuple[int, str, str], _Spec] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def spec(self, task: Task, head: bytes) -> bytes:
        """Return the head and the tests of a task, as the same object while it is asked for with one head.

        The tests may hold lists, so they are known by identity.
        """
        key = (id(task.tests), task.setup, task.entry_point)
        with self._lock:
            kept = self._kept.get(key)
        if kept is None or kept.head != head:
            tests = self._read(task) if kept is None else kept.whole[len(kept.head) :]
            kept = _Spec(task.tests, head, head + tests)
        with self._lock:
            before = self._kept.pop(key, None)
            self._kept[key] = kept
            self._bytes += len(kept.whole) - (len(before.whole) if before else 0)
            while self._bytes > self._most_bytes:
                self._bytes -= len(self._kept.popitem(last=False)[1].whole)
        return kept.whole
