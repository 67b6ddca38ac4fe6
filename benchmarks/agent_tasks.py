"""Calls and tokens until a coding agent has seen the right lines: with `assay mcp`, and with grep, reading and git.

    python benchmarks/agent_tasks.py CHECKOUTS [--task ID]

`agent_tasks.json` has thirty tasks in the words of a developer with the places that answer them, written by people who
read the code, and the calls of two agents that did not know these places: one had only grep, reading and git, the other
only the tools of `assay mcp`. Ten are about known projects, whose names models remember; ten about projects that are
younger than the models; ten more about these, asked after the tools were changed. The calls are made again here, in
clones under CHECKOUTS at the commits that the file names. A place is seen when an output names a line of it, or shows
one of its lines; a commit when an output has the first seven letters of its id. A task is answered with its last call,
when the agent told all places. Tokens are those of the outputs, counted as `assay search --budget` does. The list of
tools, which a model reads once a session, is counted apart.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from assay.serve.mcp import server_of
from assay.serve.session import Session
from assay.settings import Settings
from assay.terms import tokens

HERE = Path(__file__).parent
LONGEST_OUTPUT = 30_000
"""Characters; agents' own tools cut there, too."""
_TELLING = 12  # characters of a line that is told from others


@dataclass(frozen=True, slots=True)
class Place:
    """Lines of a file that have to be seen, or a commit."""

    path: str = ""
    start: int = 0
    end: int = 0
    commit: str = ""

    def is_in(self, output: str, text: Sequence[str]) -> bool:
        """Say whether an output shows this place; `text` is that of the file."""
        if self.commit:
            return self.commit[:7] in output
        for found in re.finditer(rf"{re.escape(self.path)}[:-](\d+)(?:-(\d+))?", output):
            first = int(found[1])
            if self.start - 2 <= first <= self.end or first <= self.start <= int(found[2] or first):
                return True
        lines = (line.strip() for line in text[self.start - 1 : self.end])
        return any(len(line) >= _TELLING and line in output for line in lines)


@dataclass(frozen=True, slots=True)
class Effort:
    """What it took to see all places of a task, and to answer it."""

    calls: int
    tokens: int
    seen: int
    calls_in_all: int
    tokens_in_all: int


def effort(places: Sequence[Place], root: Path, outputs: Sequence[str]) -> Effort:
    """Return the effort until everything was seen, which is that of all calls where something was not, and in all."""
    texts = {place.path: (root / place.path).read_text("utf-8").splitlines() for place in places if place.path}
    seen, spent, calls = set[int](), 0, 0
    for output in outputs:
        if len(seen) < len(places):
            spent, calls = spent + tokens(output), calls + 1
            seen |= {at for at, place in enumerate(places) if place.is_in(output, texts.get(place.path, ()))}
    return Effort(calls, spent, len(seen), len(outputs), sum(map(tokens, outputs)))


def with_grep(root: Path, commands: Sequence[str]) -> list[str]:
    """Return what each command prints in a checkout."""
    ran = (
        subprocess.run(["bash", "-c", command], cwd=root, capture_output=True, text=True, errors="replace", check=False)
        for command in commands
    )
    return [(each.stdout + each.stderr)[:LONGEST_OUTPUT] for each in ran]


def with_assay(root: Path, calls: Sequence[dict[str, Any]]) -> list[str]:
    """Return what each call of a tool answers."""

    async def ask() -> list[str]:
        async with Client(server_of(Session({root: Settings()}))) as client:
            answers = [await client.call_tool(call["tool"], call["arguments"]) for call in calls]
            return [answer.content[0].text for answer in answers]

    return anyio.run(ask)


def listed(root: Path) -> int:
    """Return the tokens of the list of tools."""

    async def ask() -> int:
        async with Client(server_of(Session({root: Settings()}))) as client:
            tools = (await client.list_tools()).tools
            return tokens(json.dumps([[tool.name, tool.description, tool.input_schema] for tool in tools]))

    return anyio.run(ask)


def main() -> None:
    """Print a row a task, and for each set of tasks how the two compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--task", action="append", default=[])
    given = parser.parse_args()
    data = json.loads((HERE / "agent_tasks.json").read_text("utf-8"))
    efforts: dict[str, list[tuple[Effort, Effort]]] = {}
    ways: dict[str, Callable[[Path, Any], list[str]]] = {"grep": with_grep, "assay": with_assay}
    print(f"{'task':<16}{'places':>7}" + "".join(f"{name:>7} seen{'':>9}all calls{'':>4}" for name in ways))
    for task in data["tasks"]:
        if given.task and task["id"] not in given.task:
            continue
        root = (given.checkouts / task["repository"]).resolve()
        check(root, data["repositories"][task["repository"]]["commit"])
        places = [Place(**target) for target in task["targets"]]
        pair = [effort(places, root, way(root, task[name])) for name, way in ways.items()]
        efforts.setdefault(task["set"], []).append((pair[0], pair[1]))
        cells = (f"{e.seen:>6}/{e.calls}{e.tokens:>7}{e.calls_in_all:>5}{e.tokens_in_all:>7}" for e in pair)
        print(f"{task['id']:<16}{len(places):>7}" + "".join(f"{cell:>30}" for cell in cells), flush=True)
    for name, pairs in efforts.items():
        for what in ("calls", "tokens", "calls_in_all", "tokens_in_all"):
            grep, assay = ([getattr(pair[at], what) for pair in pairs] for at in (0, 1))
            fewer = sum(ours < theirs for theirs, ours in zip(grep, assay, strict=True))
            medians = f"median {statistics.median(grep):g} / {statistics.median(assay):g}"
            print(f"{name}: {what}: {medians}, sum {sum(grep)} / {sum(assay)}, fewer in {fewer} of {len(pairs)}")
    print(f"the list of tools: {listed(root)} tokens")


def check(root: Path, commit: str) -> None:
    """Refuse a checkout of another commit: its lines are others."""
    here = subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    if here.stdout.strip() != commit:
        raise SystemExit(f"{root} is not at {commit}: clone it whole, and check that commit out")


if __name__ == "__main__":
    main()
