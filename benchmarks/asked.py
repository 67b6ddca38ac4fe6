"""Measure search by default on questions with an operation, those that documentation answers, and those about code.

    python benchmarks/asked.py ROWS.jsonl CHECKOUTS [--misses]

ROWS are those of `truth/asked`, by people who had not seen the search; CHECKOUTS holds the repositories that
`truth/asked/repositories.json` lists, at its commits. A row has the repository's folder, the question and its answers:
lines, ranges, folders whose path ends in a slash, or commits. Of an operation right is one of the first five places or
commits; of documentation one of the sections that stand beside the code; of code one of the first five hits. Prints a
row a kind of question with its 95% interval.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shared import mean_with_interval

import assay

FIRST = 5


def run() -> None:
    """Ask, and print a row a kind."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("rows", type=Path)
    options.add_argument("checkouts", type=Path)
    options.add_argument("--misses", action="store_true", help="print each question without a right answer")
    given = options.parse_args()
    indexes: dict[str, assay.Index] = {}
    found: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for row in map(json.loads, given.rows.read_text("utf-8").splitlines()):
        name = row["repo"]
        index = indexes[name] if name in indexes else indexes.setdefault(name, assay.Index(given.checkouts / name))
        answer = index.search(row["query"], limit=FIRST)
        is_section = all("line" not in one and one.get("path", "").endswith(PROSE) for one in row["answers"])
        listed = list(answer.docs) if is_section else list(answer)
        commits = {one["commit"][:12] for one in row["answers"] if "commit" in one}
        right = [commit.id[:12] in commits for commit in answer.commits[:FIRST]] if commits else []
        right = right or [any(holds(hit, one) for one in row["answers"]) for hit in listed]
        found[row.get("kind") or row.get("manner") or "all"].append((right[:1] == [True], any(right)))
        if given.misses and not any(right):
            print(f"{name}: {row['query']}: {[f'{hit.path}:{hit.line or hit.start_line}' for hit in listed[:3]]}")
    for kind, each in [*found.items(), ("all", [one for values in found.values() for one in values])]:
        print(f"{kind:<16}{len(each):>5}" + "".join(f"  {shown(at, each)}" for at in (0, 1)))


PROSE = (".md", ".mdx", ".rst", ".txt", ".adoc", ".asciidoc", ".asc")


def holds(hit: Any, answer: Mapping[str, Any]) -> bool:
    """Say whether a hit shows an answer."""
    path = answer.get("path", "")
    if not path or path.endswith("/") or ("line" not in answer and "start" not in answer):
        return bool(path) and hit.path.startswith(path)
    first, last = answer.get("start", answer.get("line")), answer.get("end", answer.get("line"))
    return bool(hit.path == path and hit.start_line <= last and first <= hit.end_line)


def shown(at: int, each: list[tuple[bool, bool]]) -> str:
    """Return a mean with its interval: of the first, or of all that are looked at."""
    return f"{'any' if at else 'first'} {mean_with_interval([one[at] for one in each])}"


if __name__ == "__main__":
    sys.exit(run())
