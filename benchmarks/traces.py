"""Measure how often a pasted trace or output of a tool finds the line that it names first.

    python benchmarks/traces.py CHECKOUT... [--times 2] [--json FILE]

Each form of `truth/trace_forms.jsonl`, written from the documentation of what prints it, is filled with lines of
functions of a checkout that has files of its sort, by a fixed seed: `A` is what somebody wants to see first, the
innermost own frame or the first diagnostic; `B` called it, and `C` called that. Right is a first hit of that file that
holds the line; shown is the line if it is among those that a terminal prints of that hit. Prints a row a form that
fails, and the means.
"""

from __future__ import annotations

import argparse
import inspect
import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from shared import mean_with_interval

import assay
from assay.search.display import excerpt, terms_to_mark
from assay.search.path_filters import traits_of
from assay.store.snapshot import Snapshot
from assay.values import CALLABLE_KINDS, Chunk

FORMS = Path(__file__).with_name("truth") / "trace_forms.jsonl"
LINES = 8
"""Lines of a hit in a terminal."""
HOLE = re.compile(r"\{([ABC])\.(path|file|line|col|name|type|winpath|package|code)\}")


def run() -> None:
    """Ask, and print what fails and the means."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("checkouts", nargs="+", type=Path)
    options.add_argument("--times", type=int, default=2, help="how often each form is filled")
    options.add_argument("--forms", type=Path, default=FORMS)
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    forms = [
        form for row in given.forms.read_text("utf-8").splitlines() if "{A.line}" in (form := json.loads(row))["text"]
    ]
    indexes = {checkout: assay.Index(checkout) for checkout in given.checkouts}
    lines = {checkout: lines_of(index._reader.view().workspace.snapshot) for checkout, index in indexes.items()}  # noqa: SLF001  every chunk
    dice = random.Random(7)  # noqa: S311  a sample, no secret
    rows = []
    for form in forms:
        of_sort = {checkout: kept(every, form["extensions"]) for checkout, every in lines.items()}
        fitting = [checkout for checkout, every in of_sort.items() if len(every) >= 3]
        for _ in range(given.times):
            checkout = dice.choice(fitting or given.checkouts)
            frames = dice.sample(of_sort[checkout] if fitting else lines[checkout], 3)
            text, (chunk, line) = filled(form["text"], dict(zip("ABC", frames, strict=True))), frames[0]
            first = next(iter(indexes[checkout].search(text[-20_000:], limit=1)), None)
            is_first = first is not None and first.path == chunk.path and first.start_line <= line <= first.end_line
            rows.append((form["form"], is_first, is_first and line in lines_shown(first, text), text, checkout.name))
    for name, is_first, is_shown, text, checkout in rows:
        if not (is_first and is_shown):
            print(f"{'not first' if not is_first else 'not shown'}: {name} in {checkout}: {text[:300]!r}")
    for what, at in (("unit first", 1), ("line shown", 2)):
        print(f"{what}: {len(rows)} texts of {len(forms)} forms: {mean_with_interval([row[at] for row in rows])}")
    if given.json:
        given.json.write_text(json.dumps([row[:3] for row in rows]) + "\n", "utf-8")


def lines_of(snapshot: Snapshot) -> list[tuple[Chunk, int]]:
    """Return a line of each function of a program, not of its tests."""
    dice = random.Random(11)  # noqa: S311  a sample, no secret
    found = []
    for chunk in snapshot.living():
        texts = dict(enumerate(chunk.text.split("\n"), chunk.start_line))
        inside = [line for line, text in texts.items() if line > chunk.start_line and len(text.strip()) > 8]
        if chunk.kind in CALLABLE_KINDS and chunk.symbol.isidentifier() and inside and not any(traits_of(chunk.path)):
            found.append((chunk, dice.choice(inside)))
    return found


def kept(lines: Sequence[tuple[Chunk, int]], extensions: Sequence[str]) -> list[tuple[Chunk, int]]:
    """Return those in files of some extensions."""
    return [one for one in lines if "*" in extensions or one[0].path.rpartition(".")[2] in extensions]


def filled(text: str, frames: Mapping[str, tuple[Chunk, int]]) -> str:
    """Return a form with its frames."""
    known: dict[str, dict[str, str]] = defaultdict(dict)
    for key, (chunk, line) in frames.items():
        stem = chunk.path.rpartition(".")[0]
        code = dict(enumerate(chunk.text.split("\n"), chunk.start_line))[line]
        known[key] = {
            "path": chunk.path,
            "file": chunk.path.rpartition("/")[2],
            "line": str(line),
            "col": "5",
            "code": code.strip(),
            "name": chunk.symbol,
            "type": chunk.parent.rpartition(".")[2] or "Main",
            "winpath": chunk.path.replace("/", "\\"),
            "package": stem.replace("/", "."),
        }
    return HOLE.sub(lambda hole: known[hole[1]][hole[2]], text)


def lines_shown(hit: assay.Hit, text: str) -> set[int]:
    """Return the lines that a terminal shows of a hit."""
    asked = {"asked": hit.line} if "asked" in inspect.signature(excerpt).parameters else {}
    return {number for number, _ in excerpt(hit.chunk, terms_to_mark([text]), LINES, **asked)}


if __name__ == "__main__":
    sys.exit(run())
