"""Count calls and tokens until an agent has seen the right lines: with `assay mcp`, and with grep, reading and git.

    python benchmarks/agent_tasks.py CHECKOUTS [--tasks FILE] [--task ID] [--policy | --first-call URL]

`agent_tasks.json` has thirty tasks in the words of a developer with the places that answer them, written by people who
read the code, and the calls of two agents that did not know these places: one had only grep, reading and git, the other
only the tools of `assay mcp`. Ten are about known projects, whose names models remember; ten about projects that are
younger than the models; ten more about these, asked after the tools were changed. The calls are made again here, in
clones under CHECKOUTS at the commits that the file names. A place is seen when an output names a line of it, or shows
one of its lines; a commit when an output has the first seven letters of its id. A task is answered with its last call,
when the agent told all places. Tokens are those of the outputs, counted as `assay search --budget` does. The list of
tools, which a model reads once a session, is counted apart.

With `--policy` no agent is replayed: one fixed policy works with `grep -rn`, with `assay grep -rn`, and with the tools
of `assay mcp --tools lean` and `all`. It knows the question alone. A round asks once, then opens the first three places
of the answer that it has not opened, each in one call; there are five rounds at most, and it stops when all places were
seen. With grep a round asks for one word of the question in any letter case, the longest first, and opens 40 lines from
ten above a place. With MCP it asks the question, then for the next page, and opens units with `read`; with all tools
the first round also asks `log` the question, and each round `related` about its first place. Every output is cut at
30,000 characters. Indexes are built before.

With `--first-call URL` the model of an OpenAI-compatible server that calls tools, such as llama.cpp's with `--jinja`,
is given each question, once alone and once with the sentence of `assay hook` at the start of a session. What it calls
first is counted; CHECKOUTS is not looked at.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx
from anyio.from_thread import start_blocking_portal
from mcp import Client

from assay.serve.agents.hooks import START
from assay.serve.mcp import server_of
from assay.serve.session import Session
from assay.settings import Settings
from assay.terms import STOP_WORDS, tokens

HERE = Path(__file__).parent
LONGEST_OUTPUT = 30_000
"""Characters; agents' own tools cut there, too."""
_ROUNDS, _OPENED = 5, 3
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
        async with Client(server_of(Session({root: Settings()}), tools="all")) as client:
            answers = [await client.call_tool(call["tool"], call["arguments"]) for call in calls]
            return [answer.content[0].text for answer in answers]

    return anyio.run(ask)


def policy_grep(root: Path, question: str, command: str) -> Iterator[str]:
    """Yield what the policy is shown in a shell, whose command to search is `grep` or takes the place of it."""
    words = dict.fromkeys(word for word in re.findall(r"\w{4,}", question.lower()) if word not in STOP_WORDS)
    opened = set[str]()
    for word in sorted(words, key=lambda word: -len(word))[:_ROUNDS]:
        (found,) = with_grep(root, [f"{command} -rni --exclude-dir=.git {word} . 2>&1"])
        yield found
        for path, line in _unopened(re.findall(r"^(?:\./)?([^\s:]+):(\d+):", found, re.MULTILINE), opened):
            first = max(int(line) - 10, 1)
            yield with_grep(root, [f"sed -n '{first},{first + 39}p' '{path}'"])[0]


def policy_mcp(root: Path, question: str, tools: str) -> Iterator[str]:
    """Yield what the policy is shown by a server with some tools, within one session."""
    with start_blocking_portal() as portal:
        server = server_of(Session({root: Settings()}), tools=tools, sent_lines=set())
        with portal.wrap_async_context_manager(Client(server)) as client:

            def call(tool: str, **arguments: Any) -> str:
                answer = portal.call(partial(client.call_tool, tool, arguments))
                return str(answer.content[0].text)[:LONGEST_OUTPUT]

            opened, cursor = set[str](), ""
            for number in range(_ROUNDS):
                found = call("search", query=question, **({"cursor": cursor} if cursor else {}))
                yield found
                if tools == "all" and not number:
                    yield call("log", query=question)
                places = _unopened(re.findall(r"^([^\s:]+):(\d+)-\d+ ", found, re.MULTILINE), opened)
                for path, line in places:
                    yield call("read", path=path, line=int(line))
                if tools == "all" and places:
                    yield call("related", path=places[0][0], line=int(places[0][1]))
                cursor = found.rpartition("more with cursor ")[2] if "more with cursor " in found else ""
                if not cursor:
                    return


def _unopened(places: Sequence[tuple[str, str]], opened: set[str]) -> list[tuple[str, str]]:
    """Return the first places of files or units that were not opened; of a file that grep lists, the first line."""
    new: dict[str, tuple[str, str]] = {}
    for path, line in places:
        new.setdefault(path, (path, line))
    chosen = [place for place in new.values() if ":".join(place) not in opened][:_OPENED]
    opened.update(map(":".join, chosen))
    return chosen


