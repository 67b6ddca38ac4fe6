"""Runs whose process is ended at some moment and that are begun again: nothing is lost, and nothing is done twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InputError
from assay.runs.record import read_lines

ITEMS = 60
RUN = """
import sys
from dataclasses import dataclass
from pathlib import Path
from assay.runs.record import Batches, begin, read_lines, sole_writer

@dataclass(frozen=True)
class Settings:
    items: int

def run(out, items, step):
    with sole_writer(out):
        begin(out, Settings(items), "items")
        done = len(list(read_lines(out)))
        with Batches(out, lines=3, seconds=1e9) as lines:
            for number in range(done, items):
                lines.add({"n": number, "text": "x" * 5000})
                step(number)
"""
STEPWISE = """
def step(number):
    print(number, flush=True)
    sys.stdin.readline()

run(Path(sys.argv[1]), int(sys.argv[2]), step)
"""


def started(out: Path) -> subprocess.Popen[bytes]:
    """Start a run whose every step waits for a line."""
    command = [sys.executable, "-c", RUN + STEPWISE, str(out), str(ITEMS)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def finish(out: Path, items: int) -> list[int]:
    """Run to the end, here; return what was done."""
    space: dict[str, Any] = {"__name__": __name__}
    exec(RUN, space)
    done = list[int]()
    space["run"](out, items, done.append)
    return done


def test_what_was_ended_goes_on_and_does_nothing_twice(tmp_path: Path):
    out, done = tmp_path / "run.jsonl", list[int]()
    for after, how in ((1, signal.SIGKILL), (4, signal.SIGINT), (9, signal.SIGTERM), (14, signal.SIGKILL)):
        with started(out) as child:
            child.stdin.write(b"\n" * (after - 1))
            child.stdin.flush()
            begun = [int(child.stdout.readline()) for _ in range(after)]
            os.kill(child.pid, how)
        kept = [line["n"] for line in read_lines(out)]
        assert begun[0] == len(done), how
        assert kept[: len(done)] == done, how
        assert len(kept) >= begun[-1] + 1 - (0 if how is signal.SIGINT else 2), how
        done = kept
    assert finish(out, ITEMS) == list(range(len(done), ITEMS))
    assert [line["n"] for line in read_lines(out)] == list(range(ITEMS))


def test_a_run_that_was_cut_anywhere_is_the_same_in_the_end(tmp_path: Path):
    out = tmp_path / "run.jsonl"
    finish(out, 5)
    whole = out.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    for size in {0, 1, *range(0, len(whole), 4_977), *(end + by for end in ends for by in (-1, 0, 1))} - {
        len(whole) + 1
    }:
        out.write_bytes(whole[:size])
        assert finish(out, 5) == list(range(whole[:size].count(b"\n"), 5)), size
        assert out.read_bytes() == whole, size


def test_the_lock_of_a_killed_process_holds_nobody_up(tmp_path: Path):
    out = tmp_path / "run.jsonl"
    with started(out) as writing:
        writing.stdout.readline()
        with pytest.raises(InputError, match="another run writes to"):
            finish(out, ITEMS)
        writing.kill()
    assert finish(out, ITEMS) == list(range(ITEMS))
    with pytest.raises(
        InputError, match=r"items of another run: items \(60, now 2\) differ; give another --out, or --fresh"
    ):
        finish(out, 2)
