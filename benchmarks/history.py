"""How often `assay log` finds the commit that a line of a changelog is about: the entry is the question.

    python benchmarks/history.py ROOT CHANGELOG [--sample N]

An entry was written for users, a message for who reviews, so that they seldom share words. The commit that added the
entry to the file is the right one (`git blame`); what it changed in the changelog itself is left out of
the search. Commits that added more than three entries are left out: releases and moves of the file. Orders by words and
by vectors alone stand beside the one that ships.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from assay.assemble.commits import History
from assay.measure.compare import interval
from assay.search.history import CommitFilter
from assay.settings import Settings

DEPTH = 10
SEED = 7
_REFERENCE = re.compile(r":\w+:`[^`]*`|\[?#\d+\]?(\([^)]*\))?|\(?https?://\S+|@\w+")
_BULLET = re.compile(r"^\s*[-*+]\s+")


def entries(root: Path, changelog: str) -> list[tuple[str, str]]:
    """Return each entry of a changelog with the commit that added its first line."""
    printed = subprocess.run(
        ["git", "-C", str(root), "blame", "-s", "-l", "HEAD", "--", changelog],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    found: list[tuple[str, str]] = []
    for row in printed:
        commit, line = row[:40].lstrip("^"), row.partition(") ")[2]
        if _BULLET.match(line):
            found.append((_BULLET.sub("", line), commit))
        elif found and line[:1] == " " and line.strip():
            found[-1] = (f"{found[-1][0]} {line.strip()}", found[-1][1])
    counts = Counter(commit for _, commit in found)
    cleaned = ((" ".join(_REFERENCE.sub(" ", text).split()), commit) for text, commit in found if counts[commit] <= 3)
    return [(text, commit) for text, commit in cleaned if len(text.split()) >= 5]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("changelog")
    parser.add_argument("--sample", type=int, default=100)
    given = parser.parse_args()
    every = entries(given.root, given.changelog)
    chosen = random.Random(SEED).sample(every, min(given.sample, len(every)))  # noqa: S311  a sample
    keep = CommitFilter(paths=(f"!{given.changelog}",))
    for ranking in ("learned", "keywords", "vectors"):
        settings = Settings()
        history = History(given.root.resolve(), replace(settings, search=replace(settings.search, ranking=ranking)))
        ranks = [rank(history, text, commit, keep) for text, commit in chosen]
        row = {
            "repository": given.root.name,
            "entries": len(ranks),
            "ranking": ranking,
            "Hit@1": figure([float(rank == 1) for rank in ranks]),
            "Hit@5": figure([float(0 < rank <= 5) for rank in ranks]),
            "MRR@10": figure([1 / rank if rank else 0.0 for rank in ranks]),
        }
        print(json.dumps(row))


def rank(history: History, text: str, commit: str, keep: CommitFilter) -> int:
    """Return the place of a commit, 0 if it is none of the first."""
    found = [each.id for each in history.search(text, keep, DEPTH).commits]
    return found.index(commit) + 1 if commit in found else 0


def figure(values: list[float]) -> str:
    """Return the mean with its 95% interval."""
    low, high = interval(np.array(values))
    return f"{np.mean(values):.3f} [{low:.3f}, {high:.3f}]"


if __name__ == "__main__":
    main()
