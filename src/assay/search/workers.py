"""The same function over many tasks on several cores: forked workers, for what they inherit costs nothing.

A fork copies only the thread that calls it, so a process with more threads works alone; so does one outside Linux,
where a fork and the system's own libraries do not agree. Workers end when the parent does, whatever ended it, so
that none writes to an index after another process has taken it over.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Generic, TypeVar

from assay.errors import AssayError
from assay.io.processes import end_with

_UNSAFE = ("onnxruntime", "torch")  # have threads of their own that a copy would lack

_ENDED = "an indexing process was ended from outside, perhaps for want of memory"

Task = TypeVar("Task")
Result = TypeVar("Result")


def can_fork() -> bool:
    """Say whether this process may be copied safely."""
    return sys.platform == "linux" and threading.active_count() == 1 and sys.modules.keys().isdisjoint(_UNSAFE)


@dataclass(frozen=True, slots=True)
class _Worker:
    process: int
    pipe: Connection


class ChunkWorkers(Generic[Task, Result]):
    """Processes that live as long as the `with`; they see the world as it was when they were made."""

    def __init__(self, work: Callable[[Task], Result], count: int) -> None:
        self._workers: list[_Worker] = []
        for _ in range(count):
            self._workers.append(_fork(work))

    def __enter__(self) -> ChunkWorkers[Task, Result]:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.pipe.close()
        for worker in self._workers:
            os.waitpid(worker.process, 0)

    def map(self, tasks: Iterable[Task]) -> Iterator[Result]:
        """Yield results as they come, in any order; the first error of a worker is raised here."""
        waiting = iter(tasks)
        idle = {worker.pipe for worker in self._workers}
        busy: set[Connection] = set()
        for task in waiting:
            if not idle:
                yield from _results(busy, idle)
            pipe = idle.pop()
            try:
                pipe.send(task)
            except BrokenPipeError as gone:
                raise AssayError(_ENDED) from gone
            busy.add(pipe)
        while busy:
            yield from _results(busy, idle)


def _results(busy: set[Connection], idle: set[Connection]) -> Iterator[Result]:
    """Wait for some workers and yield what they made."""
    for pipe in wait(list(busy)):
        assert isinstance(pipe, Connection)
        try:
            result, error = pipe.recv()
        except EOFError as gone:
            raise AssayError(_ENDED) from gone
        busy.remove(pipe)
        idle.add(pipe)
        if error is not None:
            raise error
        yield result


def _fork(work: Callable[[Task], Result]) -> _Worker:
    ours, theirs = Pipe()
    parent = os.getpid()
    process = os.fork()
    if not process:
        try:
            end_with(parent)
            _serve(work, theirs)
        finally:
            os._exit(0)
    theirs.close()
    return _Worker(process, ours)


def _serve(work: Callable[[Task], Result], pipe: Connection) -> None:
    """Answer tasks until the parent is gone; the pipe is all that is kept of the parent's open files."""
    _keep_to_one_core()
    gc.disable()  # nearly nothing here is a cycle, and looking for some took a twentieth of the time
    own = os.dup2(pipe.fileno(), 3) if pipe.fileno() != 3 else 3
    os.closerange(4, os.sysconf("SC_OPEN_MAX"))
    pipe = Connection(own)
    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            pipe.send((work(task), None))
        except Exception as error:  # noqa: BLE001  the parent raises it
            error.add_note("in an indexing process:\n" + "".join(traceback.format_tb(error.__traceback__)))
            pipe.send((None, error))


def _keep_to_one_core() -> None:
    """Stop numpy's OpenBLAS from using every core in every worker: its threads spin, and that doubled the work.

    A library that is loaded no longer reads its environment, so its own switch is looked up.
    """
    with Path("/proc/self/maps").open() as maps:
        loaded = {line.split(maxsplit=5)[-1].strip() for line in maps if "openblas" in line}
    for path in loaded:
        library = ctypes.CDLL(path)
        for prefix, suffix in product(("scipy_", ""), ("64_", "")):
            switch = getattr(library, f"{prefix}openblas_set_num_threads{suffix}", None)
            if switch is not None:
                switch(1)
