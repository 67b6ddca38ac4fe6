"""Runs whose process is ended at some moment and that are begun again: nothing is lost, and nothing is done twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

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

out, items = Path(sys.argv[1]), int(sys.argv[2])
with sole_writer(out):
    begin(out, Settings(items), "items")
    done = len(list(read_lines(out)))
    with Batches(out, lines=3, seconds=1e9) as lines:
        for number in range(done, items):
            lines.add({"n": number, "text": "x" * 5000})
            print(number, flush=True)
            sys.stdin.readline()
"""


def started(out: Path, items: int = ITEMS) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", RUN, str(out), str(items)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finished(out: Path, items: int = ITEMS) -> tuple[int, bytes]:
    """Run to the end; return the exit status and what was said."""
    with started(out, items) as child:
        _, said = child.communicate(b"\n" * items)
    return child.returncode, said


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_what_was_ended_goes_on_and_does_nothing_twice(tmp_path: Path, how: signal.Signals):
    out, done = tmp_path / "run.jsonl", list[int]()
    for after in (1, 4, 9, 20):
        with started(out) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write(b"\n" * (after - 1))
            child.stdin.flush()
            begun = [int(child.stdout.readline()) for _ in range(after)]
            os.kill(child.pid, how)
        kept = [line["n"] for line in read_lines(out)]
        assert begun[0] == len(done)
        assert kept[: len(done)] == done
        assert len(kept) >= begun[-1] + 1 - (0 if how is signal.SIGINT else 3)
        done = kept
    assert finished(out)[0] == 0
    assert [line["n"] for line in read_lines(out)] == list(range(ITEMS))


def test_a_line_that_was_cut_in_the_middle_is_written_again(tmp_path: Path):
    out = tmp_path / "run.jsonl"
    finished(out, 5)
    whole = out.read_bytes()
    for size in range(0, len(whole), 2_477):
        out.write_bytes(whole[:size])
        finished(out, 5)
        assert out.read_bytes() == whole


def test_the_lock_of_a_killed_process_holds_nobody_up(tmp_path: Path):
    out = tmp_path / "run.jsonl"
    with started(out) as writing:
        assert writing.stdout is not None
        writing.stdout.readline()
        assert b"another run writes to" in finished(out)[1]
        writing.kill()
    assert finished(out) == (0, b"")
    said = finished(out, 2)[1]
    assert b"items of another run: items differ; give another --out, or --fresh" in said
