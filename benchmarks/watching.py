"""Trust in an index: what a full check costs, searches while it is kept up to date, and servers that are killed.

    python benchmarks/watching.py cost ROOT          status of an index, every byte read, against a plain search
    python benchmarks/watching.py change REPO HEAD~N searches beside `assay watch`: idle, then a branch switched to and
                                                     fro and 5,000 files touched; equal to a fresh index in the end?
    python benchmarks/watching.py kill ROOT -n 50    servers and watchers killed with -9 while they index
    python benchmarks/watching.py edits ROOT -n 500  files edited while eight clients ask over HTTP: seconds until each
                                                     edit is found, answers from two versions of a file, processor time

REPO and ROOT are copied first. Times are of whole processes where a command is named.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from assay.encode.static import load_static
from assay.search.folder_index import FolderIndex

ASSAY = [sys.executable, "-m", "assay"]
QUESTIONS = ("where are offsets committed", "parse a date", "retry with backoff", "close the connection", "HttpServer")
TOUCHED = 5000
ASKER = """
import json, sys, time
from pathlib import Path
from assay.operations.requests import Search
from assay.operations.search import search
from assay.serve.session import Session
from assay.settings import load
session = Session({Path(sys.argv[1]): load(options={"index.location": sys.argv[2]})})
questions = json.loads(sys.argv[3])
for number in range(10**9):
    started = time.time()
    answer = search(Search(questions[number % len(questions)]), session)
    print(started, (time.time() - started) * 1000, len(answer.hits), int(answer.stale), flush=True)
    time.sleep(0.02)
"""
COMMANDS = """
import json, subprocess, sys, time
for number in range(10**9):
    started = time.time()
    question = json.loads(sys.argv[3])[number % 5]
    command = [sys.executable, "-m", "assay", "search", question, sys.argv[1], "--index", sys.argv[2]]
    done = subprocess.run([*command, *sys.argv[4:]], capture_output=True, text=True)
    ms = (time.time() - started) * 1000
    print(started, ms, int(done.returncode in (0, 1)), int("before" in done.stderr), flush=True)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("cost", "change", "kill", "edits"))
    parser.add_argument("root", type=Path)
    parser.add_argument("other", nargs="?", default="HEAD~1000")
    parser.add_argument("-n", type=int, default=50)
    parser.add_argument("--idle", type=float, default=8.0, help="seconds of `change` in which nothing happens")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = {"cost": cost, "change": change, "kill": kill, "edits": edits}[given.what]
        print(json.dumps(work(given, Path(folder)), indent=1))


