"""Compare the outline of files of many kinds with the names that a reader lists.

python benchmarks/kinds.py TRUTH.jsonl [--folder FOLDER] [--names]

A row of TRUTH: {"kind": "vue", "file": "Cart.vue", "names": [{"name": "addLine", "line": 6}]}. A name counts where the
outline has it there, comments included; a kind counts where nine of ten names of its files do. `--names` prints what
is missing.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from pathlib import Path

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


def missing(path: Path, names: list[dict[str, object]]) -> tuple[list[str], int]:
    """Return the names that the outline of a file lacks, and how many it has beside those of the truth."""
    text = decoded(path.read_bytes()) or ""
    found = outline(str(path), text)
    listed = [({plain(part) for part in (one.name, *one.name.split(", "))}, one.line, one.end_line) for one in found]
    lacks = []
    for each in names:
        name, line = plain(str(each["name"])), int(str(each["line"]))
        if not any(name in called and first - NEAR <= line <= last + NEAR for called, first, last in listed):
            lacks.append(f"{each['name']}:{line}:{each.get('sort')}")
    return lacks, max(len(found) - len(names), 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--names", action="store_true")
    given = parser.parse_args()
    kinds: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in map(json.loads, given.truth.read_text("utf-8").splitlines()):
        names = [each for each in row["names"] if each.get("sort") not in INSIDE]
        lacks, beside = missing((given.folder or given.truth.parent) / row["file"], names)
        for at, number in enumerate((len(names) - len(lacks), len(names), beside)):
            kinds[row["kind"]][at] += number
        if given.names and lacks:
            print(f"{row['kind']:24} {row['file']}: {', '.join(lacks)}")
    for kind, (right, wanted, beside) in sorted(kinds.items(), key=lambda each: each[1][0] / max(each[1][1], 1)):
        print(f"{kind:24} {right:4} of {wanted:4}   {beside} beside")
    enough = sum(right >= ENOUGH * wanted for right, wanted, _ in kinds.values())
    right, wanted = (sum(each[at] for each in kinds.values()) for at in (0, 1))
    print(f"{enough} of {len(kinds)} kinds; {right} of {wanted} names")


if __name__ == "__main__":
    main()
