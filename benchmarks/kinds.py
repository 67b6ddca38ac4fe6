"""Measure names in files of many kinds: what an outline lists of them, and whether a typed name finds its place.

python benchmarks/kinds.py outline tests/corpus/kinds/names.jsonl [--names]

A row: {"kind": "vue", "file": "Cart.vue", "names": [{"name": "addLine", "line": 6, "sort": "function"}]}. A name counts
where the outline has it there, comments included; a kind counts where nine of ten names of its files do. `--names`
prints what is missing.

python benchmarks/kinds.py search benchmarks/truth/asked/kinds.jsonl CHECKOUTS [--names]

Each name is asked for; right is a first hit that holds one of its places. Prints a row a kind with its 95% interval.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from pathlib import Path

from shared import mean_with_interval

import assay
from assay.corpus.encodings import decoded
from assay.corpus.outline import outline

NEAR, ENOUGH = 2, 0.9
INSIDE = frozenset(
    "field column property variant member enumvalue case variable parameter port argument attribute value".split()
)
"""Sorts of names that stand inside of what an outline lists."""


def plain(name: str) -> str:
    """Return a name without sigils, owners and arguments, in one letter case."""
    name = re.sub(r"\(.*|<.*", "", name).strip("\"'`:$@%#.&* ")
    name = name if "::" in name else re.sub(r"^([A-Za-z]\w*):[\w:]*$", r"\1", name)
    return re.split(r"\.|::|->", name)[-1].lower() or name.lower()


def missing(path: Path, names: list[dict[str, object]]) -> list[str]:
    """Return the names that the outline of a file lacks."""
    found = outline(str(path), decoded(path.read_bytes()) or "")
    listed = [({plain(part) for part in (one.name, *one.name.split(", "))}, one.line, one.end_line) for one in found]
    return [
        f"{each['name']}:{line}"
        for each in names
        for line in [int(str(each["line"]))]
        if not any(
            plain(str(each["name"])) in called and first - NEAR <= line <= last + NEAR for called, first, last in listed
        )
    ]


def run_outline(given: argparse.Namespace) -> None:
    """Print a row a kind, the poorest first."""
    kinds: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in map(json.loads, given.truth.read_text("utf-8").splitlines()):
        names = [each for each in row["names"] if each.get("sort") not in INSIDE]
        lacks = missing(given.truth.parent / row["file"], names)
        kinds[row["kind"]][0] += len(names) - len(lacks)
        kinds[row["kind"]][1] += len(names)
        if given.names and lacks:
            print(f"{row['kind']:24} {row['file']}: {', '.join(lacks)}")
    for kind, (right, wanted) in sorted(kinds.items(), key=lambda each: each[1][0] / max(each[1][1], 1)):
        print(f"{kind:24} {right:4} of {wanted:4}")
    enough = sum(right >= ENOUGH * wanted for right, wanted in kinds.values())
    right, wanted = (sum(each[at] for each in kinds.values()) for at in (0, 1))
    print(f"{enough} of {len(kinds)} kinds; {right} of {wanted} names")


def run_search(given: argparse.Namespace) -> None:
    """Ask for each name, and print a row a kind."""
    right: dict[str, list[bool]] = defaultdict(list)
    indexes: dict[str, assay.Index] = {}
    for row in map(json.loads, given.truth.read_text("utf-8").splitlines()):
        name = row["repository"]
        index = indexes.setdefault(name, assay.Index(given.checkouts / name))
        first = next(iter(index.search(row["query"], limit=1)), None)
        places = [(path, int(line)) for path, _, line in (place.rpartition(":") for place in row["places"])]
        chunk = first.chunk if first else None
        found = any(chunk and chunk.path == path and chunk.start_line <= at <= chunk.end_line for path, at in places)
        right[f"{row['kind']}, {name}"].append(found)
        if given.names and not found:
            print(f"{name}: {row['query']} ({row['places'][0]})")
    for kind, values in right.items():
        print(f"{kind:<24} {len(values):>4}  {mean_with_interval(values)}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, run in (("outline", run_outline), ("search", run_search)):
        command = commands.add_parser(name)
        command.add_argument("truth", type=Path)
        command.add_argument("--names", action="store_true", help="print what is missing")
        command.set_defaults(run=run)
        if name == "search":
            command.add_argument("checkouts", type=Path)
    given = parser.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()