def cost(given: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Time commands on an index that is up to date, and the check alone."""
    place = ("--index", str(folder / "index"))
    done = assay("index", given.root, *place)
    index = FolderIndex(given.root.resolve(), folder / "index", load_static())
    timed = {
        "check": index.check,
        "standing": index.standing,
        "assay status": lambda: assay("status", given.root, *place),
        "assay index": lambda: assay("index", given.root, *place),
        "assay search": lambda: assay("search", QUESTIONS[0], given.root, *place),
        "assay search --no-refresh": lambda: assay("search", QUESTIONS[0], given.root, "--no-refresh", *place),
    }
    times = {name: round(1000 * best(work), 1) for name, work in timed.items()}
    return {"index": done.strip(), "mb": round(index.size_bytes() / 1e6, 1), "best_of_7_ms": times}


def change(given: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Ask beside a watcher, in a server and by commands, while little or much happens."""
    root, place = folder / "root", folder / "index"
    git("clone", "--quiet", "--local", "--no-checkout", given.root, root)
    git("-C", root, "checkout", "--quiet", "-B", "new", "origin/HEAD")
    git("-C", root, "branch", "old", f"new{given.other.removeprefix('HEAD')}")
    differing = len(git("-C", root, "diff", "--name-only", "old", "new").splitlines())
    index = FolderIndex(root, place, load_static())
    index.refresh()
    found: dict[str, object] = {"files_of_the_switch": differing}
    with watching(root, place) as watcher:
        for name, source, *options in (
            ("server", ASKER),
            ("command", COMMANDS),
            ("command as it is", COMMANDS, "--no-refresh"),
        ):
            found[name] = asked_beside(root, place, index, source, options, given.idle)
        watcher.send_signal(signal.SIGTERM)
        lines = watcher.stdout.read().splitlines()
        found["watch_ended_with"] = watcher.wait(60)
    found["updates"] = [line.partition(": ")[2] for line in lines]
    fresh = FolderIndex(root, folder / "fresh", load_static())
    fresh.refresh()
    found["equal_to_fresh"] = content(index) == content(fresh)
    return found


def asked_beside(  # noqa: PLR0913, PLR0917  whom to ask, about what, for how long
    root: Path, place: Path, index: FolderIndex, source: str, options: Sequence[str], idle_s: float
) -> dict[str, object]:
    """Ask while idle, while a branch is switched to and fro, and while files are touched; return times of each."""
    command = [sys.executable, "-c", source, str(root), str(place), json.dumps(QUESTIONS), *options]
    with tempfile.TemporaryFile("w+") as told_of, subprocess.Popen(command, stdout=told_of, text=True) as asker:
        time.sleep(3)
        spans = {"idle": during(lambda: time.sleep(idle_s))}
        for branch in ("old", "new"):
            spans[f"switch to {branch}"] = during(lambda branch=branch: switched(root, index, branch))
        if source == ASKER:
            spans["switched 4 times at once"] = during(lambda: to_and_fro(root, index))
            spans[f"{TOUCHED} files edited"] = during(lambda: edited(root, index))
        asker.kill()
        git("-C", root, "checkout", "--quiet", "--force", "new")
        settled(index)
        told_of.seek(0)
        rows = [tuple(map(float, line.split())) for line in told_of if len(line.split()) == 4]
    return {name: {"s": round(end - start, 1), **told(rows, start, end)} for name, (start, end) in spans.items()}


def told(rows: Sequence[tuple[float, ...]], start: float, end: float) -> dict[str, object]:
    here = [row for row in rows if start <= row[0] < end]
    ms = sorted(row[1] for row in here)
    if len(ms) < 2:
        return {"answers": len(ms), "ms": ms}
    cuts = statistics.quantiles(ms, n=20)
    return {
        "answers": len(ms),
        "p50_ms": round(statistics.median(ms), 1),
        "p95_ms": round(cuts[-1], 1),
        "max_ms": round(ms[-1], 1),
        "from_before": int(sum(row[3] for row in here)),
        "failed": sum(not row[2] for row in here),
    }


def during(work: Callable[[], object]) -> tuple[float, float]:
    started = time.time()
    work()
    print(f"{time.time() - started:.1f} s", file=sys.stderr, flush=True)
    return started, time.time()


def switched(root: Path, index: FolderIndex, branch: str) -> None:
    git("-C", root, "checkout", "--quiet", branch)
    settled(index)


def to_and_fro(root: Path, index: FolderIndex) -> None:
    for branch in ("old", "new", "old", "new"):
        git("-C", root, "checkout", "--quiet", branch)
    settled(index)


def settled(index: FolderIndex) -> None:
    """Wait until the index holds what the files do; looking takes time from who is measured, so new versions only."""
    seen = ""
    while True:
        time.sleep(0.2)
        name = index.folder.catalog()
        if name != seen and (standing := index.standing()) is not None and not standing.stale:
            return
        seen = name


def edited(root: Path, index: FolderIndex) -> None:
    for path in git("-C", root, "ls-files", "*.java", "*.py", "*.go", "*.kt", "*.js").splitlines()[:TOUCHED]:
        with (root / path).open("a") as file:
            file.write(f"\n// edited at {time.time()}\n")
    settled(index)


def kill(given: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Kill each kind of process at random moments of indexing; each next start has to answer from a whole index."""
    root, place = folder / "root", folder / "index"
    shutil.copytree(given.root, root, ignore=shutil.ignore_patterns(".git"))
    index = FolderIndex(root, place, load_static())
    files = index.refresh().files
    update_s = timed(lambda: (rewritten(root, 0), index.refresh()))
    found: dict[str, object] = {"files": files, "files_rewritten_each_time": REWRITTEN, "update_s": round(update_s, 2)}
    chance = random.Random(1)  # noqa: S311  which moments is no secret
    for name, start in (("assay mcp", serving), ("assay serve", serving_page), ("assay watch", watching)):
        found[name] = killed(index, start, given.n, chance, update_s)
    return found


def killed(
    index: FolderIndex, start: Callable[[Path, Path], object], times: int, chance: random.Random, update_s: float
) -> dict[str, object]:
    """Return how often what went wrong; a version is lost when an older one is current than before the kill."""
    bad = {"not_whole": 0, "lost": 0, "no_answer": 0, "rebuilt": 0, "left_over": 0}
    during_update, first_ms = 0, []
    for number in range(1, times + 1):
        before = index.folder.open().manifest.version
        rewritten(index.root, number)
        with start(index.root, index.folder.location) as process:
            if process.stdin:
                request(process, "search", {"query": QUESTIONS[number % 5]}, answer=False)
            elif process.stderr:
                ask_page(process)
            time.sleep(chance.uniform(0.2, 1.0 + 1.6 * update_s))
            process.kill()
        bad["not_whole"] += bool(index.check())
        version = index.folder.open().manifest.version
        bad["lost"] += version < before
        during_update += bool(index.standing().stale)
        with serving(index.root, index.folder.location) as process:
            started = time.perf_counter()
            request(process, "search", {"query": QUESTIONS[number % 5]}, answer=False)
            answer = json.loads(process.stdout.readline())
            first_ms.append(1000 * (time.perf_counter() - started))
            bad["no_answer"] += not re.search(r":\d+-\d+ ", answer["result"]["content"][0]["text"])
            process.kill()
        rewritten(index.root, -number)
        bad["rebuilt"] += bool(index.refresh().rebuilt_because)
        named = {*index.folder.open().manifest.files, "manifest.json", "lock", "kept", ".gitignore"}
        bad["left_over"] += bool({entry.name for entry in index.folder.location.iterdir()} - named)
    first = {"p50": round(statistics.median(first_ms)), "max": round(max(first_ms))}
    return {"kills": times, "of_them_before_the_update_was_done": during_update, **bad, "first_answer_ms": first}


EDITED_FILES = 40
OUTSTANDING = 8
PARTS = ("first", "second", "third")
BODY = "    value = value * 2 + 1\n" * 20
CLIENTS = """
import json, re, sys, threading, time
from http.client import HTTPConnection
port, ends = int(sys.argv[1]), time.time() + 3600
counts = {"answers": 0, "mixed": 0, "failed": 0}
def ask(number):
    while True:
        line = HTTPConnection("127.0.0.1", port, timeout=60)
        line.request("GET", "/api/search?limit=20&query=" + ("edited+first+second", "close+the+connection")[number % 2])
        answer = line.getresponse()
        found = json.loads(answer.read())
        counts["answers"] += 1
        counts["failed"] += answer.status != 200
        versions = {}
        for hit in found.get("hits", ()):
            versions.setdefault(hit["path"], set()).update(re.findall(r"edit(\\d+)_[fst]", hit["text"]))
        counts["mixed"] += any(len(each) > 1 for each in versions.values())
for number in range(8):
    threading.Thread(target=ask, args=(number,), daemon=True).start()
sys.stdin.readline()
print(json.dumps(counts))
"""


def edits(given: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Edit files while eight clients ask; the index is kept by one process, by workers, by a watcher, in a bucket."""
    found: dict[str, object] = {}
    for name in ("one process", "two workers", "watcher beside", "bucket"):
        root, place = folder / name / "root", str(folder / name / "index")
        shutil.copytree(given.root, root, ignore=shutil.ignore_patterns(".git"))
        with ExitStack() as stack:
            if name == "bucket":
                from s3_server import environment, program, s3_server

                if program() is None:
                    found[name] = "not measured: SeaweedFS is not installed"
                    continue
                os.environ.update(environment(stack.enter_context(s3_server())))
                place = "s3://shelf/edits#root"
            watched = name in {"watcher beside", "bucket"}
            assay("index", root, "--index", place)
            writers = [stack.enter_context(watching(root, place))] if watched else []
            more = ("--workers", "2") if name == "two workers" else ("--set", "index.refresh=false") if watched else ()
            server = stack.enter_context(process("serve", root, place, "--port", "0", *more, stderr=subprocess.PIPE))
            found[name] = edited_beside(root, server, writers, given.n)
    return found


def edited_beside(
    root: Path, server: subprocess.Popen[str], writers: Sequence[subprocess.Popen[str]], times: int
) -> dict[str, object]:
    """Return what became of edits while a server answers."""
    while not (at := re.search(r"http://127\.0\.0\.1:(\d+)", server.stderr.readline())):
        pass
    port, waits, outstanding = int(at[1]), [], {}
    ask(port, "the first question opens the index")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", CLIENTS, str(port)], **pipes) as clients:
        used, number = cpu_s([server, *writers]), 0
        started = time.time()
        while number < times or outstanding:
            if number < times and len(outstanding) < OUTSTANDING:
                file = root / f"edited_{number % EDITED_FILES}.py"
                write_edit(file, number)
                outstanding = {
                    at: when for at, when in outstanding.items() if at % EDITED_FILES != number % EDITED_FILES
                }
                outstanding[number] = time.time()
                number += 1
            new = [at for at in outstanding if any(name_of(at) in hit["symbol"] for hit in ask(port, name_of(at)))]
            waits += [time.time() - outstanding.pop(at) for at in new]
        lasted, used = time.time() - started, cpu_s([server, *writers]) - used
        clients.stdin.write("\n")
        clients.stdin.flush()
        counts = json.loads(clients.stdout.readline())
        clients.kill()
    cuts = statistics.quantiles(waits, n=20)
    seconds = {"p50": round(statistics.median(waits), 2), "p95": round(cuts[-1], 2), "max": round(max(waits), 2)}
    spent = {"s": round(lasted), "cpu_s": round(used)}
    return {"edits": times, "found": len(waits), "s_until_found": seconds, **spent, **counts}


def name_of(number: int) -> str:
    """Return the name of the first function of an edit."""
    return f"edit{number}_{PARTS[0]}"


def write_edit(file: Path, number: int) -> None:
    """Write three functions of one version in the place of those before, all at once."""
    new = file.with_suffix(".new")
    new.write_text(
        "".join(f"def edit{number}_{part}(value):\n{BODY}    return value + {number}\n\n\n" for part in PARTS)
    )
    new.replace(file)


def ask(port: int, question: str) -> list[dict[str, Any]]:
    """Return the hits of a question over HTTP."""
    line = HTTPConnection("127.0.0.1", port, timeout=120)
    line.request("GET", f"/api/search?limit=3&query={question.replace(' ', '+')}")
    hits: list[dict[str, Any]] = json.loads(line.getresponse().read()).get("hits", [])
    return hits


def cpu_s(processes: Sequence[subprocess.Popen[str]]) -> float:
    """Return the processor seconds of processes and of those that they started."""
    total = 0.0
    for each in processes:
        numbers = [each.pid]
        for number in numbers:
            for task in Path(f"/proc/{number}/task").glob("*/children"):
                numbers += map(int, task.read_text().split())
            fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


REWRITTEN = 400


def rewritten(root: Path, number: int) -> None:
    for path in sorted(path for path in root.rglob("*.*") if path.suffix in {".py", ".java", ".go", ".rs"})[:REWRITTEN]:
        text = path.read_text("utf-8", "replace").rpartition("\n//! ")[0] or path.read_text("utf-8", "replace")
        path.write_text(f"{text}\n//! {number}\n")


@contextmanager
def watching(root: Path, place: Path) -> Iterator[subprocess.Popen[str]]:
    with process("watch", root, place) as started:
        yield started


@contextmanager
def serving(root: Path, place: Path) -> Iterator[subprocess.Popen[str]]:
    with process("mcp", root, place, stdin=subprocess.PIPE) as started:
        about = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "b", "version": "0"}}
        send(started, {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about})
        started.stdout.readline()
        send(started, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        yield started


@contextmanager
def serving_page(root: Path, place: Path) -> Iterator[subprocess.Popen[str]]:
    with process("serve", root, place, "--port", "0", stderr=subprocess.PIPE) as started:
        yield started


def ask_page(process: subprocess.Popen[str]) -> None:
    """Ask a question over HTTP and do not wait for its answer."""
    while not (found := re.search(r"http://127\.0\.0\.1:(\d+)", process.stderr.readline())):
        pass
    line = socket.create_connection(("127.0.0.1", int(found[1])))
    line.sendall(f"GET /api/search?query=close HTTP/1.1\r\nHost: 127.0.0.1:{found[1]}\r\n\r\n".encode())


@contextmanager
def process(command: str, root: Path, place: Path, *more: str, **options: object) -> Iterator[subprocess.Popen[str]]:
    arguments = [*ASSAY, command, str(root), "--index", str(place), *more]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True, **options}
    with subprocess.Popen(arguments, **options) as started:
        try:
            yield started
        finally:
            started.kill()