def compare_policies(tasks: Sequence[dict[str, Any]], checkouts: Path) -> None:
    """Print a row a task, then the sums of each way."""
    ways: dict[str, Callable[[Path, str], Iterator[str]]] = {
        "grep": lambda root, question: policy_grep(root, question, "grep"),
        "assay grep": lambda root, question: policy_grep(root, question, f"{sys.executable} -m assay grep"),
        "mcp lean": lambda root, question: policy_mcp(root, question, "lean"),
        "mcp all": lambda root, question: policy_mcp(root, question, "all"),
    }
    efforts: dict[str, list[tuple[Effort, bool]]] = {name: [] for name in ways}
    for task in tasks:
        root = (checkouts / task["repository"]).resolve()
        places = [Place(**target) for target in task["targets"]]
        for name, way in ways.items():
            found = effort(places, root, list(way(root, task["question"])))
            efforts[name].append((found, found.seen == len(places)))
        cells = (f"{each[-1][0].seen:>6}/{each[-1][0].calls:<3}{each[-1][0].tokens:>7}" for each in efforts.values())
        print(f"{task['id']:<18}{len(places):>3}" + "".join(f"{cell:>20}" for cell in cells), flush=True)
    for name, each in efforts.items():
        seen = sum(effort.seen for effort, _ in each)
        calls, spent = (sum(getattr(effort, what) for effort, _ in each) for what in ("calls", "tokens"))
        print(
            f"{name}: all seen in {sum(done for _, done in each)} of {len(each)}, {seen} places; "
            f"{calls} calls, {spent:,} tokens"
        )


def listed(root: Path, tools: str) -> int:
    """Return the tokens of the list of tools."""

    async def ask() -> int:
        async with Client(server_of(Session({root: Settings()}), tools=tools)) as client:
            tools_listed = (await client.list_tools()).tools
            return tokens(json.dumps([[tool.name, tool.description, tool.input_schema] for tool in tools_listed]))

    return anyio.run(ask)


def _tool(name: str, description: str, *parameters: str) -> dict[str, Any]:
    properties = {each: {"type": "string"} for each in parameters}
    schema = {"type": "object", "properties": properties, "required": parameters[:1]}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


TOOLS = (
    _tool("Bash", "Run a shell command in the repository.", "command"),
    _tool("Grep", "Search file contents with a regular expression.", "pattern", "path"),
    _tool("Read", "Read a file.", "path"),
    _tool(
        "mcp__assay__search",
        "Find code or documentation by meaning: functions, types and sections that answer a question, best first.",
        "query",
    ),
    _tool("mcp__assay__read", "Read a function, type or section of a file, by line or name.", "path", "line"),
)
_AGENT = "You are a coding agent in a repository. Use the tools to find the code, one call at a time."


def first_calls(tasks: Sequence[Any], url: str) -> None:
    """Print how often a model first calls what, without and with what the hook of a session adds."""
    for name, more in (("without hooks", ""), ("with hooks", f"\n\n{START}")):
        found: Counter[str] = Counter()
        for task in tasks:
            messages = [{"role": "system", "content": _AGENT + more}, {"role": "user", "content": task["question"]}]
            body = {"messages": messages, "tools": TOOLS, "temperature": 0, "max_tokens": 120}
            reply = httpx.post(f"{url}/v1/chat/completions", json=body, timeout=600).raise_for_status().json()
            found[_called(reply["choices"][0]["message"])] += 1
        print(name, dict(found.most_common()))


def _called(message: dict[str, Any]) -> str:
    """Return which tool a message calls, by the protocol or as text; `assay` for any way to it."""
    calls = message.get("tool_calls") or []
    text = json.dumps(calls) + (message.get("content") or "")
    if any(way in text for way in ("mcp__assay__search", "assay search", "assay grep")):
        return "assay"
    named = re.search(r'"name":\s*"(\w+)"', text)
    return named[1] if named else "none"


def main() -> None:
    """Print a row a task, and for each set of tasks how the two compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--tasks", type=Path, default=HERE / "agent_tasks.json")
    parser.add_argument("--task", action="append", default=[])
    parser.add_argument("--policy", action="store_true")
    parser.add_argument("--first-call", metavar="URL")
    given = parser.parse_args()
    data = json.loads(given.tasks.read_text("utf-8"))
    if given.first_call:
        first_calls([task for task in data["tasks"] if task["id"] in (given.task or [task["id"]])], given.first_call)
        return
    if given.policy:
        tasks = [task for task in data["tasks"] if task["id"] in (given.task or [task["id"]])]
        for name in {task["repository"]: None for task in tasks}:
            check((given.checkouts / name).resolve(), data["repositories"][name]["commit"])
        compare_policies(tasks, given.checkouts)
        return
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
    print(f"the list of tools: {listed(root, 'all')} tokens, lean {listed(root, 'lean')}")


def check(root: Path, commit: str) -> None:
    """Refuse a checkout of another commit: its lines are others."""
    here = subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    if here.stdout.strip() != commit:
        raise SystemExit(f"{root} is not at {commit}: clone it whole, and check that commit out")


if __name__ == "__main__":
    main()
