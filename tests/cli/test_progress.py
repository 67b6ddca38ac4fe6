"""What is seen of a long command where standard error is no terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from assay.cli.progress import Lines, StageLine


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_line_is_seen_within_five_seconds_and_then_one_every_ten():
    clock, seen = Clock(), list[tuple[float, str]]()
    stage = StageLine(clock)
    lines = Lines(lambda: str(stage), lambda line: seen.append((clock.now - 100.0, line)), clock)
    for second in range(31):
        clock.now = 100.0 + second
        if second >= 4:
            stage("programs", 50 * (second - 4), 2_000)
        lines.look()
    assert seen == [
        (3.0, "working, 3 s"),
        (13.0, "programs: 450 of 2,000, 50.0 a second"),
        (23.0, "programs: 950 of 2,000, 50.0 a second"),
    ]


def test_what_is_quick_is_not_reported():
    clock, seen = Clock(), list[str]()
    lines = Lines(lambda: "line", seen.append, clock)
    clock.now += 2.9
    lines.look()
    assert seen == []


def test_the_rate_is_that_of_the_stage_and_of_this_run():
    clock = Clock()
    stage = StageLine(clock)
    stage("encoding", 10, 10)
    clock.now += 60
    stage("programs", 700, 1_000)
    clock.now += 10
    assert str(stage) == "programs: 700 of 1,000, 10 s"
    stage("programs", 720, 1_000)
    assert str(stage) == "programs: 720 of 1,000, 2.0 a second"


SILENT = """
import time
from assay.cli import progress
progress.FIRST_LINE_S = 0.0
with progress.progress():
    print(input())
"""


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no timer here")
def test_lines_are_written_while_a_step_says_nothing_and_does_not_return():
    """The child waits for a line that only comes once a line of progress was seen."""
    pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", SILENT], **pipe, env={**os.environ, "COLUMNS": "80"}) as child:
        assert child.stderr.readline().startswith(b"assay: working, ")
        out, _ = child.communicate(b"go on\n")
    assert out == b"go on\n"
