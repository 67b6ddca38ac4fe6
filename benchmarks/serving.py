"""Measure latency, memory and errors of `assay mcp` and `assay serve` under load, and what malformed requests get.

python benchmarks/serving.py OUT [--chunks 50000] [--requests 20000] [--malformed 1000] [--semble MODEL]

The folder is made by the generator of scale.py; both servers and every index are real, the clients are in processes of
their own. MCP is asked with the SDK's own client, HTTP with the standard library's. Questions are drawn with a seed, a
tenth of their words being new to the server. Intervals are of the median, by bootstrap. With MODEL, a folder of a
Model2Vec model, semble's server is asked on standard input and output, too, in turn with `assay mcp`.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote, urlencode

import numpy as np
from scale import COMMON, SYLLABLES, UNITS_A_FILE, write_files
from shared import memory_mb

WAYS = ("../" * 8, "..%2f" * 8, "%2e%2e/" * 8, "..%252f" * 8, "..\\" * 8, "/", "//", "file:///", "~/")
SECRETS = ("etc/passwd", "proc/self/environ", "root/.ssh/id_rsa")
ODD = ("\x00", "\ud800", "\u202e", "💥" * 50, "%", "%zz", "a" * 30_000, "\x1b[2J", "\n", "'\"<>&;")
NUMBERS = ("-1", "0", "1e9", "9" * 400, "NaN", "true", "[]", "null", "1.5", "\uff10x", "")
BODIES = (b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"programs": 3}', b'{"grade": {}}', b'"aaa')
METHODS = ("PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "BREW")


def bad_requests(count: int, port: int) -> Iterator[bytes]:
    """Draw requests."""
    chance = random.Random(7)  # noqa: S311  the same requests each time are the point
    for _ in range(count):
        kind = chance.choice((_path, _path, _path, _line, _line, _body))
        yield kind(chance, f"Host: 127.0.0.1:{port}\r\nConnection: close\r\n")


def exchanged(port: int, raw: bytes) -> tuple[int, bytes]:
    """Send bytes and return the status and all that came back; 0 for no answer at all."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        with suppress(OSError):  # refused before it was all said; the answer may be there nevertheless
            connection.sendall(raw)
        with suppress(OSError):
            while part := connection.recv(65_536):
                answer += part
    head = answer.split(b" ", 2)
    return (int(head[1]) if answer.startswith(b"HTTP/1.1 ") else 0), answer


def _path(chance: random.Random, host: str) -> bytes:
    """Ask for what is not there, or is not to be had."""
    secret = chance.choice(WAYS) + chance.choice(SECRETS)
    odd = quote(chance.choice(ODD).encode("utf-8", "surrogatepass"), safe="%")
    number = quote(chance.choice(NUMBERS)) or "x"
    path = chance.choice(
        (
            f"/{secret}",
            f"/page/{secret}",
            f"/api/bench/{secret}",
            f"/api/bench/x/plots/{secret}.svg",
            f"/api/search?query=a&path={secret}",
            f"/api/related?line=1&path={secret}",
            f"/api/status?path={secret}",
            f"/api/search?query=a&path={odd}x",
            f"/api/search?query=a&k={number}",
            "/api/search",
            f"/api/search?query=a&budget={number}",
            f"/api/search?query=a&cursor={odd}x",
            f"/api/search?query=a&mode={odd}x",
            f"/api/search?query=a&lang={odd}x",
            f"/api/search?query={'a' * chance.choice((20_001, 65_000, 200_000))}",
            f"/api/search?{'&'.join(['query=a'] * 50)}",
            "/api/search?query=%20%21",
            f"/api/search?query=a&{odd}x=1",
            f"/api/related?path=x.py&line={number}",
        )
    )
    return f"GET {path} HTTP/1.1\r\n{host}\r\n".encode("utf-8", "surrogatepass")


def _line(chance: random.Random, host: str) -> bytes:
    """Ask in a way that is not ours, or is no HTTP."""
    odd = chance.choice(ODD)[:20]
    asked = chance.choice(
        (
            f"{chance.choice(METHODS)} /api/search?query=a HTTP/1.1\r\n{host}",
            "GET /api/roots HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n",
            f"GET /api/roots HTTP/1.1\r\n{host}Origin: https://evil.example\r\n",
            f"GET /api/roots HTTP/1.1\r\n{host}Sec-Fetch-Site: cross-site\r\n",
            "GET /api/roots HTTP/1.1\r\nConnection: close\r\n",
            f"GET /api/roots HTTP/1.1\r\n{host}X-Long: {'a' * 200_000}\r\n",
            f"GET\x00/ HTTP/1.1\r\n{host}",
            f"GARBAGE {odd!r}\r\n",
        )
    )
    return f"{asked}\r\n".encode("utf-8", "surrogatepass")


