"""What every place of work keeps, cages here or a pool of such: order, once, and no more than it can take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from assay.cage.job import Job
from assay.cage.limits import Limits
from assay.cage.open_cage import open_sandbox
from assay.errors import AssayError
from assay.programs.execute import execute
from assay.programs.runners import about_cage, cage_work
from assay.programs.verdict import job_of
from assay.protocols import Runner
from assay.runs import local as local_runs
from assay.runs import worker_pool
from assay.runs.worker_pool import PoolRunner, WorkerPool, code_identity
from assay.values import Call, Outcome, Program, Task
from scripted_pool import HiredHere

ADD = Task("add", "Add two numbers.", "add", tests=(Call((1, 2), 3),))
SOURCES = [
    "def add(a, b):\n    return a + b",
    "def add(a, b):\n    return a - b",
    "def add(a, b):\n    return missing",
    "def add(a, b):\n    while True: pass",
    "import os\ndef add(a, b):\n    os._exit(3)",
    "def add(a, b:\n",
]
PROGRAMS = [Program("add", source, str(number)) for number, source in enumerate(SOURCES)]
FAST = Limits(cpu_s=0.5, wall_s=30)


def local() -> Runner:
    return open_sandbox(limits=FAST, workers=2)


def pool() -> Runner:
    with open_sandbox(limits=FAST, workers=1) as own:
        name, guarantees, about = own.name, own.guarantees, {**code_identity(), **about_cage(own)}
    work = cage_work(name, FAST)
    return PoolRunner(name, WorkerPool(HiredHere(work), work, about), guarantees)


@pytest.fixture(params=[local, pool], ids=lambda place: place.__name__)
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    try:
        opened = request.param()
    except AssayError as error:
        pytest.skip(str(error))
    yield opened
    opened.close()


def comparable(outcome: Outcome) -> Outcome:
    return replace(outcome, seconds=0, cpu_s=0, peak_mb=0)


@pytest.fixture(scope="module")
def outcomes_here() -> list[Outcome]:
    with local() as here:
        return list(map(comparable, execute([ADD], PROGRAMS, here, limits=FAST)))


def test_outcomes_are_equal_everywhere_and_ends_come_once_in_order(runner: Runner, outcomes_here):
    found = list(execute([ADD], PROGRAMS, runner, limits=FAST))
    assert [outcome.program_id for outcome in found] == [program.id for program in PROGRAMS]
    assert list(map(comparable, found)) == outcomes_here
    jobs = [replace(job_of(ADD, PROGRAMS[0]), id=str(number)) for number in range(20)]
    assert [end.id for end in runner.run(jobs)] == [job.id for job in jobs]
    assert [end.id for end in runner.run(jobs[:3])] == ["0", "1", "2"], "a second run starts anew"
    assert list(runner.run([])) == []
    with open_sandbox(limits=FAST) as own:
        assert (runner.name, runner.guarantees) == (own.name, own.guarantees)


def test_a_slow_item_loses_none_of_those_behind_it(runner: Runner, monkeypatch: pytest.MonkeyPatch):
    for each in (local_runs, worker_pool):
        monkeypatch.setattr(each, "MAX_WAITING", 1)
    found = list(execute([ADD], [PROGRAMS[3], *PROGRAMS[:3] * 4], runner, limits=FAST))
    assert len(found) == 13


@pytest.mark.parametrize("place", [local, pool])
def test_items_are_drawn_lazily(place: Callable[[], Runner]):
    taken: list[int] = []

    def jobs() -> Iterator[Job]:
        for number in range(100_000):
            taken.append(number)
            yield job_of(ADD, Program("add", SOURCES[0], str(number)))

    try:
        opened = place()
    except AssayError as error:
        pytest.skip(str(error))
    ends = opened.run(jobs())
    assert next(ends).ended == "exit"
    assert len(taken) < 1000
    ends.close()
    opened.close()
