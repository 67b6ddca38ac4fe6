"""Programs on a real cluster: a machine that dies, one that is not like the others, and nobody left."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import assay
from assay.errors import InputError
from assay.runs.record import read_lines
from waiting import until

pytest.importorskip("ray", reason="the extra `ray` is not installed")

TESTS = Path(__file__).parents[1]
PROGRAMS, KILLED_AT = 60, 14


@dataclass
class Cluster:
    process: subprocess.Popen[str]

    def tell(self, command: str) -> None:
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        self.read()

    def read(self) -> str:
        line = self.process.stdout.readline().strip()
        assert line, "the cluster did not start"
        return line


@contextmanager
def two_machines_and_an_odd_one(folder: Path) -> Iterator[tuple[Cluster, str]]:
    """Start two machines that are alike, and one with another Assay; yield them and their address."""
    shutil.copytree(Path(assay.__file__).parent, folder / "assay", ignore=shutil.ignore_patterns("__pycache__"))
    with (folder / "assay" / "settings.py").open("a") as file:
        file.write("# a change\n")
    command = [sys.executable, TESTS / "ray_cluster.py"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        cluster = Cluster(process)
        address = cluster.read()
        for line in ("add 1", "add 1", f"add 1 {shlex.quote(f'PYTHONPATH={folder}')}"):
            cluster.tell(line)
        yield cluster, f"ray:{address}"
        process.stdin.write("quit\n")


def finished(folder: Path, out: str, *more: str, said: str = "", meanwhile: Callable[[], None] | None = None):
    """Run the programs, with something that happens after some of them and a message; return status and messages."""
    run = ("exec", "tasks.jsonl", "samples.jsonl", "--k", "1", "--out", out, *more)
    driver, told = [sys.executable, TESTS / "ray_driver.py", *run], folder / f"{out}.said"
    with told.open("w") as to, subprocess.Popen(driver, cwd=folder, stderr=to, stdout=subprocess.DEVNULL) as process:
        if meanwhile:
            some = lambda: len(verdicts(folder / out)) >= KILLED_AT and said in told.read_text()  # noqa: E731
            until(lambda: some() or process.poll() is not None, "some programs ran")
            meanwhile()
    return process.returncode, told.read_text()


def verdicts(file: Path) -> list[dict[str, object]]:
    costs = {"seconds", "cpu_s", "peak_mb"}
    return [{name: value for name, value in row.items() if name not in costs} for row in read_lines(file)]


@pytest.mark.nightly  # two clusters of four machines take two minutes
@pytest.mark.cluster
@pytest.mark.timeout(280)
def test_a_machine_dies_and_the_file_is_that_of_one_machine_and_nobody_left_is_exit_3(tmp_path: Path):
    task = {"id": "t", "entry_point": "t", "prompt": "", "tests": [{"args": [[1, 2]], "expected": 3}]}
    (tmp_path / "tasks.jsonl").write_text(json.dumps(task))
    sources = [
        f"import time\ndef t(x):\n    time.sleep({1 if n == 30 else 0.4})\n    return {'sum(x)' if n % 3 else n}"
        for n in range(PROGRAMS)
    ]
    rows = [{"task_id": "t", "id": f"p{n}", "code": source} for n, source in enumerate(sources)]
    (tmp_path / "samples.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert finished(tmp_path, "local.jsonl")[0] == 0
    wanted, out = verdicts(tmp_path / "local.jsonl"), tmp_path / "ray.jsonl"
    assert len(wanted) == PROGRAMS

    (tmp_path / "other").mkdir()
    with two_machines_and_an_odd_one(tmp_path / "other") as (cluster, place):
        kill, two = lambda: cluster.tell("kill 1"), "2 machines, 2 workers, 0 lost"
        status, said = finished(tmp_path, out.name, "--on", place, said=two, meanwhile=kill)
        assert (status, verdicts(out)) == (0, wanted), said
        assert said.count("not used: machine") == 1
        assert "assay 0." in said.split("not used: machine")[1].splitlines()[0]
        assert two in said
        assert "1 machine, 1 worker, 1 lost" in said

        rest, more = tmp_path / "rest.jsonl", ("--on", place, "--patience", "15")
        status, said = finished(tmp_path, rest.name, *more, meanwhile=lambda: cluster.tell("kill 2"))
        assert status == 3, said
        assert "no machine of the cluster has been working for 15 s" in said.splitlines()[-1]
    before = verdicts(rest)
    assert KILLED_AT <= len(before) < PROGRAMS
    assert finished(tmp_path, rest.name)[0] == 0  # a machine goes on with what a cluster began
    assert (verdicts(rest), verdicts(rest)[: len(before)]) == (wanted, before)


def test_a_machine_holds_as_many_workers_as_cores_memory_and_gpus_allow():
    from assay.runs.ray_backend import WorkerNeeds, capacity

    big = {"CPU": 8.0, "memory": 5e9, "GPU": 1.0}
    assert (capacity(big, WorkerNeeds()), capacity(big, WorkerNeeds(1 << 30))) == ((8, ""), (4, ""))
    assert capacity(big, WorkerNeeds(gpus=0.5)) == (2, "")
    small = {"CPU": 2.0, "memory": 5e8}
    assert capacity(small, WorkerNeeds(10**9)) == (0, "0.5 GB of memory, where a worker needs 1.0")
    assert capacity({"CPU": 2.0, "memory": 5e9}, WorkerNeeds(gpus=1)) == (0, "0 GPUs, where a worker needs 1")
    assert capacity({"memory": 5e9}, WorkerNeeds(gpus=1)) == (0, "")  # a head without cores is no worker


def test_no_cluster_and_one_of_another_version_are_one_line():
    from ray._private.utils import check_version_info

    from assay.runs.ray_backend import _explained, connect

    with pytest.raises(InputError, match=r"^no Ray cluster answers at '127\.0\.0\.1:1' .*`ray start --head`.*$"):
        connect("127.0.0.1:1")
    with pytest.raises(RuntimeError) as mismatch:
        check_version_info({"ray_version": "2.1.0", "python_version": "3.8.2"}, "127.0.0.1:1")
    said = _explained("head:6379", mismatch.value)
    assert said.startswith("the cluster runs Ray 2.1.0 on Python 3.8.2, and here is Ray ")
    assert "\n" not in said
