"""Sample many prompts from an endpoint that answers after a second: seconds by requests in flight, and five kills.

    python benchmarks/sampling.py [--prompts 5000] [--n 10] [--latency 1.0] [--in-flight 1,16,64] [--kills 5]

The endpoint is a thread of this process on loopback; `assay rank sample` runs as a process of its own, whose processor
time and memory are told. With one request in flight a share of the prompts is sampled, and the whole is estimated. Then
the largest run is killed at moments drawn between a tenth and nine tenths of its time, and begun again: each sample has
to be there once, and nothing may have been asked twice but what was under way at a kill.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from endpoint_server import EndpointServer, Play, serving

SHARE = 60
"""Prompts with one request in flight."""


@dataclass(frozen=True, slots=True)
class SamplingRun:
    """What one run of the command took."""

    status: int
    seconds: float
    cpu_s: float
    peak_mb: float


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--prompts", type=int, default=5000)
    parser.add_argument("--n", type=int, default=10)
    parser.add_argument("--latency", type=float, default=1.0)
    parser.add_argument("--in-flight", default="1,16,64")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    body = answer(given.n)
    with tempfile.TemporaryDirectory() as place, serving(lambda _: Play(body=body, delay_s=given.latency)) as endpoint:
        folder = Path(place)
        size = f"{given.prompts:,} prompts x {given.n} completions"
        print(f"{size}, {given.latency:g} s each; load {os.getloadavg()[0]:.1f}")
        print("in flight   seconds  samples/s   cpu s  cpu ms/sample  peak MB")
        seconds = 0.0
        for in_flight in map(int, given.in_flight.split(",")):
            prompts = min(SHARE, given.prompts) if in_flight == 1 else given.prompts
            ran = run(folder / f"{in_flight}.jsonl", tasks(folder, prompts), endpoint, given.n, in_flight)
            seconds = ran.seconds * given.prompts / prompts
            note = f"   (estimated from {prompts})" if prompts < given.prompts else ""
            each = ran.cpu_s / (prompts * given.n)
            rate = prompts * given.n / ran.seconds
            spent = f"{ran.cpu_s:7.1f} {1000 * each:14.2f} {ran.peak_mb:8.0f}"
            print(f"{in_flight:9} {seconds:9.0f} {rate:10.1f} {spent}{note}", flush=True)
        if given.kills:
            kill(given, folder, endpoint, in_flight, seconds)


def answer(n: int) -> bytes:
    """Return the body of an answer of 40 tokens a completion, with their log-probabilities."""
    tokens = ["    ", "return", " ", "1", "\n"] * 8
    logprobs = {"tokens": tokens, "token_logprobs": [-0.25] * len(tokens)}
    choices = [{"text": "".join(tokens), "logprobs": logprobs}] * n
    return json.dumps({"choices": choices, "usage": {"prompt_tokens": 7, "completion_tokens": 40 * n}}).encode()


def tasks(folder: Path, count: int) -> Path:
    file = folder / f"tasks{count}.jsonl"
    rows = ({"id": f"t/{at}", "prompt": f"def f{at}():\n", "entry_point": f"f{at}", "tests": []} for at in range(count))
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def begin(out: Path, file: Path, endpoint: EndpointServer, n: int, in_flight: int) -> subprocess.Popen[bytes]:
    words = ["rank", "sample", str(file), "--model", "completions:m", "--n", str(n), "--out", str(out)]
    words += ["--in-flight", str(in_flight), "--batch", str(n)]
    environment = {**os.environ, "ASSAY_API_BASE": endpoint.base}
    said = out.with_suffix(".said").open("ab")
    return subprocess.Popen([sys.executable, "-m", "assay", *words], stdout=said, stderr=said, env=environment)


def run(out: Path, file: Path, endpoint: EndpointServer, n: int, in_flight: int) -> SamplingRun:
    """Run the command to its end."""
    began = time.monotonic()
    process = begin(out, file, endpoint, n, in_flight)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"rank sample failed: {out.with_suffix('.said').read_text()[-600:]}")
    return SamplingRun(status, time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def kill(given: argparse.Namespace, folder: Path, endpoint: EndpointServer, in_flight: int, seconds: float) -> None:
    """Kill the command some times, let it end, and say what was asked twice."""
    lots = random.Random(given.seed)  # noqa: S311  no secret
    at = sorted(lots.uniform(0.1, 0.9) * seconds for _ in range(given.kills))
    pauses = [later - earlier for earlier, later in zip([0.0, *at], at, strict=False)]
    out, file = folder / "killed.jsonl", tasks(folder, given.prompts)
    endpoint.questions.clear()
    asked_again = Counter[str]()
    for pause in pauses:
        process = begin(out, file, endpoint, given.n, in_flight)
        time.sleep(pause + 1.0)  # a second to start
        process.kill()
        process.wait()
        asked_again += under_way(out, endpoint)
    run(out, file, endpoint, given.n, in_flight)
    asked = Counter(question["prompt"] for question in endpoint.questions)
    ids = Counter(row["id"] for row in rows(out))
    twice = Counter({prompt: times - 1 for prompt, times in asked.items() if times > 1})
    print(
        f"killed {given.kills} times at {', '.join(f'{each:.0f}' for each in at)} s: {len(ids):,} samples, "
        f"{sum(times > 1 for times in ids.values())} twice; {twice.total()} of {asked.total():,} requests were asked "
        f"again, {(twice - asked_again).total()} of them not under way at a kill"
    )


def under_way(out: Path, endpoint: EndpointServer) -> Counter[str]:
    """Return the prompts that were asked and have no line: what was under way when the command was killed."""
    there = {row["task_id"] for row in rows(out)}
    asked = {question["prompt"] for question in list(endpoint.questions)}
    return Counter(prompt for prompt in asked if f"t/{prompt[5:-4]}" not in there)


def rows(file: Path) -> list[dict[str, Any]]:
    """Return the whole lines of a file."""
    return [json.loads(line) for line in file.read_text().splitlines(keepends=True) if line.endswith("\n")]


if __name__ == "__main__":
    main()
