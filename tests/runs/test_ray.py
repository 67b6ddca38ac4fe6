"""Programs on a real cluster: a machine that dies, a driver that is killed, a machine that is not like the others."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import assay

pytest.importorskip("ray", reason="the extra `ray` is not installed")
pytestmark = [pytest.mark.cluster, pytest.mark.timeout(280)]

TESTS = Path(__file__).parents[1]
PROGRAMS, KILLED_AT = 60, 18
BUSY = """from time import process_time
def total(values):
    end = process_time() + 0.15
    while process_time() < end:
        pass
    return {}
"""
SLOW = "import time\ndef total(values):\n    time.sleep(1)\n    return sum(values)\n"


@dataclass
class Cluster:
    process: subprocess.Popen[str]
    address: str

    def tell(self, command: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(f"{command}\n")
        self.process.stdin.flush()
        self.read()

    def read(self) -> str:
        assert self.process.stdout
        line = self.process.stdout.readline().strip()
        assert line, "the cluster did not start"
        return line


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two machines that are alike, and one with another Assay."""
    other = tmp_path_factory.mktemp("other")
    shutil.copytree(Path(assay.__file__).parent, other / "assay", ignore=shutil.ignore_patterns("__pycache__"))
    with (other / "assay" / "settings.py").open("a") as file:
        file.write("# a change\n")
    process = subprocess.Popen(
        [sys.executable, TESTS / "ray_cluster.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    started = Cluster(process, "")
    started.address = started.read()
    for line in ("add 1", "add 1", f"add 1 PYTHONPATH={other}"):
        started.tell(line)
    yield started
    process.stdin.write("quit\n")
    process.stdin.close()
    process.wait(60)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A task and programs that keep a core busy, and what this machine finds out about them."""
    folder = tmp_path_factory.mktemp("campaign")
    task = {
        "id": "total",
        "entry_point": "total",
        "prompt": "def total(values):\n",
        "tests": [{"args": [[1, 2]], "expected": 3}],
    }
    (folder / "tasks.jsonl").write_text(json.dumps(task))
    sources = [BUSY.format("sum(values)" if number % 3 else f"{number}") for number in range(PROGRAMS - 1)]
    rows = [
        {"task_id": "total", "id": f"p{n}", "code": f"# {n}\n{source}"}
        for n, source in enumerate([*sources[:45], SLOW, *sources[45:]])
    ]
    (folder / "samples.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    run(folder, "local.jsonl").wait()
    assert len(verdicts(folder / "local.jsonl")) == PROGRAMS
    return folder


def run(folder: Path, out: str, *more: str) -> subprocess.Popen[str]:
    return command(folder, "exec", "tasks.jsonl", "samples.jsonl", "--k", "1", "--out", out, *more)


def command(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    driver = [sys.executable, TESTS / "ray_driver.py", *arguments]
    return subprocess.Popen(driver, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)


def verdicts(file: Path) -> list[dict[str, object]]:
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    return [{name: value for name, value in row.items() if name not in {"seconds", "cpu_s", "peak_mb"}} for row in rows]


def wait_until(holds: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    while not holds():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)


def test_code_that_is_judged_runs_there_too(cluster: Cluster, tmp_path: Path):
    query = 'def double(x):\n    """Double it.\n\n    >>> double(2)\n    4\n    """\n'
    codes = [f"def double(x):\n    return {body}\n" for body in ("2 * x", "x + 1", "x + x", "missing")]
    rows = [{"query_id": "1", "query": query, "code_id": str(n), "code": code} for n, code in enumerate(codes)]
    (tmp_path / "pairs.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    asked = ("judge", "run", "pairs.jsonl", "--judge", "signals", "--allow-execution", "--out")
    for out, more in (("here.jsonl", ()), ("there.jsonl", ("--on", f"ray:{cluster.address}"))):
        driver = command(tmp_path, *asked, out, *more)
        _, said = driver.communicate(timeout=120)
        assert driver.returncode == 0, said
    grades = [
        {
            row["code_id"]: (row["grade"], row["reason"])
            for row in map(json.loads, (tmp_path / out).read_text().splitlines())
            if row["kind"] == "verdict"
        }
        for out in ("here.jsonl", "there.jsonl")
    ]
    assert grades[0] == grades[1]
    assert [grades[0][str(n)][0] for n in range(4)] == [1, 0, 1, 0]


def test_repositories_are_indexed_there_and_a_transformer_encodes_there(
    cluster: Cluster, tmp_path: Path, tiny_bert: Path
):
    for number in range(3):
        (tmp_path / f"r{number}").mkdir()
        (tmp_path / f"r{number}" / "mail.py").write_text(f"def send_mail_{number}(server):\n    server.deliver()\n")
    on = ("--on", f"ray:{cluster.address}")
    asked = ("index", "r0", "r1", "r2", "--format", "json")
    for more in (on, ()):
        done = subprocess.run(
            [sys.executable, TESTS / "ray_driver.py", *asked, *more], cwd=tmp_path, capture_output=True, check=True
        )
        roots = json.loads(done.stdout)["roots"]
        assert [(root["chunks"], root["added"]) for root in roots] == [(1, 1 if more else 0)] * 3
    driver = command(tmp_path, "index", "r0", "--encoder", f"hf:{tiny_bert}", *on)
    _, said = driver.communicate(timeout=120)
    assert driver.returncode == 0, said


def test_a_machine_dies_and_a_driver_and_the_file_is_that_of_one_machine(cluster: Cluster, campaign: Path):
    wanted, out = verdicts(campaign / "local.jsonl"), campaign / "ray.jsonl"
    on = ("--on", f"ray:{cluster.address}")

    driver = run(campaign, out.name, *on)
    wait_until(lambda: len(verdicts(out)) >= KILLED_AT, driver)
    cluster.tell("kill 1")
    _, said = driver.communicate(timeout=120)
    assert (driver.returncode, verdicts(out)) == (0, wanted), said
    assert said.count("not used: machine") == 1
    assert "assay 0." in said.split("not used: machine")[1].splitlines()[0]
    assert "2 machines, 2 workers, 0 lost" in said
    assert "1 machine, 1 worker, 1 lost" in said

    again = campaign / "again.jsonl"
    driver = run(campaign, again.name, *on)
    wait_until(lambda: len(verdicts(again)) >= KILLED_AT, driver)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    before = verdicts(again)
    assert KILLED_AT <= len(before) < PROGRAMS
    driver = run(campaign, again.name, *on)
    _, said = driver.communicate(timeout=120)
    assert (driver.returncode, verdicts(again)) == (0, wanted), said
    assert verdicts(again)[: len(before)] == before
    driver = run(campaign, again.name)  # nothing is left, and a machine may go on with what a cluster began
    assert (driver.wait(), verdicts(again)) == (0, wanted)


def test_nobody_left_is_exit_3(cluster: Cluster, campaign: Path):
    cluster.tell("kill 2")
    driver = run(campaign, "alone.jsonl", "--on", f"ray:{cluster.address}", "--patience", "2")
    _, said = driver.communicate(timeout=120)
    assert driver.returncode in {2, 3}, said
    assert "no machine of the cluster" in said.splitlines()[-1]


def test_a_machine_holds_as_many_workers_as_cores_memory_and_gpus_allow():
    from assay.runs.ray_crew import WorkerNeeds, capacity

    big = {"CPU": 8.0, "memory": 5e9, "GPU": 1.0}
    assert capacity(big, WorkerNeeds()) == (8, "")
    assert capacity(big, WorkerNeeds(1 << 30)) == (4, "")
    assert capacity(big, WorkerNeeds(gpus=0.5)) == (2, "")
    assert capacity({"CPU": 2.0, "memory": 5e8}, WorkerNeeds(10**9)) == (
        0,
        "0.5 GB of memory, where a worker needs 1.0",
    )
    assert capacity({"CPU": 2.0, "memory": 5e9}, WorkerNeeds(gpus=1)) == (0, "0 GPUs, where a worker needs 1")
    assert capacity({"memory": 5e9}, WorkerNeeds(gpus=1)) == (0, "")  # a head without cores is no worker


def test_no_cluster_is_one_line(campaign: Path):
    for place, wanted in (
        ("ray:127.0.0.1:1", "no Ray cluster answers at '127.0.0.1:1'"),
        ("ray://127.0.0.1:10001", "Ray Client is not supported"),
        ("dask", "wanted ray"),
    ):
        driver = run(campaign, "none.jsonl", "--on", place)
        _, said = driver.communicate(timeout=60)
        assert (driver.returncode, len(said.splitlines()), wanted in said) == (2, 1, True), said
    assert not (campaign / "none.jsonl").exists()


def test_a_cluster_of_another_version_is_one_line():
    from ray._private.utils import check_version_info

    from assay.runs.ray_connect import _explained

    with pytest.raises(RuntimeError) as mismatch:
        check_version_info({"ray_version": "2.1.0", "python_version": "3.8.2"}, "127.0.0.1:1")
    said = _explained("head:6379", mismatch.value)
    assert said.startswith("the cluster runs Ray 2.1.0 on Python 3.8.2, and here is Ray ")
    assert "\n" not in said
