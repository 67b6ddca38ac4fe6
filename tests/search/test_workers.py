"""Work shared among processes comes back whole, and so do its errors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay.errors import AssayError, StorageError
from assay.search.workers import ChunkWorkers


def test_every_task_is_done_once_and_by_other_processes():
    with ChunkWorkers(lambda number: (number, os.getpid()), 2) as workers:
        done = list(workers.map(range(50)))
    assert sorted(number for number, _ in done) == list(range(50))
    assert os.getpid() not in {process for _, process in done}


def test_large_tasks_and_results_pass():
    with ChunkWorkers(lambda text: text * 2, 2) as workers:
        assert [len(text) for text in workers.map(["x" * 3_000_000] * 5)] == [6_000_000] * 5


def test_the_error_of_a_worker_is_raised_here_with_its_place():
    def work(number):
        if number == 3:
            raise StorageError("no room")
        return number

    with pytest.raises(StorageError, match="no room") as caught, ChunkWorkers(work, 2) as workers:
        list(workers.map(range(6)))
    assert "in work" in caught.value.__notes__[0]


def test_a_worker_that_is_killed_is_one_clear_line():
    with (
        pytest.raises(AssayError, match="ended from outside"),
        ChunkWorkers(lambda _: os.kill(os.getpid(), signal.SIGKILL), 2) as workers,
    ):
        list(workers.map(range(4)))


PARENT = """
import os, time
from assay.search.workers import ChunkWorkers

def work(_):
    print(os.getpid(), flush=True)
    time.sleep(60)

with ChunkWorkers(work, 1) as workers:
    list(workers.map([1]))
"""


def test_a_worker_ends_in_the_middle_of_a_task_when_its_parent_is_killed():
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        worker = Path("/proc", parent.stdout.readline().strip())
        assert worker.exists()
        parent.kill()
    for _ in range(200):
        if not worker.exists() or " Z " in (worker / "stat").read_text():
            return
        time.sleep(0.01)
    raise AssertionError(f"{worker} is still at work")
