"""Tasks to what their judges are told, made once a task while there is room: the least lately used give way.

Programs may come in any order, and reading the tests of a task costs ten times what handing over a program does. So
what is kept is bounded by its bytes, not by a number of tasks: all of HumanEval take one megabyte.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Final, Literal

from assay.types import Task

MOST_BYTES: Final = 64 << 20
Extent = Literal["first failure", "every test", "survey"]
"""How far tests go: to the first that fails, on to all of them, or that with the names of those that hold."""


class SpecCache:
    """What judges are told; one of it serves all threads."""

    def __init__(self, build: Callable[[Task, Extent], bytes], most_bytes: int = MOST_BYTES) -> None:
        """Take what makes a spec of a task and how far its tests go."""
        self._build, self._most_bytes = build, most_bytes
        self._kept: OrderedDict[tuple[int, Extent], tuple[Task, bytes]] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def spec(self, task: Task, extent: Extent) -> bytes:
        """Return what the judge of this very task is told; its tests may hold lists, so it is known by identity."""
        key = (id(task), extent)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][1]
        made = self._build(task, extent)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = (task, made)  # the task stays alive as long as its id is the key
                self._bytes += len(made)
            while self._bytes > self._most_bytes:
                self._bytes -= len(self._kept.popitem(last=False)[1][1])
        return made