def _body(chance: random.Random, host: str) -> bytes:
    """Send what is none of the bodies that are taken."""
    route, body = chance.choice(("/api/labels", "/api/rank")), chance.choice(BODIES)
    declared = chance.choice((str(len(body)), str(len(body)), "9" * 9, "9" * 30, "chunked"))
    length = "Transfer-Encoding: chunked" if declared == "chunked" else f"Content-Length: {declared}"
    head = f"POST {route} HTTP/1.1\r\n{host}Content-Type: application/json\r\n{length}\r\n\r\n".encode()
    return head + (b"zz\r\nnot hex\r\n" if declared == "chunked" else body)


ASSAY = (sys.executable, "-m", "assay")
CLIENTS = (1, 8, 32)
WARM = 100
"""Questions of each of four clients before anything is measured."""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--chunks", type=int, default=50_000)
    arguments.add_argument("--each", type=int, default=1000, help="requests of a row")
    arguments.add_argument("--requests", type=int, default=20_000)
    arguments.add_argument("--malformed", type=int, default=1_000)
    arguments.add_argument("--semble", type=Path)
    arguments.add_argument("--only", nargs="*", default=["start", "mcp", "http", "flat", "malformed"])
    given = arguments.parse_args()
    root = given.out / "root"
    if not root.exists():
        write_files(root, given.chunks // UNITS_A_FILE)
    os.environ["XDG_CACHE_HOME"] = str(given.out / "cache")
    subprocess.run([*ASSAY, "index", str(root)], check=True)
    for part in given.only:
        found = PARTS[part](root, given)
        print(json.dumps({part: found}, indent=1), flush=True)
        (given.out / f"{part}.json").write_text(json.dumps(found, indent=1) + "\n")


def start(root: Path, given: argparse.Namespace) -> object:
    """Time whole starts on standard input and output to the first answer, and then warm answers of one client."""
    assay = ([*ASSAY[1:], "mcp", str(root)], {})
    semble = (["-c", "from semble.cli import main; main()"], {"repo": str(root), "top_k": 8, "max_snippet_lines": None})
    asked = {"assay": assay, **({"semble": semble} if given.semble else {})}
    if given.semble:
        os.environ |= {"SEMBLE_MODEL_NAME": str(given.semble), "HF_HUB_OFFLINE": "1"}
        stdio(*semble, requests=1)  # its index is made and kept
    runs: dict[str, list[list[float]]] = {name: [] for name in asked}
    for _ in range(9):
        for name, (command, more) in asked.items():
            runs[name].append(stdio(command, more, requests=100))
    return {name: started(times) for name, times in runs.items()}


def started(runs: list[list[float]]) -> dict[str, float]:
    """Return the first times of some runs, and all later ones together."""
    first, later = sorted(run[0] for run in runs), np.concatenate([run[1:] for run in runs]) * 1e3
    return {
        "runs": len(runs),
        "first_s": first[len(first) // 2],
        "first_least_s": first[0],
        "first_most_s": first[-1],
        "warm_p50_ms": float(np.median(later)),
        "warm_p95_ms": float(np.percentile(later, 95)),
    }


def stdio(command: list[str], more: dict[str, object], *, requests: int) -> list[float]:
    """Start a server and ask it; the first time is from before its start."""
    import anyio
    from mcp import Client, StdioServerParameters

    async def run() -> list[float]:
        times = [time.perf_counter()]
        server = StdioServerParameters(command=sys.executable, args=command, env={**os.environ})
        async with Client(server) as client:
            for text in questions(requests, 5):
                answer = await client.call_tool("search", {"query": text, **more})
                assert not answer.is_error, answer
                times.append(time.perf_counter())
        return np.diff(times).tolist()

    return anyio.run(run)


def mcp(root: Path, given: argparse.Namespace) -> object:
    """Ask `assay mcp` over HTTP with 1, 8 and 32 clients."""
    with served("mcp", root) as (port, process):
        return [row(process, clients, given.each, lambda n, seed: mcp_client(port, n, seed)) for clients in CLIENTS]


def http_api(root: Path, given: argparse.Namespace) -> object:
    """Ask `assay serve` with 1, 8 and 32 clients."""
    with served("serve", root) as (port, process):
        return [row(process, clients, given.each, lambda n, seed: http_client(port, n, seed)) for clients in CLIENTS]


def workers(root: Path, given: argparse.Namespace) -> object:
    """Ask `assay serve` with 1, 8 and 32 clients, of one process that does all and of one and two workers."""
    found = {}
    for count in (0, 1, 2):
        with served("serve", root, count) as (port, process):
            ask = partial(http_client, port)
            found[f"{count} workers"] = [row(process, clients, given.each, ask) for clients in CLIENTS]
    return found


def killed(root: Path, given: argparse.Namespace) -> object:
    """Kill a worker of two again and again while eight clients ask on connections that are kept; count what fails."""
    return disturbed(root, given, kill)


def kill(process: subprocess.Popen[bytes]) -> set[int]:
    """Kill a worker; return the clients' ports of the connections that it had, read while it stood still."""
    worker = a_worker(process)
    os.kill(worker, signal.SIGSTOP)
    while Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[0] != "T":
        time.sleep(0.001)
    own = set()
    for each in Path(f"/proc/{worker}/fd").iterdir():
        own.add(str(each.readlink()).removeprefix("socket:[").removesuffix("]"))
    rows = [each.split() for each in Path(f"/proc/{worker}/net/tcp").read_text().splitlines()[1:]]
    os.kill(worker, signal.SIGKILL)
    return {int(each[2].rpartition(":")[2], 16) for each in rows if each[9] in own} - {0}  # 0: it listens


def reloaded(root: Path, given: argparse.Namespace) -> object:
    """Reload a server of two workers again and again while eight clients ask; count what fails."""

    def reload(process: subprocess.Popen[bytes]) -> set[int]:
        process.send_signal(signal.SIGHUP)
        return set()

    return disturbed(root, given, reload)


def disturbed(root: Path, given: argparse.Namespace, disturb: Callable[[subprocess.Popen[bytes]], set[int]]) -> object:
    """Disturb five servers three times each while clients ask that do not ask twice; count what fails.

    To disturb returns the ports of connections that must fail by it; those that failed are looked for among them.
    """
    rows, cut = [], set[int]()

    def repeat(process: subprocess.Popen[bytes]) -> None:
        for _ in range(3):
            time.sleep(6)
            cut.update(disturb(process))

    for _ in range(5):
        with served("serve", root, 2) as (port, process):
            disturbing = Thread(target=repeat, args=(process,))
            disturbing.start()
            while disturbing.is_alive():
                rows.append(row(process, 8, given.each, partial(http_client, port), seed=len(rows) * 100))
    counts = {key: sum(each[key] for each in rows) for key in ("requests", "errors")}
    expected = sum(port in cut for each in rows for port in each["ports_of_errors"])
    return {"disturbed": 15, **counts, "errors_of_cut_connections": expected, "p95_ms": rows[0]["p95_ms"]}


def a_worker(process: subprocess.Popen[bytes]) -> int:
    """Return one of the processes that answer: the one that writes indexes has not loaded what that takes."""
    while True:
        for each in children(process):
            with suppress(OSError):  # it has just ended
                if "pydantic_core" in Path(f"/proc/{each}/maps").read_text():
                    return each
        time.sleep(0.05)


def children(process: subprocess.Popen[bytes]) -> list[int]:
    """Return the processes that a server started; the server itself where it has none."""
    found = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(each) for each in found] or [process.pid]


def flat(root: Path, given: argparse.Namespace) -> object:
    """Ask `assay serve` so many times, eight clients at once, and look at its memory as it goes."""
    memory, errors = [], 0
    with served("serve", root) as (port, process):
        for step in range(20):
            done = row(process, 8, given.requests // 20, lambda n, seed: http_client(port, n, seed), seed=step * 100)
            errors += done["errors"]
            memory.append(done["memory_mb"])
    return {"requests": given.requests, "errors": errors, "memory_mb": memory}


def malformed(root: Path, given: argparse.Namespace) -> object:
    """Send requests that are wrong in many ways; count what comes back."""
    statuses: Counter[int] = Counter()
    wrong = []
    with served("serve", root) as (port, process):
        for raw in bad_requests(given.malformed, port):
            status, body = exchanged(port, raw)
            statuses[status] += 1
            if not 400 <= status < 500 or b"Traceback" in body or b'File "' in body:
                wrong.append((raw[:300].decode("latin-1"), status, body[:300].decode("latin-1")))
        times, _ = http_client(port, 20, 1)
        alive = process.poll() is None and len(times) == 20
    return {"sent": given.malformed, "statuses": dict(sorted(statuses.items())), "not 4xx": wrong, "alive": alive}


PARTS: dict[str, Callable[[Path, argparse.Namespace], object]] = {
    "start": start,
    "mcp": mcp,
    "http": http_api,
    "workers": workers,
    "killed": killed,
    "reloaded": reloaded,
    "flat": flat,
    "malformed": malformed,
}


@contextmanager
def served(command: str, root: Path, workers: int = 0) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Start a server on a free port; it must stop by itself when it is asked to."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    option = "--http" if command == "mcp" else "--port"
    unlimited = [] if command == "mcp" else ["--rate", "0"]
    many = ["--workers", str(workers)] if workers else []
    process = subprocess.Popen([*ASSAY, command, option, str(port), *unlimited, *many, str(root)])
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                assert process.poll() is None, "the server did not start"
                time.sleep(0.05)
        asked = mcp_client if command == "mcp" else http_client
        with ThreadPoolExecutor(4) as pool:  # several connections, so that every worker has some
            list(pool.map(partial(asked, port, WARM), range(95, 99)))
        yield port, process
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) in {0, -signal.SIGTERM}, process.returncode
    finally:
        process.kill()


Asked = Callable[[int, int], tuple[list[float], list[int]]]


def row(process: subprocess.Popen[bytes], clients: int, requests: int, ask: Asked, seed: int = 0) -> dict[str, Any]:
    """Let clients ask side by side, in at most two processes; return what they saw."""
    started, before = time.perf_counter(), client_seconds()
    readers = []
    for group in range(min(2, clients)):
        out, into = os.pipe()
        if os.fork() == 0:
            mine = range(group, clients, min(2, clients))
            with ThreadPoolExecutor(len(mine)) as pool:
                done = list(pool.map(lambda one: ask(requests // clients, seed + one), mine))
            with os.fdopen(into, "w") as pipe:
                json.dump([[one for each in done for one in each[part]] for part in (0, 1)], pipe)
            os._exit(0)
        os.close(into)
        readers.append(out)
    times, errors = [], []
    for out in readers:
        with os.fdopen(out) as pipe:
            some, wrong = json.load(pipe)
        times += some
        errors += wrong
        os.wait()
    seconds = time.perf_counter() - started
    values = np.array(times) * 1e3
    chance = np.random.default_rng(1)
    medians = [np.median(chance.choice(values, len(values))) for _ in range(1000)]
    return {
        "clients": clients,
        "requests": len(times) + len(errors),
        "errors": len(errors),
        "ports_of_errors": errors,
        "p50_ms": float(np.median(values)),
        "p50_low_ms": float(np.percentile(medians, 2.5)),
        "p50_high_ms": float(np.percentile(medians, 97.5)),
        "p95_ms": float(np.percentile(values, 95)),
        "a_second": len(times) / seconds,
        "client_ms": (client_seconds() - before) / (len(times) + len(errors)) * 1e3,
        "memory_mb": sum(map(memory_mb, children(process))),
    }


def client_seconds() -> float:
    """Return the processor time of all clients so far; the server, which still runs, is not in it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def mcp_client(port: int, requests: int, seed: int) -> tuple[list[float], list[int]]:
    """Ask over MCP; return the seconds of right answers, and a 0 for each that was none."""
    import anyio
    from mcp import Client

    async def run() -> tuple[list[float], list[int]]:
        times, errors = [], []
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            for text in questions(requests, seed):
                started = time.perf_counter()
                answer = await client.call_tool("search", {"query": text})
                if answer.is_error or not re.search(r":\d+-\d+ ", answer.content[0].text):
                    errors.append(0)
                else:
                    times.append(time.perf_counter() - started)
        return times, errors

    return anyio.run(run)


def http_client(port: int, requests: int, seed: int) -> tuple[list[float], list[int]]:
    """Ask over HTTP, one connection kept; return the seconds of right answers, and the own ports of those without."""
    times, errors, own = [], [], 0
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for text in questions(requests, seed):
        started = time.perf_counter()
        try:
            if connection.sock is None:
                connection.connect()
            own = connection.sock.getsockname()[1]
            connection.request("GET", f"/api/search?{urlencode({'query': text})}")
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException):
            errors.append(own)
            connection.close()
            continue
        if answer.status == 200 and b'"hits":[{' in body:
            times.append(time.perf_counter() - started)
        else:
            errors.append(own)
    connection.close()
    return times, errors


def questions(count: int, seed: int) -> Iterator[str]:
    """Draw questions; a word in ten is new."""
    chance = random.Random(seed)  # noqa: S311  the same questions each time are the point

    def word() -> str:
        return "".join(chance.choices(SYLLABLES, k=4)) if chance.random() < 0.1 else chance.choice(COMMON)

    for _ in range(count):
        yield chance.choice(("where is the {} of a {}", "{} {}", "how does {} {} work", "{}_{}")).format(word(), word())


if __name__ == "__main__":
    main()
