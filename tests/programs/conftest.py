"""Both sides of the harness in two plain processes, without any walls: what they say is the same."""

from __future__ import annotations

import atexit
import gc
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field

import pytest

from assay.cage.job import Ended, Job
from assay.programs import execute
from assay.programs.harness import judge_process, program_process
from assay.programs.verdict import Extent
from assay.values import Outcome, Program, Script, Task, Test
from waiting import LIMIT_S

MOST_BYTES = 8 << 20


@pytest.fixture(autouse=True)
def kept_modules() -> Iterator[None]:
    """Take back what tests that run in this process put in the place of modules."""
    before = {name: sys.modules.get(name) for name in ("pytest", "solution", "tests", "__main__")}
    yield
    for name, module in before.items():
        if module is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = module


def run_apart(job: Job, wall_s: float = LIMIT_S) -> Ended:
    """Run a job as a cage does, but in the open; the result says `wall` where it took too long."""
    ours, theirs = socket.socketpair()
    pipes = {name: os.pipe() for name in ("verdict", "reports", "stdout")}
    writers = {name: pipe[1] for name, pipe in pipes.items()}

    def be_judge() -> None:
        judge_process.OpenTests(json.loads(job.judge or b""))(ours, writers["verdict"])

    def be_candidate() -> None:
        atexit._clear()  # a cage's fork server has nothing of what other tests left to be done at the end
        nothing = os.open(os.devnull, os.O_RDWR)
        for file, place in ((nothing, 0), (writers["stdout"], 1), (nothing, 2)):
            os.dup2(file, place)
        resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_BYTES, MOST_BYTES))
        program_process.serve(theirs, json.loads(job.candidate), writers["reports"])

    started = time.monotonic()
    pids = [
        forked(be_judge, keep=[ours.fileno(), writers["verdict"]]),
        forked(be_candidate, keep=[theirs.fileno(), writers["stdout"], writers["reports"]]),
    ]
    for file in (ours, theirs):
        file.close()
    for writer in writers.values():
        os.close(writer)
    reading = Reading({pipe[0]: name for name, pipe in pipes.items()})
    ended = reading.until("verdict", started + wall_s)
    _, status = (reaped(pid) for pid in pids)
    reading.until("stdout", time.monotonic() + 5)
    return Ended(job.id, **reading.close(), status=status, ended=ended, wall_s=time.monotonic() - started)


@dataclass
class Reading:
    names: dict[int, str]
    got: dict[str, bytes] = field(default_factory=dict)

    def until(self, wanted: str, deadline: float) -> str:
        while wanted in self.names.values():
            ready, _, _ = select.select(list(self.names), [], [], max(deadline - time.monotonic(), 0))
            if not ready:
                return "wall"
            for file in ready:
                more = os.read(file, 1 << 16)
                name = self.names[file]
                self.got[name] = self.got.get(name, b"") + more
                if not more:
                    os.close(file)
                    del self.names[file]
        return "exit"

    def close(self) -> dict[str, bytes]:
        for file in self.names:
            os.close(file)
        return self.got


def forked(work: Callable[[], None], keep: Collection[int]) -> int:
    """Do some work in a child that has no file of ours but a few: programs write to whatever they find open."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        first = 3
        for file in sorted(keep):
            os.closerange(first, file)
            first = file + 1
        os.closerange(first, 1 << 16)
        pytest.mark._config = None  # a cage's fork server runs within no pytest
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # nor has it the plug-ins of developers
        gc.freeze()  # nor has it so much to look through
        work()
        code = 0
    finally:
        os._exit(code)


def reaped(pid: int) -> int:
    """Return the status of a process, 0 where it had to be ended."""
    deadline = time.monotonic() + 0.4
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return 0


@pytest.fixture
def apart() -> Callable[..., Ended]:
    """What runs a job in two processes."""
    return run_apart


@pytest.fixture
def outcome() -> Callable[..., Outcome]:
    """What tells the outcome of a program and its tests, given as text or as tests."""

    def run(
        source: str,
        *tests: str | Test,
        entry: str = "f",
        wall_s: float = LIMIT_S,
        extent: Extent = "first failure",
        **of_task: object,
    ) -> Outcome:
        made = tuple(Script(test) if isinstance(test, str) else test for test in tests)
        task = Task("task", "", entry, made, **of_task)
        program = Program("task", source, id="program")
        return execute.outcome_of(task, program, run_apart(execute.job_of(task, program, extent=extent), wall_s))

    return run


def label_of(seen: Outcome) -> str:
    """Return an outcome in a few words: its fault, the line where it broke, and that the tests ran beside it."""
    what = str(seen.fault) if seen.fault else f"undecided {seen.suspected or ''}".strip()
    return what + (f"@{seen.line}" if seen.line > 0 else "") + (" beside" if seen.shared else "")


@pytest.fixture
def expect_labels(outcome: Callable[..., Outcome]) -> Callable[..., None]:
    """What judges many programs, each a row of source, test and label; it fails with those whose label is another."""

    def expect_labels(rows: Iterable[tuple[str, str | Test, str]], **how: object) -> None:
        told = []
        for source, test, label in rows:
            seen = outcome(source, test, **how)
            if label_of(seen) != label:
                told.append(f"wanted {label}, found {label_of(seen)} {seen.detail}: {source!r:.200} | {test!r:.200}")
        if told:
            pytest.fail("\n".join(sorted(told)))

    return expect_labels
