"""Jobs of many threads to their ends: each of a few threads owns the sandboxes that it runs them in.

A sandbox belongs to one thread, and a cage that waits for a slow program holds up nobody else's. Programs that need
other distributions get a sandbox of their own; a thread keeps the few that it used last.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock, local
from types import TracebackType
from typing import Protocol, Self

from assay.sandbox.limits import Ended, Job
from assay.sandbox.tasks.expected import Runs

_KEPT = 4
"""Sandboxes that a thread keeps open; a sleeping cage takes some 20 MB."""


class Closable(Runs, Protocol):
    """A sandbox that can be closed."""

    def close(self) -> None:
        """End it."""


class Runner:
    """Some threads with sandboxes of one cage each; `opened` makes one in which programs import from these folders."""

    def __init__(self, opened: Callable[[Sequence[str]], Closable], workers: int) -> None:
        self._opened = opened
        self._threads = ThreadPoolExecutor(workers, "sandbox")
        self._own = local()
        self._all: list[OrderedDict[tuple[str, ...], Closable]] = []
        self._lock = Lock()

    def run(self, jobs: Sequence[Job], paths: Sequence[str] = ()) -> list[Ended]:
        """Run some jobs, one after another, and return how each ended."""
        return self._threads.submit(self._run, jobs, tuple(paths)).result()

    def close(self) -> None:
        """End all sandboxes, after what is running."""
        self._threads.shutdown(cancel_futures=True)
        for kept in self._all:
            for sandbox in kept.values():
                sandbox.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _run(self, jobs: Sequence[Job], paths: tuple[str, ...]) -> list[Ended]:
        return list(self._sandbox(paths).run(jobs))

    def _sandbox(self, paths: tuple[str, ...]) -> Closable:
        kept: OrderedDict[tuple[str, ...], Closable] | None = getattr(self._own, "kept", None)
        if kept is None:
            kept = self._own.kept = OrderedDict()
            with self._lock:
                self._all.append(kept)
        if paths not in kept:
            while len(kept) >= _KEPT:
                kept.popitem(last=False)[1].close()
            kept[paths] = self._opened(paths)
        kept.move_to_end(paths)
        return kept[paths]
