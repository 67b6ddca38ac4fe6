"""Measure what trust in an index costs: full checks, servers that are killed, files edited while clients ask.

    python benchmarks/watching.py cost ROOT          status of an index, every byte read, against a plain search
    python benchmarks/watching.py kill ROOT -n 50    servers and watchers killed with -9 while they index
    python benchmarks/watching.py edits ROOT -n 500  files edited while eight clients ask over HTTP: seconds until each
                                                     edit is found, answers from two versions of a file, processor time

ROOT is copied first. Times are of whole processes where a command is named.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
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

from shared import seconds_of

from assay.encode.static import load_static
from assay.search.folder_index import FolderIndex

ASSAY = [sys.executable, "-m", "assay"]
QUESTIONS = ("where are offsets committed", "parse a date", "retry with backoff", "close the connection", "HttpServer")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("cost", "kill", "edits"))
    parser.add_argument("root", type=Path)
    parser.add_argument("-n", type=int, default=50)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = {"cost": cost, "kill": kill, "edits": edits}[given.what]
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


def kill(given: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Kill each kind of process at random moments of indexing; each next start has to answer from a whole index."""
    root, place = folder / "root", folder / "index"
    shutil.copytree(given.root, root, ignore=shutil.ignore_patterns(".git"))
    index = FolderIndex(root, place, load_static())
    files = index.refresh().files
    update_s = seconds_of(lambda: (rewritten(root, 0), index.refresh()))
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


def assay(*arguments: object) -> str:
    return subprocess.run([*ASSAY, *map(str, arguments)], capture_output=True, text=True, check=False).stdout


def best(work: Callable[[], object]) -> float:
    return min(seconds_of(work) for _ in range(7))


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
