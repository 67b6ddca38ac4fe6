"""What is done before the first fork leaves nothing that a program could see, and takes nothing from what it forks."""

from __future__ import annotations

import linecache
import random
import sys

import pytest

from assay.cage.open_cage import open_sandbox
from assay.faults import Fault
from assay.programs.harness.rehearsal import rehearse
from assay.programs.verdict import job_of, outcome_of
from assay.types import Call, Program, Task

LOOKS = """
import linecache, sys
def seen():
    traces = [name for name in ("tests", "pytest") if name in sys.modules]
    return traces + list(linecache.cache) + [__name__]
"""
DRAWS = """
import os, random, threading
def drawn():
    here = random.random()
    ours, theirs = os.pipe()
    if os.fork() == 0:
        alone = threading.active_count() == 1 and threading.current_thread() is threading.main_thread()
        os.write(theirs, repr((random.random(), alone)).encode())
        os._exit(0)
    os.wait()
    there, alone = eval(os.read(ours, 100))
    return [here, there != random.random(), alone]
"""


@pytest.fixture(scope="module")
def sandbox():
    with open_sandbox(workers=1) as found:
        yield found


def outcome(sandbox, source, entry, expected):
    task, program = Task("t", "", entry, (Call((), expected),)), Program("t", source, "p")
    (ended,) = sandbox.run([job_of(task, program)])
    return outcome_of(task, program, ended)


def test_a_rehearsal_leaves_the_modules_as_they_were():
    before = dict(sys.modules)
    rehearse()
    assert sys.modules == before
    assert "solution.py" not in linecache.cache


def test_a_program_sees_nothing_of_it(sandbox):
    found = outcome(sandbox, LOOKS, "seen", ["solution.py", "solution"])
    assert found.fault is Fault.CORRECT, found


def test_chance_is_the_same_in_programs_and_another_in_what_they_fork(sandbox):
    first = random.Random(0).random()
    for _ in range(2):
        found = outcome(sandbox, DRAWS, "drawn", [first, True, True])
        assert found.fault is Fault.CORRECT, found
