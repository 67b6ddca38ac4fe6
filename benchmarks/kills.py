"""Count what is lost or done twice when `exec`, `judge run` and `rank eval` are killed and begun again.

    python benchmarks/kills.py [--kills 100] [--seed 0]

A run that nobody disturbs comes first, and says how long one takes. Then each command is killed (SIGKILL) at moments
drawn from that time, and begun again; after every fifth kill it may end, and has to leave what the undisturbed one
left, but for what was measured and the order in which pairs were judged. `rank eval` keeps nothing: it has to print the
same, and to leave its input alone. After each kill no process may be left.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.cage import processes

MEASURED = {"seconds", "cpu_s", "peak_mb"}
AT_ONCE = 5
"""Kills before a run may end."""
GONE_S = 20
TASKS, SAMPLES, PAIRS = 4, 60, 40
BODIES = ("return a + b", "return b + a", "return a - b", "return [a + b]", "return None", "return a + nowhere")
TASK = {"entry_point": "add", "prompt": 'def add(a, b):\n    """Add.\n    >>> add(1, 2)\n    3\n    """\n'}
TESTS = [{"args": [1, 2], "expected": 3}, {"args": [5, -5], "expected": 0}]
CASES = ["assert add(1, 2) == 3", "assert add(5, -5) == 0", "assert add('a', 'b') == 'ab'"]
PROGRAM = {"setup": "", "helpers": "from solution import add", "cases": CASES}
NO_PROGRAM = {"setup": "", "helpers": "", "cases": []}
REPLIES: list[dict[str, Any]] = [
    {"name": "pair", "value": {"Yes": 0.54, "No": 0.46, "mass": 1}},
    {"name": "tests", "value": {"reading": "the sum", **PROGRAM}},
    {"name": "fix", "value": {"reason": "the code", "action": "irreparable", "commands": [], **NO_PROGRAM}},
    {"name": "arbitrate", "value": {"reason": "as the tests say", "label": 0}},
]


@dataclass(frozen=True, slots=True)
class KilledCommand:
    """A command, and what it left that has to be the same."""

    name: str
    arguments: Callable[[Path], Sequence[str | Path]]
    """Of the folder of a run."""
    left: Callable[[Path], object]
    fraction: float
    """Of all kills."""


def source(number: int) -> str:
    """Return one of many programs, of which two do not end and one in eight takes a while."""
    if number % 120 == 7:
        return f"def add(a, b):\n    while True: pass  # {number}\n"
    pause = "import time; time.sleep(.05)\n" if number % 8 == 3 else ""
    return f"{pause}def add(a, b):\n    {BODIES[number % len(BODIES)]}  # {number}\n"


def write_inputs(folder: Path) -> None:
    tasks = [{**TASK, "id": f"t{number}", "tests": TESTS} for number in range(TASKS)]
    samples = [{"task_id": f"t{number % TASKS}", "code": source(number)} for number in range(TASKS * SAMPLES)]
    pairs = [
        {"query_id": f"q{number}", "query": f"add two things {number}", "code_id": f"c{number}", "code": source(number)}
        for number in range(PAIRS)
    ]
    for name, rows in (("tasks", tasks), ("samples", samples), ("pairs", pairs), ("replies", REPLIES)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def rows(file: Path) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in json.loads(line).items() if name not in MEASURED}
        for line in file.read_text().splitlines()
    ]


def verdicts_and_steps(folder: Path) -> object:
    """Return the verdicts by their pair, and how often each step was made: once."""
    found = rows(folder / "out.jsonl")
    steps = Counter((row["kind"], row.get("key", row["pair"])) for row in found)
    return sorted(json.dumps(row) for row in found if row["kind"] == "verdict"), sorted(steps.items())


def printed(folder: Path) -> object:
    """Return what was printed without what was measured, and the input."""
    told = json.loads((folder / "printed").read_text())
    for cell in told["rankers"]:
        for name in [name for name in cell if "second" in name or name.endswith("_ms")]:
            del cell[name]
    return told, (folder.parent / "outcomes.jsonl").read_bytes()


def commands(inputs: Path) -> list[KilledCommand]:
    tasks, samples, outcomes = (inputs / f"{name}.jsonl" for name in ("tasks", "samples", "outcomes"))
    limits = ("--timeout", ".5")
    judging = ("--chat", f"scripted:{inputs / 'replies.jsonl'}", "--workers", "2", *limits)
    ranking = ("--tasks", tasks, "--ranker", "examples", "--allow-execution", "--format", "json")
    return [
        KilledCommand(
            "exec",
            lambda out: ("exec", tasks, samples, "--workers", "2", *limits, "--out", out / "out.jsonl"),
            lambda out: rows(out / "out.jsonl"),
            0.4,
        ),
        KilledCommand(
            "judge run",
            lambda out: ("judge", "run", inputs / "pairs.jsonl", *judging, "--out", out / "out.jsonl"),
            verdicts_and_steps,
            0.4,
        ),
        KilledCommand("rank eval", lambda _: ("rank", "eval", samples, outcomes, *ranking), printed, 0.2),
    ]


def started(command: KilledCommand, out: Path) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "assay", *map(str, command.arguments(out))]
    with (out / "printed").open("wb") as output, (out / "said").open("ab") as said:
        return subprocess.Popen(words, stdout=output, stderr=said)


def finished(command: KilledCommand, out: Path) -> float:
    """Run a command to its end; return how long that took."""
    begun = time.monotonic()
    if started(command, out).wait() != 0:
        raise SystemExit(f"{command.name} failed: {(out / 'said').read_text()[-600:]}")
    return time.monotonic() - begun


def killed(command: KilledCommand, out: Path, after_s: float) -> bool:
    """Kill a command after some time, unless it ended before; raise where it left a process."""
    process = started(command, out)
    try:
        process.wait(after_s)
    except subprocess.TimeoutExpired:
        below = processes.below(process.pid, processes.processes())
        process.kill()
        process.wait()
    else:
        return False
    until = time.monotonic() + GONE_S
    while any(Path(f"/proc/{each.pid}").exists() for each in below):
        if time.monotonic() > until:
            raise SystemExit(f"{command.name} left processes behind")
        time.sleep(0.05)
    return True


def tried(command: KilledCommand, inputs: Path, kills: int, lots: random.Random) -> str:
    """Kill a command so often, and compare what it left whenever it ended."""
    whole = inputs / f"{command.name}-whole"
    whole.mkdir()
    took_s = finished(command, whole)
    wanted, done, ends, early = command.left(whole), 0, 0, 0
    while done < kills:
        out = inputs / f"{command.name}-{ends}"
        out.mkdir()
        for _ in range(min(AT_ONCE, kills - done)):
            if not killed(command, out, lots.uniform(0, took_s)):
                early += 1
                break
            done += 1
        finished(command, out)
        if command.left(out) != wanted:
            raise SystemExit(f"{command.name}: {out} differs from {whole}")
        ends += 1
    ended = f"{ends} runs that ended, each like the undisturbed one of {took_s:.1f} s"
    return f"{command.name:<10}{done:4} kills; {ended}; {early} ended before they were killed"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--kills", type=int, default=100)
    arguments.add_argument("--seed", type=int, default=0)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        inputs, lots = Path(folder), random.Random(given.seed)  # noqa: S311  no secret hangs on it
        write_inputs(inputs)
        every = commands(inputs)
        (inputs / "first").mkdir()
        finished(every[0], inputs / "first")
        (inputs / "first" / "out.jsonl").rename(inputs / "outcomes.jsonl")
        for command in every:
            print(tried(command, inputs, round(given.kills * command.fraction), lots), flush=True)


if __name__ == "__main__":
    main()
