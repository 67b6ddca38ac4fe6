"""Programs a second: fresh interpreters, a bare fork, and the sandbox with and without a judge, in interleaved rounds.

    python benchmarks/sandbox_speed.py [--programs 500] [--rounds 10] [--workers 2] [--kind namespaces] [--harness]

500 small programs as HumanEval has them, each tested with three calls. `--harness` runs them through the real harness
with its judge; without it the smallest possible one, which shows what the cage itself costs.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

from assay.sandbox.keeper import PRELOADED
from assay.sandbox.limits import Job
from assay.sandbox.opening import open_sandbox
from assay.sandbox.pool import Sandbox

PROGRAM = """
from typing import List
import math

def solve(numbers: List[int], k: int = {0}) -> int:
    \"\"\"Return the sum of the k greatest numbers.\"\"\"
    total = 0
    for n in sorted(numbers, reverse=True)[:k]:
        total += n
    return total + math.floor(0.5)
"""
CHECKS = """
assert solve([3, 1, 2], 2) == 5
assert solve([], 3) == 0
assert solve([1] * 100, 10) == 10
"""
CALLS = [[[[3, 1, 2], 2], 5], [[[], 3], 0], [[[1] * 100, 10], 10]]

HARNESS = """
import json, os
def candidate(channel, spec, says):
    names = {"__name__": "__main__"}
    exec(compile(spec["source"], "<program>", "exec"), names)
    if channel:
        lines = channel.makefile("rwb")
        for line in lines:
            lines.write(json.dumps(names["solve"](*json.loads(line))).encode() + b"\\n")
            lines.flush()
def judge(channel, spec, verdict):
    lines = channel.makefile("rwb")
    for arguments, expected in spec["calls"]:
        lines.write(json.dumps(arguments).encode() + b"\\n")
        lines.flush()
        if json.loads(lines.readline()) != expected:
            os.write(verdict, b"wrong")
            return
    os.write(verdict, b"correct")
"""

Runner = Callable[[list[str]], int]
"""Programs in, how many of them passed out."""


def fresh(programs: list[str], workers: int) -> int:
    def one(source: str) -> bool:
        done = subprocess.run(
            [sys.executable, "-I", "-c", source + CHECKS], capture_output=True, timeout=20, check=False
        )
        return done.returncode == 0

    with ThreadPoolExecutor(workers) as pool:
        return sum(pool.map(one, programs))


def bare_fork(programs: list[str], workers: int) -> int:
    """Fork for each program from `workers` processes, with an alarm and nothing else; what they load, we load."""

    def share(part: list[str]) -> int:
        passed = 0
        for source in part:
            pid = os.fork()
            if pid == 0:
                signal.alarm(5)
                code = 1
                try:
                    exec(compile(source + CHECKS, "<program>", "exec"), {"__name__": "__main__"})  # noqa: S102  as peers do
                    code = 0
                finally:
                    os._exit(code)
            passed += os.waitpid(pid, 0)[1] == 0
        return passed

    readers = []
    for worker in range(workers):
        reader, writer = os.pipe()
        if os.fork() == 0:
            for name in PRELOADED:
                import_module(name)
            gc.freeze()
            os.write(writer, str(share(programs[worker::workers])).encode())
            os._exit(0)
        os.close(writer)
        readers.append(reader)
    total = sum(int(os.read(reader, 100)) for reader in readers)
    for reader in readers:
        os.close(reader)
        os.wait()
    return total


def caged(sandbox: Sandbox, *, judged: bool) -> Runner:
    test = json.dumps({"calls": CALLS}).encode() if judged else None

    def run(programs: list[str]) -> int:
        jobs = [Job(str(n), json.dumps({"source": source + ("" if judged else CHECKS)}).encode(), test)
                for n, source in enumerate(programs)]  # fmt: skip
        ends = sandbox.run(jobs)
        return sum(ended.verdict == b"correct" if judged else ended.status == 0 for ended in ends)

    return run


def rounds(runners: dict[str, Runner], programs: list[str], count: int) -> Iterator[tuple[str, float]]:
    size = len(programs) // count
    for number in range(count):
        part = programs[number * size : (number + 1) * size]
        for name, run in runners.items():
            started = time.perf_counter()
            passed = run(part)
            if passed != len(part):
                raise SystemExit(f"{name}: {passed} of {len(part)} programs passed")
            yield name, size / (time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kind", default="")
    given = parser.parse_args()
    programs = [PROGRAM.format(number % 7 + 1) for number in range(given.programs)]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "smallest.py").write_text(HARNESS)
        harness = ("smallest:candidate", "smallest:judge")
        with open_sandbox(given.kind, workers=given.workers, harness=harness, harness_path=folder) as sandbox:
            runners: dict[str, Runner] = {
                "fresh python -I": lambda part: fresh(part, given.workers),
                "bare fork": lambda part: bare_fork(part, given.workers),
                f"{sandbox.name}, program only": caged(sandbox, judged=False),
                f"{sandbox.name}, program and judge": caged(sandbox, judged=True),
            }
            for run in runners.values():
                run(programs[:8])
            speeds: dict[str, list[float]] = {name: [] for name in runners}
            for name, speed in rounds(runners, programs, given.rounds):
                speeds[name].append(speed)
    plain, fork = (statistics.median(speeds[name]) for name in ("fresh python -I", "bare fork"))
    for name, found in speeds.items():
        middle = statistics.median(found)
        print(f"{name:<32}{middle:7.1f}/s  {middle / plain:5.2f} x fresh  {middle / fork:5.2f} x fork")


if __name__ == "__main__":
    main()
