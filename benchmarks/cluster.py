"""Measure what a Ray cluster of three nodes on this machine costs, and what it survives.

    python benchmarks/cluster.py TASKS SAMPLES FOLDER... [--programs 500] [--pairs 300]

TASKS and SAMPLES are as `assay exec` takes them, FOLDERs are repositories. Each table row is one run of a command: its
wall time, the driver's processor time, and whether its result is that of this machine, row by row.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

TESTS = Path(__file__).parents[1] / "tests"
DRIVER = [sys.executable, str(TESTS / "ray_driver.py")]
MEASURED = {"seconds", "cpu_s", "peak_mb"}
NODES = 3


@dataclass
class Cluster:
    """A cluster of `tests/ray_cluster.py`, and how many nodes it was given, the head among them."""

    process: subprocess.Popen[str]
    nodes: list[int] = field(default_factory=list)
    """The numbers of those that live."""
    started: int = 1

    def __post_init__(self) -> None:
        self.address = self.read()

    def read(self) -> str:
        """Return what the cluster answers."""
        return self.process.stdout.readline().strip()

    def tell(self, command: str) -> None:
        """Have the cluster do something, and wait for it."""
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        self.read()

    def fill(self) -> None:
        """Add nodes until there are as many as wanted."""
        while len(self.nodes) < NODES:
            self.add()

    def add(self) -> None:
        """Add a node of one core."""
        self.tell("add 1")
        self.nodes.append(self.started)
        self.started += 1

    def kill(self) -> None:
        """End the oldest node with all its workers."""
        self.tell(f"kill {self.nodes.pop(0)}")


@dataclass
class Ran:
    """One run of a command."""

    wall_s: float
    driver_s: float
    status: int
    said: str


Midway = Callable[[subprocess.Popen], None]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("tasks", type=Path)
    arguments.add_argument("samples", type=Path)
    arguments.add_argument("folders", type=Path, nargs="*")
    arguments.add_argument("--programs", type=int, default=500)
    arguments.add_argument("--pairs", type=int, default=300)
    given = arguments.parse_args()
    with started() as cluster:
        cluster.fill()
        work = Path(mkdtemp(prefix="assay-cluster-"))
        draw(given, work)
        programs(cluster, given.tasks.resolve(), work)
        overhead(cluster, given.tasks, work / "samples.jsonl")
        if given.folders:
            repositories(cluster, [str(folder.resolve()) for folder in given.folders], work)
        shutil.rmtree(work)


@contextmanager
def started() -> Iterator[Cluster]:
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, str(TESTS / "ray_cluster.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    cluster = Cluster(process)
    print(f"head up after {time.perf_counter() - began:.0f} s; load {os.getloadavg()[0]:.1f}", flush=True)
    try:
        yield cluster
    finally:
        process.stdin.write("quit\n")
        process.stdin.close()
        process.wait()


def draw(given: argparse.Namespace, work: Path) -> None:
    """Write the programs that are drawn, and pairs of a prompt with such a program."""
    rows = [json.loads(line) for line in lines(given.samples)]
    prompts = {row["task_id"]: row["prompt"] for row in map(json.loads, lines(given.tasks))}
    random.Random(1).shuffle(rows)  # noqa: S311  no secret
    rows = [row for row in rows if row["task_id"] in prompts]
    kept = [{"id": f"p{n}", **row} for n, row in enumerate(rows[: given.programs])]
    asked = [
        {"query_id": f"{row['task_id']} {n}", "query": prompts[row["task_id"]], "code_id": str(n), "code": row["code"]}
        for n, row in enumerate(rows[: given.pairs])
    ]
    for name, records in (("samples", kept), ("pairs", asked)):
        (work / f"{name}.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))


def lines(file: Path) -> list[str]:
    raw = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return [line for line in raw.decode().splitlines() if line.strip()]


def programs(cluster: Cluster, tasks: Path, work: Path) -> None:
    command = ["exec", str(tasks), "samples.jsonl", "--k", "1", "--out"]
    on = ["--on", f"ray:{cluster.address}"]
    here = run([*command, "here.jsonl"], work)
    wanted = rows(work / "here.jsonl")
    tell("exec, this machine", here, f"{len(wanted)} rows")

    def judged(name: str, ran: Ran) -> None:
        found = rows(work / f"{name}.jsonl")
        differ = sum(one != other for one, other in zip(found, wanted, strict=False))
        pool = [line.removeprefix("assay: ") for line in ran.said.splitlines() if " lost" in line and "machine" in line]
        same = f"{len(found)} rows, {len({row['program_id'] for row in found})} of them different, in order"
        tell(f"exec, {name}", ran, f"{same}; {differ} differ from this machine's; {pool[-1:]}")

    first = [0.0]

    def note_first_row(process: subprocess.Popen) -> None:
        began = time.perf_counter()
        while not rows(work / "three nodes.jsonl") and process.poll() is None:
            time.sleep(0.02)
        first[0] = time.perf_counter() - began

    undisturbed = run([*command, "three nodes.jsonl", *on], work, note_first_row)
    judged("three nodes", undisturbed)

    def at(fraction: float, then: Callable[[], None]) -> Midway:
        """Do something after so much of the time between the first row and the end of the undisturbed run.

        Rows that are written say less: one slow program holds back those behind it that have long been run.
        """
        moment = first[0] + fraction * (undisturbed.wall_s - first[0])

        def wait(process: subprocess.Popen) -> None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(moment)
            then()

        return wait

    name = "one killed at 30 percent"
    judged(name, run([*command, f"{name}.jsonl", *on], work, at(0.3, cluster.kill)))
    cluster.fill()
    name = "one killed at 30 percent and one added"

    def replace() -> None:
        cluster.kill()
        cluster.add()

    judged(name, run([*command, f"{name}.jsonl", *on], work, at(0.3, replace)))
    name = "driver killed at 50 percent"
    command_line = [*command, f"{name}.jsonl", *on]

    def kill(process: subprocess.Popen) -> None:
        at(0.5, lambda: process.send_signal(signal.SIGKILL))(process)

    killed = run(command_line, work, kill)
    tell(f"exec, {name}", killed, f"{len(rows(work / f'{name}.jsonl'))} rows")
    judged(name, run(command_line, work))


def repositories(cluster: Cluster, folders: list[str], work: Path) -> None:
    held = []
    for name, more in (("this machine", ()), ("three nodes", ("--on", f"ray:{cluster.address}"))):
        os.environ["XDG_CACHE_HOME"] = str(work / name)
        ran = run(["index", *folders, "--format", "json", *more], work)
        again = run(["index", *folders, "--format", "json"], work)
        roots, after = (listed(each.said) for each in (ran, again))
        unchanged = not any(root["added"] for root in after)
        held.append([(root["root"], root["files"], root["chunks"]) for root in roots])
        same = sum(one == other for one, other in zip(held[0], held[-1], strict=True))
        chunks = sum(root["chunks"] for root in roots)
        tell(f"index, {name}", ran, f"{same} of {len(roots)} equal, {chunks:,} chunks; found whole here: {unchanged}")


def listed(said: str) -> list[dict[str, Any]]:
    """Return what `assay index` tells of each root; what it says beside that stands before and after."""
    return next(json.loads(line)["roots"] for line in said.splitlines() if line.startswith('{"files"'))


def overhead(cluster: Cluster, tasks: Path, samples: Path) -> None:
    """Print the driver's processor time a program, by the length of a batch, beside cages of this machine."""
    sys.path.append(str(TESTS))
    import ray_driver  # noqa: F401  for what it changes in ray
    from assay.cage.limits import Limits
    from assay.cage.open_cage import open_sandbox
    from assay.programs.runners import cage_work
    from assay.programs.samples import read as read_samples
    from assay.programs.tasks.task_file import read_tasks
    from assay.programs.verdict import job_of
    from assay.runs.worker_pool import PoolRunner, open_pool
    from assay.settings import ClusterSettings

    known = {task.id: task for task in read_tasks(tasks).tasks}
    wanted = read_samples(samples, tuple(known.values())).programs
    jobs = [job_of(known[program.task_id], program) for program in wanted]
    with open_sandbox(workers=2) as here:
        name = here.name
        list(here.run(jobs[:10]))
        print(f"overhead, cages of this machine: {driver_ms(lambda: list(here.run(jobs)), len(jobs)):.3f} ms a program")
    for length in (1, 4, 16):
        settings = ClusterSettings(cluster.address)
        pool = open_pool(settings, cage_work(name, Limits()), None, lambda _: None, most_items=length)
        with PoolRunner("ray", pool) as runner:
            list(runner.run(jobs[:10]))
            ms = driver_ms(lambda: list(runner.run(jobs)), len(jobs))
        print(f"overhead, batches of up to {length}: {ms:.3f} ms a program", flush=True)


def driver_ms(work: Callable[[], object], items: int) -> float:
    before = time.process_time()
    work()
    return (time.process_time() - before) / items * 1000


def run(command: list[str], work: Path, midway: Midway | None = None) -> Ran:
    began, before = time.perf_counter(), os.times()
    with (work / "said").open("w") as said:
        process = subprocess.Popen([*DRIVER, *command], cwd=work, stdout=said, stderr=said)
        if midway:
            midway(process)
        status = process.wait()
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return Ran(time.perf_counter() - began, spent, status, (work / "said").read_text())


def rows(file: Path) -> list[dict[str, object]]:
    found = file.read_bytes().split(b"\n")[:-1] if file.exists() else []
    return [{name: value for name, value in json.loads(row).items() if name not in MEASURED} for row in found]


def tell(name: str, ran: Ran, what: str) -> None:
    times = f"{ran.wall_s:.1f} s, driver {ran.driver_s:.1f} s of processor time, load {os.getloadavg()[0]:.1f}"
    print(f"{name}: exit {ran.status}; {what}; {times}", flush=True)
    if ran.status not in {0, 1, -signal.SIGKILL}:
        print(ran.said[-600:])


if __name__ == "__main__":
    main()
