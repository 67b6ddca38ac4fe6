"""Measure how long the page of `assay serve` takes from a key to painted answers, in a real browser.

    python benchmarks/page.py REPOSITORY [--rounds 3] [--chromium PROGRAM]

Questions are typed letter by letter, each letter once the one before is answered. The page itself marks when a key came
and when the frame with its answers had been painted. The first round is not counted: it warms server and browser. Then
each question is opened as an address in a window of 1440 x 900: how long until its answers are painted, from the
beginning of the navigation, and how many answers fit the window whole.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from playwright.sync_api import sync_playwright

QUESTIONS = (
    "parse command line options",
    "where are retries made",
    "write results as json lines",
    "open a file safely",
    "score a ranked list",
    "index the files of a repository",
)
MEASURED = """window.next = new Promise(done => {
    const seen = new PerformanceObserver(() => { seen.disconnect(); done() });
    seen.observe({type: 'measure'});
}); 0"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("repository", type=Path)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--chromium")
    given = arguments.parse_args()
    subprocess.run([sys.executable, "-m", "assay", "index", given.repository], check=True)
    serve = (sys.executable, "-m", "assay", "serve", "--port", "0", given.repository)
    server = subprocess.Popen(serve, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    try:
        address = re.search(r"http://\S+", server.stderr.readline())
        assert address, "the server did not start"
        with sync_playwright() as started:
            browser = started.chromium.launch(executable_path=given.chromium, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(address[0])
            for turn in range(given.rounds + 1):
                painted, asked = typed(page)
                if turn:
                    print(
                        f"round {turn}, {len(painted)} keys: painted {told(painted)}; the request in it {told(asked)}"
                    )
            opened, fitting = opened_whole(page, address[0])
            print(f"opened by address: painted {told(opened)}; answers that fit 1440 x 900: {fitting}")
            browser.close()
    finally:
        server.terminate()
        server.wait(20)


def typed(page: Any) -> tuple[list[float], list[float]]:
    """Type every question; return the milliseconds to painted answers, and those of the requests."""
    page.evaluate("performance.clearMeasures(); performance.clearResourceTimings()")
    box = page.locator("#query")
    for question in QUESTIONS:
        box.fill("")
        for letter in question:
            if letter == " ":  # asks nothing new
                box.press_sequentially(letter)
                continue
            page.evaluate(MEASURED)
            box.press_sequentially(letter)
            page.evaluate("window.next")
            page.wait_for_timeout(60)
    painted = page.evaluate("performance.getEntriesByName('answered').map(each => each.duration)")
    asked = page.evaluate(
        "performance.getEntriesByType('resource').filter(each => each.name.includes('/api/search'))"
        ".map(each => each.duration)"
    )
    return painted, asked


def opened_whole(page: Any, address: str) -> tuple[list[float], list[int]]:
    """Open every question by its address; return the milliseconds to painted answers, and how many fit the window."""
    page.set_viewport_size({"width": 1440, "height": 900})
    opened, fitting = [], []
    for question in QUESTIONS:
        page.goto(f"{address}?q={quote(question)}")
        page.locator(".hit").first.wait_for()
        page.wait_for_timeout(100)  # its policy allows no `eval`, which a wait for a condition needs
        opened.append(
            page.evaluate("(([each]) => each.startTime + each.duration)(performance.getEntriesByName('answered'))")
        )
        bottoms = page.evaluate(
            "[...document.querySelectorAll('.hit .code')].map(e => e.getBoundingClientRect().bottom)"
        )
        fitting.append(sum(bottom <= 900 for bottom in bottoms))
    return opened, fitting


def told(times: list[float]) -> str:
    return "p50 {:.0f}, p95 {:.0f}, max {:.0f} ms".format(*np.percentile(times, [50, 95, 100]))


if __name__ == "__main__":
    main()
