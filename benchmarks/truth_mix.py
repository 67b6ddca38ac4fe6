"""What sorts of questions a ground truth holds, and whether its hard ones are hard.

    python benchmarks/truth_mix.py benchmarks/truth/*.csv --checkouts CHECKOUTS

A hard question shares no stemmed content word with the lines of its first answer, names taken apart. Exits 1 if one
does. Only files with a column `writer` are looked at: older ones were written by another rule.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from assay.terms import STOP_WORDS, WORD, parts, stem
from assay.train.ranking_examples import JudgedQuery, judged_queries

PLAIN = STOP_WORDS | frozenset(
    "about after again all am any because been before being between both did down each ever every few here him his "
    "just let more most much must need no nor off once only other out over own same she shall some such than they too "
    "one ones under until up very want who whom whose without yet".split()
)


def main() -> int:
    """Print a row a writer and what is wrong with hard questions."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("truths", nargs="+", type=Path)
    options.add_argument("--checkouts", type=Path, required=True)
    given = options.parse_args()
    written = [file for file in given.truths if "writer" in file.open(encoding="utf-8").readline().split(",")]
    asked = judged_queries(written, given.checkouts)
    kinds = sorted({one.query.tags["kind"] for one in asked})
    print("writer ", *kinds, "several", "both")
    for writer in sorted({one.query.tags["writer"] for one in asked}):
        of = [one for one in asked if one.query.tags["writer"] == writer]
        count = Counter(one.query.tags["kind"] for one in of)
        several = sum(sum(entry.grade == 2 for entry in one.entries) > 1 for one in of)
        print(writer, *(count[kind] for kind in kinds), several, sum(one.query.mode == "all" for one in of))
    shared = {one.query.text: words for one in asked if (words := _shared(one, given.checkouts))}
    for text, words in shared.items():
        print(f"hard, but shares {', '.join(words)}: {text}")
    return 1 if shared else 0


def _shared(one: JudgedQuery, checkouts: Path) -> list[str]:
    if one.query.tags["kind"] != "hard":
        return []
    span = one.entries[0].span
    lines = (checkouts / one.repository / span.path).read_text("utf-8", "replace").splitlines()
    return sorted(_stems(one.query.text) & _stems("\n".join(lines[span.start - 1 : span.end])))


def _stems(text: str) -> set[str]:
    return {stem(part) for word in WORD.findall(text) for part in parts(word) if part not in PLAIN and len(part) > 1}


if __name__ == "__main__":
    sys.exit(main())