def request(process: subprocess.Popen[str], tool: str, arguments: dict[str, object], *, answer: bool) -> object:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    send(process, call)
    return json.loads(process.stdout.readline()) if answer else None


def send(process: subprocess.Popen[str], message: dict[str, object]) -> None:
    process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()


def content(index: FolderIndex) -> tuple[object, ...]:
    """Return all that search can see, in an order that does not depend on how it came about."""
    snapshot = FolderIndex(index.root, index.folder.location, index.encoder).snapshot()
    living = sorted(set(range(snapshot.size)) - set(snapshot.dead.tolist()))
    chunks = {number: snapshot.chunk(number) for number in living}
    postings = {}
    for term in {term for part, _ in snapshot.parts for term in part.terms}:
        numbers, counts = snapshot.postings(term)
        if len(numbers):
            postings[term] = {chunks[n].id: tuple(c) for n, c in zip(numbers.tolist(), counts.tolist(), strict=True)}
    lengths = {chunk.id: tuple(snapshot.lengths[number].tolist()) for number, chunk in chunks.items()}
    return {chunk.id: chunk for chunk in chunks.values()}, postings, lengths, len(snapshot)


def assay(*arguments: object) -> str:
    return subprocess.run([*ASSAY, *map(str, arguments)], capture_output=True, text=True, check=False).stdout


def git(*arguments: object) -> str:
    return subprocess.run(["git", *map(str, arguments)], capture_output=True, text=True, check=True).stdout


def best(work: Callable[[], object]) -> float:
    return min(timed(work) for _ in range(7))


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
