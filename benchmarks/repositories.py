"""What a list of repositories costs to serve: start, memory, and answers over all and over one, over HTTP.

    python benchmarks/repositories.py LIST OUT [--questions 200]

LIST is what `assay serve --repos` takes. The first start finds nothing: its time is until every repository is mirrored
and indexed. Later ones find all there is: their time is until the first answer over all of them. Questions are those of
speed.py with a number, none of them asked before; memory is that of the server alone, its own and with mapped pages.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
from speed import QUERIES

STARTS = 3


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("list", type=Path)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--questions", type=int, default=200)
    given = arguments.parse_args()
    os.environ["XDG_CACHE_HOME"] = str((given.out / "cache").absolute())
    figures: dict[str, Any] = {}
    with served(given.list) as (port, _):
        started = time.perf_counter()
        while waiting(port):
            time.sleep(0.5)
        figures["mirrored and indexed, s"] = round(time.perf_counter() - started, 1)
    figures["start to first answer over all, s"] = [warm_start(given.list) for _ in range(STARTS)]
    with served(given.list) as (port, process):
        asked(port, "warm the caches")
        state = json.loads(get(port, "/api/repositories"))["repositories"]
        names = [each["root"] for each in state if each["is_searched"]]
        figures["repositories"] = {"searched": len(names), "with problems": sum(bool(e["problem"]) for e in state)}
        figures["over all, ms"] = quantiles([asked(port, text) for text in questions(given.questions)])
        ones = [asked(port, text, names[n % 8]) for n, text in enumerate(questions(given.questions))]
        figures["over one, ms"] = quantiles(ones[8:])
        figures["memory, MB"] = {"own": memory_mb(process.pid, "RssAnon"), "mapped": memory_mb(process.pid, "RssFile")}
    print(json.dumps(figures, indent=1))


@contextmanager
def served(listed: Path) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """Start a server of a list and give its port; end it."""
    command = [sys.executable, "-m", "assay", "serve", "--repos", str(listed), "--port", "0", "--rate", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        lines = iter(process.stderr.readline, "")
        port = next(int(found[1]) for line in lines if (found := re.search(r"http://127.0.0.1:(\d+)/", line)))
        yield port, process
    finally:
        process.terminate()
        process.communicate()


def waiting(port: int) -> bool:
    """Say whether a repository was not looked at yet."""
    state = json.loads(get(port, "/api/repositories"))["repositories"]
    return not state or any(not each["is_searched"] and not each["problem"] for each in state)


def warm_start(listed: Path) -> float:
    """Return the seconds from a start to the first answer over all that was there before."""
    started = time.perf_counter()
    with served(listed) as (port, _):
        while not json.loads(get(port, f"/api/search?{urlencode({'query': QUERIES[0]})}")).get("hits"):
            time.sleep(0.02)
        return round(time.perf_counter() - started, 2)


def questions(count: int) -> list[str]:
    return [f"{QUERIES[number % len(QUERIES)]} {number}" for number in range(count)]


def asked(port: int, text: str, path: str = "") -> float:
    """Return the milliseconds of one answer."""
    query = urlencode({"query": text, **({"path": path} if path else {})})
    started = time.perf_counter()
    answer = json.loads(get(port, f"/api/search?{query}"))
    assert "hits" in answer, answer
    return (time.perf_counter() - started) * 1e3


def get(port: int, path: str) -> bytes:
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    line.request("GET", path)
    body = line.getresponse().read()
    line.close()
    return body


def quantiles(values: list[float]) -> dict[str, float]:
    return {f"p{share}": round(float(np.percentile(values, share)), 1) for share in (50, 95)}


def memory_mb(process: int, kind: str) -> float:
    rows = Path(f"/proc/{process}/status").read_text().splitlines()
    return round(int(next(row for row in rows if row.startswith(kind)).split()[1]) / 1e3)


if __name__ == "__main__":
    main()
